"""One zone of a page: the group's, else the dashboard's, else the source's. It holds for ranges, buckets, what is shown
and the CSV file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tenantry.dashboards import unusable_formats
from tenantry.dashboards.panels import panel_runner
from tests.dashboards.served import Site, serve
from tests.dashboards.test_tables import Stored

FILES = {
    "dashboards/events.yaml": """
title: Events
controls:
  period: {range: today}
  unit: {choices: [hour, day, week], default: day}
rows:
  - {figure: n, query: plain, compare: previous-period}
  - {table: listed, columns: [moment, what]}
  - {figure: n, query: promised}
  - {figure: n, query: instants}
  - {figure: n, query: {sql: "select count(*) as n from events where {{ params.period | within(moment) }}"}}
  - {figure: n, query: of_utc}
  - {bar: n, by: bucket, query: buckets}
  - {table: of_vienna, columns: [moment]}
  - {figure: n, query: instants, compare: previous-period}
""",
    "queries/plain.sql": "select count(*) as n from events where {{ params.period | within(moment) }}",
    "queries/listed.sql": "select moment, what from events where {{ params.period | within(moment) }} order by moment",
    "queries/promised.sql": "select count(*) as n from events where {{ params.period | within(promised) }}",
    "queries/instants.sql": """/* ---
params:
  period: {type: datetime range}
--- */
select count(*) as n from events where moment >= {{ params.period.start }} and moment < {{ params.period.end }}""",
    "queries/of_utc.sql": """/* ---
params:
  period: {type: date range, zone: UTC}
--- */
select count(*) as n from events where {{ params.period | within(clock) }}""",
    "queries/of_vienna.sql": """/* ---
params:
  period: {type: datetime range, zone: Europe/Vienna}
--- */
select moment from events where {{ params.period | within(moment) }} order by moment""",
    "queries/buckets.sql": """select {{ params.unit | trunc(moment) }} as bucket, count(*) as n
from events group by 1 order by 1""",
}
EVENTS = """create table events as
select moment, moment at time zone 'UTC' as clock, what, promised from (values
  (timestamptz '2026-11-27 08:10:00+00', 'morning', date '2026-11-27'),
  (timestamptz '2026-11-27 23:40:00+00', 'late call', date '2026-11-27'),
  (timestamptz '2026-11-28 02:00:00+00', 'night', date '2026-11-28'),
  (timestamptz '2026-11-28 23:10:00+00', 'tomorrow', date '2026-11-29')) as t(moment, what, promised)"""


class Clock(datetime):
    """28 November, 10 o'clock in UTC."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        return datetime(2026, 11, 28, 10, tzinfo=UTC).astimezone(tz)


@asynccontextmanager
async def events(folder: Path, monkeypatch: Any, zone: str, file: str = "", source: str = "") -> AsyncIterator[Site]:
    """``source``: the zone in the URL of the data source."""
    with duckdb.connect(str(folder / "events.duckdb")) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute(EVENTS)
    monkeypatch.setattr(panel_runner, "datetime", Clock)
    files = {**FILES, "dashboards/events.yaml": FILES["dashboards/events.yaml"] + file}
    async with serve(folder, files, properties={"timezone": zone} if zone else {}, store=Stored) as site:
        registered = site.directory.registered
        option = f"?tenantry_timezone={source}" if source else ""
        registered[0] = replace(registered[0], url=f"duckdb:///{folder / 'events.duckdb'}{option}")
        yield site


@pytest.mark.parametrize(
    ("zone", "file", "source", "count", "instants"),
    [
        ("Europe/Vienna", "", "", 2, ["2026-11-28T00:40:00+01:00", "2026-11-28T03:00:00+01:00"]),
        ("America/Los_Angeles", "", "", 1, ["2026-11-28T15:10:00-08:00"]),
        ("", "timezone: Europe/Vienna\n", "", 2, ["2026-11-28T00:40:00+01:00", "2026-11-28T03:00:00+01:00"]),
        ("UTC", "timezone: Europe/Vienna\n", "", 2, ["2026-11-28T02:00:00Z", "2026-11-28T23:10:00Z"]),
        ("", "", "Europe/Vienna", 2, ["2026-11-28T00:40:00+01:00", "2026-11-28T03:00:00+01:00"]),
        ("", "timezone: UTC\n", "Europe/Vienna", 2, ["2026-11-28T02:00:00Z", "2026-11-28T23:10:00Z"]),
        ("America/Los_Angeles", "", "Europe/Vienna", 1, ["2026-11-28T15:10:00-08:00"]),
    ],
)
async def test_today(
    tmp_path: Path, monkeypatch: Any, zone: str, file: str, source: str, count: int, instants: list[str]
) -> None:
    """All panels have the same day, and show its times in its zone. Red when a query that names no zone had days of
    UTC, and when times were shown in that of the machine."""
    async with events(tmp_path, monkeypatch, zone, file, source) as site:
        about = (await site.lines("events", definition=True))[0]["dashboard"]
        assert about["timezone"] == (zone or file.removeprefix("timezone: ").strip() or source)
        panels = await site.panels("events")
        assert [row[0] for row in panels["2-1"]["rows"]] == instants
        assert panels["3-1"]["rows"] == [[1]]  # dates are the same days in each zone
        assert [panels[f"{number}-1"]["rows"] for number in (1, 4, 5)] == [[[count]]] * 3
        assert panels["6-1"]["rows"] == [[2]]  # its header says so
        today = {"period": {"start": "2026-11-28", "end": "2026-11-28"}}
        address = (await site.post("events/-/panels/2-1/download", {"filters": today})).json()["address"]
        lines = (await site.follow(address)).text.splitlines()[1:]
        assert [line.split(",")[0] for line in lines] == instants


async def test_a_comparison(tmp_path: Path, monkeypatch: Any) -> None:
    """Each answer says what time it is there, and which days it is of. Red when yesterday is one of UTC: its evening
    was in both days."""
    async with events(tmp_path, monkeypatch, "Europe/Vienna") as site:
        figure = (await site.panels("events"))["1-1"]
        assert (figure["rows"], figure["compare"]["rows"]) == ([[2]], [[1]])
        today, yesterday = ({"start": day, "end": f"{day}T11:00"} for day in ("2026-11-28", "2026-11-27"))
        whole = {"start": "2026-11-28", "end": "2026-11-28"}
        assert figure["periods"] == {"shown": today, "before": yesterday, "whole": whole, "whole_dates": True}
        assert figure["now"] == "2026-11-28T11:00:00"


@pytest.mark.parametrize(
    ("zone", "column", "counts"),
    [
        ("America/Los_Angeles", "moment", [1, 0, 1]),
        ("America/Los_Angeles", "clock", [1, 0, 1]),
        ("", "moment", [2, 1, 1]),
        ("", "clock", [2, 1, 1]),
        ("America/Los_Angeles", "promised", [1, 1, 2]),
    ],
)
async def test_a_comparison_of_dates(
    tmp_path: Path, monkeypatch: Any, zone: str, column: str, counts: list[int]
) -> None:
    """A range of dates too compares what has passed of today with the same part of yesterday, where the rows have a
    time: a whole date is one. Red when it was compared with all of yesterday: the call at 23:40 counted."""
    monkeypatch.setitem(FILES, "queries/plain.sql", FILES["queries/plain.sql"].replace("moment", column))
    async with events(tmp_path, monkeypatch, zone) as site:
        figure = (await site.panels("events"))["1-1"]
        assert [figure[part]["rows"] for part in ("so_far", "compare")] == [[[each]] for each in counts[1:]]
        assert figure["rows"] == [[counts[0]]]
        assert figure["periods"]["shown"]["end"] == f"2026-11-28T{'02' if zone else '10'}:00"


async def test_a_comparison_of_dates_without_within(tmp_path: Path, monkeypatch: Any) -> None:
    """Its days end as its SQL says, so it is not said that they end now."""
    between = "moment::date >= {{ params.period.start }} and moment::date < {{ params.period.end }}"
    monkeypatch.setitem(FILES, "queries/plain.sql", f"select count(*) as n from events where {between}")
    async with events(tmp_path, monkeypatch, "Europe/Vienna") as site:
        figure = (await site.panels("events"))["1-1"]
        days = [{"start": day, "end": day} for day in ("2026-11-28", "2026-11-27")]
        assert [figure["periods"][part] for part in ("shown", "before")] == days
        assert "so_far" not in figure


async def test_a_comparison_of_times(tmp_path: Path, monkeypatch: Any) -> None:
    """Today until now with yesterday until the same time. Red when it was compared with all of yesterday: the call at
    23:40 counted."""
    async with events(tmp_path, monkeypatch, "America/Los_Angeles") as site:
        figure = (await site.panels("events"))["9-1"]
        counts = [figure["rows"], figure["so_far"]["rows"], figure["compare"]["rows"]]
        assert counts == [[[1]], [[0]], [[1]]]
        assert figure["periods"]["before"] == {"start": "2026-11-27", "end": "2026-11-27T02:00"}


async def test_buckets(tmp_path: Path, monkeypatch: Any) -> None:
    """Red when a unit that no header declares was cut in UTC."""
    async with events(tmp_path, monkeypatch, "Europe/Vienna") as site:
        rows = (await site.panels("events"))["7-1"]["rows"]
        assert rows == [["2026-11-27T00:00:00", 1], ["2026-11-28T00:00:00", 2], ["2026-11-29T00:00:00", 1]]
        hours = await site.panels("events", filters={"unit": "hour"})
        assert hours["7-1"]["rows"][0] == ["2026-11-27T09:00:00+01:00", 1]


@pytest.mark.parametrize(("file", "start"), [("", "monday"), ("week_start: sunday\n", "sunday")])
async def test_what_an_axis_needs(tmp_path: Path, monkeypatch: Any, file: str, start: str) -> None:
    """The unit that the viewer chose, the first day of weeks, and the zone, as the query has them. Red when a page had
    to guess them from its rows: Sundays were no weeks."""
    async with events(tmp_path, monkeypatch, "Europe/Vienna", file) as site:
        panels = await site.panels("events", filters={"unit": "week"})
        buckets, of_utc = ([panels[panel][key] for key in ("unit", "week_start", "zone")] for panel in ("7-1", "6-1"))
        assert (buckets, of_utc) == (["week", start, "Europe/Vienna"], [None, start, "UTC"])


@pytest.mark.parametrize("zone", ["", "America/Los_Angeles"])
async def test_a_header_that_says_otherwise(tmp_path: Path, monkeypatch: Any, zone: str) -> None:
    """Its rows are of the days of Vienna, and shown in its time. Red when they were shown in the page's: the first
    event of today was one of yesterday."""
    async with events(tmp_path, monkeypatch, zone) as site:
        rows = (await site.panels("events"))["8-1"]["rows"]
        assert rows == [["2026-11-28T00:40:00+01:00"], ["2026-11-28T03:00:00+01:00"]]


async def test_a_zone_that_is_none(tmp_path: Path, monkeypatch: Any) -> None:
    """Panels say so, rather than show days of UTC; the check names the property."""
    async with events(tmp_path, monkeypatch, "Vienna") as site:
        assert "error" in (await site.panels("events"))["1-1"]
    assert [each.name for each in unusable_formats({"timezone": "Vienna"})] == ["timezone"]
    assert list(unusable_formats({"timezone": "Europe/Vienna"})) == []


async def test_later_days_are_not_compared(tmp_path: Path, monkeypatch: Any) -> None:
    """A range that ends after today may hold planned rows. Red when all of it was compared with the part before."""
    async with events(tmp_path, monkeypatch, "Europe/Vienna") as site:
        period = {"period": {"start": "2026-11-28", "end": "2026-11-30"}}
        figure = (await site.panels("events", filters=period))["1-1"]
        assert (figure["rows"], figure["so_far"]["rows"], figure["compare"]["rows"]) == ([[3]], [[2]], [[0]])
        assert figure["periods"]["shown"] == {"start": "2026-11-28", "end": "2026-11-28T11:00"}
        passed = (await site.panels("events", filters={"period": {"start": "2026-11-26", "end": "2026-11-27"}}))["1-1"]
        assert "so_far" not in passed


SKIPPED = {
    "dashboards/nights.yaml": """
title: Nights
controls: {period: {range: 2018-11-04..2018-11-04}, unit: {choices: [day, week], default: day}}
rows:
  - {bar: n, by: day, query: days}
  - {bar: n, by: hour, query: hours}
  - {bar: n, by: day, query: instants_of_day}
  - {figure: n, query: within}
  - {figure: n, query: instants}
  - {bar: n, by: bucket, query: buckets}
""",
    "queries/days.sql": """select day, 1 as n from (values (timestamptz '2018-11-03 00:00:00-03'),
(timestamptz '2018-11-04 01:00:00-02'), (null), (timestamptz '2018-11-05 00:00:00-02')) as t(day)""",
    "queries/hours.sql": """select hour, 1 as n from (values (timestamptz '2018-11-03 23:00:00-03'),
(timestamptz '2018-11-04 01:00:00-02')) as t(hour)""",
    "queries/instants_of_day.sql": """select day, 1 as n from (values (timestamptz '2018-11-04 01:00:00-02'),
(timestamptz '2018-11-04 02:00:00-02')) as t(day)""",
    "queries/within.sql": "select count(*) as n from ticks where {{ params.period | within(moment) }}",
    "queries/instants.sql": """/* ---
params: {period: {type: datetime range}}
--- */
select count(*) as n from ticks where moment >= {{ params.period.start }} and moment < {{ params.period.end }}""",
    "queries/buckets.sql": """select {{ params.unit | trunc(moment) }} as bucket, count(*) as n from ticks
where {{ params.period | within(moment) }} group by 1""",
}
TICKS = """create table ticks as select unnest(generate_series(
timestamptz '2018-11-03 12:00:00-03', timestamptz '2018-11-06 12:00:00-02', interval 30 minutes)) as moment"""


async def test_a_midnight_that_the_clocks_leave_out(tmp_path: Path, monkeypatch: Any) -> None:
    """In São Paulo 4 November 2018 began at 1:00 and had 23 hours. In a column of days it begins at midnight like the
    others; a column of hours keeps its 1:00. Ranges and buckets have all of the day and nothing else. Red when that
    column was one of hours: bars had places for 120 hours, and no bar was as wide as its day."""
    with duckdb.connect(str(tmp_path / "ticks.duckdb")) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute(TICKS)
    async with serve(tmp_path, SKIPPED, properties={"timezone": "America/Sao_Paulo"}, store=Stored) as site:
        site.directory.registered[0] = replace(
            site.directory.registered[0], url=f"duckdb:///{tmp_path / 'ticks.duckdb'}"
        )
        panels = await site.panels("nights")
    firsts = {name: [row[0] for row in panels[f"{name}-1"]["rows"]] for name in "123"}
    assert firsts["1"] == [
        "2018-11-03T00:00:00-03:00",
        "2018-11-04T00:00:00-03:00",
        None,
        "2018-11-05T00:00:00-02:00",
    ]
    assert firsts["2"] == ["2018-11-03T23:00:00-03:00", "2018-11-04T01:00:00-02:00"]
    assert firsts["3"] == ["2018-11-04T01:00:00-02:00", "2018-11-04T02:00:00-02:00"]
    assert [panels[name]["rows"] for name in ("4-1", "5-1")] == [[[46]], [[46]]]
    assert panels["6-1"]["rows"] == [["2018-11-04T00:00:00", 46]]
