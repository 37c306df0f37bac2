"""Whatever lasts ends with its group or data source: what waits for an engine, for rows, or for its reader.

What was broken, and went red, is in test_outdated.py.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tenantry import DataSources
from tenantry.backends.memory.groups import MemoryGroups
from tenantry.backends.memory.sources import MemorySources
from tenantry.datasources import Limits, OpenRows, ResultStream, source_lookup
from tenantry.datasources.pool.streamed_reduction import Reduction
from tenantry.errors import QueryOutdated, StoreUnavailable, TemplateError
from tenantry.groups import Environment, GroupDraft, Issued, RegisteredSource, SourceDraft, Tag, UserGroup
from tenantry.resolver import Resolver
from tenantry.sql import BoundSQL
from tenantry.testing import MemoryStore, make_token
from tests.datasources.settings import data_sources, joined
from tests.datasources.tenancy import LIMITS, NO_ROW, ROWS_WITHOUT_END, SOON, Tenancy, ended, make_tenancy
from tests.datasources.test_engines import EchoDriver
from tests.resolver.fake import KEYS


@pytest.fixture
async def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tenancy:
    """A tenancy in memory, with a short bound."""
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5)
    return await make_tenancy(MemoryStore(), tmp_path)


RUNS: dict[str, Callable[[DataSources, UserGroup], Awaitable[Any]]] = {
    "a query": lambda sources, group: sources.query(group, "main", NO_ROW),
    "rows as dicts": lambda sources, group: sources.fetch(group, "main", NO_ROW),
    "a chart of many rows": lambda sources, group: sources.query(
        group, "main", NO_ROW, reduction=Reduction("all", lambda result: result, lambda result: result)
    ),
    "a stream before its first row": lambda sources, group: sources.stream(group, "main", NO_ROW),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
async def test_what_waits_for_the_engine_ends(own: Tenancy, run: Any) -> None:
    """And the query is stopped: its one connection serves the next one."""
    async with data_sources(own.store, pool_size=1, **LIMITS) as sources:
        running = asyncio.ensure_future(run(sources, own.group))
        async with asyncio.timeout(SOON):
            while not any(each.running for each in sources.activity.sources.values()):
                await asyncio.sleep(0.01)
        await own.change(mapping={"main": "own_1", "other": "own_1"})
        async with asyncio.timeout(SOON):
            with pytest.raises(QueryOutdated):
                await running
            now = await own.store.groups.get(own.environment, "acme")
            assert now is not None
            assert await sources.fetch(now.group, "main", "select 1 as one") == [{"one": 1}]
        assert not len(sources.query_watch)


async def test_a_declaration_of_tables_changes_while_a_query_runs(own: Tenancy) -> None:
    """The query that runs without guards ends, and the next one has them."""
    orders = "select owner from orders"
    async with data_sources(own.store, pool_size=1, **LIMITS) as sources:
        assert len(await sources.fetch(own.group, "main", orders)) == 3
        running = asyncio.ensure_future(sources.query(own.group, "main", NO_ROW))
        async with asyncio.timeout(SOON):
            while not any(each.running for each in sources.activity.sources.values()):
                await asyncio.sleep(0.01)
        await own.guard({"tables": {"orders": {"owner": "{{ user_group.properties.region }}"}}})
        async with asyncio.timeout(SOON):
            with pytest.raises(QueryOutdated):
                await running
            assert await sources.fetch(own.group, "main", orders) == []
            with pytest.raises(TemplateError, match="sqlite_schema has data of every group"):
                await sources.fetch(own.group, "main", "select name from sqlite_schema")


async def test_one_of_two_who_wait_for_an_answer(own: Tenancy) -> None:
    """The other group's goes on: only who is outdated leaves. Red when the query of both is stopped."""
    draft = GroupDraft("globex", "Globex", {"region": "eu"}, {"main": "own_1"})
    other = (await own.store.groups.get_or_create(own.environment, draft, make_token(handle=b"87654321"))).group
    async with data_sources(own.store, **LIMITS) as sources:
        mine = asyncio.ensure_future(sources.query(own.group, "main", NO_ROW))
        theirs = asyncio.ensure_future(sources.query(other, "main", NO_ROW))
        async with asyncio.timeout(SOON):
            while joined(sources) < 1:
                await asyncio.sleep(0.01)
        await own.change(mapping=None)
        async with asyncio.timeout(SOON):
            with pytest.raises(QueryOutdated):
                await mine
        await asyncio.sleep(0)
        assert not theirs.done()
        theirs.cancel()
        await asyncio.gather(theirs, return_exceptions=True)


async def test_rows_that_the_engine_has_given_are_not_read(own: Tenancy) -> None:
    """All of them are in the first piece, and the engine has long ended. Red when the end of the engine's query ends
    the watch."""
    async with data_sources(own.store, **LIMITS) as sources:
        stream = await sources.stream(own.group, "main", "select 1 as one")
        await own.change(mapping=None)
        async with asyncio.timeout(SOON):
            while len(sources.query_watch):
                await asyncio.sleep(0.01)
        with pytest.raises(QueryOutdated):
            await anext(stream)


class StuckDriver(EchoDriver):
    """Gives rows until ``stuck``, then none, and cannot be interrupted."""

    stuck = False

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        super().__init__(source, limits)
        self.released = threading.Event()

    def open_rows(self, connection: str, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        return OpenRows(["n"], self._rows())

    def _rows(self) -> Iterator[tuple[int]]:
        for number in count():
            if self.stuck:
                self.released.wait()
            yield (number,)


async def test_a_reader_does_not_wait_for_an_engine_that_is_stuck(own: Tenancy) -> None:
    """It is between two pieces, and does not come back. Red when the reader is told by the engine's thread alone."""
    made: list[StuckDriver] = []

    def make(source: RegisteredSource, limits: Limits) -> StuckDriver:
        made.append(StuckDriver(source, limits))
        return made[-1]

    async with data_sources(own.store, engines={"echo": make}, **LIMITS) as sources:
        await own.register(4, "echo://host/name")
        await own.change(mapping={"main": "own_4"})
        now = await own.store.groups.get(own.environment, "acme")
        assert now is not None
        stream = await sources.stream(now.group, "main", "select 1")
        await anext(stream)
        (driver,) = made
        driver.stuck = True
        reading = asyncio.ensure_future(read_all(stream))
        await own.change(mapping=None)
        try:
            async with asyncio.timeout(SOON):
                with pytest.raises(QueryOutdated):
                    await reading
        finally:
            driver.released.set()


async def read_all(stream: ResultStream) -> None:
    async for _ in stream:
        pass


async def test_a_stream_that_was_read_or_dropped_is_not_checked(own: Tenancy) -> None:
    """Red when a stream that nobody refers to stays in the watch, and with it in memory."""
    async with data_sources(own.store, **LIMITS) as sources:
        assert [piece async for piece in await sources.stream(own.group, "main", "select 1 as one")]
        assert not len(sources.query_watch)
        dropped: ResultStream | None = await sources.stream(own.group, "main", ROWS_WITHOUT_END)
        assert (len(sources.query_watch), dropped is not None) == (1, True)
        dropped = None
        async with asyncio.timeout(SOON):
            while len(sources.query_watch):
                await asyncio.sleep(0.01)


class Unsteady(MemoryStore):
    """A store whose groups and sources answer while ``up``."""

    up = True

    def __init__(self) -> None:
        super().__init__()
        store = self

        class Groups(MemoryGroups):
            async def get(self, *which: Any, **named: Any) -> Issued | None:
                store.require_up()
                return await super().get(*which, **named)

        class Sources(MemorySources):
            async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
                store.require_up()
                return await super().get(environment, reference)

        self.groups, self.sources = Groups(self._tables), Sources(self._tables)

    def require_up(self) -> None:
        if not self.up:
            raise StoreUnavailable("down")


async def test_a_stream_ends_when_nobody_knows(own: Tenancy) -> None:
    """The store did not answer for the whole bound. Red when a check that fails counts as one that is good."""
    store = Unsteady()
    await store.environments.create("production", Tag.CUSTOMER)
    await store.sources.create(own.environment, "ds_1", SourceDraft("own_1", own.urls[0]))
    draft = GroupDraft("acme", "Acme", {"region": "eu"}, {"main": "own_1"})
    group = (await store.groups.get_or_create(own.environment, draft, make_token())).group
    async with data_sources(store, **LIMITS) as sources:
        stream = await sources.stream(group, "main", ROWS_WITHOUT_END)
        store.up = False
        await ended(sources, StoreUnavailable.code)
        with pytest.raises(StoreUnavailable):
            await anext(stream)


async def test_a_read_that_never_ends_is_not_the_last_round(own: Tenancy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams that come later are checked, while there are always some. Red when a round has all the time: each stream
    after that one ended with StoreUnavailable."""
    read, asked = own.store.groups.get, 0

    async def get(*, handle: bytes) -> Issued | None:
        nonlocal asked
        asked += 1
        if asked == 1:
            await asyncio.Event().wait()
        return await read(handle=handle)

    monkeypatch.setattr(own.store.groups, "get", get)
    async with data_sources(own.store, **LIMITS, group_pool_size=5) as sources, asyncio.timeout(SOON):
        opened: list[ResultStream] = []
        while asked < 4:
            if len(opened) == 2:  # more could wait for the connections of the group
                await opened.pop(0).aclose()
            with suppress(StoreUnavailable):  # a busy machine may take longer than the bound to open one
                opened.append(await sources.stream(own.group, "main", ROWS_WITHOUT_END))
            await asyncio.sleep(0.2)
        for each in opened:
            await each.aclose()


async def test_the_bound_is_that_of_the_resolver(own: Tenancy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one of the same store runs in this process; else five seconds."""
    monkeypatch.undo()
    async with data_sources(own.store, **LIMITS) as sources:
        assert sources._lookup.staleness == 5.0
        resolver = Resolver(own.store, keys=KEYS, staleness=0.75)
        assert sources._lookup.staleness == 0.75
        await resolver.aclose()


async def test_a_directory_without_groups_checks_registrations(own: Tenancy) -> None:
    """As an app has one whose groups come from elsewhere. Red when its streams are never checked, and when they end
    because the group is not known there."""

    class Sources:
        def __init__(self) -> None:
            self.asked = 0
            self.gone = False
            self.sources = self

        async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
            self.asked += 1
            return None if self.gone else await own.store.sources.get(environment, reference)

    directory = Sources()
    async with data_sources(directory, **LIMITS) as sources:
        stream = await sources.stream(own.group, "main", ROWS_WITHOUT_END)
        async with asyncio.timeout(SOON):
            while directory.asked < 4:
                await asyncio.sleep(0.01)
        assert await anext(stream)
        directory.gone = True
        await ended(sources)
        with pytest.raises(QueryOutdated):
            await anext(stream)
