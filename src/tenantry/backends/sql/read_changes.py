"""The list of changes, read in pages: a long one must not hold up the event loop that it is read on."""

from __future__ import annotations

import asyncio

from tenantry.backends.sql import queries, rows
from tenantry.backends.sql.runner import Runner
from tenantry.backends.sql.time_of_day import TimeOfDay
from tenantry.backends.sql.words import StoreIdentity
from tenantry.database.address import RUN_MIGRATE
from tenantry.errors import MigrationNeeded, StoreUnavailable
from tenantry.groups import Change, Changes

PAGE = 150
"""Changes that are read in one go. SQLite takes 200 µs for them in the event loop, and as much again to forget what it
knew of the file when somebody has written to it; to put them together takes 150 µs."""


async def read_changes(runner: Runner, time: TimeOfDay, since: int | None) -> tuple[Changes, StoreIdentity, float]:
    """All that were committed before the call, of the last LISTED_CHANGES: up to the generation at the first page; then
    the identity of the store and the longest lease (seconds) that anybody has asked it for, as of the last page.

    No page of an unbroken list misses what a later one would show, for generations are committed in their order.
    Raises StoreUnavailable, MigrationNeeded.
    """
    deadline = runner.deadline()
    first, identity, lease = await _page(runner, time, -1 if since is None else since, deadline)
    page = first
    begin, found = page.since, list[Change](page.changes)
    while page.changes and found[-1].generation < first.generation:
        page, identity, lease = await _page(runner, time, found[-1].generation, deadline)
        if page.store_id != first.store_id or page.generation < first.generation or not page.changes:
            raise StoreUnavailable("the store was replaced while its changes were read: try again")
        if page.since != found[-1].generation:  # trimmed meanwhile
            begin, found = page.since, []
        found += page.changes
    told = Changes(first.store_id, found[-1].generation if found else first.generation, begin, tuple(found))
    return told, identity, lease


async def _page(runner: Runner, time: TimeOfDay, since: int, deadline: float) -> tuple[Changes, StoreIdentity, float]:
    found = await runner.read(queries.CHANGES, deadline, since=since, limit=PAGE)
    if not found:
        raise MigrationNeeded(f"the store has lost its generation: {RUN_MIGRATE}")
    await asyncio.sleep(0)  # in each page: where a read does not wait, the loop has its turn here
    identity, lease = rows.identity((found[0][1], *found[0][6:]))
    runner.words.learn_lease(lease)
    return rows.changes(found, time.at(found[0][0])), identity, lease
