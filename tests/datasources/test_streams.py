"""Streams: the same bytes as a whole result, piece by piece, and no query that nobody reads."""

from __future__ import annotations

import asyncio
import gc
import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tenantry.datasources import DataSources, Driver, Limits, OpenRows, ResultStream, StreamLimits
from tenantry.datasources.results import Result, to_arrow, to_csv, to_json, to_ndjson
from tenantry.errors import (
    InvalidSettings,
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
    TenantryError,
    TooManyBytes,
    TooManyRows,
)
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.datasources.streamed_rows import ENDLESS, ROWS
from tests.datasources.test_engines import EchoDriver

NOTHING = {engine: f"select i from ({sql.format(2_000_000_000)}) m where i < 0" for engine, sql in ROWS.items()}
"""Statements that run for long before their first row."""
NOTHING["sqlite"] = f"{ROWS['sqlite'].format(2_000_000_000)} where i < 0"
NOTHING["mariadb"] = "select sleep(600) as slept"
NOTHING["postgresql"] = "select 1 as one from pg_sleep(600)"
WHOLE: dict[str, Callable[[Result], bytes]] = {"json": to_json, "ndjson": to_ndjson, "csv": to_csv, "arrow": to_arrow}
SOON = 60.0
"""Seconds within which something happens on a busy machine. What is stopped would run for much longer."""


@pytest.fixture
def make(open_sources: Callable[..., DataSources]) -> Callable[..., DataSources]:
    """DataSources of one connection: what must come free is seen by the next query."""
    return lambda **limits: open_sources(**{"pool_size": 1, "connect_timeout": SOON, "timeout": 600.0, **limits})


async def is_free(sources: DataSources) -> bool:
    """The one connection serves another query. On a busy machine a short timeout may end that one too."""
    rows: list[dict[str, object]] = []
    async with asyncio.timeout(SOON):
        while not rows:
            with suppress(QueryTimeout):
                rows = await sources.fetch(group(main="ds_1"), "main", "select 1 as one", {})
    return rows == [{"one": 1}]


async def read_into(body: io.BytesIO, stream: ResultStream) -> None:
    """Reads all of it."""
    async for piece in stream:
        body.write(piece)


@pytest.mark.parametrize("format_", list(WHOLE))
@pytest.mark.parametrize("count", [0, 3_000])
async def test_the_same_as_the_whole_result(each_engine: str, format_: Any, count: int, make) -> None:
    """No row is lost or doubled where two pieces meet; no rows are a whole body, too."""
    sources, asking, sql = make(row_limit=10_000), group(main="ds_1"), ROWS[each_engine].format(3_000)
    sql = f"select * from ({sql}) m where i <= {count} order by i"
    pieces = [piece async for piece in await sources.stream(asking, "main", sql, {}, format=format_)]
    assert len(pieces) > 2 or not count
    whole = WHOLE[format_](await sources.query(asking, "main", sql, {}))
    if format_ == "arrow":
        found, expected = (pa.ipc.open_stream(body).read_all() for body in (b"".join(pieces), whole))
        rows = expected.to_pylist()
        if each_engine == "sqlite":  # it declares no types
            rows = [{name: str(value) for name, value in row.items()} for row in rows]
        assert found.to_pylist() == rows
    else:
        assert b"".join(pieces) == whole
    assert await is_free(sources)


async def test_the_first_piece_comes_before_the_last_row(each_engine: str, make) -> None:
    """Of rows without an end, which are stopped when the reader has enough. Red when a stream read all of them."""
    sources = make(stream=StreamLimits(row_limit=ENDLESS))
    async with await sources.stream(group(main="ds_1"), "main", ROWS[each_engine].format(ENDLESS), {}) as stream:
        assert (await anext(stream)).startswith(b'{"i":1,"name":"name 1"}\n')
        assert stream.row_count < 5_000
        await anext(stream)
    with pytest.raises(SourceUnavailable):  # and not the end of a body
        await anext(stream)
    assert await is_free(sources)


async def test_a_reader_who_is_cancelled_stops_the_query(each_engine: str, make) -> None:
    """While he waits for the first row. Red when the cancellation only ended the waiting."""
    sources = make()
    reading = asyncio.create_task(sources.stream(group(main="ds_1"), "main", NOTHING[each_engine], {}))
    await asyncio.sleep(0.3)
    assert not reading.done()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert await is_free(sources)


async def test_a_query_that_gives_no_row_in_time(each_engine: str, make) -> None:
    """``timeout`` is for the wait for the next rows."""
    sources = make(timeout=0.5)
    with pytest.raises(QueryTimeout, match=r"longer than 0\.5 s"):
        await sources.stream(group(main="ds_1"), "main", NOTHING[each_engine], {})
    assert await is_free(sources)


async def test_a_stream_ends_after_its_time(each_engine: str, make) -> None:
    """However fast it is read. Red when only the single steps had a timeout."""
    sources = make(stream=StreamLimits(row_limit=ENDLESS, timeout=0.5))
    with pytest.raises(QueryTimeout, match=r"longer than 0\.5 s"):
        async for _ in await sources.stream(group(main="ds_1"), "main", ROWS[each_engine].format(ENDLESS), {}):
            pass
    assert await is_free(sources)


async def test_a_reader_who_does_not_read_on(each_engine: str, make) -> None:
    """Holds the connection for ``reader_timeout`` and no longer; he is told so, not that the body ended."""
    sources = make(stream=StreamLimits(row_limit=ENDLESS, reader_timeout=1.0))
    stream = await sources.stream(group(main="ds_1"), "main", ROWS[each_engine].format(ENDLESS), {})
    with suppress(QueryTimeout):  # on a busy machine even this may be too late
        await anext(stream)
    assert await is_free(sources)
    for _ in range(2):
        with pytest.raises(QueryTimeout, match="was not read for"):
            await anext(stream)


async def test_a_stream_that_nobody_refers_to(each_engine: str, make) -> None:
    """A server drops the response of a viewer who left, and closes nothing. Red without the finalizer."""
    sources = make(stream=StreamLimits(row_limit=ENDLESS, reader_timeout=600.0))
    stream = await sources.stream(group(main="ds_1"), "main", ROWS[each_engine].format(ENDLESS), {})
    await anext(stream)
    del stream
    gc.collect()
    assert await is_free(sources)


@pytest.mark.parametrize(
    ("limits", "kind"),
    [(StreamLimits(row_limit=2_000), TooManyRows), (StreamLimits(max_bytes=50_000), TooManyBytes)],
)
async def test_a_limit_breaks_the_body(each_engine: str, limits: StreamLimits, kind: type[TenantryError], make) -> None:
    """Never does what was sent look complete. Red when the rows up to the limit were followed by an end."""
    sources, body = make(stream=limits), io.BytesIO()
    stream = await sources.stream(group(main="ds_1"), "main", ROWS[each_engine].format(ENDLESS), {}, format="json")
    with pytest.raises(kind):
        await read_into(body, stream)
    assert body.tell()
    assert not body.getvalue().endswith(b"]")
    with pytest.raises(kind):
        await anext(stream)
    assert await is_free(sources)


async def test_what_is_wrong_at_once_is_said_before_the_body(each_engine: str, make) -> None:
    """So that a view can answer with a status."""
    sources = make(stream=StreamLimits(row_limit=10))
    for sql, kind in (
        ("select absent from nowhere", QueryFailed),
        ("select 1 as a, 2 as a", QueryFailed),
        ("select 1 as a; select 2 as b", NotOneStatement),
        (ROWS[each_engine].format(11), TooManyRows),
    ):
        with pytest.raises(kind):
            await sources.stream(group(main="ds_1"), "main", sql, {})
        assert await is_free(sources)
    with pytest.raises(InvalidSettings, match="format is 'xml'"):
        await sources.stream(group(main="ds_1"), "main", "select 1 as a", {}, format="xml")


async def test_a_closed_source_ends_its_streams(each_engine: str, make) -> None:
    """Also one that is between two pieces."""
    sources = make(stream=StreamLimits(row_limit=ENDLESS))
    stream = await sources.stream(group(main="ds_1"), "main", ROWS[each_engine].format(ENDLESS), {})
    await anext(stream)
    async with asyncio.timeout(SOON):
        await sources.aclose()
    with pytest.raises(SourceUnavailable):
        await anext(stream)


class CountingDriver(EchoDriver):
    """Gives rows without end, and counts them."""

    given = 0

    def open_rows(self, connection: str, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        return OpenRows(["n"], self._rows(), close=lambda: self.events.append("rows"))

    def _rows(self) -> Iterator[tuple[int]]:
        while True:
            self.given += 1
            yield (self.given,)


def _own_engine(directory: Directory, kind: type[EchoDriver]) -> tuple[list[Any], dict[str, Any]]:
    directory.add(1, "echo://host/name")
    made: list[Any] = []

    def make_driver(source: RegisteredSource, limits: Limits) -> Driver[str]:
        made.append(kind(source, limits))
        return made[-1]

    return made, {"echo": make_driver}


async def test_no_row_is_read_that_nobody_asked_for(directory: Directory, make) -> None:
    """What the driver gave is what the reader has. Red when rows were read ahead of him."""
    made, engines = _own_engine(directory, CountingDriver)
    async with await make(engines=engines).stream(group(main="ds_1"), "main", "select 1", {}) as stream:
        lines = 0
        for _ in range(20):
            lines += (await anext(stream)).count(b"\n")
            await asyncio.sleep(0.01)
            assert made[0].given == stream.row_count == lines
    async with asyncio.timeout(SOON):
        while made[0].events != ["rows", "close"]:
            await asyncio.sleep(0.01)


async def test_a_driver_that_cannot_stream(directory: Directory, make) -> None:
    """Its ``fetch`` runs, with the limits of one."""
    _, engines = _own_engine(directory, EchoDriver)
    stream = await make(engines=engines).stream(group(main="ds_1"), "main", "select 1", {}, format="csv")
    assert b"".join([piece async for piece in stream]).startswith(
        b"url,sql,params,timeout\r\necho://host/name,select 1"
    )


async def test_a_stream_has_its_groups_turn(directory: Directory, make, tmp_path: Path) -> None:
    """A group with a share of one cannot run a second query beside it; another group can. Red when a stream takes no
    turn."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    sources = make(pool_size=2, group_pool_size=1)
    async with await sources.stream(group(main="ds_1"), "main", ROWS["sqlite"].format(90_000), {}) as stream:
        second = asyncio.create_task(sources.fetch(group(main="ds_1"), "main", "select 2 as two", {}))
        other = replace(group("other", main="ds_1"), handle=b"87654321")
        assert await sources.fetch(other, "main", "select 1 as one", {})
        assert (second.done(), sources.activity.sources["ds_1"].waiting) == (False, 1)
        assert len([piece async for piece in stream]) > 1
        async with asyncio.timeout(SOON):
            assert await second == [{"two": 2}]


async def test_one_reader(directory: Directory, make, tmp_path: Path) -> None:
    """Two tasks would tear the body apart."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    stream = await make().stream(group(main="ds_1"), "main", ROWS["sqlite"].format(90_000), {})
    await anext(stream)
    first = asyncio.create_task(stream.__anext__())
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="another task already reads"):
        await anext(stream)
    assert await first


ARROW: dict[str, tuple[str, dict[str, str]]] = {
    "postgresql": (
        """select i,
            case when i = 5000 then 'infinity'::timestamptz else timestamptz '2026-01-31 09:30+00' end as zoned,
            case when i = 5000 then '-infinity'::timestamp else timestamp '2026-01-31 09:30' end as local,
            case when i < 5000 then null else date '2026-01-31' end as late,
            (i / 4.0)::numeric(9, 2) as amount, i * 1.5 as free,
            case when i = 5000 then interval '1 month' else interval '1 day' end as span
        from generate_series(1, {0}) as t(i)""",
        {
            "i": "int64",
            "zoned": "timestamp[us, tz=UTC]",
            "local": "timestamp[us]",
            "late": "date32[day]",
            "amount": "decimal128(9, 2)",
            "free": "string",
            "span": "string",
        },
    ),
    "mariadb": (
        """select cast(i as unsigned) as u, cast(i / 4 as decimal(9, 2)) as amount,
            case when i < 5000 then null else timestamp '2026-01-31 09:30:00' end as late
        from (select seq as i from seq_1_to_{0}) t""",
        {"u": "uint64", "amount": "decimal128(9, 2)", "late": "timestamp[us]"},
    ),
    "duckdb": (
        """select i, sum(i) over (order by i) as total, (i / 4)::decimal(9, 2) as amount,
            case when i < 5000 then null else timestamptz '2026-01-31 09:30:00+00' end as late
        from range(1, {0} + 1) t(i)""",
        {
            "i": "int64",
            "total": "decimal128(38, 0)",
            "amount": "decimal128(9, 2)",
            "late": "timestamp[us, tz=UTC]",
        },
    ),
}


@pytest.mark.parametrize("each_engine", ARROW, indirect=True)
async def test_the_arrow_schema_is_what_the_server_declares(each_engine: str, make) -> None:
    """Whatever the rows hold: a stream, no rows at all, and another batch have the same types. A value that the type
    does not hold is null. Red when the first rows decide: ``infinity`` in row 5,000 broke the body, and a column
    without a value in the first rows became text."""
    sql, kinds = ARROW[each_engine]
    sources = make()

    async def read(count: int) -> Any:
        body = io.BytesIO()
        await read_into(body, await sources.stream(group(main="ds_1"), "main", sql.format(count), {}, format="arrow"))
        with pa.ipc.open_stream(body.getvalue()) as reader:
            return reader.read_all()

    table = await read(6_000)
    assert {field.name: str(field.type) for field in table.schema} == kinds
    assert table.num_rows == 6_000
    assert table.column("late").null_count == 4_999
    assert (await read(1)).schema == table.schema
    whole = await sources.query(group(main="ds_1"), "main", sql.format(10))
    with pa.ipc.open_stream(to_arrow(whole)) as reader:
        declared = {name: kind for name, kind in kinds.items() if name != "free"}
        assert {field.name: str(field.type) for field in reader.schema if field.name != "free"} == declared
    if each_engine == "postgresql":
        assert [table.column(name).null_count for name in ("zoned", "local", "span")] == [1, 1, 0]
        assert table.column("span").to_pylist()[4_999] == "P1M"


async def test_an_arrow_stream_of_sqlite_is_strings(directory: Directory, make, tmp_path: Path) -> None:
    """SQLite declares no types, and any row may have a value of another type. Red when the first rows decide: the
    string in row 5,000 broke the body."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    sql = f"select i, case when i < 5000 then i / 2.0 else 'infinity' end as m from ({ROWS['sqlite'].format(6_000)})"
    body = io.BytesIO()
    await read_into(body, await make().stream(group(main="ds_1"), "main", sql, {}, format="arrow"))
    table = pa.ipc.open_stream(body.getvalue()).read_all()
    assert [str(field.type) for field in table.schema] == ["string", "string"]
    assert table.slice(4_998, 2).to_pylist() == [{"i": "4999", "m": "2499.5"}, {"i": "5000", "m": "infinity"}]
    assert table.num_rows == 6_000


@pytest.mark.parametrize(
    ("name", "value"), [("row_limit", 0), ("max_bytes", 0), ("timeout", 0), ("reader_timeout", float("inf"))]
)
def test_a_bound_that_is_none(name: str, value: Any) -> None:
    """As those of Limits."""
    with pytest.raises(InvalidSettings, match=name):
        StreamLimits(**{name: value})
