"""Ten queries of a million orders and a million items on each engine: as an author filters them, the same with guarded
tables, and as the author filters them once more, which shows the noise. One of them also as an author filters both of
its tables by hand, which is what a guard of both costs at least.

Engines in this process are measured by its processor time, and servers by the wall's. The forms take turns, and the
fastest of their calls counts: other processes on the machine only add time.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import defaultdict
from contextlib import AsyncExitStack, ExitStack, closing
from pathlib import Path
from random import shuffle
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

import duckdb

from benchmarks.harness import engines
from benchmarks.harness.engines import EngineMissing
from benchmarks.harness.measure import WALL, Clock
from benchmarks.harness.one_source import SCHEMA, OneSource, group
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.sql import SQLTemplate

CALLS: Final = 60
_WARMING: Final = 6  # calls after which a server no longer plans a query anew
ROWS: Final = 1_000_000
GROUPS: Final = 100
AIM, SEMI_JOINS_AIM = 1.3, 2.0
TABLES: Final = json.dumps({"tables": {"orders": "customer_id", "items": {"order_id": "orders.id"}}})
_OWN = "customer_id = {{ user_group.id }}"

QUERIES: Final = {
    "count": "select count(*) as n from orders where {own}",
    "by month": "select month, sum(amount) as amount from orders where {own} group by month",
    "latest 20": "select id, amount from orders where {own} order by placed desc limit 20",
    "one order": "select id, amount from orders where {own} and id = 500007",
    "two conditions": "select region, count(*) as n from orders where {own} and month > 6 group by region",
    "running sum": "select max(total) as total from "
    "(select sum(amount) over (order by placed) as total from orders where {own}) x",
    "with": "with m as (select month, avg(amount) as a from orders where {own} group by month) "
    "select max(a) as a from m",
    "join": "select o.month, sum(i.price) as price from orders o join items i on i.order_id = o.id "
    "where o.{own} group by o.month",
    "semi-join by in": "select sum(price) as price from items where order_id in (select id from orders where {own})",
    "semi-join by exists": "select count(*) as n from items i where exists "
    "(select 1 from orders o where o.id = i.order_id and o.{own})",
}
BY_HAND: Final = {
    "join": QUERIES["join"].replace("group by", "and i.order_id in (select id from orders where {own}) group by")
}
"""As an author filters every table."""
_SEMI_JOINS: Final = ("semi-join by in", "semi-join by exists")
_FORMS: Final = ("author", "guarded", "again")
_HAND: Final = "by hand"
_Times: TypeAlias = dict[tuple[str, str], list[int]]
"""Nanoseconds of each call, by form and query."""
_SCHEMA: Final = (
    "create table orders (id int, customer_id varchar(20), placed int, month int, region varchar(2), amount int)",
    "create table items (id integer, order_id integer, price integer)",
)
_INDEXES: Final = (
    "create index of_customer on orders (customer_id)",
    "create unique index of_order on orders (id)",
    "create index of_items on items (order_id)",
)


def statements(numbers: str, text: str) -> list[str]:
    """The SQL that makes the tables, where ``numbers`` selects n from 0 on, and ``text`` writes the group's number."""
    orders = f"select n, {text}, (n * 7919) % 1000003, n % 12, case n % 2 when 0 then 'eu' else 'us' end, n % 997"
    items = "select n, (n * 7919) % 1000000, n % 251"
    filled = (f"insert into orders {orders} from {numbers}", f"insert into items {items} from {numbers}")
    return [*_SCHEMA, *filled, *_INDEXES]


def table() -> Table:
    """Runs them on each engine that is here."""
    heads = ["what", *(f"{name}, {what}" for name in _ENGINES for what in ("ms", "×", "noise", "by hand"))]
    result = Table(f"Ten queries of {ROWS:,} orders: guarded ÷ filtered by the author", heads)
    found: dict[str, _Times] = {}
    for name, fill in _ENGINES.items():
        try:
            with ExitStack() as stack:
                found[name] = asyncio.run(_measure(fill(stack), time.process_time_ns if fill in _HERE else WALL))
        except EngineMissing as missing:
            print(f"{name}: skipped: {missing}", flush=True)
    for query in QUERIES:
        cells = []
        for name in _ENGINES:
            if name not in found:
                cells += ["", "", "", ""]
                continue
            cells.append(f"{min(found[name]['author', query]) / 1e6:.2f}")
            cells += [f"{_ratio(found[name], form, query):.2f}" for form in _FORMS[1:]]
            cells.append(f"{_ratio(found[name], _HAND, query):.2f}" if query in BY_HAND else "")
        result.add(query, *cells)
    for name, times in found.items():
        for what, chosen, aim in (
            ("semi-joins", _SEMI_JOINS, SEMI_JOINS_AIM),
            ("others", [each for each in QUERIES if each not in _SEMI_JOINS], AIM),
        ):
            ratios = {each: _ratio(times, "guarded", each) for each in chosen}
            worst = max(ratios, key=lambda each: ratios[each])
            middle = median(ratios.values())
            result.aims.append(Aim(f"{name}, {what}: most ({worst}; median {middle:.2f})", ratios[worst], aim))
    return result


def _ratio(times: _Times, form: str, query: str) -> float:
    return min(times[form, query]) / min(times["author", query])


async def _measure(url: str, clock: Clock) -> _Times:
    asking = group("c7")
    times: _Times = defaultdict(list)
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(DataSources(OneSource(url)))
        guarded = await stack.enter_async_context(DataSources(OneSource(url, TABLES)))
        for name, sql in QUERIES.items():
            template = SQLTemplate(sql.replace("{own}", _OWN))
            forms = [(form, each, template) for form, each in zip(_FORMS, (plain, guarded, plain), strict=True)]
            if name in BY_HAND:
                forms.append((_HAND, plain, SQLTemplate(BY_HAND[name].replace("{own}", _OWN))))
            rows = [sorted(map(str, await each.fetch(asking, SCHEMA, sent))) for _, each, sent in forms]
            assert rows[0] != []
            assert all(each == rows[0] for each in rows), name
            for number in range(_WARMING + CALLS):
                shuffle(forms)
                for form, sources, sent in forms:
                    start = clock()
                    await sources.fetch(asking, SCHEMA, sent)
                    if number >= _WARMING:
                        times[form, name].append(clock() - start)
    return times


# --- the engines ------------------------------------------------------------------------------------------------------


def _sqlite(stack: ExitStack) -> str:
    path = Path(stack.enter_context(TemporaryDirectory())) / "rows.db"
    numbers = f"(with recursive r(n) as (select 0 union all select n + 1 from r where n < {ROWS - 1}) select n from r)"
    with closing(sqlite3.connect(path)) as lite, lite:
        for statement in (*statements(numbers, f"'c' || (n % {GROUPS})"), "analyze"):
            lite.execute(statement)
    return f"sqlite:///{path}"


def _duckdb(stack: ExitStack) -> str:
    path = Path(stack.enter_context(TemporaryDirectory())) / "rows.duckdb"
    with duckdb.connect(str(path)) as duck:
        for statement in statements(f"(select i as n from range({ROWS}) r(i)) s", f"'c' || (n % {GROUPS})"):
            duck.execute(statement)
    return f"duckdb:///{path}"


def _postgresql(stack: ExitStack) -> str:
    import psycopg

    url = stack.enter_context(engines.postgres())
    with psycopg.connect(url, autocommit=True) as connection:
        numbers = f"(select n::bigint from generate_series(0, {ROWS - 1}) n) s"
        for statement in (*statements(numbers, f"'c' || (n % {GROUPS})"), "vacuum analyze"):
            connection.execute(statement.encode())
    return url


def _mariadb(stack: ExitStack) -> str:
    from sqlalchemy import create_engine

    url = stack.enter_context(engines.mariadb())
    engine = create_engine(url.replace("mariadb://", "mariadb+pymysql://"))
    with engine.begin() as connection:
        numbers = f"(select cast(seq as signed) as n from seq_0_to_{ROWS - 1}) s"
        for statement in (*statements(numbers, f"concat('c', n % {GROUPS})"), "analyze table orders, items"):
            connection.exec_driver_sql(statement.replace("%", "%%"))
    engine.dispose()
    return url


_ENGINES: Final = {"SQLite": _sqlite, "DuckDB": _duckdb, "PostgreSQL": _postgresql, "MariaDB": _mariadb}
_HERE: Final = (_sqlite, _duckdb)
