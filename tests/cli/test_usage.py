"""``tenantry usage``: what groups have used."""

from __future__ import annotations

import asyncio
import csv
import io
from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.groups import HourlyUsage, SourceDraft, Usage, UsageBatch, UsageKey
from tests.cli.conftest import Terminal

SINCE = ("--since", "2026-10-01", "--until", "2026-12-01")


def _used(day: datetime, group: str, source: str, usage: Usage) -> HourlyUsage:
    return HourlyUsage(day, UsageKey("production", group, source), usage)


ROWS = [
    _used(datetime(2026, 10, 31, 23, tzinfo=UTC), "acme", "ds_1", Usage(1, 10, 0.25)),
    _used(datetime(2026, 11, 1, 0, tzinfo=UTC), "acme", "", Usage(resolves=40)),
    _used(datetime(2026, 11, 1, 0, tzinfo=UTC), "acme", "ds_1", Usage(2, 20, 1.5)),
    _used(datetime(2026, 11, 1, 7, tzinfo=UTC), "acme", "ds_gone", Usage(3, 30, 0.1)),
    _used(datetime(2026, 11, 2, 0, tzinfo=UTC), "=zoo", "ds_1", Usage(5, 1, 0.2)),
]


@pytest.fixture
def used(ready: Terminal) -> Terminal:
    """A terminal beside a store that has some usage, none of whose groups exists any more."""

    async def prepare() -> None:
        store = SQLStore("sqlite:///tenantry.db")
        production = await store.environments.get("production")
        assert production is not None
        url = "sqlite:////nowhere/a.db"
        await store.sources.create(production, "ds_1", SourceDraft("warehouse", url))
        await store.usage.add(UsageBatch(b"w" * 16, 1, ROWS))
        await store.aclose()

    asyncio.run(prepare())
    return ready


def _rows(terminal: Terminal, *options: str) -> list[list[Any]]:
    return [list(row.values()) for row in terminal("usage", *SINCE, "--json", *options).json()]


def test_a_table_with_a_total(used: Terminal) -> None:
    """By group, as a person reads it; the last line is the total. Of one group it is that group's."""
    out = used("usage", "--since", "2026-11-01", "--until", "2026-12-01").out
    assert out.splitlines() == [
        "environment  group  resolves  queries  rows  seconds",
        "production   =zoo   0         5        1     0.2",
        "production   acme   40        5        50    1.6",
        "total        -      40        10       51    1.8",
    ]
    assert used("usage", *SINCE, "--group", "acme").out.splitlines()[1:] == [
        "production   acme   40        6        60    1.85",
        "total        -      40        6        60    1.85",
    ]


def test_each_way_to_sum_up(used: Terminal) -> None:
    """By hour, day, month and source, alone or together; a source has your own id, while it is registered.

    Red when a day is cut in local time, and when ``--until`` is in it."""
    first, second = ["2026-10", 0, 1, 10, 0.25], ["2026-11", 40, 10, 51, 1.8]
    assert _rows(used, "--by", "month") == [["production", *first], ["production", *second]]
    days = [["2026-10-31", 0, 1, 10, 0.25], ["2026-11-01", 40, 5, 50, 1.6], ["2026-11-02", 0, 5, 1, 0.2]]
    assert _rows(used, "--by", "day") == [["production", *day] for day in days]
    hours = [row[1] for row in _rows(used, "--by", "hour", "--group", "acme")]
    assert hours == ["2026-10-31T23:00Z", "2026-11-01T00:00Z", "2026-11-01T07:00Z"]
    assert _rows(used, "--by", "source") == [
        ["production", None, 40, 0, 0, 0.0],
        ["production", "warehouse", 0, 8, 31, 1.95],
        ["production", "ds_gone", 0, 3, 30, 0.1],
    ]
    assert _rows(used, "--by", "month", "--by", "group")[0] == ["production", "2026-10", "acme", *first[1:]]
    begin = ("--since", "2026-11-01T00:00", "--until", "2026-11-01T07:00Z")
    assert used("usage", *begin, "--json").json()[0]["queries"] == 2


def test_csv_for_a_spreadsheet(used: Terminal) -> None:
    """Rows alone, with a head, also where there are none; the total is said on stderr. An id that a spreadsheet would
    run has an apostrophe before it."""
    done = used("usage", *SINCE, "--format", "csv")
    rows = list(csv.reader(io.StringIO(done.out, newline="")))
    assert rows[:2] == [
        ["environment", "group", "resolves", "queries", "rows", "seconds"],
        ["production", "'=zoo", "0", "5", "1", "0.2"],
    ]
    assert done.err == "total: 40 resolves, 11 queries, 61 rows, 2.05 seconds\n"
    none = used("usage", "--since", "2020-01-01", "--until", "2020-02-01", "--format", "csv", "--by", "day")
    assert none.out.splitlines() == [
        "environment,day,resolves,queries,rows,seconds"
    ]  # the test runner reads \\r\\n as \\n


def test_this_month_is_the_default(used: Terminal) -> None:
    """Up to now, this hour too."""

    async def use() -> None:
        store = SQLStore("sqlite:///tenantry.db")
        assert store.usage_recorder is not None
        store.usage_recorder.add("production", "now", queries=1)
        await store.aclose()

    asyncio.run(use())
    assert {"environment": "production", "group": "now"}.items() <= used("usage", "--json").json()[-1].items()


def test_by_viewer(used: Terminal) -> None:
    """A row for each viewer of each group, alone or by day. What was counted while it was on stays when it is off.

    Red when the oldest usage is that of groups: a day whose hours were pruned in part is left out."""

    async def use(*days: int) -> None:
        store = SQLStore("sqlite:///tenantry.db")
        rows = [
            HourlyUsage(datetime(2026, 11, day, tzinfo=UTC), UsageKey("production", "acme", "", viewer), Usage(1, day))
            for day in days
            for viewer in ("ann", "=bob")
        ]
        await store.usage.add(UsageBatch(b"v" * 16, days[0], rows))
        await store.aclose()

    asyncio.run(use(1))
    assert used("usage", *SINCE, "--by", "viewer").err == "none\n"
    used("group", "create", "acme")
    assert used("environment", "set-viewer-usage", "production", "on").out == "production\n"
    asyncio.run(use(2, 3))
    assert used("environment", "list", "--json").json()[0]["viewer_usage"] is True
    done = used("environment", "set-viewer-usage", "production", "off", "--json").json()
    assert done == {"name": "production", "viewer_usage": False}
    assert used("usage", *SINCE, "--by", "viewer").out.splitlines() == [
        "environment  group  viewer  resolves  queries  rows  seconds",
        "production   acme   =bob    0         2        5     0.0",
        "production   acme   ann     0         2        5     0.0",
        "total        -      -       0         4        10    0.0",
    ]
    days = [row[1:4] for row in _rows(used, "--by", "viewer", "--by", "day", "--until", "2026-11-03")]
    assert days == [["2026-11-02", "acme", "=bob"], ["2026-11-02", "acme", "ann"]]
    assert "'=bob" in used("usage", *SINCE, "--by", "viewer", "--format", "csv").out
    assert used("usage", "--prune-before", "2026-11-03T12:00").out == "7\n"
    assert [row[3:5] for row in _rows(used, "--by", "viewer")] == [[0, 1], [0, 1]]
    assert "[unknown_environment]" in used("environment", "set-viewer-usage", "nope", "on", fails=1).err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--since", "yesterday"], "'yesterday' is not a date: write 2026-11-01"),
        (["--until", "2026-11-31"], "'2026-11-31' is not a date"),
        (["--since", "2026-11-01T13:30"], "usage is stored by the hour"),
        (["--since", "2026-11-01T13:00+05:30"], "usage is stored by the hour"),
        (["--since", "9999-12-31T23:00-05:00"], "is not a date"),
        (["--since", "2026-11-02", "--until", "2026-11-02"], "must be before --until 2026-11-02T00:00Z"),
        (["--by", "week"], "'week' is not one of"),
        (["--by", "viewer", "--by", "source"], "viewers are counted per day, not per data source"),
        (["--by", "viewer", "--since", "2026-11-01T13:00"], "give --since and --until as dates without an hour"),
        (["--prune-before", "2026-01-01", "--group", "acme"], "leave out --group"),
        (["--prune-before", "2026-01-01", "--environment", "production"], "leave out --group, --environment"),
        (["--prune-before", "9999-01-01"], "--prune-before is in the future"),
        (["--format", "json"], "'json' is not one of"),
        (["--json", "--format", "csv"], "leave one out"),
    ],
)
def test_what_is_wrong_is_told(ready: Terminal, options: list[str], message: str) -> None:
    """With the rule and the fix."""
    assert message in ready("usage", *options, fails=2).err.replace("\n", " ")


def test_an_environment_that_there_is_not(used: Terminal) -> None:
    """It is an error; and the id of a group needs one where there are several."""
    assert "unknown_environment" in used("usage", "--environment", "nowhere", fails=1).err
    used("environment", "create", "staging", "--tag", "Testing")
    assert "--environment" in used("usage", "--group", "acme", fails=1).err
    assert used("usage", *SINCE, "--environment", "staging").err == "none\n"


def test_a_group_that_there_is_not(used: Terminal) -> None:
    """Usage outlives a deleted group, so it is no error. Red when only "none" was printed."""
    note = "production has no user group 'nobody', and no usage of it in this time\n"
    assert used("usage", *SINCE, "--group", "nobody").err == f"{note}none\n"
    used("group", "create", "quiet")
    assert used("usage", "--group", "quiet").err == "none\n"


def test_old_usage_is_deleted(used: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of rows is alone on stdout, and it is in the audit trail. A variable that names the environment of all
    commands is no hindrance. Red when ``--environment`` is passed over as that is: the usage of all would go."""
    monkeypatch.setenv("TENANTRY_ENVIRONMENT", "production")
    assert used("usage", "--prune-before", "2026-11-01T01:00").out == "3\n"
    monkeypatch.delenv("TENANTRY_ENVIRONMENT")
    assert used("usage", "--prune-before", "2026-11-01T01:00").out == "0\n"
    assert [row[1] for row in _rows(used)] == ["=zoo", "acme"]
    entry = used("audit", "--json").json()[-1]
    assert (entry["action"], entry["details"]) == ("usage.pruned", {"before": "2026-11-01T01:00+00:00", "rows": "3"})
