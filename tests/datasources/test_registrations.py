"""Registrations are cached under the lease of the groups: a source that was deleted is not used again, at once on the
host of the writer and within the staleness bound elsewhere. Each test has a control that lacks the defence.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from engines.postgres import Postgres
from engines.warm_python import run
from tenantry import DataSources
from tenantry.backends.buses import PostgresBus
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.backends.sql import SQLStore
from tenantry.backends.sql.sources import SQLSources
from tenantry.cache import GroupCache, PendingLoad
from tenantry.cache.entries import Sources
from tenantry.clock import monotonic_with_suspend
from tenantry.database.migrations import migrate
from tenantry.errors import InvalidToken, StoreUnavailable, UnregisteredSource
from tenantry.groups import Changes, Environment, RegisteredSource, SourceDraft, SourceLookupResult, Tag, source_handle
from tenantry.resolver import Resolver
from tenantry.testing import MemoryStore, make_token
from tests.datasources.conftest import group, sqlite_file
from tests.datasources.hosts import KEYS, NO_POLL, CountingSources, CountingStore, Host, host, register, remove

BOUND = 1.0
SLACK = 30.0
"""Seconds that a busy machine may add."""
BEYOND = 3.0
"""Seconds for which a control watches that a source is used: well beyond the bound."""


@pytest.fixture
def url(sqlite_url: str) -> str:
    """A migrated SQLite file."""
    return sqlite_url


@pytest.fixture
async def writer(url: str, tmp_path: Path) -> AsyncIterator[SQLStore]:
    """The store of a process of this host; the source is registered."""
    store = await register(url, tmp_path / "here", tmp_path / "orders.db")
    yield store
    await store.aclose()


async def _cached(at: Host) -> None:
    """Returns when the registration is answered from the cache."""
    async with asyncio.timeout(60):
        while True:
            before = at.store.sources.reads
            assert await at.owners() == ["acme"]
            if at.store.sources.reads == before:
                return


async def _seconds_until_refused(at: Host, most: float) -> float:
    """How long the source is still used, from now on; ``most`` if it is used for so long."""
    begun = time.monotonic()
    while (gone := time.monotonic() - begun) < most:
        try:
            await at.owners()
        except (UnregisteredSource, StoreUnavailable):
            return gone
        await asyncio.sleep(0.01)
    return most


async def test_ten_panels_are_one_read(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """By each of its ids once. Red when nothing is stored in the cache (``store_source`` returns at once): 20 reads."""
    async with host(url, tmp_path / "here") as here:
        await _cached(here)
        before = here.store.sources.reads
        for _ in range(10):
            assert await here.owners() == ["acme"]
        assert here.store.sources.reads == before


async def test_what_is_not_there_is_asked_for_each_time(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """A source that is registered later is found at once, on every host: an absence is not cached."""
    async with host(url, tmp_path / "elsewhere") as elsewhere:
        await _cached(elsewhere)
        environment = elsewhere.asking.environment
        asking = group(environment=environment, main="later")
        with pytest.raises(UnregisteredSource):
            await elsewhere.sources.fetch(asking, "main", "select 1 as one", {})
        later = sqlite_file(tmp_path / "later.db", "later")
        await writer.sources.create(environment, "ds_2", SourceDraft("later", later))
        assert await elsewhere.sources.fetch(asking, "main", "select 1 as one", {}) == [{"one": 1}]


async def test_without_a_resolver_each_query_asks(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """No lease, no cache: of a store that no resolver follows, and of a resolver that was closed."""
    async with host(url, tmp_path / "here") as here:
        await _cached(here)
        await here.resolver.aclose()
        assert here.store.sources.source_cache is None
        before = here.store.sources.reads
        assert await here.owners() == ["acme"]
        await remove(writer)
        with pytest.raises(UnregisteredSource):
            await here.owners()
        assert here.store.sources.reads == before  # ``get`` was asked: there is nothing to note a generation for


async def test_a_second_resolver_takes_over(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """The DataSources of a store share the lease of whichever resolver runs."""
    async with host(url, tmp_path / "here") as here:
        await here.resolver.aclose()
        assert await here.owners() == ["acme"]
        second = Resolver(here.store, keys=KEYS, staleness=NO_POLL)
        await _cached(here)
        await second.aclose()


async def test_one_of_two_resolvers_is_closed(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """The first one lent its lease. Until the second one loads a group, each query reads the store; then its lease is
    used. Red when ``aclose`` does not withdraw the lease: queries would poll for a resolver that is closed."""
    async with host(url, tmp_path / "here") as here:
        second = Resolver(here.store, keys=KEYS, staleness=NO_POLL)
        await _cached(here)
        await here.resolver.aclose()
        assert here.store.sources.source_cache is None
        assert await here.owners() == ["acme"]
        with pytest.raises(InvalidToken):
            await second.resolve(KEYS.mint(make_token(handle=b"no group")))
        await _cached(here)
        assert here.store.sources.source_cache is not None
        await remove(writer)
        with pytest.raises(UnregisteredSource):
            await here.owners()
        await second.aclose()


async def test_behind_a_second_level_cache(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """A resolver of a RedisBackend shares its lease with the DataSources of the store behind it; nothing is read from
    or written to Redis for that (there is none)."""
    store = CountingStore(url, run_dir=tmp_path / "here")
    resolver = Resolver(RedisBackend(store, "redis://127.0.0.1:1"), keys=KEYS, staleness=NO_POLL)
    environment = await store.environments.get("production")
    assert environment is not None
    async with DataSources(store) as sources:
        here = Host(store, resolver, sources, group(environment=environment, main="warehouse"))
        await _cached(here)
        await remove(writer)
        with pytest.raises(UnregisteredSource):
            await here.owners()
    await resolver.aclose()
    await store.aclose()


class Hiding(SQLSources):
    """Of a program that shows its own choice of the sources."""

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        return None


class HidingWrapper:
    """The same around the sources of a store, whose other methods it passes on."""

    def __init__(self, sources: SQLSources) -> None:
        self.wrapped = sources

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        return None


@pytest.mark.parametrize("wrapped", [True, False], ids=["wrapper", "subclass"])
async def test_a_directory_with_a_read_of_its_own_is_asked_by_that(
    wrapped: bool, url: str, writer: SQLStore, tmp_path: Path
) -> None:
    """A source that it hides is not found, although a resolver runs. Red when the store's read at a snapshot is taken
    for the directory's."""
    store: Any = SQLStore(url, run_dir=tmp_path / "here")
    store.sources = HidingWrapper(store.sources) if wrapped else Hiding(store._runner, store._clock)
    resolver = Resolver(store, keys=KEYS, staleness=NO_POLL)
    environment = await writer.environments.get("production")
    assert environment is not None
    async with DataSources(store) as sources:
        with pytest.raises(UnregisteredSource):
            await sources.fetch(group(environment=environment, main="warehouse"), "main", "select 1", {})
    await resolver.aclose()
    await store.aclose()


async def test_a_store_in_memory(tmp_path: Path) -> None:
    """The same rules: cached, and gone at once when it is deleted. Red when MemoryStore announces nothing."""
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    made = await store.sources.create(environment, "ds_1", SourceDraft("own", sqlite_file(tmp_path / "a.db", "acme")))
    resolver = Resolver(store, keys=KEYS, staleness=NO_POLL)
    lease = store.sources.source_cache
    assert lease is not None
    for reference in ("ds_1", "own"):
        assert await lease.read_source(store.sources, environment, reference) == made
        assert lease.peek_source(environment, reference) == made
    generation = (await store.changes(None)).generation
    await store.sources.delete(environment, "own")
    assert (await store.changes(None)).generation == generation + 1
    for reference in ("ds_1", "own"):
        assert lease.peek_source(environment, reference) is None
    await resolver.aclose()


# --- the host of the writer -------------------------------------------------------------------------------------------


def _delete_in_another_process(url: str, run_dir: Path) -> None:
    command = [sys.executable, "-m", "tenantry", "data-source", "delete", "warehouse", "--environment", "production"]
    environment = {**os.environ, "TENANTRY_DATABASE": url, "TENANTRY_RUN_DIR": str(run_dir)}
    run(command, env=environment, check=True, capture_output=True, timeout=120)


async def test_two_processes_of_one_host(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """Another process deletes it: the next query is refused, with the next poll minutes away.

    Red when the writer announces nothing in the slots, as the control shows: that process uses another run folder.
    """
    async with host(url, tmp_path / "here") as here, host(url, tmp_path / "control") as control:
        await _cached(here)
        await _cached(control)
        await asyncio.to_thread(_delete_in_another_process, url, tmp_path / "here")
        with pytest.raises(UnregisteredSource):
            await here.owners()
        assert await control.owners() == ["acme"]


@pytest.mark.parametrize("reference", ["warehouse", "ds_1"])
async def test_each_of_its_ids_has_a_slot(reference: str, url: str, writer: SQLStore, tmp_path: Path) -> None:
    """A mapping may name a source by either id. Red when one of them alone is announced."""
    async with host(url, tmp_path / "here") as here:
        here.asking = group(environment=here.asking.environment, main=reference)
        await _cached(here)
        await remove(writer)
        with pytest.raises(UnregisteredSource):
            await here.owners()


# --- elsewhere --------------------------------------------------------------------------------------------------------


async def test_another_host_by_notification(postgres: Postgres, tmp_path: Path) -> None:
    """PostgreSQL notifies of it in the write's own transaction: the next poll is minutes away.

    Red when the trigger does not notify, as the control shows: that host follows no bus.
    """
    url = postgres.create_database()
    await asyncio.to_thread(migrate, url)
    writer = await register(url, tmp_path / "here", tmp_path / "orders.db")
    bus = PostgresBus(url)
    async with host(url, tmp_path / "a", buses=[bus]) as following, host(url, tmp_path / "b") as control:
        await _cached(following)
        async with asyncio.timeout(60):
            while bus.status != "receiving":
                await asyncio.sleep(0.01)
        await _cached(following)  # a bus that begins to listen empties the cache
        await _cached(control)
        await remove(writer)
        assert await _seconds_until_refused(following, 30.0) < 30.0
        assert await control.owners() == ["acme"]
    await writer.aclose()


async def test_another_host_by_the_poll(
    url: str, writer: SQLStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All notifications are lost: it is refused within the staleness bound.

    Red when a poll does not evict it, as the control shows: there the change is passed over.
    """
    async with host(url, tmp_path / "a", staleness=BOUND) as polling:
        await _cached(polling)
        await remove(writer)
        assert await _seconds_until_refused(polling, BOUND + SLACK) < BOUND + SLACK
    # The control has a poll of its own, since one that is late would end its lease: without one the store is asked.
    writer_again = await writer.environments.get("production")
    assert writer_again is not None
    path = sqlite_file(tmp_path / "again.db", "acme")
    await writer.sources.create(writer_again, "ds_3", SourceDraft("warehouse", path))
    monkeypatch.setattr(Sources, "drop_older", lambda *_: False)
    async with host(url, tmp_path / "b") as control:
        await _cached(control)
        await remove(writer)
        await _poll(control)
        assert await control.owners() == ["acme"]


class MortalSources(CountingSources):
    """Those of a MortalStore."""

    dead = False

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceLookupResult:
        self.check()
        return await super().get_at_snapshot(environment, reference)

    def check(self) -> None:
        if self.dead:
            raise StoreUnavailable("dead")


class MortalStore(CountingStore):
    """Answers nothing once its ``sources`` are dead."""

    part = MortalSources
    sources: MortalSources

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        self.sources.check()
        return await super().changes(since, lease=lease)


@pytest.mark.parametrize("frozen", [False, True], ids=["", "control: the lease does not end"])
async def test_the_store_is_dead(frozen: bool, url: str, writer: SQLStore, tmp_path: Path) -> None:
    """Queries of a cached registration go on, and end with the lease: beyond the bound it is StoreUnavailable.

    The control's clock stands still, so that its lease never ends: there the source is used beyond it. The other one's
    goes on once the source was used without the store. Both are on another host than the writer, whose slots would end
    the use at once.
    """
    stopped: float | None = monotonic_with_suspend()

    def clock() -> float:
        return monotonic_with_suspend() if stopped is None else stopped

    async with host(url, tmp_path / "elsewhere", staleness=BOUND, store=MortalStore, clock=clock) as elsewhere:
        await _cached(elsewhere)
        assert isinstance(elsewhere.store, MortalStore)
        elsewhere.store.sources.dead = True
        assert await elsewhere.owners() == ["acme"]  # the lease was given by a poll a moment ago
        await remove(writer)
        if frozen:
            assert await _seconds_until_refused(elsewhere, BEYOND) == BEYOND
        else:
            stopped = None
            assert await _seconds_until_refused(elsewhere, BOUND + SLACK) < BOUND + SLACK


# --- races and crashes ------------------------------------------------------------------------------------------------


class SlowSources(CountingSources):
    """Holds a registration that it has read until ``release``."""

    def __init__(self, *shared: Any) -> None:
        super().__init__(*shared)
        self.hold = False
        self.held = asyncio.Event()
        self.release = asyncio.Event()

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceLookupResult:
        reading = await super().get_at_snapshot(environment, reference)
        if self.hold:
            self.hold = False
            self.held.set()
            await self.release.wait()
        return reading


class SlowStore(CountingStore):
    """``sources`` are SlowSources."""

    part = SlowSources
    sources: SlowSources


async def _is_held(store: SlowStore, asking: asyncio.Task[list[str]]) -> None:
    """Returns when the read is held. Fails where the question was answered without one."""
    while not store.sources.held.is_set():
        assert not asking.done()
        await asyncio.sleep(0.01)


async def _race(url: str, writer: SQLStore, run_dir: Path, meanwhile: Callable[[Host], Awaitable[None]]) -> Host | None:
    """A read that began before the deletion comes back after it. The host if it then uses the source, else None."""
    async with host(url, run_dir, store=SlowStore) as here:
        store = here.store
        assert isinstance(store, SlowStore)
        await _cached(here)
        here.resolver.flush()
        store.sources.hold = True
        late = asyncio.create_task(here.owners())
        await _is_held(store, late)
        await remove(writer)
        await meanwhile(here)
        store.sources.release.set()
        assert await late == ["acme"]  # it was asked for before the write
        try:
            await here.owners()
        except UnregisteredSource:
            return None
        return here


async def _nothing(_: Host) -> None:
    return


async def _poll(at: Host) -> None:
    assert at.resolver._poller is not None
    await at.resolver._poller.poll()


RACES = pytest.mark.parametrize(("folder", "meanwhile"), [("here", _nothing), ("a", _poll)], ids=["same host", "poll"])


@RACES
async def test_a_read_from_before_the_write_is_not_cached(
    folder: str, meanwhile: Callable[[Host], Awaitable[None]], url: str, writer: SQLStore, tmp_path: Path
) -> None:
    """On the host of the writer its slot has another version; on another host a poll has listed the change meanwhile.

    Red when whatever comes is stored: see the control.
    """
    assert await _race(url, writer, tmp_path / folder, meanwhile) is None


@RACES
async def test_control_of_the_race(
    folder: str,
    meanwhile: Callable[[Host], Awaitable[None]],
    url: str,
    writer: SQLStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same with a cache that stores what comes: the deleted source is used."""

    def always(self: GroupCache, pending: PendingLoad, generation: int | None, deadline: float, now: float) -> bool:
        pending.version = self.lease.versions[pending.slot]
        return True

    monkeypatch.setattr(GroupCache, "_can_store", always)
    assert await _race(url, writer, tmp_path / folder, meanwhile) is not None


async def test_what_was_read_earlier_does_not_replace_what_was_read_later(
    url: str, writer: SQLStore, tmp_path: Path
) -> None:
    """Another host replaces the source while a read of it is under way here; a second read finds the new one. Then the
    first comes back: the new one stays, though no poll has listed the change yet.

    Red when the generations are not compared: the source of before would be used once more.
    """
    async with host(url, tmp_path / "elsewhere", store=SlowStore) as elsewhere:
        store = elsewhere.store
        assert isinstance(store, SlowStore)
        await _cached(elsewhere)
        elsewhere.resolver.flush()
        store.sources.hold = True
        early = asyncio.create_task(elsewhere.owners())
        await _is_held(store, early)
        await remove(writer)
        path = sqlite_file(tmp_path / "new.db", "new")
        environment = elsewhere.asking.environment
        await writer.sources.create(environment, "ds_2", SourceDraft("warehouse", path))
        assert await elsewhere.owners() == ["new"]
        store.sources.release.set()
        assert await early == ["acme"]  # it was asked for before the write
        assert await elsewhere.owners() == ["new"]


@pytest.mark.parametrize("announced", [True, False], ids=["", "control: nothing was announced"])
async def test_a_writer_that_dies(announced: bool, url: str, writer: SQLStore, tmp_path: Path) -> None:
    """Between its commit and the even version: the other processes of its host ask the store, and see what it did.

    The control's writer says nothing before it commits: there the source is used.
    """
    async with host(url, tmp_path / "here") as here:
        await _cached(here)
        slots = writer.slots
        assert slots is not None
        with ExitStack() as dead:
            if announced:
                for reference in ("ds_1", "warehouse"):
                    dead.enter_context(slots.writing(source_handle(here.asking.environment.id, reference)))
            dead.pop_all()  # it never comes to its end
        database = url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(database)) as dying, dying:  # and nothing that this host would see
            dying.execute("delete from data_sources")
        if announced:
            with pytest.raises(UnregisteredSource):
                await here.owners()
        else:
            assert await here.owners() == ["acme"]


async def test_the_slot_of_a_dead_writer_is_repaired(url: str, writer: SQLStore, tmp_path: Path) -> None:
    """It died before its commit. Each query asks, until a poll has seen the write in progress for the staleness bound.

    Red when ``begin`` does not note a write in progress: nothing is cached any more. The clock stands still until three
    queries have asked.
    """
    stopped: float | None = monotonic_with_suspend()

    def clock() -> float:
        return monotonic_with_suspend() if stopped is None else stopped

    async with host(url, tmp_path / "here", staleness=BOUND, clock=clock) as here:
        await _cached(here)
        assert writer.slots is not None
        handle = source_handle(here.asking.environment.id, "warehouse")
        with ExitStack() as dead:
            dead.enter_context(writer.slots.writing(handle))
            kept = dead.pop_all()
        before = here.store.sources.reads
        for _ in range(3):
            assert await here.owners() == ["acme"]
        assert here.store.sources.reads == before + 3
        stopped = None
        await _cached(here)
        kept.close()
