"""SQLStore: the Store in an SQLite file or a PostgreSQL database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from tenantry.backends.audit.chain import ChainKeys
from tenantry.backends.sql import queries, rows, write_groups
from tenantry.backends.sql.change_log import HandleChanged, WriteContext, WriteResult
from tenantry.backends.sql.directory import SQLDirectory
from tenantry.backends.sql.embedding import SQLEmbedding
from tenantry.backends.sql.host_slots import StoreIdentity
from tenantry.backends.sql.runner import Runner
from tenantry.backends.sql.usage import SQLUsage
from tenantry.backends.sql.write_many import write_many
from tenantry.backends.stored import StoreClock, ascii_lower
from tenantry.cache.slots import SharedSlots
from tenantry.database import RUN_MIGRATE, read_address
from tenantry.database.migrations import HEAD, is_compatible
from tenantry.errors import MigrationNeeded, StoreUnavailable, UnknownGroup
from tenantry.groups import (
    UNNAMED,
    Author,
    Caller,
    Change,
    Changes,
    Environment,
    GroupChanges,
    GroupDraft,
    GroupUpdate,
    GroupWrite,
    IdempotencyKey,
    Issued,
    LookupResult,
    Token,
    UserGroup,
)
from tenantry.ports import ChangeListener, Clock
from tenantry.usage import UsageRecorder

T = TypeVar("T")
_ATTEMPTS = 3

PAGE = 150
"""Changes that are read in one go. SQLite takes 200 µs for them in the event loop, and as much again to forget its
cache of the file when somebody has written to it; to put them together takes 150 µs."""


_LAST_OF_ANY = chr(0x10FFFF) * 255
"""What follows a prefix in the last id that begins with it, in the order of code points."""


class SQLStore(SQLDirectory, SQLEmbedding, SQLUsage):
    """A Store (tenantry.ports) at ``sqlite:///file.db``, ``sqlite:////absolute/file.db`` or ``postgresql://…``.

    ``deadline`` is the number of seconds within which each call returns or raises StoreUnavailable; it counts from the
    call, so it covers queue, lock and connection. ``run_dir`` is the folder that the processes of this host share
    (None: as ``tenantry.cache.slots`` finds it); a store that cannot use it does not write. ``clock`` gives the time of
    day in UTC; None means the database's own, and for SQLite this host's. ``keys``, SigningKeys, seal what the store
    adds to the audit trail; an entry without a seal is covered by the next one. Making a store does no I/O; the
    tables are made by ``tenantry migrate``. What groups use in this process is added to the store every
    ``usage_seconds`` (None: it is not kept). It may be used from several event loops; ``aclose`` closes it.
    Raises InvalidSettings when the URL cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        deadline: float = 2.0,
        run_dir: str | Path | None = None,
        clock: Clock | None = None,
        usage_seconds: float | None = 60.0,
        keys: ChainKeys | None = None,
    ) -> None:
        address = read_address(url)
        self.label: str = address.label
        self._clock = StoreClock(clock)
        self.usage_recorder = None if usage_seconds is None else UsageRecorder(self, usage_seconds)
        self._runner = Runner(address, timeout=deadline, run_dir=run_dir, before_close=self._flush_usage, keys=keys)

    def __repr__(self) -> str:
        return f"<SQLStore in {self.label}>"

    # --- LeasedBackend ---

    async def find(self, token: Token) -> UserGroup | None:
        return (await self.read_at_snapshot(token, fresh=True)).group

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:  # nothing is before this store
        runner = self._runner
        return rows.reading(await runner.look_up(token.handle, runner.deadline()), token, self._clock)

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        runner = self._runner
        changes, identity, longest = await _read_changes(runner, self._clock, since)
        await runner.open_slots(identity, runner.deadline(), lease=lease if lease > longest else None)
        return changes

    @property
    def slots(self) -> SharedSlots | None:
        return self._runner.host_slots.slots

    @property
    def settling(self) -> float:
        return self._runner.host_slots.settling

    # --- GroupStore ---

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
        return await self._write_to(environment, provided_id, work, author)

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
        runner = self._runner
        return await runner.write_to((current.handle,), work, WriteContext(author, self._clock), runner.deadline())

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        work = partial(write_groups.delete, environment=environment, provided_id=provided_id)
        return await self._write_to(environment, provided_id, work, author)

    async def get(self, environment: Environment, provided_id: str) -> Issued | None:
        return await self._get(environment, provided_id, self._runner.deadline())

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        wanted = {"environment_id": environment.id, "provided_ids": rows.dump_json(provided_ids)}
        found = await self._runner.read(queries.GROUPS_BY_IDS, self._runner.deadline(), **wanted)
        every = [rows.stored_group(row) for row in found]
        return {stored.group.provided_id: stored.issued() for stored in every}

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        work = partial(write_many, environment=environment, writes=writes)
        handles = [each.group.handle for each in writes if isinstance(each, GroupUpdate)]
        context, deadline = WriteContext(author, self._clock), self._runner.deadline()
        if handles:
            return await self._runner.write_to(handles, work, context, deadline)
        # Nobody can have cached anything of groups that are not there.
        return (await self._runner.write(work, context, deadline)).value

    async def get_by_handle(self, handle: bytes) -> Issued | None:
        found = await self._runner.read(queries.GROUP_BY_HANDLE, self._runner.deadline(), handle=handle)
        return rows.stored_group(found[0]).issued() if found else None

    async def groups(
        self, environment: Environment, *, after: int = 0, limit: int = 100, match: str = ""
    ) -> Sequence[UserGroup]:
        page = {"environment_id": environment.id, "after": after, "limit": limit}
        if match:
            wanted = {"match": match, "last_id": match + _LAST_OF_ANY, "part": ascii_lower(match)}
            found = await self._runner.read(queries.MATCHING_GROUPS, self._runner.deadline(), **page, **wanted)
        else:
            found = await self._runner.read(queries.GROUPS, self._runner.deadline(), **page)
        return [rows.stored_group(row).group for row in found]

    async def _get(self, environment: Environment, provided_id: str, deadline: float) -> Issued | None:
        found = await self._runner.read(
            queries.GROUP_BY_ID, deadline, environment_id=environment.id, provided_id=provided_id
        )
        return rows.stored_group(found[0]).issued() if found else None

    async def _write_to(self, environment: Environment, provided_id: str, work: _WriteTo[T], author: Author) -> T:
        """Runs a write to a group named by its id. Its handle is read first, because its slot is to change before the
        write; should another group have this id by then, the write does nothing and is begun again."""
        deadline = self._runner.deadline()
        for _ in range(_ATTEMPTS):
            found = await self._get(environment, provided_id, deadline)
            if found is None:
                raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
            handle = found.group.handle
            try:
                context = WriteContext(author, self._clock)
                return await self._runner.write_to((handle,), partial(work, handle=handle), context, deadline)
            except HandleChanged:
                continue
        raise StoreUnavailable("others delete and create this group without end: try again")

    # --- Store ---

    async def caller(self, digest: bytes, provided_id: str) -> Caller | None:
        runner = self._runner
        found = await runner.read(queries.CALLER, runner.deadline(), digest=digest, provided_id=provided_id)
        return rows.caller(found[0], self._clock) if found else None

    def subscribe(self, listener: ChangeListener) -> None:
        self._runner.listeners.subscribe(listener)

    async def ready(self) -> None:
        """Raises MigrationNeeded when programs of this version may not use the tables, else StoreUnavailable."""
        deadline = self._runner.deadline()
        found = ", ".join(row[0] for row in await self._runner.read(queries.REVISION, deadline)) or "none"
        if found == HEAD:
            return
        try:
            listed = (await self._runner.read(queries.COMPATIBLE, deadline))[0][0]
        except (MigrationNeeded, IndexError):  # of before there was a list
            listed = None
        if not is_compatible(found, listed):
            raise MigrationNeeded(f"the {self.label} is at revision {found}, this version needs {HEAD}: {RUN_MIGRATE}")

    async def aclose(self) -> None:
        """Adds what was used, and closes the connections. The store can be used again: it opens new ones."""
        await self._flush_usage()
        await self._runner.aclose()


class _WriteTo(Protocol[T]):
    """A write that takes the handle that it was announced for."""

    def __call__(self, connection: Connection, context: WriteContext, *, handle: bytes) -> WriteResult[T]: ...


async def _read_changes(runner: Runner, clock: StoreClock, since: int | None) -> tuple[Changes, StoreIdentity, float]:
    """All that were committed before the call, of the last LISTED_CHANGES: up to the generation at the first page; then
    the identity of the store and the longest lease (seconds) that anybody has asked it for, as of the last page.

    No page of an unbroken list misses what a later one would show, for generations are committed in their order.
    Raises StoreUnavailable, MigrationNeeded.
    """
    deadline = runner.deadline()
    first, identity, lease = await _page(runner, clock, -1 if since is None else since, deadline)
    page = first
    begin, found = page.since, list[Change](page.changes)
    while page.changes and found[-1].generation < first.generation:
        page, identity, lease = await _page(runner, clock, found[-1].generation, deadline)
        if page.store_id != first.store_id or page.generation < first.generation or not page.changes:
            raise StoreUnavailable("the store was replaced while its changes were read: try again")
        if page.since != found[-1].generation:  # trimmed meanwhile
            begin, found = page.since, []
        found += page.changes
    listed = Changes(first.store_id, found[-1].generation if found else first.generation, begin, tuple(found))
    return listed, identity, lease


async def _page(runner: Runner, clock: StoreClock, since: int, deadline: float) -> tuple[Changes, StoreIdentity, float]:
    found = await runner.read(queries.CHANGES, deadline, since=since, limit=PAGE)
    if not found:
        raise MigrationNeeded(f"the store has lost its generation: {RUN_MIGRATE}")
    await asyncio.sleep(0)  # in each page: where a read does not wait, the loop has its turn here
    identity, lease = rows.identity((found[0][1], *found[0][6:]))
    runner.host_slots.raise_longest_lease(lease)
    return rows.changes(found, clock.at(found[0][0])), identity, lease
