"""Each type of each engine, through a data source into each format, and back by a reader that is not ours."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engines.postgres import Postgres
from engines.samples import sampled
from tenantry.datasources.results import Result, ResultColumn, to_arrow, to_csv, to_json, to_ndjson
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file

AT = datetime(2026, 1, 31, 9, 30, 0, 500_000)  # noqa: DTZ001  # a clock time is meant
SAME: Any = object()
"""As in JSON."""


@dataclass(frozen=True)
class Case:
    """An expression; the word for its type; its value in JSON, in CSV and in Arrow."""

    sql: str
    type: str | None
    json: Any
    csv: str
    arrow: Any = SAME


SQLITE = [
    Case("7", "integer", 7, "7"),
    Case("9007199254740993", "integer", 9007199254740993, "9007199254740993"),
    Case("-9223372036854775808", "integer", -(2**63), "-9223372036854775808"),
    Case("0.5", "float", 0.5, "0.5"),
    Case("9e999", "float", None, "", float("inf")),
    Case("'é \"x\", =1'", "text", 'é "x", =1', 'é "x", =1'),
    Case("x'fffe3e'", "bytes", "//4+", "//4+", b"\xff\xfe>"),
    Case("null", None, None, ""),
    Case("date('2026-01-31')", "text", "2026-01-31", "2026-01-31"),
    Case("json('{\"a\": [1]}')", "text", '{"a":[1]}', '{"a":[1]}'),
]

UUID_TEXT = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
LONG = "12345678901234567890123456789012345678901"
CLOCK = "2026-01-31T09:30:00.500000"
LIST = "[1,null,9007199254740993]"
STRUCT = '{"a":"2026-01-31","b":null}'
MAP = '{"1":"x","2":"y"}'
DOCUMENT = '{"a":[1,null,"x"]}'
LAST = "9999-12-31T23:59:59.999999"
DUCKDB = [
    Case("7::tinyint", "integer", 7, "7"),
    Case("9007199254740993", "integer", 9007199254740993, "9007199254740993"),
    Case("(2::hugeint ** 100)::hugeint", "integer", 2**100, str(2**100), Decimal(2**100)),
    Case(f"{2**128 - 1}::uhugeint", "integer", 2**128 - 1, str(2**128 - 1), str(2**128 - 1)),
    Case(f"{LONG}::bignum", "text", LONG, LONG),
    Case("1.50::decimal(5, 2)", "decimal", Decimal("1.50"), "1.50"),
    Case("0.5::double", "float", 0.5, "0.5"),
    Case("'nan'::double", "float", None, "", float("nan")),
    Case("'-inf'::float", "float", None, "", float("-inf")),
    Case("true", "boolean", True, "true"),
    Case("'é \"x\", =1'", "text", 'é "x", =1', 'é "x", =1'),
    Case("'x'::enum('x', 'y')", "text", "x", "x"),
    Case("'101'::bit", "text", "101", "101"),
    Case("'\\xFF\\xFE>'::blob", "bytes", "//4+", "//4+", b"\xff\xfe>"),
    Case(f"'{UUID_TEXT}'::uuid", "uuid", UUID_TEXT, UUID_TEXT),
    Case("date '2026-01-31'", "date", "2026-01-31", "2026-01-31", date(2026, 1, 31)),
    Case("timestamp '2026-01-31 09:30:00.5'", "datetime", CLOCK, CLOCK, AT),
    Case("timestamptz '2026-01-31 14:30:00.5+05'", "datetime", f"{CLOCK}Z", f"{CLOCK}Z", AT.replace(tzinfo=UTC)),
    Case("time '09:30:00'", "time", "09:30:00", "09:30:00", time(9, 30)),
    Case("'09:30:00+05'::timetz", "time", "09:30:00+05:00", "09:30:00+05:00"),
    Case("interval '1 day 2 hours'", "interval", "P1DT7200S", "P1DT7200S", timedelta(days=1, hours=2)),
    Case("interval '1 year 1 month 1 day'", "interval", "P391D", "P391D", timedelta(days=391)),
    Case("date 'infinity'", "date", "9999-12-31", "9999-12-31", date.max),
    Case("date '-infinity'", "date", "0001-01-01", "0001-01-01", date.min),
    Case("timestamptz 'infinity'", "datetime", LAST, LAST, datetime.fromisoformat(LAST).replace(tzinfo=UTC)),
    Case("date '10000-01-01'", "date", "10000-01-01", "10000-01-01", None),
    Case("time '24:00:00'", "time", "24:00:00", "24:00:00", None),
    Case("timestamp_ns '2026-01-31 09:30:00.500000999'", "datetime", CLOCK, CLOCK, AT),
    Case("[1, null, 9007199254740993]", "list", [1, None, 9007199254740993], LIST, LIST),
    Case("[1.50, null]::decimal(5, 2)[2]", "list", [Decimal("1.50"), None], "[1.50,null]", "[1.50,null]"),
    Case("{'a': date '2026-01-31', 'b': 'nan'::double}", "struct", {"a": "2026-01-31", "b": None}, STRUCT, STRUCT),
    Case("map([1, 2], ['x', 'y'])", "struct", {"1": "x", "2": "y"}, MAP, MAP),
    Case(f"'{DOCUMENT}'::json", "json", {"a": [1, None, "x"]}, DOCUMENT, DOCUMENT),
    Case("'null'::json", "json", None, ""),
    Case("to_json('nan'::double)", "json", None, ""),
    Case("null::json", "json", None, ""),
    Case("null", None, None, ""),
]

POSTGRESQL = [
    Case("7::smallint", "integer", 7, "7"),
    Case("9007199254740993", "integer", 9007199254740993, "9007199254740993"),
    Case("1.50::numeric", "decimal", Decimal("1.50"), "1.50"),
    Case(f"{10**50}::numeric", "decimal", Decimal(10**50), str(10**50)),
    Case("'NaN'::numeric", "decimal", None, ""),
    Case("'infinity'::numeric", "decimal", None, ""),
    Case("0.5::float8", "float", 0.5, "0.5"),
    Case("'NaN'::float4", "float", None, "", float("nan")),
    Case("true", "boolean", True, "true"),
    Case("'é \"x\", =1'", "text", 'é "x", =1', 'é "x", =1'),
    Case("'\\xfffe3e'::bytea", "bytes", "//4+", "//4+", b"\xff\xfe>"),
    Case(f"'{UUID_TEXT}'::uuid", "uuid", UUID_TEXT, UUID_TEXT),
    Case("date '2026-01-31'", "date", "2026-01-31", "2026-01-31", date(2026, 1, 31)),
    Case("date 'infinity'", "date", "infinity", "infinity", None),
    Case("timestamp '2026-01-31 09:30:00.5'", "datetime", CLOCK, CLOCK, AT),
    Case("timestamptz '2026-01-31 14:30:00.5+05'", "datetime", f"{CLOCK}Z", f"{CLOCK}Z", AT.replace(tzinfo=UTC)),
    Case("time '09:30:00'", "time", "09:30:00", "09:30:00", time(9, 30)),
    Case("timetz '09:30:00+05'", "time", "09:30:00+05:00", "09:30:00+05:00"),
    Case("interval '1 day 2 hours'", "interval", "P1DT7200S", "P1DT7200S"),
    Case("interval '1 month 2 days'", "interval", "P1M2D", "P1M2D"),
    Case("array[1, null, 9007199254740993]", "list", [1, None, 9007199254740993], LIST, LIST),
    Case("array[1.50, null]::numeric[]", "list", [Decimal("1.50"), None], "[1.50,null]", "[1.50,null]"),
    Case(f"'{DOCUMENT}'::json", "json", {"a": [1, None, "x"]}, DOCUMENT, DOCUMENT),
    Case(f"'{DOCUMENT}'::jsonb", "json", {"a": [1, None, "x"]}, DOCUMENT, DOCUMENT),
    Case("""'"\\ud800"'::json""", "json", "\ufffd", "\ufffd"),
    Case("'9007199254740993'::json", "json", 9007199254740993, "9007199254740993", "9007199254740993"),
    Case("'null'::jsonb", "json", None, ""),
    Case("int4range(1, 10)", "text", "[1,10)", "[1,10)"),
    Case("inet '10.0.0.1/8'", "text", "10.0.0.1/8", "10.0.0.1/8"),
    Case("point(1, 2)", "text", "(1,2)", "(1,2)"),
    Case("null", "text", None, ""),
]
MARIADB = [
    Case("7", "integer", 7, "7"),
    Case("9007199254740993", "integer", 9007199254740993, "9007199254740993"),
    Case("18446744073709551615", "integer", 2**64 - 1, str(2**64 - 1), Decimal(2**64 - 1)),
    Case("1.50", "decimal", Decimal("1.50"), "1.50"),
    Case("5e-1", "float", 0.5, "0.5"),
    Case("true", "integer", 1, "1"),
    Case("'é \"x\", =1'", "text", 'é "x", =1', 'é "x", =1'),
    Case("x'fffe3e'", "bytes", "//4+", "//4+", b"\xff\xfe>"),
    Case("date '2026-01-31'", "date", "2026-01-31", "2026-01-31", date(2026, 1, 31)),
    Case("timestamp '2026-01-31 09:30:00.5'", "datetime", CLOCK, CLOCK, AT),
    Case("time '26:00:00'", "interval", "P1DT7200S", "P1DT7200S", timedelta(days=1, hours=2)),
    Case("time '-00:30:00'", "interval", "-PT1800S", "-PT1800S", timedelta(minutes=-30)),
    Case("null", None, None, ""),
]
CASES = {"sqlite": SQLITE, "duckdb": DUCKDB, "postgresql": POSTGRESQL, "mariadb": MARIADB}
TABLE = [(engine, case) for engine, cases in CASES.items() for case in cases]
MAKE: dict[str, Callable[[Path, str], str]] = {"sqlite": sqlite_file, "duckdb": duckdb_file}

Ask = Callable[..., Awaitable[Any]]


def _url(engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """Of a small database; no case needs a table of a server's."""
    if engine == "postgresql":
        url: str = request.getfixturevalue("database_url")
        return url
    if engine == "mariadb":
        return f"mariadb://root@127.0.0.1:{request.getfixturevalue('mariadb').port}/mysql"
    return MAKE[engine](folder / "a.db", "acme")


@pytest.fixture(scope="module")
def database_url(postgres: Postgres) -> str:
    return postgres.create_database()


@pytest.fixture
def ask(directory: Directory, open_sources: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Ask:
    """``fetch`` or ``query`` of a source on an engine."""

    async def run(engine: str, method: str, sql: str, **limits: Any) -> Any:
        if not directory.registered:
            directory.add(1, _url(engine, tmp_path, request))
        return await getattr(open_sources(**limits), method)(group(main="ds_1"), "main", sql, {})

    return run


@sampled(30)
@pytest.mark.parametrize(("engine", "case"), TABLE, ids=lambda each: each if isinstance(each, str) else each.sql[:30])
async def test_every_type_in_every_format(ask: Ask, engine: str, case: Case) -> None:
    """Red with ``json.dumps`` of what DuckDB's driver gives: JSON, decimals, intervals, UUIDs, dates, bytes."""
    result: Result = await ask(engine, "query", f"select {case.sql} as v, 1 as one")
    assert result.columns == (ResultColumn("v", case.type), ResultColumn("one", "integer"))
    expected = {"v": case.json, "one": 1}
    for text in (to_json(result), to_json(await ask(engine, "fetch", f"select {case.sql} as v, 1 as one"))):
        assert json.loads(text, parse_float=Decimal, parse_constant=_no_constant) == [expected]
    assert [json.loads(line, parse_float=Decimal) for line in to_ndjson(result).splitlines()] == [expected]
    header, fields = csv.reader(io.StringIO(to_csv(result).decode(), newline=""), strict=True)
    assert (header, fields) == (["v", "one"], [case.csv, "1"])
    with pa.ipc.open_stream(to_arrow(result)) as reader:
        (value,) = reader.read_all().column("v").to_pylist()
    assert repr(value) == repr(case.json if case.arrow is SAME else case.arrow) or value == case.arrow


def _no_constant(name: str) -> None:
    raise AssertionError(f"a bare {name}")


@pytest.mark.parametrize("engine", MAKE)
async def test_fetch_gives_the_dicts_of_query(ask: Ask, engine: str) -> None:
    sql = "select id, owner from orders order by id"
    result: Result = await ask(engine, "query", sql)
    assert result.rows == ((0, "acme"), (1, "acme"), (2, "acme"))
    assert await ask(engine, "fetch", sql) == result.dicts()


@pytest.mark.parametrize("engine", MAKE)
async def test_no_rows_have_columns_all_the_same(ask: Ask, engine: str) -> None:
    """DuckDB says their types as well. Red when the columns are those of the first dict."""
    result: Result = await ask(engine, "query", "select id, owner from orders where 1 = 0")
    assert result.names == ("id", "owner")
    assert [column.type for column in result.columns] == ([None] * 2 if engine == "sqlite" else ["integer", "text"])
    assert to_json(result) == b"[]"
    assert to_csv(result) == b"id,owner\r\n"


async def test_a_json_column_of_duckdb_is_objects(ask: Ask) -> None:
    """In the rows of ``fetch``, too: red when they were DuckDB's text. One that Python cannot read stays text: red on
    Python 3.13 without a limit of depth, where the document was read and what looked at it failed."""
    deep = "[" * 5_000 + "]" * 5_000
    documents = ['{"a": [1, {"b": null}]}', '"x"', "1.5", deep, "7" * 5_000]
    values = ", ".join(f"('{document}'::json)" for document in documents)
    rows = await ask("duckdb", "fetch", f"select v from (values {values}) t(v)")
    assert [row["v"] for row in rows] == [{"a": [1, {"b": None}]}, "x", 1.5, deep, "7" * 5_000]
