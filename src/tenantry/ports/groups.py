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
    """User groups. Each write is one transaction with its audit entry."""

    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        token: Token,
        *,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """Create the group with ``token``, or return the existing one unchanged. Raises IdempotencyKeyReused,
        IdempotencySuperseded."""
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
        """``expected``: write only if the group still equals it. Raises UnknownGroup, GroupChanged."""
        ...

    async def rotate(
        self,
        environment: Environment,
        current: Token,
        *,
        key_id: str,
        nonce: bytes,
        grace_seconds: int | None = None,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """Replace ``current`` by the next version (compare-and-swap: one caller wins). ``grace_seconds``: None means
        the environment's. Raises UnknownToken, TokenAlreadyRotated, IdempotencyKeyReused, IdempotencySuperseded."""
        ...

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        """Raises UnknownGroup."""
        ...

    @overload
    async def get(self, environment: Environment, provided_id: str) -> Issued | None: ...

    @overload
    async def get(self, *, handle: bytes) -> Issued | None: ...

    async def get(
        self, environment: Environment | None = None, provided_id: str = "", *, handle: bytes | None = None
    ) -> Issued | None:
        """Find a group by environment and id, or by handle alone."""
        ...

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        """Return the existing groups by id, in one read."""
        ...

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        """Apply writes to different groups in one transaction. A write whose group another writer has changed, created
        or deleted returns None and the rest commits; read that group again."""
        ...

    async def list(
        self, environment: Environment, *, after: int = 0, limit: int = 100, match: str = ""
    ) -> Sequence[UserGroup]:
        """List groups with ``team_id > after`` in order. ``match``: a prefix of the id or a part of the name, ignoring
        ASCII case in names."""
        ...
