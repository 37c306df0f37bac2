"""What a ClickHouse source answers, for the server and for the embedded engine alike: one table, run on both.

``python -m tests.datasources.clickhouse_cases FOLDER`` runs it on chDB in a process of its own, for the engine cannot
be taken out of one again; and with it what is only true of chDB.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from tenantry.datasources import DataSources
from tenantry.errors import TenantryError
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources

LIMITS: dict[str, Any] = {"timeout": 20.0, "connect_timeout": 60.0, "row_limit": 50, "max_bytes": 100_000}
CANARY = "k3y-c4n4ry"
PATIENCE = 60.0
RUNNING = "select count() as n from system.processes where query like '%1e13%' and query not like '%like%'"
ENDLESS = tuple(f"select sum(sleepEachRow(0.00001) + {each}) from numbers(1e13)" for each in range(5))
"""They sleep, so that the tests beside them have the processor."""
TABLES = (
    "create database sales engine = Atomic",
    "create table sales.orders (id UInt32, owner String) engine = MergeTree order by id",
    "insert into sales.orders values (1, 'acme'), (2, 'globex')",
    """create table sales.typed (a UInt64, b Int256, c Float32, d Decimal(9, 2), e Bool, f Date, g Date32, h DateTime,
       i DateTime64(6, 'Europe/Berlin'), j UUID, k FixedString(2), l LowCardinality(Nullable(String)), m Array(Int8),
       n Tuple(x Int8, y String), o Tuple(Int8, String), p Map(String, Int8), q Enum8('on' = 1), r IPv4, s IPv6,
       t Nullable(Int8)) engine = MergeTree order by a""",
    """insert into sales.typed values (18446744073709551615, -1, 0.5, 1.5, true, '2026-01-31', '1900-01-01',
       '2026-01-31 09:30:00', toDateTime64('2026-01-31 09:30:00.000001', 6, 'UTC'),
       '00000000-0000-0000-0000-000000000005', 'ab', 'x', [1, 2], (1, 'a'), (1, 'a'), {'a': 1}, 'on', '10.0.0.1',
       '::1', null)""",
)


class Case(NamedTuple):
    """A query, the viewer's parameters, and what comes of it: ``outcome``, or its beginning."""

    sql: str
    params: Mapping[str, Any]
    outcome: str


def _value(value: Any, type_word: str, back: Any) -> Case:
    return Case("select {{ params.v }} as v", {"v": value}, f"v {type_word}: [({back!r},)]")


NOON = datetime(2026, 1, 31, 12, 0, 0, 5)  # noqa: DTZ001  # a clock time is meant
CASES = (
    # rows and their types
    Case("select * from sales.orders order by id", {}, "id integer, owner text: [(1, 'acme'), (2, 'globex')]"),
    Case(
        "select * from sales.typed",
        {},
        "a integer, b integer, c float, d decimal, e boolean, f date, g date, h datetime, i datetime, j uuid, k bytes, "
        "l text, m list, n struct, o list, p struct, q text, r text, s text, t integer: "
        "[(18446744073709551615, -1, 0.5, Decimal('1.50'), True, datetime.date(2026, 1, 31), datetime.date(1900, 1, 1),"
        " datetime.datetime(2026, 1, 31, 9, 30), datetime.datetime(2026, 1, 31, 10, 30, 0, 1, "
        "tzinfo=zoneinfo.ZoneInfo(key='Europe/Berlin')), UUID('00000000-0000-0000-0000-000000000005'), b'ab', 'x', "
        "[1, 2], {'x': 1, 'y': 'a'}, (1, 'a'), {'a': 1}, 'on', '10.0.0.1', '::1', None)]",
    ),
    Case("select * from sales.typed where 0", {}, "a integer, b integer, c float, d decimal, e boolean, f date"),
    Case("select id from sales.orders where owner = {{ params.v }}", {"v": "nobody"}, "id integer: []"),
    Case("select id from sales.orders limit 0", {}, "id integer: []"),
    Case("show tables from sales", {}, "name text: [('orders',), ('typed',)]"),
    Case("exists sales.orders", {}, "result integer: [(1,)]"),
    Case("from sales.orders select count() as n", {}, "n integer: [(2,)]"),
    Case("select 'a;b' as v -- ;", {}, "v text: [('a;b',)]"),
    Case(
        "select '{p1:Int64} %s' as a, {{ params.v }} as v;", {"v": "%s {a:Int8}"}, "a text, v text: [('{p1:Int64} %s'"
    ),
    # values on the way in
    _value(
        "a'b\\c\nd\te`\r\"é\N{SNOWMAN} \\N $x$ {p1:Int64} %s",
        "text",
        "a'b\\c\nd\te`\r\"é\N{SNOWMAN} \\N $x$ {p1:Int64} %s",
    ),
    _value("", "text", ""),
    _value(-(2**63), "integer", -(2**63)),
    _value(1e300, "float", 1e300),
    _value(True, "boolean", True),
    _value(Decimal("-1.50"), "decimal", Decimal("-1.50")),
    _value(Decimal("1E-70"), "decimal", Decimal("1E-70")),
    _value(Decimal("1E+30"), "decimal", Decimal(10**30)),
    _value(date(2026, 1, 31), "date", date(2026, 1, 31)),
    _value(date(2299, 12, 31), "date", date(2299, 12, 31)),
    _value(NOON, "datetime", NOON),
    _value(NOON.replace(tzinfo=timezone(timedelta(hours=5))), "datetime", NOON.replace(hour=7, tzinfo=UTC)),
    _value(clock(9, 30), "text", "09:30:00"),
    _value(timedelta(minutes=1.5), "integer", 90),
    _value(UUID(int=5), "uuid", UUID(int=5)),
    Case("select id from sales.orders where owner in {{ params.v }}", {"v": ["acme", "x'y"]}, "id integer: [(1,)]"),
    Case("select id from sales.orders where owner in {{ params.v }}", {"v": []}, "id integer: []"),
    Case(
        "select h from sales.typed where h >= {{ params.v }}", {"v": datetime(2026, 1, 31, 9, 30, tzinfo=UTC)}, "h dat"
    ),
    *(
        Case("select {{ params.v }} as v", {"v": value}, "UnbindableValue")
        for value in (b"ab", date(1899, 12, 31), Decimal("1E+80"))
    ),
    Case(
        "select toDate({{ params.v }})", {"v": CANARY}, "UnbindableValue: a value does not fit its position in the SQL"
    ),
    Case("select match('a', {{ params.v }})", {"v": f"({CANARY}"}, "UnbindableValue"),
    Case("select toUUID({{ params.v }})", {"v": CANARY}, "UnbindableValue"),
    # limits
    Case("select number from numbers(51)", {}, "TooManyRows"),
    Case("select count() as n from (select number from numbers(50))", {}, "n integer: [(50,)]"),
    Case("select repeat('x', 5000) as v from numbers(40)", {}, "TooManyBytes"),
    # what does more than read, and what reaches out
    *(
        Case(sql, {}, f"NotOneStatement: data source ds_1 does not run this query: {reason}")
        for sql, reason in (
            (f"insert into sales.orders values (3, '{CANARY}')", "it begins with `insert`"),
            ("select 1; select 2", "it is several statements"),
            ("kill query where 1", "it begins with `kill`"),
            ("set readonly = 0", "it begins with `set`"),
            ("select 1 into outfile '/tmp/never'", "`into outfile`"),
            ("select 1 settings max_execution_time = 0", "it has a clause `settings`"),
            ("select file('/etc/hostname')", "it calls a function that reaches files"),
            ("select * from url('http://127.0.0.1:1/')", "it calls a function that reaches files"),
            ("select * from remoteSecure('127.0.0.1:1', a.b)", "it calls a function that reaches files"),
            ("select `f\\x69le`('/etc/hostname')", "it calls a function that reaches files"),
            ("", "it contains no statement"),
        )
    ),
    Case("select file, url from (select 1 as file, 2 as url)", {}, "file integer, url integer: [(1, 2)]"),
    Case("select dictGet('d', 'a', {{ params.v }})", {"v": 1}, "TemplateError"),
    # errors
    Case(
        f"select '{CANARY}' from sales.nothing",
        {},
        "QueryFailed: data source ds_1 refused the query: UNKNOWN_TABLE (60)",
    ),
    Case("select 1 as v, 1 as w, 1 as v", {}, "QueryFailed: data source ds_1 refused the query: columns 1 and 3"),
)


async def outcome(sources: DataSources, case: Case, name: str = "acme") -> str:
    """The columns and rows, or the error."""
    try:
        result = await sources.query(group(name, main="ds_1"), "main", case.sql, {"params": dict(case.params)})
    except TenantryError as error:
        return f"{type(error).__name__}: {error.message}"
    return ", ".join(f"{each.name} {each.type}" for each in result.columns) + f": {list(result.rows)!r}"


async def _run(folder: Path) -> dict[str, Any]:
    directory = Directory()
    directory.add(1, f"chdb:///{folder / 'data'}")
    directory.add(2, f"chdb:///{folder / 'other'}")
    directory.add(3, f"chdb:///{folder / 'missing'}")
    found: dict[str, Any] = {}
    async with data_sources(directory, **LIMITS) as sources:
        found["cases"] = [await outcome(sources, case) for case in CASES]
        for number in (2, 3):
            try:
                await sources.fetch(group(main=f"ds_{number}"), "main", "select 1")
            except TenantryError as error:
                found[f"ds_{number}"] = f"{type(error).__name__}: {error.message}"
        guarded = json.dumps({"tables": {"sales.orders": "owner"}})
        directory.registered[0] = replace(directory.registered[0], tables=guarded)
        found["guarded"] = [await outcome(sources, CASES[0], each) for each in ("acme", "globex")]
        directory.registered[0] = replace(directory.registered[0], tables="")
    found["stop"] = await _stop(directory)
    found["stream"] = await _stream(directory)
    async with data_sources(directory, **LIMITS) as sources:
        found["still there"] = await outcome(sources, CASES[0])
        found["engine alone"] = [await outcome(sources, case) for case in without_the_check_of_the_text()]
    return found


async def _stream(directory: Directory) -> dict[str, Any]:
    """The rows of streams with more rows than a query may have, and of one that is left after its first piece."""
    asking, found = group(main="ds_1"), {}
    async with data_sources(directory, **LIMITS, pool_size=1) as sources:
        for sql in ("select number from numbers(70000)", "select 1 as a where 0", "show tables from sales"):
            stream = await sources.stream(asking, "main", sql, {}, format="csv")
            found[sql] = b"".join([piece async for piece in stream]).count(b"\n")
        stream = await sources.stream(asking, "main", "select number from numbers(1e13)", {})
        found["first"] = (await anext(aiter(stream))).decode()[:12]
        await stream.aclose()
        found["left"] = await sources.fetch(asking, "main", "select 1 as a")
    return found


async def _stop(directory: Directory) -> dict[str, Any]:
    """Five queries without end are left; how long it takes until another one is served."""
    async with data_sources(directory, timeout=100, connect_timeout=PATIENCE) as sources:
        acme, globex = group("acme", main="ds_1"), group("globex", main="ds_1")
        await sources.fetch(acme, "main", "select 1")
        tasks = [asyncio.create_task(sources.fetch(acme, "main", sql)) for sql in ENDLESS]
        await asyncio.sleep(1)
        for task in tasks:
            task.cancel()
        began = time.monotonic()
        await sources.fetch(globex, "main", "select 1")
        served = time.monotonic() - began
        while time.monotonic() - began < PATIENCE:
            rows = await sources.fetch(globex, "main", RUNNING)
            if rows == [{"n": 0}]:
                break
            await asyncio.sleep(0.05)
        return {"served": served, "stopped": time.monotonic() - began}


ENGINE_ALONE = (
    "insert into sales.orders values (3, 'x')",
    "create temporary table t (a Int8)",
    "set readonly = 0",
    "select 1 settings max_execution_time = 0",
    "select * from file('/etc/hostname', LineAsString)",
    "select * from url('http://127.0.0.1:1/', LineAsString)",
    "drop table sales.orders",
)
"""What the engine itself refuses, without any check of the text."""


def without_the_check_of_the_text() -> list[Case]:
    """From here on no text is refused in this process."""
    from tenantry.datasources.engines import clickhouse_sql

    clickhouse_sql.clickhouse_refusal = lambda _: None  # type: ignore[assignment]
    return [
        Case(sql, {}, "NotOneStatement: data source ds_1 does not run this query: the database refused")
        for sql in ENGINE_ALONE
    ]


def _prepare(folder: Path) -> None:
    """A database, and a second one beside it."""
    import chdb

    for name, statements in (("data", TABLES), ("other", ("create table default.t (a Int8) engine = Memory",))):
        connection = chdb.connect(str(folder / name))
        for statement in statements:
            connection.query(statement)
        connection.close()


if __name__ == "__main__":
    _prepare(Path(sys.argv[1]))
    print(json.dumps(asyncio.run(_run(Path(sys.argv[1])))))
