"""Days of a group's zone on real engines: days of 23 and 25 hours, zones on both sides of UTC, columns of dates, of
instants and of clock times in UTC."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.errors import TenantryError
from tenantry.groups import extend
from tenantry.sql import SQLTemplate
from tenantry.sql.parameters import UTC_ZONE, ZoneOfGroup, declare
from tests.datasources.conftest import Directory, group

ENGINES = ("postgresql", "sqlite", "duckdb", "mariadb")
ZONES = ("Europe/Vienna", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland", "Pacific/Kiritimati", "UTC")
STARTS = [datetime(2026, *day) for day in ((3, 6), (3, 27), (4, 3), (9, 25), (10, 23), (10, 30))]
ROWS = [start + timedelta(minutes=30 * step) for start in STARTS for step in range(5 * 48)]
"""One row each half hour, around the days on which the clocks of these zones change."""
DAYS = ("2026-03-08", "2026-03-29", "2026-04-05", "2026-09-27", "2026-10-25", "2026-11-01")
TYPES = {
    "postgresql": ("timestamp", "timestamptz"),
    "sqlite": ("text", "text"),
    "duckdb": ("timestamp", "timestamptz"),
    "mariadb": ("datetime", "timestamp"),
}
PARAMETERS = {
    name: replace(each, zone=ZoneOfGroup("timezone", UTC_ZONE))
    for name, each in declare({"period": {"type": "date range", "open": "both"}, "unit": "text"}).items()
}


def statements(engine: str) -> Iterator[str]:
    clock, instant = TYPES[engine]
    offset = "+00" if instant == "timestamptz" else "Z" if engine == "sqlite" else ""
    yield f"create table events (id integer, day date, clock {clock}, instant {instant})"
    values = (f"({id_}, '{at.date()}', '{at}', '{at}{offset}')" for id_, at in enumerate(ROWS))
    yield f"insert into events values {', '.join(values)}"


def make(engine: str, folder: Any, request: pytest.FixtureRequest) -> str:
    if engine == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.create_database()
        postgres.execute(";".join(statements(engine)), url=url)
        return url
    if engine == "mariadb":
        mariadb: MariaDB = request.getfixturevalue("mariadb")
        database = mariadb.create_database()
        for number, zone in enumerate(ZONES, 1):
            teach(mariadb, number, zone)
        for sql in statements(engine):
            mariadb.execute(f"set statement time_zone = '+00:00' for {sql}", database=database)
        return f"mysql://root@127.0.0.1:{mariadb.port}/{database}"
    path = folder / f"{engine}.db"
    with closing(sqlite3.connect(path) if engine == "sqlite" else duckdb.connect(str(path))) as connection:
        if engine == "duckdb":
            connection.execute("set timezone = 'UTC'")
        for sql in statements(engine):
            connection.execute(sql)
        if engine == "sqlite":
            connection.commit()  # type: ignore[union-attr]
    return f"{engine}:///{path}"


def teach(mariadb: MariaDB, number: int, zone: str) -> None:
    """The server knows the zone by name from now on, as mysql_tzinfo_to_sql would teach it: of 2026."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    hours = (start + timedelta(hours=hour) for hour in range(365 * 24))
    offsets = [(at, at.astimezone(ZoneInfo(zone)).utcoffset()) for at in hours]
    changes = [offsets[0], *(now for before, now in zip(offsets, offsets[1:], strict=False) if before[1] != now[1])]
    mariadb.execute("insert into mysql.time_zone values (%s, 'N')", (number,))
    mariadb.execute("insert into mysql.time_zone_name values (%s, %s)", (zone, number))
    for kind, (at, offset) in enumerate(changes):
        assert offset is not None
        values = (number, kind, offset.total_seconds())
        mariadb.execute("insert into mysql.time_zone_transition_type values (%s, %s, %s, 0, '')", values)
        mariadb.execute("insert into mysql.time_zone_transition values (%s, %s, %s)", (number, at.timestamp(), kind))


@pytest.fixture(scope="module", params=ENGINES)
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The engine and its URL."""
    return request.param, make(request.param, tmp_path_factory.mktemp("zones"), request)


async def ask(source: tuple[str, str], directory: Directory, sources: Any, sql: str, zone: str, **params: Any) -> Any:
    directory.add(1, source[1])
    asking = replace(group(main="ds_1"), properties={"timezone": zone})
    template = SQLTemplate(sql, params=PARAMETERS)
    return await sources.fetch(asking, "main", template, extend(asking.variables, "params", params))


def day_in(zone: str, at: datetime) -> date:
    return at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).date()


@pytest.mark.parametrize("zone", ZONES)
async def test_ranges(zone: str, source: tuple[str, str], directory: Directory, open_sources: Any) -> None:
    """A day has the events from its midnight to the next: 46 half hours or 50 where the clock changes. Red when the
    range is compared as dates, with the days of UTC; and for a column of dates west of UTC, when as instants."""
    sources = open_sources(timeout=30, connect_timeout=60)
    for day in DAYS:
        for first, last in ((day, day), ("", day), (day, "")):
            sent = {"start": first or None, "end": last or None}
            begin, end = date.fromisoformat(first or "0001-01-01"), date.fromisoformat(last or "9999-12-31")
            for column in ("day", "clock", "instant"):
                sql = f"select id from events where {{{{ params.period | within({column}) }}}}"
                rows = await ask(source, directory, sources, sql, zone, period=sent)
                days = [at.date() if column == "day" else day_in(zone, at) for at in ROWS]
                expected = {id_ for id_, on in enumerate(days) if begin <= on <= end}
                assert {row["id"] for row in rows} == expected, (day, column, sent)
    lengths = Counter(day_in(zone, at) for at in ROWS)
    assert zone in {"UTC", "Asia/Kolkata", "Pacific/Kiritimati"} or {46, 50} <= set(lengths.values())


@pytest.mark.parametrize("zone", ZONES)
async def test_buckets(zone: str, source: tuple[str, str], directory: Directory, open_sources: Any) -> None:
    """Buckets are the days of the zone, and dates stay where they are. Red for a column of dates west of UTC when each
    column is converted: all of its days were the day before."""
    sources = open_sources(timeout=30, connect_timeout=60)
    for column in ("day", "clock", "instant"):
        bucket = f"{{{{ params.unit | trunc({column}) }}}}"
        sql = f"select {bucket} as bucket, count(*) as n from events group by {bucket}"
        rows = await ask(source, directory, sources, sql, zone, unit="day")
        days = Counter(at.date() if column == "day" else day_in(zone, at) for at in ROWS)
        assert {str(row["bucket"])[:10]: row["n"] for row in rows} == {str(day): n for day, n in days.items()}, column


@pytest.mark.parametrize("source", ["mariadb"], indirect=True)
async def test_a_server_without_zones_says_so(source: tuple[str, str], directory: Directory, open_sources: Any) -> None:
    """It was not taught Tokyo. Red without the warning: each bucket was NULL."""
    sql = "select {{ params.unit | trunc(clock) }} as bucket from events"
    with pytest.raises(TenantryError):
        await ask(source, directory, open_sources(timeout=30, connect_timeout=60), sql, "Asia/Tokyo", unit="day")
