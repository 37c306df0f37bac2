"""The port of ``store.groups``."""

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
    """Reads and writes user groups. Each write is one transaction; ``author`` goes into the audit trail with it."""

    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        token: Token,
        *,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """The group with ``draft.provided_id``, created with ``token`` if it does not exist; an existing one stays as
        it is. Raises IdempotencyKeyReused, IdempotencySuperseded."""
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
        """``expected``: the group as the caller has read it; nothing is written if it has changed since.
        Raises UnknownGroup, GroupChanged."""
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
        """Compare-and-swap: replaces ``current`` by version + 1 with this key id and nonce; of N callers one wins.
        ``grace_seconds``: None means the environment's.
        Raises UnknownToken, TokenAlreadyRotated, IdempotencyKeyReused, IdempotencySuperseded."""
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
        """A group with its live token, or None: by its id in one environment, or by its handle in any."""
        ...

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        """The existing groups among ``provided_ids``, by id, in one read."""
        ...

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        """Makes all ``writes``, each to a different group, in one transaction. A write whose group is not as it
        expects (created, changed or deleted by another writer) returns None: read the group again; the rest of the
        batch commits. A write that changes nothing is answered without one."""
        ...

    async def list(
        self, environment: Environment, *, after: int = 0, limit: int = 100, match: str = ""
    ) -> Sequence[UserGroup]:
        """Groups with ``team_id > after``, ordered by ``team_id``. ``match``: only those whose id begins with it or
        whose name contains it; names match A to Z in either case."""
        ...
