"""What operators see of streams and pages, on each engine: the comment, the log, the counters, the spans, the usage.

Red, each once: ``lasts=True`` taken out of ``DataSources.stream`` (its span, its query and its rows were those of the
first piece), and the span left current where its block ends (the reader's work was a part of the query);
``Execution.end`` not called by ``open_stream`` (it ran for ever, and no line was logged), and ``wait`` (nothing
waited); the query sent without ``with_tag`` (no comment); the size not handed on by ``SourceStream`` (no bytes).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tenantry.datasources import DataSources, GroupUsage, Limits, ResultStream, StreamLimits, Usage, fetch_page
from tenantry.datasources.activity import SourceCounters
from tenantry.errors import QueryFailed, SourceUnavailable, TooManyRows
from tenantry.tracing import Span
from tests.datasources.conftest import group
from tests.datasources.streamed_rows import ENDLESS, ROWS

SOON = 60.0
SECRET = "k3y-c4n4ry"
ASKED = {
    "postgresql": "select query, 1 as i from pg_stat_activity where pid = pg_backend_pid() and {{ v }} = 'x'",
    "mariadb": "select info as query, 1 as i from information_schema.processlist "
    "where id = connection_id() and {{ v }} = 'x'",
}
TAG = "/*application='tenantry',group='a%20%2A%2F%20b',source='ds_1',template='sql-"

Make = Callable[..., tuple[DataSources, SourceCounters]]


@pytest.fixture
def make(each_engine: str, open_sources: Callable[..., DataSources]) -> Make:
    """DataSources of one source, and its counters."""

    def opened(**options: Any) -> tuple[DataSources, SourceCounters]:
        sources = open_sources(**{"connect_timeout": SOON, "timeout": 600.0, **options})
        return sources, sources.activity.sources["ds_1"]

    return opened


async def stream(sources: DataSources, engine: str, rows: int = 3_000, **variables: Any) -> ResultStream:
    """So many rows; with a value in the text if one is given."""
    text = ROWS[engine].format(rows)
    if variables:
        text = f"select * from ({text}) m where name <> {{{{ secret }}}}"
    return await sources.stream(group(main="ds_1"), "main", text, variables)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not is_so():
            await asyncio.sleep(0.002)


def taken(sources: DataSources) -> Usage:
    """What the group has used."""
    assert isinstance(sources.activity.usage, GroupUsage)
    return sources.activity.usage.take()["production", "acme"]


def only(exported: InMemorySpanExporter) -> tuple[ReadableSpan, dict[str, Any]]:
    """The one span that has ended, and its attributes."""
    (span,) = exported.get_finished_spans()
    exported.clear()
    return span, dict(span.attributes or {})


def slow(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of slow queries."""
    return [each.getMessage() for each in caplog.records if each.name == "tenantry.datasources.slow"]


async def test_a_stream_is_seen_to_its_end(each_engine: str, make: Make, exported: InMemorySpanExporter) -> None:
    """While it is read it runs, and nobody counts it as answered; what came of it is that of its last piece."""
    sources, counters = make()
    async with await stream(sources, each_engine) as body:
        size = len(await anext(body))
        assert (counters.running, counters.queries, exported.get_finished_spans()) == (1, {}, ())
        with Span("the reader's own"):
            size += sum([len(piece) async for piece in body])
    own, span = exported.get_finished_spans()[::-1]
    assert own.parent is None  # else the reader's work would be a part of the query
    attributes = dict(span.attributes or {})
    assert (attributes["db.response.returned_rows"], attributes["tenantry.cache_hit"]) == (3_000, False)
    assert attributes["db.system.name"] == each_engine
    assert attributes["tenantry.queue_seconds"] >= 0
    assert "error.type" not in attributes
    assert counters.queries == counters.executions == {"ok": 1}
    assert (counters.running, counters.rows, counters.bytes) == (0, 3_000, size)
    assert counters.durations.count == counters.time_in_queue.count == 1
    used = taken(sources)
    assert used[:2] == (1, 3_000)
    assert used.seconds > 0


async def test_a_stream_that_is_left(each_engine: str, make: Make, exported: InMemorySpanExporter) -> None:
    """Is stopped: for the viewer, at the source and in the span, with the rows until then."""
    sources, counters = make(stream=StreamLimits(row_limit=ENDLESS))
    async with await stream(sources, each_engine, ENDLESS) as body:
        await anext(body)
    span, attributes = only(exported)
    assert (span.status.status_code, attributes["error.type"]) == (StatusCode.ERROR, "stopped")
    assert counters.queries == counters.executions == {"stopped": 1}
    assert counters.rows == attributes["db.response.returned_rows"] == body.row_count > 0
    assert counters.bytes > 0 == counters.running


async def test_a_stream_that_breaks(
    each_engine: str, make: Make, exported: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    """In the middle, by a limit, and before its first row: by the error's code everywhere, once."""
    sources, counters = make(stream=StreamLimits(row_limit=2_000), slow_seconds=0.0)
    with pytest.raises(TooManyRows):
        async for _ in await stream(sources, each_engine):
            pass
    _, attributes = only(exported)
    assert attributes["error.type"] == "too_many_rows"
    assert "outcome=too_many_rows" in slow(caplog)[0]
    with pytest.raises(QueryFailed):
        await sources.stream(group(main="ds_1"), "main", "select missing from missing", {})
    _, attributes = only(exported)
    assert attributes["error.type"] == "query_failed"
    assert counters.queries == counters.executions == {"too_many_rows": 1, "query_failed": 1}
    assert counters.running == 0


async def test_a_stream_waits_for_its_turn(each_engine: str, make: Make, exported: InMemorySpanExporter) -> None:
    """As any query: one has the only turn until it is read, the second one waits, the third waits too long."""
    sources, counters = make(pool_size=1, connect_timeout=SOON)
    first = await stream(sources, each_engine)
    second = asyncio.create_task(stream(sources, each_engine))
    await until(lambda: counters.waiting == 1)
    assert counters.running == 1
    async for _ in first:
        pass
    async with await second as body:
        assert (counters.running, counters.waiting, counters.time_in_queue.count) == (1, 0, 2)
        impatient, of_it = make(pool_size=1)
        held = await stream(impatient, each_engine)
        with pytest.MonkeyPatch.context() as patch:  # only now: to connect may take longer on a busy machine
            patch.setattr(Limits, "wait", 0.2)
            exported.clear()
            with pytest.raises(SourceUnavailable):
                await stream(impatient, each_engine)
        assert only(exported)[1]["db.response.returned_rows"] == 0
        await held.aclose()
        assert of_it.queries == {"source_unavailable": 1, "stopped": 1}
        assert of_it.executions == {"stopped": 1}
        async for _ in body:
            pass
    assert counters.executions == counters.queries == {"ok": 2}


async def test_a_page_is_seen_as_any_query(each_engine: str, make: Make, exported: InMemorySpanExporter) -> None:
    """And its total is a second one, under the same template. A page reads one row more, to know whether it ends."""
    sources, counters = make()
    text = f"select * from ({ROWS[each_engine].format(9)}) m"
    page = await fetch_page(sources, group(main="ds_1"), "main", text, {}, order=["i"], size=5, total="exact")
    assert (len(page.rows), page.total) == (5, 9)
    assert counters.queries == counters.executions == {"ok": 2}
    assert (counters.rows, counters.running) == (7, 0)
    assert counters.bytes > 0
    assert taken(sources)[:2] == (2, 7)
    rows, total = (dict(span.attributes or {}) for span in exported.get_finished_spans())
    assert [each["db.response.returned_rows"] for each in (rows, total)] == [6, 1]
    assert rows["tenantry.template"] == total["tenantry.template"]


async def test_slow_ones_are_logged_without_their_values(
    each_engine: str, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """One line for a stream, at its end, and one for a page; no value, no SQL, and nothing of a cursor."""
    sources, _ = make(slow_seconds=0.0)
    async with await stream(sources, each_engine, secret=SECRET) as body:
        assert not slow(caplog)
        async for _ in body:
            pass
    text = f"select i, {{{{ secret }}}} as kept from ({ROWS[each_engine].format(9)}) m"
    asked = sources, group(main="ds_1"), "main", text, {"secret": SECRET}
    page = await fetch_page(*asked, order=["kept", "i"], size=5)
    await fetch_page(*asked, order=["kept", "i"], size=5, after=page.next)
    lines = [each.getMessage() for each in caplog.records if each.name == "tenantry.datasources.slow"]
    assert [line.split("outcome=")[1].split(" seconds=")[0] for line in lines] == [
        "ok rows=3000",
        "ok rows=6",
        "ok rows=4",
    ]
    for line in lines:
        assert "template='sql-" in line
        assert "source=ds_1 environment='production' group='acme'" in line
        assert not any(part in line for part in (SECRET, str(page.next), "select"))
    caplog.clear()
    quick, _ = make(slow_seconds=SOON)
    async for _ in await stream(quick, each_engine):
        pass
    assert not slow(caplog)


@pytest.mark.parametrize("each_engine", list(ASKED), indirect=True)
async def test_what_the_server_is_sent(each_engine: str, open_sources: Callable[..., DataSources]) -> None:
    """It shows the text that runs: that of a stream and that of a page end with the comment, if it is wanted."""
    asking = group("a */ b", main="ds_1"), "main", ASKED[each_engine], {"v": "x"}
    for tags in ((each_engine,), ()):
        sources: DataSources = open_sources(query_tags=tags)
        body = b"".join([piece async for piece in await sources.stream(*asking)]).decode()
        page = await fetch_page(sources, *asking, order=["i"])
        for text in (body, page.rows[0]["query"]):
            assert "select" in text
            assert (TAG in text) == bool(tags)
