"""What days of a group's zone must hold: rows around the days on which clocks change, and what each engine must find.

As a program, ``python -m tests.datasources.zone_cases FOLDER ZONE …`` tries chDB in a process of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tenantry import DataSources
from tenantry.datasources.results import Format, scalar_text
from tenantry.groups import extend, freeze
from tenantry.sql import SQLTemplate
from tenantry.sql.parameters import ZoneOfGroup, declare
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources

ZONES = ("Europe/Vienna", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland", "Pacific/Kiritimati", "UTC")
_STARTS = [date(2026, *day) for day in ((3, 6), (3, 27), (4, 3), (9, 25), (10, 3), (10, 23), (10, 30))]
ROWS = [datetime.combine(start, time()) + timedelta(minutes=30 * step) for start in _STARTS for step in range(5 * 48)]
"""One row each half hour, around the days on which the clocks of these zones change."""
COLUMNS = ("day", "clock", "instant")
"""A date, a clock time in UTC, and an instant where the engine has them."""
DAYS = ("2026-03-08", "2026-03-29", "2026-04-05", "2026-09-27", "2026-10-25", "2026-11-01")
OPEN_DAYS = DAYS[::3]
"""At which open ranges begin and end too: an instant that ends a range of one day ends an open one as well."""
TYPES = {
    "postgresql": ("timestamp", "timestamptz"),
    "sqlite": ("text", "text"),
    "duckdb": ("timestamp", "timestamptz"),
    "mariadb": ("datetime", "timestamp"),
    "chdb": ("DateTime('UTC')", "DateTime('Asia/Tokyo')"),
}
PARAMETERS = {
    name: replace(each, zone=ZoneOfGroup("timezone"))
    for name, each in declare({"period": {"type": "date range", "open": "both"}, "unit": "text"}).items()
}


def statements(engine: str) -> Iterator[str]:
    clock, instant = TYPES[engine]
    offset = "+00" if instant == "timestamptz" else "Z" if engine == "sqlite" else ""
    stored = " engine = MergeTree order by id" if engine == "chdb" else ""
    yield f"create table events (id integer, day date, clock {clock}, instant {instant}){stored}"
    yield f"insert into events values {', '.join(_row(engine, offset, id_, at) for id_, at in enumerate(ROWS))}"


def _row(engine: str, offset: str, id_: int, at: datetime) -> str:
    if engine == "chdb":  # seconds since 1970, which are the same instant in each column's zone
        seconds = f"{at.replace(tzinfo=UTC).timestamp():.0f}"
        return f"({id_}, '{at.date()}', {seconds}, {seconds})"
    return f"({id_}, '{at.date()}', '{at}', '{at}{offset}')"


async def ask(
    sources: DataSources, sql: str, zone: str, *, week_start: str = "", **params: Any
) -> list[dict[str, Any]]:
    asking = replace(group(main="ds_1"), properties=freeze({"timezone": zone, "week_start": week_start}))
    return await sources.fetch(asking, "main", _template(sql), extend(asking.variables, "params", params))


@cache  # it is asked for each day and zone
def _template(sql: str) -> SQLTemplate:
    return SQLTemplate(sql, params=PARAMETERS)


def day_in(zone: str, at: datetime) -> date:
    return at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).date()


@cache  # each query is compared with them
def days_of(column: str, zone: str) -> list[date]:
    """The day of each row in a column; a date is the same day in all zones."""
    return [at.date() if column == "day" else day_in(zone, at) for at in ROWS]


async def wrong_ranges(sources: DataSources, zone: str) -> list[str]:
    """The ranges that do not find their rows."""
    found = []
    for day in DAYS:
        for first, last in ((day, day), ("", day), (day, "")) if day in OPEN_DAYS else ((day, day),):
            begin, end = date.fromisoformat(first or "0001-01-01"), date.fromisoformat(last or "9999-12-31")
            for column in COLUMNS:
                sql = f"select id from events where {{{{ params.period | within({column}) }}}}"
                rows = await ask(sources, sql, zone, period={"start": first or None, "end": last or None})
                expected = {id_ for id_, on in enumerate(days_of(column, zone)) if begin <= on <= end}
                if {row["id"] for row in rows} != expected:
                    found.append(f"{column} from {first} to {last}")
    return found


async def wrong_buckets(sources: DataSources, zone: str) -> list[str]:
    """The columns whose days and weeks are not those of the zone."""
    found = []
    for column in COLUMNS:
        bucket = f"{{{{ params.unit | trunc({column}) }}}}"
        sql = f"select {bucket} as bucket, count(*) as n from events group by {bucket}"
        for unit, week_start in (("day", ""), ("week", ""), ("week", "monday"), ("week", "sunday")):
            rows = await ask(sources, sql, zone, unit=unit, week_start=week_start)
            expected = _rows_by(unit, week_start, column, zone)
            if {str(row["bucket"])[:10]: row["n"] for row in rows} != expected:
                found.append(f"{column} by {unit} {week_start}".strip())
    return found


@cache  # each engine is compared with them
def _rows_by(unit: str, week_start: str, column: str, zone: str) -> Counter[str]:
    """How many rows each day has, or each week, by the text of its first day."""
    found = Counter[str]()
    for day, rows in Counter(days_of(column, zone)).items():
        found[str(_start(day, unit, week_start))] += rows
    return found


async def wrong_hours(sources: DataSources, zone: str, *, twice: bool, columns: Sequence[str] = COLUMNS) -> list[str]:
    """The columns whose hours are not those of the zone. ``twice``: an hour that clocks show twice is two."""
    found = []
    shown_in = Format(zone=ZoneInfo(zone))
    for column in columns:
        bucket = f"{{{{ params.unit | trunc({column}) }}}}"
        sql = f"select {bucket} as bucket, count(*) as n from events group by {bucket}"
        rows = await ask(sources, sql, zone, unit="hour")
        hours = [f"{at:%Y-%m-%dT00:00}" if column == "day" else _hour(at, zone, twice=twice) for at in ROWS]
        shown = Counter[str]()
        for row in rows:
            text = scalar_text(row["bucket"], shown_in).replace(" ", "T").replace("Z", "+00:00")
            shown[text[:16] + (text[-6:] if twice and column != "day" else "")] += row["n"]
        if shown != Counter(hours) or (twice and len(rows) != len(shown)):
            found.append(f"{column} by hour")
    return found


@cache  # for each column and engine
def _hour(at: datetime, zone: str, *, twice: bool) -> str:
    local = at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
    if not twice:
        return f"{local:%Y-%m-%dT%H}:00"
    quarters = range(0, 60, 15)  # no clock of these zones changes in the middle of one
    since = [(at - timedelta(minutes=n)).replace(tzinfo=UTC).astimezone(ZoneInfo(zone)) for n in quarters]
    begin = min(each for each in since if (each.hour, each.utcoffset()) == (local.hour, local.utcoffset()))
    return f"{begin:%Y-%m-%dT%H:%M}" + begin.isoformat()[-6:]


def _start(day: date, unit: str, week_start: str) -> date:
    return day if unit == "day" else day - timedelta(days=(day.weekday() + (week_start == "sunday")) % 7)


IN_ZONE = {
    "postgresql": "{} at time zone 'UTC'",
    "duckdb": "{} at time zone 'UTC'",
    "sqlite": "tenantry_local_time({}, {{{{ user_group.properties.timezone }}}})",
    "mysql": "convert_tz({}, '+00:00', {{{{ user_group.properties.timezone }}}})",
    "chdb": "toDateTime64({}, 0, {{{{ user_group.properties.timezone }}}})",
}
"""How the docs say that a query shows a clock time in the page's zone; its days are those that ``within`` finds."""


async def wrong_times(sources: DataSources, engine: str, zone: str) -> list[str]:
    """The rows that are shown on another day than the one that ``within`` finds them on, as a page shows them."""
    found = []
    every = [at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)) for at in ROWS]
    for day in DAYS:
        shown = IN_ZONE[engine].format("clock")
        sql = f"select {shown} as shown, id from events where {{{{ params.period | within(clock) }}}} order by id"
        rows = await ask(sources, sql, zone, period={"start": day, "end": day})
        times = [scalar_text(row["shown"], Format(zone=ZoneInfo(zone))).replace("T", " ") for row in rows]
        expected = [at for at in every if str(at.date()) == day]
        if [each[:16] for each in times] != [f"{at:%Y-%m-%d %H:%M}" for at in expected]:
            found.append(day)
    return found


async def _try(folder: Path, zones: Sequence[str]) -> dict[str, list[str]]:
    directory = Directory()
    directory.add(1, f"chdb:///{folder}")
    async with data_sources(directory, timeout=60, connect_timeout=60) as sources:
        return {
            zone: [
                *await wrong_ranges(sources, zone),
                *await wrong_buckets(sources, zone),
                *(await wrong_hours(sources, zone, twice=True, columns=COLUMNS[1:]) if zone != "UTC" else ()),
                *(await wrong_times(sources, "chdb", zone) if zone != "UTC" else ()),
            ]
            for zone in zones
        }


def _prepare(folder: Path) -> None:
    import chdb

    connection = chdb.connect(str(folder))
    for statement in statements("chdb"):
        connection.query(statement)
    connection.close()


if __name__ == "__main__":
    _prepare(Path(sys.argv[1]))
    print(json.dumps(asyncio.run(_try(Path(sys.argv[1]), sys.argv[2:]))))
