"""Answers that are kept in the process: for how long, of whom, how many, and what throws them away."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tenantry import DataSources
from tenantry.clock import steady_time
from tenantry.datasources import ResultCache, bound_query
from tenantry.datasources.engines.sqlite import SQLiteDriver
from tenantry.datasources.results import Result
from tenantry.errors import InvalidSettings, QueryFailed, TooManyRows, UnregisteredSource
from tenantry.groups import UserGroup
from tenantry.sql import BoundSQL, SQLTemplate
from tests.datasources.conftest import PRODUCTION, Directory, duckdb_file, group, sqlite_file
from tests.datasources.settings import executed
from tests.datasources.streamed_rows import ROWS
from tests.datasources.test_in_flight import viewers

COUNT = "select count(*) as n from orders"


class Clock:
    """Seconds since 1970, as a test says."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Warehouse:
    """A SQLite file behind DataSources with a cache."""

    def __init__(self, path: Path, directory: Directory, open_sources: Callable[..., DataSources]) -> None:
        self._path = path
        self._open_sources = open_sources
        self.directory = directory
        directory.add(1, sqlite_file(path, "acme"))
        self.clock = Clock()
        self.group = group(main="ds_1")

    def open(self, limits: dict[str, Any] | None = None, **options: Any) -> DataSources:
        self.cache = ResultCache(clock=self.clock, **options)
        self.sources = self._open_sources(cache=self.cache, **(limits or {}))
        return self.sources

    def insert(self) -> None:
        with sqlite3.connect(self._path) as connection:
            connection.execute("insert into orders values (9, 'acme', 'eu')")
        connection.close()

    async def count(self, asking: UserGroup | None = None, **options: Any) -> int:
        rows = await self.sources.fetch(asking or self.group, "main", COUNT, **options)
        return int(rows[0]["n"])

    @property
    def executed(self) -> int:
        return executed(self.sources)


@pytest.fixture
async def warehouse(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> AsyncIterator[Warehouse]:
    return Warehouse(tmp_path / "orders.db", directory, open_sources)


async def test_an_answer_is_good_for_so_long(warehouse: Warehouse) -> None:
    """And says of when it is. Red without the comparison of its age."""
    warehouse.open(seconds=60)
    assert await warehouse.count() == 3
    warehouse.insert()
    warehouse.clock.now += 59
    result = await warehouse.sources.query(warehouse.group, "main", COUNT)
    assert (result.rows, result.as_of.timestamp()) == (((3,),), warehouse.clock.now - 59)
    warehouse.clock.now += 2
    assert await warehouse.count() == 4
    assert warehouse.executed == 2


def _set_clock(monkeypatch: pytest.MonkeyPatch, at: float) -> None:
    class Moment(datetime):
        @classmethod
        def now(cls, zone: Any = None) -> datetime:
            return datetime.fromtimestamp(at, zone)

    monkeypatch.setattr("time.time", lambda: at)
    monkeypatch.setattr("tenantry.datasources.caching.in_flight.datetime", Moment)


async def test_setting_the_clock_back_voids_nothing(
    warehouse: Warehouse, open_sources: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers from before stay, and new answers are kept after a change that was reported before; what is shown follows
    the clock. Red with ``clock=lambda: time.time()``: the age was below 0, and the change in the future."""
    cache = ResultCache(seconds=600)
    assert cache.clock is steady_time  # a bound ``time.time`` would not follow the patch below
    warehouse.sources = open_sources(cache=cache)
    await warehouse.count()
    real = time.time
    _set_clock(monkeypatch, real() - 3_600)
    assert await warehouse.count() == 3
    assert warehouse.executed == 1
    cache.changed(None)
    _set_clock(monkeypatch, real() - 7_200)
    result = await warehouse.sources.query(warehouse.group, "main", COUNT)
    assert result.as_of is not None
    assert abs(result.as_of.timestamp() - (real() - 7_200)) < 60
    await warehouse.count()
    assert warehouse.executed == 2


async def test_a_query_may_say_how_old(warehouse: Warehouse) -> None:
    """0 asks the source, and what it gives is kept for others; more than the cache's own time keeps it longer."""
    warehouse.open(seconds=60)
    await warehouse.count()
    warehouse.insert()
    warehouse.clock.now += 10
    assert await warehouse.count(max_age=11) == 3
    assert await warehouse.count(max_age=9) == 4
    assert await warehouse.count() == 4
    warehouse.insert()
    assert await warehouse.count(max_age=0) == 5
    assert await warehouse.count(max_age=500) == 5
    assert warehouse.executed == 3
    warehouse.clock.now += 400
    assert await warehouse.count() == 5
    assert warehouse.executed == 4
    await warehouse.count(max_age=500)
    warehouse.clock.now += 400
    warehouse.insert()
    assert await warehouse.count(max_age=500) == 5


@pytest.mark.parametrize("max_age", [-1, float("nan"), float("inf"), True, "5"])
async def test_a_max_age_that_is_none(max_age: Any, warehouse: Warehouse) -> None:
    warehouse.open()
    with pytest.raises(ValueError, match="max_age"):
        await warehouse.count(max_age=max_age)


async def test_a_clock_that_is_set_back_makes_nothing_younger(warehouse: Warehouse) -> None:
    """Red without the lower bound of an age: the answer is good for an hour and a minute."""
    warehouse.open(seconds=60)
    await warehouse.count()
    warehouse.insert()
    warehouse.clock.now -= 3_600
    assert await warehouse.count() == 4


async def test_an_old_answer_at_once_and_a_new_one_in_the_background(warehouse: Warehouse) -> None:
    """``stale_while_revalidate``: who comes late gets the old answer, one execution renews it, the next gets that."""
    warehouse.open(seconds=60, stale_while_revalidate=30)
    await warehouse.count()
    warehouse.insert()
    warehouse.clock.now += 80
    assert await asyncio.gather(*(warehouse.count() for _ in range(5))) == [3] * 5
    async with asyncio.timeout(60):
        while await warehouse.count() == 3:
            await asyncio.sleep(0.005)
    assert warehouse.executed == 2
    warehouse.insert()
    warehouse.clock.now += 91
    assert await warehouse.count() == 5


async def test_an_explicit_age_is_never_stretched(warehouse: Warehouse) -> None:
    warehouse.open(seconds=60, stale_while_revalidate=30)
    await warehouse.count()
    warehouse.insert()
    warehouse.clock.now += 80
    assert await warehouse.count(max_age=60) == 4


async def test_a_background_query_ends_with_the_data_sources(warehouse: Warehouse) -> None:
    numbers = "with recursive n (i) as (select 1 union all select i + 1 from n where i < {})"
    endless = f"{numbers} select count(*) as n from n"
    warehouse.open(seconds=60, stale_while_revalidate=30)
    template = endless.format("(select 3000000 * (count(*) - 3) + 5 from orders)")
    assert (await warehouse.sources.fetch(warehouse.group, "main", template))[0]["n"] == 5
    for _ in range(100):
        warehouse.insert()
    warehouse.clock.now += 80
    assert (await warehouse.sources.fetch(warehouse.group, "main", template))[0]["n"] == 5
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await warehouse.sources.aclose()
    assert warehouse.sources.in_flight.by_key == {}


class Canary:
    """What two groups of one source see when each asks for its own, one after the other."""

    def __init__(self, engine: str) -> None:
        self._sql = f"select {{{{ region }}}} as owner, count(*) as n from ({ROWS[engine].format(3)}) m"

    async def seen(self, sources: DataSources) -> list[str]:
        answers = []
        for each in viewers(2):
            asking = replace(each, properties={"region": f"canary-{each.provided_id}"}, mapping={"main": "ds_1"})
            answers += await sources.fetch(asking, "main", self._sql)
        return [row["owner"] for row in answers]


async def test_a_group_that_read_itself_never_shares(
    each_engine: str, open_sources: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control has a key of the text alone: there one group is given the canary of the other. Red, as the control
    is green, without the values and the group in the key of a fingerprint."""
    canary = Canary(each_engine)
    first, control = (
        open_sources(cache=ResultCache(seconds=3_600), connect_timeout=60.0, timeout=120.0) for _ in range(2)
    )
    assert await canary.seen(first) == ["canary-g0", "canary-g1"]
    monkeypatch.setattr(BoundSQL, "fingerprint", lambda self, **_: self.sql)
    assert await canary.seen(control) == ["canary-g0", "canary-g0"]
    assert [executed(each) for each in (first, control)] == [2, 1]


async def test_equal_values_of_two_groups_are_two_entries(warehouse: Warehouse) -> None:
    """What was read of a group is the group's, also where another one has the same value. Without it, all share."""
    warehouse.open()
    one, other = viewers(2)
    for each in (one, other, one, other):
        await warehouse.sources.fetch(each, "main", "select {{ region }} as r from orders")
    assert warehouse.executed == 2
    for each in (one, other):
        await warehouse.count(each)
    assert warehouse.executed == 3


async def test_a_group_that_was_changed_asks_anew(warehouse: Warehouse) -> None:
    """Red when the key has the handle without the revision."""
    warehouse.open()
    sql = "select {{ region }} as r, count(*) as n from orders"
    await warehouse.sources.fetch(warehouse.group, "main", sql)
    warehouse.insert()
    changed = replace(warehouse.group, revision=2)
    assert (await warehouse.sources.fetch(changed, "main", sql))[0]["n"] == 4


async def test_a_source_that_was_changed_is_asked_anew(warehouse: Warehouse, tmp_path: Path) -> None:
    """Another URL under the same id: nothing of the old one is given."""
    warehouse.open()
    await warehouse.count()
    url = sqlite_file(tmp_path / "other.db", "acme", rows=7)
    warehouse.directory.registered[0] = replace(warehouse.directory.registered[0], url=url)
    assert await warehouse.count() == 7


async def test_a_source_that_its_host_says_has_changed(warehouse: Warehouse, tmp_path: Path) -> None:
    """``changed`` drops what is kept of this source, and of no other."""
    sources = warehouse.open()
    warehouse.directory.add(2, sqlite_file(tmp_path / "other.db", "acme", rows=7))
    other = group(main="ds_2")
    assert (await warehouse.count(), await warehouse.count(other)) == (3, 7)
    warehouse.insert()
    warehouse.clock.now += 1
    await sources.changed(PRODUCTION, "own_1")
    warehouse.clock.now += 1
    assert (await warehouse.count(), await warehouse.count(other)) == (4, 7)
    assert await warehouse.count() == 4
    assert warehouse.executed == 3
    with pytest.raises(UnregisteredSource):
        await sources.changed(PRODUCTION, "nobody")


async def test_what_began_before_a_change_is_not_kept(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query is under way while the source changes: its viewer gets it, nobody else does. Red without the time of the
    change in ``keep``, and without ``invalidate_source``."""
    sources, fetch, may_end, held = warehouse.open(), SQLiteDriver.fetch, threading.Event(), threading.Event()

    def hold_the_first(driver: SQLiteDriver, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        answer = fetch(driver, connection, bound)
        if not held.is_set():
            held.set()
            may_end.wait(60)
        return answer

    monkeypatch.setattr(SQLiteDriver, "fetch", hold_the_first)
    early = asyncio.create_task(warehouse.count())
    assert await asyncio.to_thread(held.wait, 60)
    warehouse.insert()
    warehouse.clock.now += 1
    await sources.changed(PRODUCTION, "ds_1")
    warehouse.clock.now += 1
    assert await warehouse.count() == 4
    assert warehouse.executed == 2
    may_end.set()
    assert await early == 3
    assert await warehouse.count() == 4
    assert warehouse.executed == 2


async def test_errors_are_not_kept(warehouse: Warehouse) -> None:
    warehouse.open()
    for _ in range(2):
        with pytest.raises(QueryFailed):
            await warehouse.sources.fetch(warehouse.group, "main", "select * from nowhere")
    assert (warehouse.executed, len(warehouse.cache)) == (2, 0)


async def test_no_more_bytes_than_allowed(warehouse: Warehouse) -> None:
    """Of all, and of one group: it throws out its own, and no other's. Red without ``group_max_bytes``."""
    warehouse.open(max_bytes=400_000, group_max_bytes=100_000)
    neighbour, victim = viewers(2)
    await warehouse.count(victim)
    for number in range(100):
        sql = f"select {number} as number, printf('%.*c', 10000, 'x') as text"
        await warehouse.sources.fetch(neighbour, "main", sql)
        assert warehouse.cache.size <= 100_000 + 10_000
    assert 5 <= len(warehouse.cache) <= 10
    before = warehouse.executed
    await warehouse.count(victim)
    assert warehouse.executed == before
    for each in viewers(30)[2:]:
        for number in range(5):
            sql = f"select {number} as number, {{{{ region }}}} as r, printf('%.*c', 10000, 'x') as text"
            await warehouse.sources.fetch(each, "main", sql)
        assert warehouse.cache.size <= 400_000
    assert warehouse.cache.size > 300_000
    warehouse.cache.clear()
    assert (warehouse.cache.size, len(warehouse.cache), warehouse.cache._groups) == (0, 0, {})


async def test_one_answer_that_is_too_large_is_not_kept(warehouse: Warehouse) -> None:
    warehouse.open(max_bytes=400_000)
    await warehouse.count()
    await warehouse.sources.fetch(warehouse.group, "main", "select printf('%.*c', 200000, 'x') as text")
    assert (len(warehouse.cache), warehouse.executed) == (1, 2)


async def test_other_limits_share_nothing(warehouse: Warehouse) -> None:
    """Red when the key has no limits: a result that is too long for one comes from the cache of the other."""
    warehouse.open()
    await warehouse.sources.fetch(warehouse.group, "main", "select * from orders")
    strict = warehouse._open_sources(cache=warehouse.cache, row_limit=2)
    with pytest.raises(TooManyRows):
        await strict.fetch(warehouse.group, "main", "select * from orders")


async def test_nobody_changes_what_is_kept(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    """The viewer whose query it was, and those who got it from the cache."""
    directory.add(1, duckdb_file(tmp_path / "orders.db", "acme"))
    sources, asking = open_sources(cache=ResultCache()), group(main="ds_1")
    sql = "select [1, 2] as list, {'a': [1]} as struct"
    for ask in (sources.fetch, sources.query, sources.fetch, sources.query):
        answer: Any = await ask(asking, "main", sql)
        row = answer[0] if isinstance(answer, list) else dict(zip(answer.names, answer.rows[0], strict=True))
        assert row == {"list": [1, 2], "struct": {"a": [1]}}
        row["list"].clear()
        row["struct"]["a"] = None
        if isinstance(answer, list):
            answer.clear()
    assert executed(sources) == 1


async def test_a_relative_range_is_another_query_when_its_unit_is(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``today`` is the same key all day, and another one tomorrow; ``last 5 minutes`` another one each minute."""
    now = datetime(2026, 1, 31, 9, 30, 10, tzinfo=UTC)

    class Now(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return now

    monkeypatch.setattr(bound_query, "datetime", Now)
    warehouse.open()
    sql = "select count(*) as n from orders where {{ params.when | within(region) }}"
    template = SQLTemplate(sql, params={"when": "datetime range"})

    async def key(name: str) -> str:
        return await warehouse.sources.fingerprint(warehouse.group, "main", template, {"params": {"when": name}})

    first = {name: await key(name) for name in ("today", "last 5 minutes")}
    now = now.replace(second=50)
    assert first == {name: await key(name) for name in first}
    now = now.replace(minute=31)
    assert (await key("today"), await key("last 5 minutes") == first["last 5 minutes"]) == (first["today"], False)
    now = now.replace(month=2, day=1)
    assert await key("today") != first["today"]


@pytest.mark.parametrize(
    "options",
    [{"seconds": -1}, {"seconds": True}, {"max_bytes": 0}, {"group_max_bytes": 1.5}, {"stale_while_revalidate": "1"}],
)
def test_a_bound_that_is_none(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettings, match=next(iter(options))):
        ResultCache(**options)
