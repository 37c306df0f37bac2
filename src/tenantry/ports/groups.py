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

    ``once``: the Idempotency-Key of a request. If the key was used before, the store writes nothing and returns the
    first response. It raises IdempotencyInFlight if the first request has not finished, IdempotencyKeyReused if its
    body was different, and IdempotencySuperseded if the token in the first response is no longer live."""

    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        token: Token,
        *,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """Create the group with ``token``. If the group exists, return it unchanged. Raises UnknownEnvironment. Raises
        AlreadyExists if another group has the handle of ``token``."""
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
        """Change the fields that are set in ``changes``. Raises UnknownGroup. Raises GroupChanged if the group has
        changed since the caller read it as ``expected``."""
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
        """Replace ``current``, the group's live token, with a new token. If several callers do this at once, only one
        succeeds. Raises UnknownToken, TokenAlreadyRotated, GroupSuspended."""
        ...

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        """Delete the group and return it as it was. Raises UnknownGroup."""
        ...

    @overload
    async def get(self, environment: Environment, provided_id: str) -> Issued | None: ...

    @overload
    async def get(self, *, handle: bytes) -> Issued | None: ...

    async def get(
        self, environment: Environment | None = None, provided_id: str = "", *, handle: bytes | None = None
    ) -> Issued | None:
        """Find a group by its environment and id, or by its handle in all environments."""
        ...

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        """Return the groups that exist, by id, in one read."""
        ...

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        """Write groups in one transaction; no group may occur twice. Return None for each write that was not done:
        another writer has changed, created or deleted the group, or the write would rotate a suspended group."""
        ...

    async def list(
        self,
        environment: Environment,
        *,
        after: int = 0,
        limit: int = 100,
        match: str = "",
        signed_by: str | None = None,
    ) -> Sequence[UserGroup]:
        """Return groups with ``team_id > after``, ordered by ``team_id``. ``match``: only groups whose id starts with
        this string, or whose name contains it (ignoring ASCII case). ``signed_by``: only groups whose live token
        was signed by the key with this id."""
        ...
