"""The rows that tables about data sources read: ``orders`` of four narrow columns, the same on each engine.

Narrow rows are the hardest for whoever stands between an engine and its reader: little of their time is the engine's.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import duckdb

NAMES: Final = ("id", "name", "amount", "kind")
SQL: Final = f"select {', '.join(NAMES)} from orders"


def fill_sqlite(path: Path, rows: int) -> str:
    """Makes a file of SQLite with so many orders; its URL."""
    with closing(sqlite3.connect(path)) as lite, lite:
        lite.execute("create table orders (id integer, name text, amount real, kind integer)")
        values = ((number, f"customer {number}", number * 0.5, number % 7) for number in range(rows))
        lite.executemany("insert into orders values (?, ?, ?, ?)", values)
    return f"sqlite:///{path}"


def fill_duckdb(path: Path, rows: int) -> str:
    """Makes a file of DuckDB with so many orders; its URL."""
    with duckdb.connect(str(path)) as duck:
        duck.execute(
            "create table orders as select i::integer as id, 'customer ' || i as name, i * 0.5::double as amount, "
            f"(i % 7)::integer as kind from range({rows}) r(i)"
        )
    return f"duckdb:///{path}"


def fill_postgresql(url: str, rows: int) -> None:
    """Makes the orders in an empty database."""
    import asyncpg

    async def fill() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(
            "create table orders as select n as id, 'customer ' || n as name, n * 0.5::float8 as amount, n % 7 as kind "
            f"from generate_series(0, {rows - 1}) n"
        )
        await connection.execute("vacuum analyze orders")
        await connection.close()

    asyncio.run(fill())


def fill_mariadb(url: str, rows: int) -> None:
    """Makes the orders in an empty database."""
    from sqlalchemy import create_engine

    engine = create_engine(url.replace("mariadb://", "mariadb+pymysql://"))
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "create table orders as select cast(seq as int) as id, concat('customer ', seq) as name, "
            f"cast(seq * 0.5 as double) as amount, cast(mod(seq, 7) as int) as kind from seq_0_to_{rows - 1}"
        )
    engine.dispose()
