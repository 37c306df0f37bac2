"""Days of a group's zone on real engines: days of 23 and 25 hours, zones on both sides of UTC, columns of dates, of
instants and of clock times in UTC."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest

from engines.clickhouse import require_chdb
from engines.mariadb import MariaDB
from engines.samples import sampled
from engines.warm_python import run
from tenantry.errors import TenantryError
from tests.datasources.conftest import Directory
from tests.datasources.databases import create_database
from tests.datasources.zone_cases import (
    ROWS,
    ZONES,
    ask,
    day_in,
    statements,
    wrong_buckets,
    wrong_hours,
    wrong_ranges,
    wrong_times,
)

ENGINES = ("postgresql", "sqlite", "duckdb", "mariadb")


def make(engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    made = statements(engine)
    if engine == "mariadb":
        mariadb: MariaDB = request.getfixturevalue("mariadb")
        for number, zone in enumerate([*ZONES[:-1], "Australia/Lord_Howe"], 1):  # every server knows UTC
            teach(mariadb, number, zone)
        made = [f"set statement time_zone = '+00:00' for {sql}" for sql in made]
    return create_database(engine, made, folder, request)


def teach(mariadb: MariaDB, number: int, zone: str) -> None:
    """The server knows the zone by name from now on, as mysql_tzinfo_to_sql would teach it: of 2026."""
    times = [datetime(2026, 1, 1, tzinfo=UTC), *(at.replace(tzinfo=UTC) for at in ROWS)]  # rows are around all changes
    offsets = [(at, at.astimezone(ZoneInfo(zone)).utcoffset()) for at in times]
    changes = [offsets[0], *(now for before, now in pairwise(offsets) if before[1] != now[1])]
    mariadb.execute("insert into mysql.time_zone values (%s, 'N')", (number,))
    mariadb.execute("insert into mysql.time_zone_name values (%s, %s)", (zone, number))
    for kind, (at, offset) in enumerate(changes):
        assert offset is not None
        values = (number, kind, offset.total_seconds())
        mariadb.execute("insert into mysql.time_zone_transition_type values (%s, %s, %s, 0, '')", values)
        mariadb.execute("insert into mysql.time_zone_transition values (%s, %s, %s)", (number, at.timestamp(), kind))


@pytest.fixture(scope="module", params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return make(request.param, tmp_path_factory.mktemp("zones"), request)


@pytest.fixture
def sources(url: str, directory: Directory, open_sources: Any) -> Any:
    directory.add(1, url)
    return open_sources(timeout=30, connect_timeout=60)


def test_the_clocks_change() -> None:
    """A day of these rows has 46 half hours or 50 where the clock changes."""
    for zone in ("Europe/Vienna", "America/Los_Angeles", "Pacific/Auckland"):
        assert {46, 48, 50} <= set(Counter(day_in(zone, at) for at in ROWS).values())


@sampled(6)
@pytest.mark.parametrize("zone", ZONES)
async def test_ranges(zone: str, sources: Any) -> None:
    """A day goes from its midnight to the next. Red when the range is compared as dates, with the days of UTC; and for
    a column of dates west of UTC, when it is compared as instants."""
    assert await wrong_ranges(sources, zone) == []


@sampled(6)
@pytest.mark.parametrize("zone", ZONES)
async def test_buckets(zone: str, sources: Any) -> None:
    """Days, and weeks from both of their first days. Red for a column of dates west of UTC when each column is
    converted: all of its days were the day before."""
    assert await wrong_buckets(sources, zone) == []


@sampled(6)
@pytest.mark.parametrize("zone", [*ZONES[:-1], "Australia/Lord_Howe"])
async def test_hours(zone: str, url: str, sources: Any) -> None:
    """The hour that clocks show twice is two, where the engine has instants. In Lord Howe, where clocks change by half
    an hour, one of them begins in its middle. Red when both were one, of twice as many rows, and when that hour began
    before the change."""
    assert await wrong_hours(sources, zone, twice="mysql" not in url and "mariadb" not in url) == []


def test_only_lord_howe_changes_its_clocks_by_a_part_of_an_hour() -> None:
    """The SQL of PostgreSQL and DuckDB names it. Red when a release of the time zones has another one."""
    weeks = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(weeks=n) for n in range(104)]
    hour = timedelta(hours=1)
    parts = {
        zone: {at.astimezone(ZoneInfo(zone)).utcoffset() % hour for at in weeks}  # type: ignore[operator]
        for zone in available_timezones() - {"localtime"}
    }
    assert {zone for zone, found in parts.items() if len(found) > 1} == {"Australia/Lord_Howe", "Australia/LHI"}


@pytest.mark.parametrize("zone", ["Europe/Vienna", "America/Los_Angeles", "Pacific/Auckland"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_texts_of_hours_are_in_the_order_of_time(zone: str, sources: Any) -> None:
    """Red where clocks are east of UTC: the second of two equal hours came first."""
    bucket = "{{ params.unit | trunc(instant) }}"
    rows = await ask(
        sources, f"select {bucket} as bucket, min(id) as id from events group by 1 order by 1", zone, unit="hour"
    )
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)


@pytest.mark.parametrize("zone", ZONES[:-1])
async def test_clock_times_are_shown_on_the_days_that_count_them(zone: str, url: str, sources: Any) -> None:
    """With the SQL of the docs. Red with the column as it is stored, in UTC: what happened today was yesterday's."""
    assert await wrong_times(sources, url.partition(":")[0].partition("+")[0], zone) == []


@pytest.mark.parametrize("url", ["mariadb"], indirect=True)
async def test_a_server_without_zones_says_so(sources: Any) -> None:
    """It was not taught Tokyo. Red without the warning: each bucket was NULL."""
    with pytest.raises(TenantryError):
        await ask(sources, "select {{ params.unit | trunc(clock) }} as bucket from events", "Asia/Tokyo", unit="day")


def test_chdb(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """All zones in one process, which takes a second to start. Red when each column is converted, the dates too."""
    require_chdb()
    zones = ZONES[:2] if pytestconfig.option.markexpr == "not slow" else ZONES
    command = [sys.executable, "-m", "tests.datasources.zone_cases", str(tmp_path / "chdb"), *zones]
    child = run(command, capture_output=True, text=True, timeout=300, check=False)
    assert child.returncode == 0, child.stderr
    assert json.loads(child.stdout) == {zone: [] for zone in zones}
