"""How others read all orders of an engine: its driver alone, by hand to dicts, and SQLAlchemy Core to dicts.

Each engine's readers come in the order of the table ``fetched_rows``; the first is the driver as it is, which checks no
statement, counts no bytes and has no timeout. There is no SQLAlchemy for DuckDB: its dialect is another package.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import duckdb
from sqlalchemy import column, create_engine, table
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from benchmarks.harness.measure import Cell, repeat, repeat_async
from benchmarks.harness.orders import NAMES, SQL

BY_HAND = "the same, and dicts by hand"
ORDERS = table("orders", *map(column, NAMES)).select()

Readers = dict[str, Cell]


def _with_dicts(fetchall: Callable[[], Any]) -> list[dict[str, Any]]:
    return [dict(zip(NAMES, row, strict=True)) for row in fetchall()]


def _core(url: str, stack: AsyncExitStack) -> Cell:
    engine = create_engine(url)
    stack.callback(engine.dispose)

    def read() -> list[dict[str, Any]]:
        with engine.connect() as connection:
            return [row._asdict() for row in connection.execute(ORDERS)]

    return repeat(read)


def of_sqlite(url: str, stack: AsyncExitStack) -> Readers:
    """The standard library's sqlite3."""
    connection = sqlite3.connect(make_url(url).database or "")
    stack.callback(connection.close)

    def read() -> list[tuple[Any, ...]]:
        return connection.execute(SQL).fetchall()

    return {
        "sqlite3, tuples": repeat(read),
        BY_HAND: repeat(lambda: _with_dicts(read)),
        "SQLAlchemy Core, dicts": _core(url, stack),
    }


def of_duckdb(url: str, stack: AsyncExitStack) -> Readers:
    """The package duckdb. A process opens a file with one set of options: those of Tenantry's driver."""
    from tenantry.datasources.engines.duckdb import LOCKED
    from tenantry.datasources.url import MEMORY_LIMIT

    settings: dict[str, Any] = {**LOCKED, "memory_limit": MEMORY_LIMIT}
    connection = duckdb.connect(make_url(url).database or "", read_only=True, config=settings)
    stack.callback(connection.close)

    def read() -> list[tuple[Any, ...]]:
        return connection.execute(SQL).fetchall()

    return {"duckdb, tuples": repeat(read), BY_HAND: repeat(lambda: _with_dicts(read))}


async def of_postgresql(url: str, stack: AsyncExitStack) -> Readers:
    """asyncpg on one connection, which keeps the prepared statement; SQLAlchemy's async engine over psycopg."""
    import asyncpg

    connection = await asyncpg.connect(url)
    stack.push_async_callback(connection.close)
    engine = create_async_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    stack.push_async_callback(engine.dispose)

    async def with_dicts() -> list[dict[str, Any]]:
        return [dict(record) for record in await connection.fetch(SQL)]

    async def core() -> list[dict[str, Any]]:
        async with engine.connect() as held:
            return [row._asdict() for row in await held.execute(ORDERS)]

    return {
        "asyncpg, its Records": repeat_async(lambda: connection.fetch(SQL)),
        BY_HAND: repeat_async(with_dicts),
        "SQLAlchemy Core (psycopg), dicts": repeat_async(core),
    }


def of_mariadb(url: str, stack: AsyncExitStack) -> Readers:
    """PyMySQL as it is installed: its own converters, its own reading of rows."""
    import pymysql

    address = make_url(url)
    connection = pymysql.connect(host=address.host, port=address.port, user="root", database=address.database)
    stack.callback(connection.close)

    def read() -> Any:
        with connection.cursor() as cursor:
            cursor.execute(SQL)
            return cursor.fetchall()

    return {
        "PyMySQL, tuples": repeat(read),
        BY_HAND: repeat(lambda: _with_dicts(read)),
        "SQLAlchemy Core (PyMySQL), dicts": _core(url.replace("mariadb://", "mariadb+pymysql://"), stack),
    }
