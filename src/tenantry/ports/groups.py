from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, overload

from tenantry.groups import (
    UNNAMED,
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    GroupWrite,
    IdempotencyKey,
    Issued,
    Token,
    UserGroup,
)


class GroupStore(Protocol):
    """Stores user groups. A write and its audit entry are one transaction.

    With ``once``, a repeated write returns the first response. It raises IdempotencyInFlight if the first has not
    finished, IdempotencyKeyReused if the body differs, IdempotencySuperseded if the response's token is no longer
    live."""

    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        token: Token,
        *,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """Create the group with ``token``, or return the existing one unchanged. Raises UnknownEnvironment;
        AlreadyExists if another group has the handle."""
        ...

    async def update(
        self,
        environment: Environment,
        provided_id: str,
        changes: GroupChanges,
        *,
        expected: UserGroup | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """Change the given fields. Raises UnknownGroup; GroupChanged if the group was changed since ``expected`` was
        read."""
        ...

    async def rotate(
        self,
        environment: Environment,
        current: Token,
        *,
        key_id: str,
        nonce: bytes,
        grace_seconds: int | None = None,  # None: the environment's
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """Replace the live token ``current`` with its next version. Of concurrent callers, one succeeds. Raises
        UnknownToken, TokenAlreadyRotated; GroupSuspended."""
        ...

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        """Delete the group and return it. Raises UnknownGroup."""
        ...

    @overload
    async def get(self, environment: Environment, provided_id: str) -> Issued | None: ...

    @overload
    async def get(self, *, handle: bytes) -> Issued | None: ...

    async def get(
        self, environment: Environment | None = None, provided_id: str = "", *, handle: bytes | None = None
    ) -> Issued | None:
        """Find a group by environment and id, or by handle in all environments."""
        ...

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        """Return the groups that exist, by id, in one read."""
        ...

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        """Write distinct groups in one transaction. The result is None for each group that another writer has changed,
        created or deleted meanwhile: read that group again. The others are written."""
        ...

    async def list(
        self, environment: Environment, *, after: int = 0, limit: int = 100, match: str = ""
    ) -> Sequence[UserGroup]:
        """Return groups with ``team_id > after``, ordered by ``team_id``. ``match``: the start of the id or a part of
        the name, in any ASCII case."""
        ...
