"""The rows that charts of many points are made of: ``points``, one row for each moment with a value for each chart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import duckdb

CHARTS: Final = 12
ROWS: Final = 100_000
_STEP: Final = 37
"""Seconds from one moment to the next."""


def chart_sql(chart: int) -> str:
    """The query of one of the charts, from 0."""
    return f"select moment, v{chart} as level from points order by moment"


def _values(number: str, kind: str) -> str:
    """A saw of another length for each chart, so that every column of a plot has an extent of its own."""
    return ", ".join(
        f"cast((({number} * {7919 + chart}) % 10007) / 10.0 as {kind}) as v{chart}" for chart in range(CHARTS)
    )


def fill_sqlite(path: Path) -> str:
    """Makes a file of SQLite with the points, whose moments are text; its URL."""
    start = datetime(2026, 1, 1)  # noqa: DTZ001  # a moment on no clock

    def rows() -> Iterator[tuple[str, int]]:
        return (((start + timedelta(seconds=_STEP * number)).isoformat(" "), number) for number in range(ROWS))

    with closing(sqlite3.connect(path)) as lite, lite:
        lite.execute("create temp table numbers (moment text, n integer)")
        lite.executemany("insert into numbers values (?, ?)", rows())
        lite.execute(f"create table points as select moment, {_values('n', 'real')} from numbers")
        lite.execute("create index points_moment on points (moment)")
    return f"sqlite:///{path}"


def fill_duckdb(path: Path) -> str:
    """Makes a file of DuckDB with the points; its URL."""
    moment = f"timestamp '2026-01-01' + to_seconds(n * {_STEP})"
    with duckdb.connect(str(path)) as duck:
        duck.execute(
            f"create table points as select {moment} as moment, {_values('n', 'double')} from range({ROWS}) r(n)"
        )
    return f"duckdb:///{path}"


def fill_postgresql(url: str) -> None:
    """Makes the points in an empty database."""
    import psycopg

    moment = f"timestamptz '2026-01-01 00:00:00+00' + n * interval '{_STEP} seconds'"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"create table points as select {moment} as moment, {_values('n::bigint', 'float8')} "
            f"from generate_series(0, {ROWS - 1}) n"
        )
        connection.execute("create index on points (moment)")
        connection.execute("vacuum analyze points")


def fill_mariadb(url: str) -> None:
    """Makes the points in an empty database."""
    from sqlalchemy import create_engine

    engine = create_engine(url.replace("mariadb://", "mariadb+pymysql://"))
    moment = f"timestamp '2026-01-01 00:00:00' + interval (seq * {_STEP}) second"
    text = f"create table points as select {moment} as moment, {_values('seq', 'double')} from seq_0_to_{ROWS - 1}"
    with engine.begin() as connection:
        connection.exec_driver_sql(text.replace("%", "%%"))
        connection.exec_driver_sql("create index points_moment on points (moment)")
    engine.dispose()
