"""What operators see of the queries: counters by source, the log of slow ones, and the usage of groups."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenantry.datasources import DataSources, GroupUsage, Limits, activity
from tenantry.datasources.activity import Activity, Execution, SourceCounters
from tenantry.datasources.caching.result_cache import ResultCache
from tenantry.datasources.query_label import QueryLabel
from tenantry.errors import QueryFailed, QueryTimeout, SourceUnavailable, TooManyRows
from tenantry.groups import OTHER_GROUPS, Usage
from tests.datasources.conftest import Directory, group, sqlite_file

ENDLESS = "with recursive n(n) as (select 1 union all select n + 1 from n) select count(*) as n from n"
SOON = 60.0

Make = Callable[..., tuple[DataSources, SourceCounters]]


@pytest.fixture
def make(directory: Directory, open_sources, tmp_path: Path) -> Make:
    """DataSources on one file, and its counters."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))

    def opened(**options: Any) -> tuple[DataSources, SourceCounters]:
        sources = open_sources(**options)
        return sources, sources.activity.sources["ds_1"]

    return opened


async def fetch(sources: DataSources, sql: str, name: str = "acme", **variables: Any) -> list[dict[str, Any]]:
    return await sources.fetch(group(name, main="ds_1"), "main", sql, variables)


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(SOON):
        while not true():
            await asyncio.sleep(0.002)


async def test_what_is_counted_of_one_query(make: Make) -> None:
    """Rows, what they took, a turn without a wait, and one duration; nothing runs and nothing waits any more.

    Red where ``end`` was not called for an answer: it ran for ever.
    """
    sources, counters = make()
    await fetch(sources, "select * from orders")
    assert (counters.running, counters.waiting, counters.rows) == (0, 0, 3)
    assert counters.executions == counters.queries == {"ok": 1}
    assert counters.time_in_queue.count == counters.durations.count == 1
    assert counters.bytes > 100
    assert 0 < counters.durations.total < SOON


@pytest.mark.parametrize(
    ("sql", "limits", "error"),
    [
        ("select missing", {}, QueryFailed),
        ("select * from orders", {"row_limit": 2}, TooManyRows),
        (ENDLESS, {"timeout": 0.2}, QueryTimeout),
    ],
)
async def test_an_error_is_counted_by_its_code(make: Make, sql: str, limits: dict[str, Any], error: Any) -> None:
    """Of the execution and of the viewer. Red with one name for all of them."""
    sources, counters = make(**limits)
    with pytest.raises(error):
        await fetch(sources, sql)
    assert counters.executions == counters.queries == {error.code: 1}
    assert (counters.running, counters.rows) == (0, 0)


async def test_what_runs_and_what_waits(make: Make) -> None:
    """One has the connection, the next one waits; both leave. The one that never ran is no execution.

    Red where a place in the queue that was given up went on being counted: -1 or 1 waiting.
    """
    sources, counters = make(pool_size=1, connect_timeout=SOON)
    first = asyncio.create_task(fetch(sources, ENDLESS, "acme"))
    await until(lambda: counters.running == 1)
    second = asyncio.create_task(fetch(sources, "select {{ n }} as n", "globex", n=1))
    await until(lambda: counters.waiting == 1)
    for leaving in (second, first):
        leaving.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    await until(lambda: counters.running == 0)
    assert counters.waiting == 0
    assert counters.executions == {"stopped": 1}
    assert counters.queries == {"stopped": 2}


async def test_a_wait_is_time_in_the_queue(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none of the duration. A viewer who waits too long gets the error, which is no execution."""
    impatient, counters = make(pool_size=1, timeout=SOON)
    first = asyncio.create_task(fetch(impatient, ENDLESS, "acme"))
    await until(lambda: counters.running == 1)
    with monkeypatch.context() as patch:
        patch.setattr(Limits, "wait", 0.1)
        with pytest.raises(SourceUnavailable):
            await fetch(impatient, "select 1 as one", "globex")
    assert (counters.waiting, counters.queries) == (0, {"source_unavailable": 1})
    first.cancel()
    sources, counters = make(pool_size=1, connect_timeout=SOON, timeout=SOON)
    first = asyncio.create_task(fetch(sources, ENDLESS, "acme"))
    await until(lambda: counters.running == 1)
    second = asyncio.create_task(fetch(sources, "select 2 as two", "globex"))
    await until(lambda: counters.waiting == 1)
    await asyncio.sleep(0.1)
    first.cancel()
    await second
    assert counters.time_in_queue.total >= 0.1
    assert counters.executions == {"stopped": 1, "ok": 1}


async def test_what_was_shared_and_what_was_kept(make: Make) -> None:
    """Three viewers at once are one execution and two who joined it; the next one is a hit."""
    sources, counters = make(cache=ResultCache(seconds=SOON))
    await asyncio.gather(*(fetch(sources, "select * from orders") for _ in range(3)))
    await fetch(sources, "select * from orders")
    assert (counters.executions, counters.queries) == ({"ok": 1}, {"ok": 4})
    assert (counters.joined, counters.cache_hits, counters.rows) == (2, 1, 3)


async def test_a_stream_is_counted_to_its_end(make: Make) -> None:
    """It runs until its last piece was made, and its rows and bytes are those of the body. One that is left is stopped.

    Red where it ended with its first piece.
    """
    sources, counters = make()
    many = "with recursive n(n) as (select 1 union all select n + 1 from n limit 50000) select n from n"
    body = [piece async for piece in await sources.stream(group(main="ds_1"), "main", many, {})]
    assert counters.executions == {"ok": 1}
    assert (counters.rows, counters.bytes, counters.running) == (50_000, sum(map(len, body)), 0)
    assert sources.activity.usage.take()["production", "acme"][:2] == (1, 50_000)  # type: ignore[attr-defined]
    left = await sources.stream(group(main="ds_1"), "main", many, {})
    assert counters.running == 1
    await left.aclose()
    assert counters.running == 0
    assert counters.executions == {"ok": 1, "stopped": 1}


async def test_a_slow_query_is_logged_without_its_values(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    """Which one, for whom, where and how long; no value, no SQL, and a line break in an id makes no second line.

    Red with ``%s`` for the id. Queries below the threshold are not logged, and None logs none.
    """
    sources, _ = make(slow_seconds=0.0)
    await fetch(sources, "select 'in the text' as a, {{ secret }} as b", "ac\nme", secret="k3y-c4n4ry")
    (record,) = [each for each in caplog.records if each.name == "tenantry.datasources.slow"]
    line = record.getMessage()
    assert record.levelno == logging.WARNING
    assert "template='sql-" in line
    assert "source=ds_1 environment='production' group='ac\\nme' outcome=ok rows=1 seconds=" in line
    assert not any(part in line for part in ("k3y-c4n4ry", "in the text", "select", "\n"))
    caplog.clear()
    for threshold in (SOON, None):
        await fetch(make(slow_seconds=threshold)[0], "select 1 as one")
    assert not caplog.records


async def test_the_usage_of_groups(make: Make) -> None:
    """Rows for each who asked, seconds for the one whose query it was; ``take`` begins anew."""
    usage = GroupUsage()
    sources, _ = make(usage=usage)
    await asyncio.gather(*(fetch(sources, "select * from orders", name) for name in ("acme", "globex")))
    taken = usage.take()
    assert {name: counted[:2] for (_, name), counted in taken.items()} == {"acme": (1, 3), "globex": (1, 3)}
    assert taken["production", "acme"].seconds > 0 == taken["production", "globex"].seconds
    assert usage.take() == {}


def test_usage_and_counters_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups and sources that come when there are too many are counted together. Red without the bounds."""
    usage = GroupUsage(max_groups=2)
    for number in range(5):
        usage.add("production", str(number), queries=1)
    assert usage.take() == {("production", "0"): Usage(1), ("production", "1"): Usage(1), OTHER_GROUPS: Usage(3)}
    monkeypatch.setattr(activity, "MAX_SOURCES", 2)
    found = Activity(None, usage)
    counters = [found.sources[f"ds_{number}"] for number in range(5)]
    assert len({id(each) for each in counters}) == 3
    assert set(found.sources) == {"ds_0", "ds_1", activity.OTHERS}


def test_an_execution_ends_once() -> None:
    """Whoever ends it second changes nothing. Red without the flag: -1 running."""
    found = Activity(None, GroupUsage())
    execution = Execution(found, QueryLabel("ds_1", "production", "acme", "x"))
    execution.begin()
    execution.end("ok", 1)
    execution.end("stopped")
    assert (found.sources["ds_1"].running, found.sources["ds_1"].executions) == (0, {"ok": 1})
