"""Values in and out of a real PostgreSQL: what a viewer may send, and what each type comes back as."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from psycopg.pq import DiagnosticField

from tenantry.datasources.engines.postgresql_connection import ServerError
from tenantry.datasources.results import to_arrow, to_csv, to_json
from tenantry.errors import QueryFailed, UnbindableValue
from tests.datasources.conftest import Directory, group

Fetch = Callable[..., Awaitable[list[dict[str, Any]]]]
CANARY = "k3yc4n4ry"


@pytest.fixture(scope="module")
def database(postgres) -> str:
    """Where the server's own settings are none of those that rows are read by."""
    url = postgres.create_database()
    postgres.execute(
        "create type mood as enum ('sad', 'ok'); create domain positive as integer check (value > 0);"
        "do $$ begin execute format('alter database %I set datestyle = %L', current_database(), 'German, DMY');"
        "execute format('alter database %I set intervalstyle = %L', current_database(), 'postgres_verbose');"
        "execute format('alter database %I set timezone = %L', current_database(), 'Asia/Kathmandu');"
        "execute format('alter database %I set extra_float_digits = %L', current_database(), '0');"
        "execute format('alter database %I set bytea_output = %L', current_database(), 'escape'); end $$",
        url=url,
    )
    return url


@pytest.fixture
def fetch(database: str, directory: Directory, open_sources) -> Fetch:
    directory.add(1, database)
    sources = open_sources(timeout=60, pool_size=1, connect_timeout=120)

    async def run(sql: str, **variables: object) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = await sources.fetch(group(main="ds_1"), "main", sql, variables)
        return rows

    return run


@pytest.mark.parametrize(
    "kind",
    [
        "bigint", "bit(3)", "bool", "box", "bytea", "cidr", "circle", "date", "daterange", "double precision", "inet",
        "int4multirange", "int4range", "integer", "interval", "json", "jsonb", "jsonpath", "line", "lseg", "macaddr",
        "money", "mood", "numeric", "numrange", "oid", "path", "pg_lsn", "point", "polygon", "positive", "real",
        "regclass", "regtype", "smallint", "tid", "time", "timestamp", "timestamptz", "timetz", "tsrange", "tsvector",
        "tstzrange", "uuid", "varbit", "xid8",
    ],
)  # fmt: skip
async def test_a_text_that_no_type_reads_is_the_viewers_error(kind: str, fetch: Fetch) -> None:
    """It is UnbindableValue (422), names the place, and repeats the text neither in itself nor in its context. Red on
    asyncpg for interval, range, point, oid, bytea, timetz, bit and inet (502): it read them itself, or not at all."""
    bad = "'" if kind == "tsvector" else "\\x0" if kind == "bytea" else CANARY
    with pytest.raises(UnbindableValue, match=r"^the value of parameter \$1 does not fit the type") as caught:
        await fetch(f"select {{{{ v }}}}::{kind} as x", v=bad)
    assert caught.value.name == "$1"
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None
    assert await fetch("select 1 as one") == [{"one": 1}]


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("select {{ v }}::smallint as x", 40_000),
        ("select {{ v }}::positive as x", -1),
        ("select {{ v }}::date as x", "2026-02-30"),
        ("select {{ v }}::int4range as x", "[3,1)"),
        ("select 1 as x limit {{ v }}", -1),
        ("select date_trunc({{ v }}, now()) as x", CANARY),
        ("select now() at time zone {{ v }} as x", CANARY),
        ("select 'a' ~ {{ v }} as x", "("),
        ("select cast({{ v }}::text as integer) as x", CANARY),
        ("select 1 / {{ v }}::integer as x", 0),
        ("select x from generate_series(1, 2) x where x in {{ v }}", ["1", CANARY]),
        ("select 1 as x where 'ok'::mood in {{ v }}", [CANARY]),
    ],
)
async def test_so_is_one_that_the_query_cannot_compute_with(sql: str, value: object, fetch: Fetch) -> None:
    """All of class 22 where the query has values, and whatever the server says of a parameter. Without values it is the
    query's own fault."""
    with pytest.raises(UnbindableValue) as caught:
        await fetch(sql, v=value)
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(QueryFailed, match="22012"):
        await fetch("select 1 / 0 as x")


@pytest.mark.parametrize(
    ("context", "number"),
    [
        (b"unnamed portal parameter $1 = '...'", 1),
        (b"unnamed portal parameter $12\nline 2", 12),
        (b"unbenanntes Portal, Parameter $3 = '...'", 3),
        (b"SQL statement \"select $2 = ''\"", None),
        (b'PL/pgSQL function f(text) line 1: "x $2 = "', None),
        (b"'unnamed portal parameter $2 = '", None),
        (b'invalid type name "x $2"', None),
        (None, None),
    ],
)
def test_the_place_is_what_the_server_says_before_it_quotes(context: bytes | None, number: int | None) -> None:
    """What a text of the query or a value says of a parameter is no word of the server."""

    class Refusal:
        def error_field(self, field: int) -> bytes | None:
            return context if field == DiagnosticField.CONTEXT else b"22P02"

    assert ServerError(Refusal()).parameter == number  # type: ignore[arg-type]  # as much of a result as is read


NEPAL = timezone(timedelta(hours=5, minutes=45))


@pytest.mark.parametrize(
    ("sql", "value", "back"),
    [
        ("{{ v }}::timestamptz", datetime(2026, 1, 31, 12, tzinfo=NEPAL), datetime(2026, 1, 31, 6, 15, tzinfo=UTC)),
        ("{{ v }}::timestamp::text", datetime(2026, 1, 31, 12, tzinfo=NEPAL), "2026-01-31 06:15:00"),
        ("{{ v }}::timestamptz", "2026-01-31 12:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("{{ v }}::date", date(2026, 1, 2), date(2026, 1, 2)),
        ("{{ v }}::date", "2026-01-02", date(2026, 1, 2)),
        ("{{ v }}::time", time(10, 30, 0, 5), time(10, 30, 0, 5)),
        ("{{ v }}::timetz", time(10, 30, tzinfo=NEPAL), time(10, 30, tzinfo=NEPAL)),
        ("{{ v }}::interval", timedelta(days=-3, microseconds=1), timedelta(days=-3, microseconds=1)),
        ("{{ v }}::uuid", UUID(int=7), UUID(int=7)),
        ("{{ v }}::numeric", Decimal("0.10"), Decimal("0.10")),
        ("{{ v }}::bytea", b"\0\\'\xff", b"\0\\'\xff"),
        ("{{ v }}::bigint", 2**63 - 1, 2**63 - 1),
        ("{{ v }}::bigint", 7.0, 7),
        ("{{ v }}::float8", 0.1 + 0.2, 0.1 + 0.2),
        ("{{ v }}::boolean", "off", False),
        ("{{ v }}::mood", "ok", "ok"),
        ("{{ v }}", "é'\\\n", "é'\\\n"),
    ],
)
async def test_values_go_in_and_come_back(sql: str, value: object, back: object, fetch: Fetch) -> None:
    """An instant keeps its meaning whatever its offset and the server's time zone; a text without one is read in
    UTC."""
    (row,) = await fetch(f"select {sql} as x", v=value)
    assert row["x"] == back
    assert type(row["x"]) is type(back)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("null::integer", None),
        ("'NaN'::numeric::text", "NaN"),
        ("1e100::numeric", Decimal(10) ** 100),
        ("'-Infinity'::float8", -math.inf),
        ("date '2026-01-31'", date(2026, 1, 31)),
        ("timestamp '2026-01-31 10:00:00.25'", datetime.fromisoformat("2026-01-31T10:00:00.25")),
        ("timestamptz '2026-01-31 10:00:00+02'", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("date 'infinity'", "infinity"),
        ("timestamptz '-infinity'", "-infinity"),
        ("date '0044-03-15 BC'", "0044-03-15 BC"),
        ("time '24:00'", "24:00:00"),
        ("array[date '2026-01-31', 'infinity']", [date(2026, 1, 31), "infinity"]),
        ("interval '2 days 03:00:00.5'", timedelta(days=2, hours=3, microseconds=500_000)),
        ("interval '-0.5 seconds'", timedelta(microseconds=-500_000)),
        ("interval '1 day -02:03:04'", timedelta(days=1, hours=-2, minutes=-3, seconds=-4)),
        ("interval '0'", timedelta(0)),
        ("interval '1 mon 2 days'", "P1M2D"),
        ("interval '-1 year 2 mons 3 days 04:05:06.7'", "P-10M3DT4H5M6.7S"),
        ("interval '2000000000 days'", "P2000000000D"),
        ('\'{"a": [1, 2.5, null, "é"]}\'::jsonb', {"a": [1, 2.5, None, "é"]}),
        ("'[1]'::json", [1]),
        ("'null'::jsonb", None),
        (f"'{'7' * 5_000}'::jsonb", "7" * 5_000),
        ("array['{\"a\": 1}'::jsonb]", [{"a": 1}]),
        ("'[1,3)'::int4range", "[1,3)"),
        ("'{[1,3),[5,6)}'::int4multirange", "{[1,3),[5,6)}"),
        ("array['[1,3)'::int4range]", ["[1,3)"]),
        ("inet '10.0.0.1/8'", "10.0.0.1/8"),
        ("cidr '10.0.0.0/8'", "10.0.0.0/8"),
        ("macaddr '08:00:2b:01:02:03'", "08:00:2b:01:02:03"),
        ("point '(1,2)'", "(1,2)"),
        ("row(1, 'a,b')", '(1,"a,b")'),
        ("'ok'::mood", "ok"),
        ("array['ok'::mood]", "{ok}"),
        ("5::positive", 5),
        ("b'101'", "101"),
        ("'a b'::tsvector", "'a' 'b'"),
        ("decode('00ff', 'hex')", b"\0\xff"),
        ("26::oid", 26),
        ("'pg_class'::regclass", "pg_class"),
        ("array[[1, 2], [3, null]]", [[1, 2], [3, None]]),
        ("array[0.1::numeric]", [Decimal("0.1")]),
        ("'x'::char(3)", "x  "),
        ("pg_sleep(0)", ""),
    ],
)
async def test_what_a_type_comes_back_as(sql: str, value: object, fetch: Fetch) -> None:
    """The table of the docs, whatever the database's own DateStyle, IntervalStyle, bytea_output and time zone are. An
    interval with months is a text (red: `1 mon 2 days` was 32 days), JSON is an object (red: it was a text), and what
    Python's type cannot hold is the server's text (red: an error)."""
    (row,) = await fetch(f"select {sql} as x, 1 as after")
    assert row == {"x": value, "after": 1}
    assert type(row["x"]) is type(value)


WORDS = {
    "boolean": ["true"],
    "integer": ["1::smallint", "1", "1::bigint", "1::oid", "1::positive"],
    "float": ["1::real", "1::float8"],
    "decimal": ["1.5"],
    "date": ["date '2026-01-31'", "date 'infinity'"],
    "time": ["time '10:00'", "timetz '10:00+01'"],
    "datetime": ["timestamp '2026-01-31'", "now()"],
    "interval": ["interval '1 day'", "interval '1 mon'"],
    "uuid": ["'00000000-0000-0000-0000-000000000001'::uuid"],
    "bytes": ["'a'::bytea"],
    "json": ["'{}'::json", "'{}'::jsonb", "null::jsonb"],
    "list": ["array[1]", "null::text[]", "array['[1,2)'::int4range]"],
    "text": ["'a'", "'a'::varchar(3)", "'ok'::mood", "inet '10.0.0.1'", "'[1,2)'::int4range", "array['ok'::mood]"],
}


async def test_the_types_of_columns(database: str, directory: Directory, open_sources) -> None:
    """A Result has a word for each, also of columns without a value, and every format takes what comes."""
    directory.add(1, database)
    sql = [(word, each) for word, some in WORDS.items() for each in some]
    text = "select " + ", ".join(f"{each} as c{number}" for number, (_, each) in enumerate(sql))
    found = await open_sources(connect_timeout=120).query(group(main="ds_1"), "main", text)
    assert [column.type for column in found.columns] == [word for word, _ in sql]
    for write in (to_json, to_csv, to_arrow):
        assert write(found)


async def test_text_that_is_no_utf8_is_an_error_without_it(postgres, directory: Directory, open_sources) -> None:
    """A database without an encoding holds any bytes."""
    name = postgres.create_database().rpartition("/")[2] + "_ascii"
    postgres.execute(f"create database {name} template template0 encoding 'SQL_ASCII'")
    directory.add(1, postgres.url.rpartition("/")[0] + f"/{name}")
    sources = open_sources()
    try:
        with pytest.raises(QueryFailed) as caught:
            await sources.fetch(group(main="ds_1"), "main", r"select e'k3y\xff' as x")
        assert "k3y" not in str(caught.value)
        assert caught.value.__context__ is None
        assert await sources.fetch(group(main="ds_1"), "main", "select 'a' as x") == [{"x": "a"}]
    finally:
        await sources.aclose()
        postgres.execute(f"drop database {name} with (force)")
