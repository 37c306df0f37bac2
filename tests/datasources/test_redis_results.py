"""Answers that processes share in Valkey, and what becomes of queries when it fails, lies or forgets."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.valkey import Valkey
from tenantry.datasources import RedisResults, ResultCache
from tenantry.datasources.caching import redis_results
from tenantry.datasources.caching.redis_results import LEASE_SECONDS
from tenantry.datasources.caching.result_entry import SharedEntry
from tenantry.errors import InvalidSettings, SourceUnavailable
from tenantry.groups import UserGroup
from tenantry.sql import BoundSQL
from tests.datasources.conftest import PRODUCTION, Directory, group, sqlite_file
from tests.datasources.settings import data_sources, executed
from tests.datasources.test_in_flight import viewers
from tests.datasources.test_result_cache import Canary, Clock

COUNT = "select count(*) as n, 'x' as text from orders"
SECRET = b"s" * 32


class Ticking(Clock):
    """Moves a little whenever it is looked at: what comes later is later."""

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


class Process:
    """One of a fleet: DataSources with a cache of their own and the one in Valkey. ``boot`` is its monotonic clock."""

    def __init__(
        self,
        directory: Directory,
        url: str,
        clock: Clock,
        secret: bytes = SECRET,
        seconds: float = 60,
        shared: RedisResults | None = None,
        **options: Any,
    ) -> None:
        self.boot = Clock()
        self.shared = shared or RedisResults(url, secret=secret, clock=self.boot, **{"budget": 20.0, **options})
        self.cache = ResultCache(shared=self.shared, clock=clock, seconds=seconds)
        self.sources = data_sources(directory, cache=self.cache, connect_timeout=60.0)

    async def count(self, asking: UserGroup | None = None, **options: Any) -> int:
        rows = await self.sources.fetch(asking or group(main="ds_1"), "main", COUNT, **options)
        await self.shared.settle()
        return int(rows[0]["n"])

    @property
    def executed(self) -> int:
        return executed(self.sources)

    async def later(self, seconds: float) -> None:
        """So much later, the marks have been asked for again."""
        self.boot.now += seconds
        self.shared.is_current()
        if self.shared._poll is not None:
            await asyncio.wait([self.shared._poll])


class Fleet:
    def __init__(self, directory: Directory, valkey: Valkey, path: Path) -> None:
        self.clock = Ticking()
        self.valkey = valkey
        self.directory = directory
        self._path = path
        self._processes: list[Process] = []
        directory.add(1, sqlite_file(path, "acme"))

    def process(self, **options: Any) -> Process:
        self._processes.append(Process(self.directory, self.valkey.url, self.clock, **options))
        return self._processes[-1]

    def insert(self) -> None:
        with sqlite3.connect(self._path) as connection:
            connection.execute("insert into orders values (9, 'acme', 'eu')")
        connection.close()

    async def aclose(self) -> None:
        for each in self._processes:
            await each.sources.aclose()


@pytest.fixture
async def fleet(
    directory: Directory, valkey: Valkey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Fleet]:
    """A busy machine has time for its polls and writes, too."""
    monkeypatch.setattr(redis_results, "_WRITE_SECONDS", 20.0)
    valkey.execute("FLUSHALL")
    fleet = Fleet(directory, valkey, tmp_path / "orders.db")
    yield fleet
    valkey.thaw()
    valkey.start()
    await fleet.aclose()


async def test_an_answer_of_one_process_serves_another(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its age. The second one then has it itself. Twenty who ask at once are one read."""
    one, other = fleet.process(), fleet.process()
    assert await one.count() == 3
    fleet.insert()
    fleet.clock.now += 50
    reads = 0
    read = other.shared.read

    async def counted(key: str, source: str) -> SharedEntry | None:
        nonlocal reads
        reads += 1
        return await read(key, source)

    monkeypatch.setattr(other.shared, "read", counted)
    assert await asyncio.gather(*(other.count() for _ in range(20))) == [3] * 20
    result = await other.sources.query(group(main="ds_1"), "main", COUNT)
    assert result.as_of.timestamp() == pytest.approx(fleet.clock.now - 50, abs=0.5)
    assert (one.executed, other.executed, reads) == (1, 0, 1)
    fleet.clock.now += 11
    assert await other.count() == 4
    assert await one.count(max_age=5) == 4
    assert (one.executed, other.executed) == (1, 1)


async def test_an_entry_ends_by_itself(fleet: Fleet) -> None:
    one = fleet.process()
    await one.count()
    await one.count(group(main="ds_1"), max_age=0)
    for key in fleet.valkey.stored():
        assert key.endswith(":marks") or 0 < int(fleet.valkey.execute("PTTL", key)) <= 60_000


@pytest.mark.parametrize("broken", [False, True])
async def test_a_group_that_read_itself_never_shares(
    broken: bool, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through Valkey alone: each group asks in a process of its own. The control has a key of the text alone."""
    if broken:
        monkeypatch.setattr(BoundSQL, "fingerprint", lambda self, **_: self.sql)
    seen = []
    for number in range(2):
        process = fleet.process()
        seen.append((await Canary("sqlite").seen(process.sources))[number])
        await process.shared.settle()
    assert seen == (["canary-g0", "canary-g0"] if broken else ["canary-g0", "canary-g1"])


async def test_a_change_is_known_everywhere(fleet: Fleet) -> None:
    """Another process sees it with its next poll, what it would read from Valkey at once; the source that has not
    changed is still served."""
    one, other = fleet.process(), fleet.process()
    assert (await one.count(), await other.count()) == (3, 3)
    fleet.insert()
    fleet.clock.now += 1
    await one.sources.changed(PRODUCTION, "own_1")
    third = fleet.process()
    fleet.clock.now += 1
    assert await third.count() == 4
    assert await other.count() == 3, "it has not asked yet"
    await other.later(1.1)
    assert await other.count() == 4
    assert (one.executed, other.executed, third.executed) == (1, 0, 1)
    assert await one.count() == 4
    assert one.executed == 1


async def test_two_caches_of_one_process(fleet: Fleet) -> None:
    """Neither uses old rows after a change that the other announces, or another process. Red when RedisResults notifies
    the second cache alone, and when ``mark`` notifies none: what this process announced is no news to its marks."""
    one, elsewhere = fleet.process(), fleet.process()
    other = fleet.process(shared=one.shared)
    for rows, announcing in enumerate((one, other, elsewhere), 3):
        assert (await one.count(), await other.count()) == (rows, rows)
        fleet.insert()
        fleet.clock.now += 1
        await announcing.sources.changed(PRODUCTION, "ds_1")
        if announcing is elsewhere:
            await one.later(2)
        assert (await one.count(), await other.count()) == (rows + 1, rows + 1)


async def test_what_was_read_after_a_change_is_shared_at_once(fleet: Fleet) -> None:
    """Red when the process that reports a change learns the new mark only by polling: it writes entries with the old
    mark until then, and nobody uses them."""
    one, other = fleet.process(), fleet.process()
    await one.count()
    fleet.clock.now += 1
    await one.sources.changed(PRODUCTION, "ds_1")
    fleet.clock.now += 1
    await one.count()
    assert (await other.count(), one.executed, other.executed) == (3, 2, 0)


async def test_a_result_that_is_kept_for_less_than_a_second_is_shared(fleet: Fleet) -> None:
    """Red when a result is written only if it is kept for more than a second."""
    one = fleet.process(seconds=0.5)
    await one.count()
    assert [key for key in fleet.valkey.stored() if not key.endswith(":marks")] != []


async def test_without_news_nothing_is_used(fleet: Fleet) -> None:
    """Frozen, then killed: within five seconds answers of the process itself are used, then the source is asked, for
    nobody knows whether it has changed. Red without the lease. When the server is back, so is the cache, and what had
    changed meanwhile is known."""
    one, other = fleet.process(), fleet.process()
    assert (await one.count(), await other.count()) == (3, 3)
    fleet.valkey.freeze()
    hasty = pytest.MonkeyPatch()  # what is now asked has no answer
    hasty.setattr(one.shared, "_budget", 0.1)
    hasty.setattr(redis_results, "_WRITE_SECONDS", 1.0)
    one.boot.now += LEASE_SECONDS - 1
    assert (await one.count(), one.executed) == (3, 1)
    fleet.insert()
    one.boot.now += 1.1
    began = time.monotonic()
    assert (await one.count(), one.executed) == (4, 2)
    assert time.monotonic() - began < 20
    fleet.valkey.kill()
    one.boot.now += 100
    assert (await one.count(), one.executed) == (4, 3)
    fleet.valkey.start()
    hasty.undo()
    one.boot.now += 100
    await one.later(0)
    fleet.clock.now += 1
    assert (await one.count(), one.executed) == (4, 4)
    assert (await one.count(), one.executed) == (4, 4)


async def test_a_server_that_forgot_everything(fleet: Fleet) -> None:
    """Flushed after a change that this process had not heard of: with the mark gone, its old answer must be, too."""
    one, other = fleet.process(), fleet.process()
    assert await one.count() == 3
    fleet.insert()
    fleet.clock.now += 1
    await one.count()
    await other.later(0)
    await other.sources.changed(PRODUCTION, "ds_1")
    fleet.valkey.execute("FLUSHALL")
    fleet.clock.now += 1
    await one.later(2)
    assert (await one.count(), one.executed) == (4, 2)


async def test_a_change_that_cannot_be_told_is_an_error(fleet: Fleet) -> None:
    """And it holds in this process all the same."""
    one = fleet.process()
    assert await one.count() == 3
    fleet.insert()
    fleet.clock.now += 1
    fleet.valkey.kill()
    with pytest.raises(SourceUnavailable, match="do not know that data changed"):
        await one.sources.changed(PRODUCTION, "ds_1")
    fleet.clock.now += 1
    assert await one.count() == 4


async def test_what_was_changed_here_does_not_come_back(fleet: Fleet) -> None:
    """The server was not there to be told, and comes back with the answer of before. Red without ``_untold``."""
    one, other = fleet.process(), fleet.process()
    assert await one.count() == 3
    fleet.insert()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one.shared, "_ask", _no_answer)
        with pytest.raises(SourceUnavailable):
            await one.sources.changed(PRODUCTION, "ds_1")
    assert await one.count() == 4
    assert await other.count() == 3, "it was not told"
    await one.sources.changed(PRODUCTION, "ds_1")
    await other.later(2)
    assert (await other.count(), await one.count()) == (4, 4)


async def _no_answer(*_: object, seconds: float) -> None:
    return None


def _moved(fleet: Fleet, entries: list[str]) -> None:
    fleet.valkey.execute("RENAME", entries[0], "kept")
    fleet.valkey.execute("RENAME", entries[1], entries[0])
    fleet.valkey.execute("RENAME", "kept", entries[1])


def _changed(fleet: Fleet, entries: list[str]) -> None:
    for each in entries:
        last = fleet.valkey.execute("STRLEN", each) - 1  # of the number of rows that are counted
        fleet.valkey.execute("SETRANGE", each, last, b"\x09")


def _replaced(fleet: Fleet, entries: list[str]) -> None:
    for each in entries:
        fleet.valkey.execute("SET", each, "x" * 200)


def _of_another_kind(fleet: Fleet, entries: list[str]) -> None:
    for each in entries:
        fleet.valkey.execute("DEL", each)
        fleet.valkey.execute("RPUSH", each, "x")


@pytest.mark.parametrize("tamper", [_moved, _changed, _replaced, _of_another_kind])
async def test_who_can_write_to_the_server_forges_nothing(
    tamper: Callable[[Fleet, list[str]], None], fleet: Fleet
) -> None:
    """Entries of two groups are exchanged, changed, replaced: the source is asked. Red without the digest; and for the
    exchange, without the key in what is digested."""
    one, two = viewers(2)
    groups = [replace(each, properties={"region": each.provided_id}, mapping={"main": "ds_1"}) for each in (one, two)]
    sql = "select {{ region }} as owner, count(*) as n from orders"
    process = fleet.process()
    for each in groups:
        await process.sources.fetch(each, "main", sql)
    await process.shared.settle()
    entries = [key for key in fleet.valkey.stored() if not key.endswith(":marks")]
    assert len(entries) == 2
    tamper(fleet, entries)
    other = fleet.process()
    for each in groups:
        assert await other.sources.fetch(each, "main", sql) == [{"owner": each.provided_id, "n": 3}]
    assert other.executed == 2


async def test_another_secret_shares_nothing_and_the_keys_show_nothing(fleet: Fleet) -> None:
    one, other = fleet.process(), fleet.process(secret=b"t" * 32)
    await one.count()
    key = await one.sources.fingerprint(group(main="ds_1"), "main", COUNT)
    assert not any(key in stored for stored in fleet.valkey.stored())
    assert (await other.count(), other.executed) == (3, 1)


async def test_an_answer_that_is_too_large_stays_here(fleet: Fleet) -> None:
    one = fleet.process(max_entry_bytes=500)
    sql = "select printf('%.*c', 1000, 'x') as text"
    for _ in range(2):
        await one.sources.fetch(group(main="ds_1"), "main", sql)
    await one.shared.settle()
    assert one.executed == 1
    assert [key for key in fleet.valkey.stored() if not key.endswith(":marks")] == []


async def test_a_large_answer_comes_back_equal(fleet: Fleet) -> None:
    """Beyond what is read in the event loop."""
    one, other = fleet.process(), fleet.process()
    sql = (
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) "
        "select i, i / 3.0 as f, 'order ' || i as name, x'00ff' as b, null as nil from n"
    )
    asking = group(main="ds_1")
    first = await one.sources.query(asking, "main", sql)
    await one.shared.settle()
    second = await other.sources.query(asking, "main", sql)
    assert (second.rows, second.names, second.columns) == (first.rows, first.names, first.columns)
    assert other.executed == 0


@pytest.mark.parametrize("secret", [b"short", "s" * 40, b""])
def test_a_secret_that_is_none(secret: Any) -> None:
    with pytest.raises(InvalidSettings, match="secret"):
        RedisResults("redis://127.0.0.1/0", secret=secret)
