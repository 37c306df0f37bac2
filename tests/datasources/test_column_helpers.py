"""within, trunc and matches on real engines: the same rows and the same buckets everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.groups import extend
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group
from tests.datasources.test_parameters import VIENNA, Ask, ask, engine, urls

__all__ = ["ask", "engine", "urls"]  # fixtures

ALL = {0, 1, 2, 3, 4}
MAY = "2026-05-01..2026-05-31"


@pytest.mark.parametrize(
    ("definition", "condition", "sent", "ids"),
    [
        ("date range", "{{ params.x | within(day) }}", MAY, {2, 3, 4}),
        ("date range", "{{ params.x | within(day) }}", None, ALL),
        ({"type": "date range", "required": True}, "not {{ params.x | within(clock) }}", MAY, {0, 1}),
        ({"type": "date range", "open": "both"}, "{{ params.x | within(clock) }}", "2026-05-15..", {2, 3, 4}),
        ({"type": "date range", "open": "both"}, "{{ params.x | within(clock) }}", "..2026-05-15", {0, 1, 2}),
        ({"type": "datetime range", "zone": VIENNA}, "{{ params.x | within(instant) }}", MAY, {1, 2, 3}),
        ({"type": "datetime range", "zone": VIENNA}, "{{ params.x | matches(clock) }}", MAY, {1, 2, 3}),
        ("integer", "{{ params.x | matches(id) }}", "2", {2}),
        ("integer", "{{ params.x | matches(id) }}", "", ALL),
        ("integer", "{{ params.x | excludes(id) }}", "2", ALL - {2}),
        ("integer", "{{ params.x | excludes(id) }}", None, ALL),
        ({"type": "integer", "required": True}, "not {{ params.x | matches(id) }}", "2", ALL - {2}),
        ("decimal", "{{ params.x | matches(amount) }}", "10.50", {3}),
        ("list of integer", "{{ params.x | matches(id + 1) }}", ["2", "3"], {1, 2}),
        ("list of integer", "{{ params.x | matches(id) }}", [], set()),
        ("list of integer", "{{ params.x | excludes(id) }}", [], ALL),
        ({"type": "list of integer", "default": "2"}, "not {{ params.x | matches(id) }}", [], ALL),
        ("list of integer", "{{ params.x | matches(id) }}", None, ALL),
        ("list of date", "{{ params.x | matches(day) }}", "2026-05-31", {3, 4}),
        ("boolean", "{{ params.x | matches(paid) }}", "no", {1, 3}),
        ({"type": "integer", "is_null": "none"}, "{{ params.x | matches(nullif(id, 2)) }}", "none", {2}),
        (
            {"type": "list of integer", "is_null": "none"},
            "{{ params.x | matches(nullif(id, 2)) }}",
            ["0", "none"],
            {0, 2},
        ),
    ],
)
async def test_conditions(ask: Ask, definition: Any, condition: str, sent: Any, ids: set[int]) -> None:
    """Red when absent is NULL, or when an empty list is absent."""
    assert await ask(condition, {"x": definition}, x=sent) == ids


@pytest.mark.parametrize(
    ("match", "sent", "ids"),
    [
        ("contains", "%_!3", {3}),
        ("contains", "__!3", set()),
        ("prefix", "50%_", ALL),
        ("prefix", "5_%", set()),
        ("suffix", "_!2", {2}),
        ("suffix", "!", set()),
        ("contains", "\\", set()),
        ("contains", "", ALL),
    ],
)
async def test_a_part_of_a_text(ask: Ask, match: str, sent: str, ids: set[int]) -> None:
    """Of 50%_!0, 50%_!1 and so on. Red when a wildcard of the value is one of the pattern."""
    column = "replace('50%_!N', 'N', cast(id as char(1)))"
    assert await ask(f"{{{{ params.x | matches({column}) }}}}", {"x": {"type": "text", "match": match}}, x=sent) == ids


UNITS = {
    "month": {"2026-04": 2, "2026-05": 3},
    "year": {"2026": 5},
    "day": {"2026-04-30": 2, "2026-05-15": 1, "2026-05-31": 2},
    "week": {"2026-04-27": 2, "2026-05-11": 1, "2026-05-25": 2},
    "quarter": {"2026-04": 5},
    "hour": {"2026-04-30 21": 1, "2026-04-30 22": 1, "2026-05-15 12": 1, "2026-05-31 21": 1, "2026-05-31 22": 1},
}


@pytest.mark.parametrize("unit", UNITS)
async def test_buckets(unit: str, engine: str, ask: Ask, directory: Directory, open_sources: Any) -> None:
    """The same expression in select, group by and order by. Red on PostgreSQL and DuckDB when the unit is a value: they
    take two placeholders for two expressions (42803)."""
    bucket = "{{ params.unit | trunc(clock) }}"
    template = SQLTemplate(
        f"select {bucket} as bucket, count(*) as n from visits group by {bucket} order by {bucket}",
        params={"unit": "text"},
    )
    asking = group(main="ds_1")
    rows = await open_sources(timeout=30, connect_timeout=60).fetch(
        asking, "main", template, extend(asking.variables, "params", {"unit": unit})
    )
    starts = [(str(row["bucket"]), row["n"]) for row in rows]
    assert [n for _, n in starts] == list(UNITS[unit].values())
    assert [start.startswith(prefix) for (start, _), prefix in zip(starts, UNITS[unit], strict=True)] == [True] * len(
        starts
    )


@pytest.mark.parametrize("engine", ["postgresql", "duckdb"], indirect=True)
@pytest.mark.parametrize("zone", ["zone: 'Europe/Vienna'", "zone: {{ zone }}"])
async def test_buckets_of_a_zone(zone: str, engine: str, ask: Ask, directory: Directory, open_sources: Any) -> None:
    """The second row is of the first of May in Vienna. (SQLite has no zones, MariaDB none by name on a new server.)"""
    bucket = f"{{{{ params.unit | trunc(instant, {zone}) }}}}"
    template = SQLTemplate(f"select id from visits where {bucket} = timestamp '2026-05-01 00:00:00'")
    asking = group(main="ds_1")
    given = extend(extend(asking.variables, "params", {"unit": "day"}), "zone", VIENNA)
    rows = await open_sources(timeout=30, connect_timeout=60).fetch(asking, "main", template, given)
    assert [row["id"] for row in rows] == [1]
