"""What runs ends when its group or data source is taken away or changed, whether anybody reads it or not.

The defence is BindingWatch. Broken once, with what went red: no check at all (each change, a hundred seconds of rows);
the group not read again (mapping, property, name, rotation, end date, deletion); the registration not read again
(deleted, moved); records compared with ``==`` (a property that becomes ``true``); the end not told to what waits for
the engine (a query, a first piece); an unread piece kept (what the engine has ended).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engines.postgres import Postgres
from tenantry import DataSources
from tenantry.backends.sql import SQLStore
from tenantry.datasources import ResultStream, StreamLimits, registrations
from tenantry.datasources.many_rows import Reduction
from tenantry.errors import QueryOutdated, StoreUnavailable
from tenantry.groups import Environment, GroupChanges, GroupDraft, Issued, RegisteredSource, Tag, UserGroup
from tenantry.migrations import migrate
from tenantry.ports import Store
from tenantry.resolver import Resolver
from tenantry.testing import MemoryStore, make_token
from tests.datasources.conftest import sqlite_file
from tests.datasources.streamed_rows import ENDLESS, ROWS
from tests.resolver.fake import KEYS

SOON = 120.0
"""Seconds within which something happens on a busy machine. What is ended would run for much longer."""
FEW_CHECKS = 2.0
"""Seconds of many checks, for what is to go on."""
ROWS_WITHOUT_END = f"{ROWS['sqlite'].format(ENDLESS)} where {{{{ region }}}} = 'eu'"
NO_ROW = f"{ROWS['sqlite'].format(2_000_000_000)} where i < 0"
LIMITS = {
    "timeout": 600.0,
    "connect_timeout": SOON,
    "stream_limits": StreamLimits(row_limit=ENDLESS, max_bytes=2**40, reader_timeout=600.0),
}


@dataclass
class Tenancy:
    """A store with one group, and two data sources in files."""

    store: Store
    environment: Environment
    group: UserGroup
    urls: tuple[str, str]
    url: str = ""

    async def register(self, number: int, url: str) -> None:
        await self.store.create_data_source(
            self.environment, source_id=f"ds_{number}", provided_id=f"own_{number}", url=url
        )

    async def change(self, **changes: Any) -> None:
        await self.store.update(self.environment, "acme", GroupChanges(**changes))

    async def rotate(self, grace_seconds: int) -> None:
        issued = await self.store.get(self.environment, "acme")
        assert issued is not None
        token = make_token()
        await self.store.rotate(
            self.environment, issued.token, key_id=token.key_id, nonce=token.nonce, grace_seconds=grace_seconds
        )

    async def move(self) -> None:
        """The source has another URL: it is deleted and registered again."""
        await self.store.delete_data_source(self.environment, "own_1")
        await self.register(3, self.urls[1])
        await self.change(mapping={"main": "ds_3"})


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    url = f"sqlite:///{tmp_path}/store.db"
    if request.param == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.create_database()
    await asyncio.to_thread(migrate, url)
    made = SQLStore(url)
    yield made
    await made.aclose()


@pytest.fixture
async def tenancy(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tenancy:
    monkeypatch.setattr(registrations, "STALENESS", 0.5 if isinstance(store, MemoryStore) else 5.0)
    urls = sqlite_file(tmp_path / "one.db", "acme"), sqlite_file(tmp_path / "two.db", "acme")
    environment = await store.create_environment("production", Tag.CUSTOMER)
    made = Tenancy(store, environment, None, urls)  # type: ignore[arg-type]  # the group comes next
    await made.register(1, urls[0])
    await made.register(2, urls[1])
    draft = GroupDraft("acme", "Acme", {"region": "eu", "beta": 1}, {"main": "own_1"})
    made.group = (await store.get_or_create(environment, draft, make_token())).group
    return made


async def ended(sources: DataSources, outcome: str = QueryOutdated.code) -> None:
    """Returns when one execution has ended so; nobody need read it."""
    async with asyncio.timeout(SOON):
        while not any(each.executions[outcome] for each in sources.activity.sources.values()):
            await asyncio.sleep(0.02)


Change = Callable[[Tenancy], Awaitable[Any]]
CHANGES: dict[str, Change] = {
    "the mapping is cleared": lambda it: it.change(mapping=None),
    "the mapping names another source": lambda it: it.change(mapping={"main": "own_2"}),
    "the source is deleted": lambda it: it.store.delete_data_source(it.environment, "own_1"),
    "the source is moved": Tenancy.move,
    "a property changes": lambda it: it.change(properties={"region": "us", "beta": 1}),
    "a property becomes equal in Python": lambda it: it.change(properties={"region": "eu", "beta": True}),
    "the properties are cleared": lambda it: it.change(properties=None),
    "the name changes": lambda it: it.change(name="Acme Ltd"),
    "the token is rotated": lambda it: it.rotate(0),
    "the group is deleted": lambda it: it.store.delete(it.environment, "acme"),
    "the group has ended": lambda it: it.change(expires_at=datetime.now(UTC) + timedelta(seconds=1)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_stream_ends_with_what_it_was_bound_with(tenancy: Tenancy, change: Change) -> None:
    """Though its reader reads nothing; what he reads then is the error, and no row."""
    async with DataSources(tenancy.store, **LIMITS) as sources:
        stream = await sources.stream(tenancy.group, "main", ROWS_WITHOUT_END)
        await anext(stream)
        await change(tenancy)
        await ended(sources)
        for _ in range(2):
            with pytest.raises(QueryOutdated):
                await anext(stream)
        assert not len(sources.bindings), "nothing is checked any more"


async def test_a_stream_ends_with_its_environment(tenancy: Tenancy, tmp_path: Path, request: Any) -> None:
    """Its name is a variable, and nothing of another environment is read: it was renamed in the database, for there is
    no command for that."""
    if isinstance(tenancy.store, MemoryStore):
        pytest.skip("a store in memory has no database")
    async with DataSources(tenancy.store, **LIMITS) as sources:
        stream = await sources.stream(tenancy.group, "main", ROWS_WITHOUT_END)
        rename = "update environments set name = 'staging'"
        if (tmp_path / "store.db").exists():
            with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
                connection.execute(rename)
        else:
            request.getfixturevalue("postgres").execute(rename, url=tenancy.url)
        await ended(sources)
        with pytest.raises(QueryOutdated):
            await anext(stream)


GOES_ON: dict[str, Change] = {
    "nothing changes": lambda it: asyncio.sleep(0),
    "the end date is moved": lambda it: it.change(expires_at=datetime.now(UTC) + timedelta(days=1)),
    "the old token has its grace": lambda it: it.rotate(3600),
    "the environment has a grace": lambda it: it.store.set_grace(it.environment, 60),
    "another source is deleted": lambda it: it.store.delete_data_source(it.environment, "own_2"),
}


@pytest.mark.parametrize("change", GOES_ON.values(), ids=GOES_ON)
async def test_a_stream_goes_on(tenancy: Tenancy, change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through many checks. Red when revisions are compared alone, or registrations with their environment."""
    monkeypatch.setattr(registrations, "STALENESS", 0.5)
    if not isinstance(tenancy.store, MemoryStore):
        monkeypatch.setattr(registrations, "STALENESS", 10.0)
    async with DataSources(tenancy.store, **LIMITS) as sources:
        stream = await sources.stream(tenancy.group, "main", ROWS_WITHOUT_END)
        await change(tenancy)
        (binding,) = sources.bindings._bindings
        certain, checks = binding.certain_until, 0
        async with asyncio.timeout(SOON):
            while checks < 2:
                await asyncio.sleep(0.02)
                await anext(stream)
                if binding.certain_until != certain:
                    certain, checks = binding.certain_until, checks + 1
        await stream.aclose()
        assert not len(sources.bindings)


# --- whatever lasts, on one store -------------------------------------------------------------------------------------


@pytest.fixture
async def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tenancy:
    """A tenancy in memory, with a short bound."""
    monkeypatch.setattr(registrations, "STALENESS", 0.5)
    store = MemoryStore()
    urls = sqlite_file(tmp_path / "one.db", "acme"), sqlite_file(tmp_path / "two.db", "acme")
    environment = await store.create_environment("production", Tag.CUSTOMER)
    made = Tenancy(store, environment, None, urls)  # type: ignore[arg-type]  # the group comes next
    await made.register(1, urls[0])
    draft = GroupDraft("acme", "Acme", {"region": "eu"}, {"main": "own_1"})
    made.group = (await store.get_or_create(environment, draft, make_token())).group
    return made


RUNS: dict[str, Callable[[DataSources, UserGroup], Awaitable[Any]]] = {
    "a query": lambda sources, group: sources.query(group, "main", NO_ROW),
    "rows as dicts": lambda sources, group: sources.fetch(group, "main", NO_ROW),
    "a chart of many rows": lambda sources, group: sources.query(
        group, "main", NO_ROW, reduction=Reduction("all", lambda result: result)
    ),
    "a stream before its first row": lambda sources, group: sources.stream(group, "main", NO_ROW),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
async def test_what_waits_for_the_engine_ends(own: Tenancy, run: Any) -> None:
    """And the query is stopped: its one connection serves the next one."""
    async with DataSources(own.store, pool_size=1, **LIMITS) as sources:
        running = asyncio.ensure_future(run(sources, own.group))
        async with asyncio.timeout(SOON):
            while not any(each.running for each in sources.activity.sources.values()):
                await asyncio.sleep(0.01)
        await own.change(mapping={"main": "own_1", "other": "own_1"})
        async with asyncio.timeout(SOON):
            with pytest.raises(QueryOutdated):
                await running
            now = await own.store.get(own.environment, "acme")
            assert now is not None
            assert await sources.fetch(now.group, "main", "select 1 as one") == [{"one": 1}]
        assert not len(sources.bindings)


async def test_one_of_two_who_wait_for_an_answer(own: Tenancy) -> None:
    """The other group's goes on: only who is outdated leaves. Red when the query of both is stopped."""
    draft = GroupDraft("globex", "Globex", {"region": "eu"}, {"main": "own_1"})
    other = (await own.store.get_or_create(own.environment, draft, make_token(handle=b"87654321"))).group
    async with DataSources(own.store, **LIMITS) as sources:
        mine = asyncio.ensure_future(sources.query(own.group, "main", NO_ROW))
        theirs = asyncio.ensure_future(sources.query(other, "main", NO_ROW))
        async with asyncio.timeout(SOON):
            while sources.flights.counters.joined < 1:
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
    async with DataSources(own.store, **LIMITS) as sources:
        stream = await sources.stream(own.group, "main", "select 1 as one")
        await own.change(mapping=None)
        async with asyncio.timeout(SOON):
            while len(sources.bindings):
                await asyncio.sleep(0.01)
        with pytest.raises(QueryOutdated):
            await anext(stream)


async def test_a_stream_that_was_read_or_dropped_is_not_checked(own: Tenancy) -> None:
    """Red when a stream that nobody refers to stays in the watch, and with it in memory."""
    async with DataSources(own.store, **LIMITS) as sources:
        assert [piece async for piece in await sources.stream(own.group, "main", "select 1 as one")]
        assert not len(sources.bindings)
        dropped: ResultStream | None = await sources.stream(own.group, "main", ROWS_WITHOUT_END)
        assert (len(sources.bindings), dropped is not None) == (1, True)
        dropped = None
        async with asyncio.timeout(SOON):
            while len(sources.bindings):
                await asyncio.sleep(0.01)


class Unsteady(MemoryStore):
    """A store that answers while ``up``."""

    up = True

    async def get_by_handle(self, handle: bytes) -> Issued | None:
        self._look()
        return await super().get_by_handle(handle)

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        self._look()
        return await super().data_source(environment, reference)

    def _look(self) -> None:
        if not self.up:
            raise StoreUnavailable("down")


async def test_a_stream_ends_when_nobody_knows(own: Tenancy) -> None:
    """The store did not answer for the whole bound. Red when a check that fails counts as one that is good."""
    store = Unsteady()
    await store.create_environment("production", Tag.CUSTOMER)
    await store.create_data_source(own.environment, source_id="ds_1", provided_id="own_1", url=own.urls[0])
    draft = GroupDraft("acme", "Acme", {"region": "eu"}, {"main": "own_1"})
    group = (await store.get_or_create(own.environment, draft, make_token())).group
    async with DataSources(store, **LIMITS) as sources:
        stream = await sources.stream(group, "main", ROWS_WITHOUT_END)
        store.up = False
        await ended(sources, StoreUnavailable.code)
        with pytest.raises(StoreUnavailable):
            await anext(stream)


async def test_the_bound_is_that_of_the_resolver(own: Tenancy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one of the same store runs in this process; else five seconds."""
    monkeypatch.undo()
    async with DataSources(own.store, **LIMITS) as sources:
        assert sources._registrations.staleness == 5.0
        resolver = Resolver(own.store, keys=KEYS, staleness=0.75)
        assert sources._registrations.staleness == 0.75
        await resolver.aclose()


async def test_a_directory_without_groups_checks_registrations(own: Tenancy) -> None:
    """As an app has one whose groups come from elsewhere. Red when its streams are never checked, and when they end
    because the group is not known there."""

    class Sources:
        def __init__(self) -> None:
            self.asked = 0
            self.gone = False

        async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
            self.asked += 1
            return None if self.gone else await own.store.data_source(environment, reference)

    directory = Sources()
    async with DataSources(directory, **LIMITS) as sources:
        stream = await sources.stream(own.group, "main", ROWS_WITHOUT_END)
        async with asyncio.timeout(SOON):
            while directory.asked < 4:
                await asyncio.sleep(0.01)
        assert await anext(stream)
        directory.gone = True
        await ended(sources)
        with pytest.raises(QueryOutdated):
            await anext(stream)
