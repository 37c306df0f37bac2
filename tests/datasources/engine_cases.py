"""What DriverContract has to know of each engine that runs here.

``python -m pytest tests/datasources/engine_cases.py`` runs it on chDB, in a process of its own: the engine cannot
be taken out of one again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tenantry.datasources import Driver, Limits
from tenantry.datasources.open_sources import create_source
from tenantry.datasources.pool.connection_pool import ConnectionPool
from tenantry.groups import RegisteredSource
from tenantry.testing import DriverContract, EngineCase

PASSWORD = "pa55-c4n4ry"
PATIENCE = 60.0
UNCHANGED = "select id from orders order by id"
WRITES = (
    "insert into orders (id) values (9)",
    "update orders set id = 9",
    "delete from orders where id > 0",
    "drop table orders",
    "create table others (id int)",
    "commit",
)
PLAIN = "{{ params.v }}"


def built_in(source: RegisteredSource, limits: Limits) -> Driver[Any]:
    """The driver that data sources make for the URL."""
    made = create_source(source, limits, {})
    assert isinstance(made, ConnectionPool)
    return made.driver


def sqlite_case(url: str, missing: str) -> EngineCase:
    return EngineCase(
        make_driver=built_in,
        url=url,
        unreachable_url=missing,
        slow="with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as v from n",
        writes=(
            *WRITES,
            "attach database ':memory:' as other",
            "with w as (select 9 as id) insert into orders (id) select id from w",
            "replace into orders (id) values (9)",
            "pragma user_version = 9",
            "pragma journal_mode = delete",
            "vacuum",
            "vacuum into '/tmp/never.db'",
            "begin immediate",
            "savepoint a",
            "reindex",
            "analyze",
            "create temp table others (id int)",
            "create trigger gone after insert on orders begin delete from orders; end",
            "alter table orders add column other int",
            "select load_extension('never') as v",
        ),
        unchanged=UNCHANGED,
        types=dict.fromkeys(("text", "integer", "float", "bytes"), PLAIN),
        literals={"1": 1, "0.5": 0.5, "x'00ff'": b"\0\xff", "null": None, "'a'": "a"},
        settings={
            "pragma case_sensitive_like = on": "select 'a' like 'A' as v",
            "create temp table left_over (id int)": "select count(*) as v from sqlite_temp_master",
        },
        refused=("select json_extract('{}', {{ params.v }}) as v", "select abs(1, {{ params.v }}) as v"),
        patience=PATIENCE,
    )


def duckdb_case(url: str, missing: str) -> EngineCase:
    return EngineCase(
        make_driver=built_in,
        url=url,
        unreachable_url=missing,
        slow="select count(*) as v from range(10000000) a, range(10000000) b where a.range * b.range = -1",
        writes=(
            *WRITES,
            "copy orders to '/tmp/never.csv'",
            "copy (select 1) to '/tmp/never.csv'",
            "export database '/tmp/never'",
            "attach ':memory:' as other",
            "checkpoint",
            "with gone as materialized (select 1) insert into orders select 1 from gone",
            "explain analyze delete from orders",
            "select nextval('numbers') as v",
            "create temp macro never() as 1",
            "install httpfs",
            "load httpfs",
            "set enable_external_access = true",
            "call force_checkpoint()",
            "select * from read_csv('/etc/passwd')",
            "select * from '/etc/passwd'",
            "select * from glob('/etc/*')",
        ),
        unchanged=UNCHANGED,
        types={
            **dict.fromkeys(("text", "integer", "float", "boolean", "date", "time", "datetime", "instant"), PLAIN),
            **dict.fromkeys(("interval", "uuid", "bytes"), PLAIN),
            "decimal": "cast({{ params.v }} as decimal(38, 10))",
        },
        literals={
            "170141183460469231731687303715884105727": 2**127 - 1,
            "1.50": Decimal("1.50"),
            "date '2026-01-31'": date(2026, 1, 31),
            "timestamp '2026-01-31 12:00:00'": datetime(2026, 1, 31, 12),  # noqa: DTZ001
            "true": True,
            "null": None,
            "[1, 2]": [1, 2],
        },
        settings={
            "set threads = 1": "select current_setting('threads') as v",
            "set variable a = 1": "select getvariable('a') as v",
            "create temp table left_over (id int)": "select count(*) as v from duckdb_tables() where temporary",
        },
        refused=("select cast({{ params.v }} as integer) as v", "select strptime({{ params.v }}, '%Y') as v"),
        patience=PATIENCE,
    )


def postgresql_case(url: str) -> EngineCase:
    types = {
        "text": "text", "integer": "bigint", "decimal": "numeric", "float": "float8", "boolean": "boolean",
        "date": "date", "time": "time", "datetime": "timestamp", "instant": "timestamptz", "interval": "interval",
        "uuid": "uuid", "bytes": "bytea",
    }  # fmt: skip
    return EngineCase(
        make_driver=built_in,
        url=url,
        unreachable_url=f"postgresql://u:{PASSWORD}@127.0.0.1:1/db",
        slow="select pg_sleep(600) as v",
        writes=(
            *WRITES,
            "with gone as (delete from orders returning id) select id from gone",
            "select nextval('numbers') as v",
            "select id into others from orders",
            "copy orders to '/tmp/never.csv'",
            "copy orders to program 'true'",
            "do $$ begin delete from orders; end $$",
            "explain analyze delete from orders",
            "explain (analyze, costs off) update orders set id = 9",
            "select setval('numbers', 9) as v",
            "select lo_create(0) as v",
            "select id from orders for update",
            "create temp table others (id int)",
            "prepare never as delete from orders",
            "declare never cursor for select 1",
            "listen never",
            "vacuum",
            "set transaction read write",
            "rollback",
            "grant select on orders to public",
        ),
        unchanged="select id from orders union all select last_value from numbers order by id",
        types={kind: f"cast({{{{ params.v }}}} as {name})" for kind, name in types.items()},
        literals={
            "9223372036854775807": 2**63 - 1,
            "1.50": Decimal("1.50"),
            "date '2026-01-31'": date(2026, 1, 31),
            "'00000000-0000-0000-0000-000000000005'::uuid": UUID(int=5),
            "true": True,
            "null": None,
            "array[1, 2]": [1, 2],
        },
        settings={
            "select set_config('application_name', 'kept', false) as v": "select current_setting('application_name') v",
            "set work_mem = '1MB'": "select current_setting('work_mem') as v",
            "select pg_advisory_lock(4711) as v": (
                "select count(*) as v from pg_locks where locktype = 'advisory' and objid = 4711"
            ),
        },
        refused=(
            "select cast({{ params.v }} as integer) as v",
            "select cast(cast({{ params.v }} as text) as date) as v",
            "select 'a' ~ cast({{ params.v }} || '(' as text) as v",
        ),
        patience=PATIENCE,
    )


def mariadb_case(url: str) -> EngineCase:
    return EngineCase(
        make_driver=built_in,
        url=url,
        unreachable_url=f"mysql://u:{PASSWORD}@127.0.0.1:1/db",
        slow="select sleep(600) as v",
        writes=(
            *WRITES,
            "replace into orders (id) values (9)",
            "select 1 into outfile '/tmp/never'",
            "select 1 into dumpfile '/tmp/never'",
            "truncate orders",
            "analyze delete from orders",
            "execute immediate 'delete from orders'",
            "prepare never from 'delete from orders'",
            "begin not atomic delete from orders; end",
            "load data infile '/etc/passwd' into table orders",
            "handler orders open",
            "lock tables orders write",
            "set session transaction read write",
            "start transaction read write",
            "rollback",
            "select id from orders for update",
        ),
        unchanged=UNCHANGED,
        types={
            "text": PLAIN,
            "integer": "cast({{ params.v }} as signed)",
            "decimal": "cast({{ params.v }} as decimal(38, 10))",
            "float": "cast({{ params.v }} as double)",
            "date": "cast({{ params.v }} as date)",
            "datetime": "cast({{ params.v }} as datetime(6))",
            "interval": "cast({{ params.v }} as time(6))",
            "bytes": "cast({{ params.v }} as binary)",
        },
        literals={
            "18446744073709551615": 2**64 - 1,
            "1.50": Decimal("1.50"),
            "date '2026-01-31'": date(2026, 1, 31),
            "null": None,
        },
        settings={
            "select @kept := 1 as v": "select @kept as v",
            "set session sql_mode = 'ANSI_QUOTES'": "select @@sql_mode as v",
            "select get_lock('kept', 1) as v": "select is_used_lock('kept') as v",
            "create temporary table left_over (id int)": UNCHANGED,
        },
        refused=("select 'a' regexp concat({{ params.v }}, '(') as v",),
        patience=PATIENCE,
    )


def clickhouse_case(url: str, unreachable: str) -> EngineCase:
    return EngineCase(
        make_driver=built_in,
        url=url,
        unreachable_url=unreachable,
        slow="select sum(sipHash64(number)) as v from numbers(1e13)",
        writes=(
            "insert into orders values (9)",
            "alter table orders delete where 1",
            "drop table orders",
            "truncate table orders",
            "create table others (id Int8) engine = Memory",
            "kill query where 1",
            "select 1 into outfile '/tmp/never'",
            "insert into function file('never.csv') select 1",
            "optimize table orders",
            "rename table orders to others",
            "create temporary table others (id Int8)",
            "detach table orders",
            "system flush logs",
            "set readonly = 0",
            "select 1 as v settings readonly = 0",
            "select * from file('/etc/passwd', 'LineAsString')",
            "select * from url('http://127.0.0.1:1/', 'LineAsString')",
        ),
        unchanged=UNCHANGED,
        types=dict.fromkeys(
            ("text", "integer", "decimal", "float", "boolean", "date", "datetime", "instant", "uuid"), PLAIN
        ),
        literals={
            "18446744073709551615": 2**64 - 1,
            "toDecimal64('1.50', 2)": Decimal("1.50"),
            "toDate('2026-01-31')": date(2026, 1, 31),
            "null": None,
            "[1, 2]": [1, 2],
        },
        settings={"set max_threads = 1": "select getSetting('max_threads') as v", "use system": "select database() v"},
        refused=("select toDate({{ params.v }}) as v", "select match('a', concat('(', {{ params.v }})) as v"),
        patience=PATIENCE,
    )


CLICKHOUSE_TABLES: Sequence[str] = (
    "create database contract engine = Atomic",
    "create table contract.orders (id UInt32) engine = MergeTree order by id",
    "insert into contract.orders values (1), (2)",
)


@pytest.fixture(scope="module")
def chdb_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import chdb

    folder = tmp_path_factory.mktemp("chdb") / "data"
    connection = chdb.connect(str(folder))
    for statement in CLICKHOUSE_TABLES[1:]:
        connection.query(statement.replace("contract.", "default."))
    connection.close()
    return folder


class TestChDB(DriverContract):
    """Collected in the child alone: see the module."""

    @pytest.fixture
    def engine(self, chdb_folder: Path) -> EngineCase:
        return clickhouse_case(f"chdb:///{chdb_folder}", f"chdb:///{chdb_folder / 'missing'}")
