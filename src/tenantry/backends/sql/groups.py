from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Protocol, TypeVar

from sqlalchemy import Connection

from tenantry.backends.sql import queries, rows, write_groups
from tenantry.backends.sql.change_log import HandleChanged, WriteContext, WriteResult
from tenantry.backends.sql.engine import count
from tenantry.backends.sql.part import SQLPart
from tenantry.backends.sql.usage import DELETE_VIEWER_ROWS, HAS_MANY_VIEWER_ROWS
from tenantry.backends.sql.write_many import write_many
from tenantry.backends.stored import ascii_lower
from tenantry.errors import StoreUnavailable, UnknownGroup
from tenantry.groups import (
    UNNAMED,
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    GroupRotation,
    GroupUpdate,
    GroupWrite,
    IdempotencyKey,
    Issued,
    Token,
    UserGroup,
)
from tenantry.ports import GroupStore

T = TypeVar("T")

_ATTEMPTS: Final = 3
_LAST_OF_ANY: Final = chr(0x10FFFF) * 255
"""A prefix plus this string sorts after every id with that prefix, in code point order."""


class SQLGroups(SQLPart, GroupStore):
    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        token: Token,
        *,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        deadline = self._runner.deadline()
        found = None if once else await self._get(environment, draft.provided_id, deadline)
        if found is not None:
            return found
        work = partial(write_groups.get_or_create, environment=environment, draft=draft, token=token, once=once)
        return await self._runner.write(work, WriteContext(author, self._clock), deadline)

    async def update(
        self,
        environment: Environment,
        provided_id: str,
        changes: GroupChanges,
        *,
        expected: UserGroup | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        work = partial(
            write_groups.update, environment=environment, provided_id=provided_id, changes=changes, expected=expected
        )
        return await self._write_by_id(environment, provided_id, work, author)

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
        work = partial(
            write_groups.rotate,
            environment=environment,
            current=current,
            key_id=key_id,
            nonce=nonce,
            grace_seconds=grace_seconds,
            once=once,
        )
        return await self._write_to((current.handle,), work, author)

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        # Deleting all rows of a group's viewers at once may take longer than one call may last.
        of_group = {"environment_id": environment.id, "provided_id": provided_id}
        while await self._read(HAS_MANY_VIEWER_ROWS, **of_group):
            await self._write(lambda connection, context: count(connection, DELETE_VIEWER_ROWS, **of_group))
        work = partial(write_groups.delete, environment=environment, provided_id=provided_id)
        return await self._write_by_id(environment, provided_id, work, author)

    async def get(
        self, environment: Environment | None = None, provided_id: str = "", *, handle: bytes | None = None
    ) -> Issued | None:
        if environment is not None:
            return await self._get(environment, provided_id, self._runner.deadline())
        found = await self._read(queries.GROUP_BY_HANDLE, handle=handle)
        return rows.stored_group(found[0]).issued() if found else None

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        wanted = {"environment_id": environment.id, "provided_ids": rows.dump_json(provided_ids)}
        found = await self._read(queries.GROUPS_BY_IDS, **wanted)
        every = [rows.stored_group(row) for row in found]
        return {stored.group.provided_id: stored.issued() for stored in every}

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        work = partial(write_many, environment=environment, writes=writes)
        handles = [each.group.handle for each in writes if isinstance(each, GroupUpdate)]
        handles += [each.issued.group.handle for each in writes if isinstance(each, GroupRotation)]
        if handles:
            return await self._write_to(handles, work, author)
        # No cache can hold a group that does not exist yet.
        return (await self._write(work, author)).value

    async def list(
        self,
        environment: Environment,
        *,
        after: int = 0,
        limit: int = 100,
        match: str = "",
        signed_by: str | None = None,
    ) -> Sequence[UserGroup]:
        page = {"environment_id": environment.id, "after": after, "limit": limit, "signed_by": signed_by}
        if match:
            wanted = {"match": match, "last_id": match + _LAST_OF_ANY, "part": ascii_lower(match)}
            found = await self._read(queries.MATCHING_GROUPS, **page, **wanted)
        else:
            found = await self._read(queries.GROUPS, **page)
        return [rows.stored_group(row).group for row in found]

    async def _get(self, environment: Environment, provided_id: str, deadline: float) -> Issued | None:
        found = await self._runner.read(
            queries.GROUP_BY_ID, deadline, environment_id=environment.id, provided_id=provided_id
        )
        return rows.stored_group(found[0]).issued() if found else None

    async def _write_by_id(self, environment: Environment, provided_id: str, work: _WriteById[T], author: Author) -> T:
        deadline = self._runner.deadline()
        for _ in range(_ATTEMPTS):
            found = await self._get(environment, provided_id, deadline)
            if found is None:
                raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
            handle = found.group.handle
            try:
                return await self._write_to((handle,), partial(work, handle=handle), author, deadline)
            except HandleChanged:
                continue
        raise StoreUnavailable("other writers keep deleting and creating this group: try again")


class _WriteById(Protocol[T]):
    def __call__(self, connection: Connection, context: WriteContext, *, handle: bytes) -> WriteResult[T]: ...
