"""``within`` and ``trunc`` in the zone of a group: another SQL only where something names a zone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tenantry.errors import UnbindableValue
from tenantry.sql import BoundSQL, SQLTemplate
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.guarding import read_tables
from tenantry.sql.parameters import ZoneOfGroup, declare

TEXT = "select {{ params.unit | trunc(at) }} as b from events where {{ params.period | within(at) }}"
ZONE = ZoneOfGroup("timezone")
NOW = datetime(2026, 11, 27, 23, 30, tzinfo=UTC)
VIENNA = {"timezone": "Europe/Vienna"}
PLAIN = "select date_trunc('week', at) as b from events where (at >= $1::date and at < $2::date)"
GUARDED = ("postgresql", "sqlite", "duckdb", "mysql", "mariadb", "clickhouse")


def template(zone: ZoneOfGroup = ZONE) -> SQLTemplate:
    declared = declare({"period": {"type": "date range", "default": "today", "open": "both"}, "unit": "text"})
    return SQLTemplate(TEXT, params={name: replace(each, zone=zone) for name, each in declared.items()})


def bound(properties: dict[str, Any], zone: ZoneOfGroup = ZONE, *, unit: str = "week", **sent: Any) -> BoundSQL:
    return template(zone).bind({"user_group": {"properties": properties}, "params": {"unit": unit, **sent}}, now=NOW)


@pytest.mark.parametrize("properties", [{}, {"timezone": ""}, {"timezone": None, "week_start": "monday"}])
def test_nothing_names_a_zone(properties: dict[str, Any]) -> None:
    """The SQL is that of a template without zones, and a column of the group's own engine compares as it does."""
    assert (bound(properties).sql, bound(properties).params) == (PLAIN, (date(2026, 11, 27), date(2026, 11, 28)))


@pytest.mark.parametrize(
    ("properties", "otherwise", "first"),
    [
        (VIENNA, None, datetime(2026, 11, 27, 23, tzinfo=UTC)),
        ({}, "Europe/Vienna", datetime(2026, 11, 27, 23, tzinfo=UTC)),
        ({"timezone": "UTC"}, "Europe/Vienna", datetime(2026, 11, 27, tzinfo=UTC)),
    ],
)
def test_something_names_one(properties: dict[str, Any], otherwise: str | None, first: datetime) -> None:
    """The group first, then the dashboard. An index on the column can find the days nearby."""
    found = bound(properties, ZoneOfGroup("timezone", ZoneInfo(otherwise) if otherwise else None))
    assert found.params is not None
    assert first in tuple(found.params)
    assert "(at >= $2::date and at < $3::date and (" in found.sql


def test_open_ends() -> None:
    """Red when a bound that is absent is looked up."""
    assert " < " not in bound(VIENNA, period={"start": "2026-11-01"}).sql.partition("where")[2]
    assert " >= " not in bound(VIENNA, period={"end": "2026-11-01"}).sql.partition("where")[2]
    edges = bound(VIENNA, period={"start": "0001-01-01", "end": "9999-12-30"})
    assert edges.params is not None
    assert date(1, 1, 1) in tuple(edges.params)


def test_weeks_from_sunday() -> None:
    """Of ``trunc`` and of ranges. Other units are the same."""
    found = bound({"week_start": "sunday"}, period="this week")
    assert "date_trunc('week', at + interval '1 day') - interval '1 day'" in found.sql.replace("'1' day", "'1 day'")
    assert found.params == (date(2026, 11, 22), date(2026, 11, 29))
    assert "'1'" not in bound({"week_start": "sunday"}, unit="month").sql
    assert bound({}, ZoneOfGroup("timezone", sundays=True), period="this week").params == found.params
    monday = bound({"week_start": "monday"}, ZoneOfGroup("timezone", sundays=True), period="this week")
    assert monday.params == (date(2026, 11, 23), date(2026, 11, 30))


@pytest.mark.parametrize("properties", [{"timezone": "Vienna"}, {"timezone": 1}, {"week_start": "saturday"}])
def test_a_property_that_is_none(properties: dict[str, Any]) -> None:
    with pytest.raises(UnbindableValue):
        bound(properties)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect(dialect: str) -> None:
    """No column or zone is left as a mark. Red when a dialect cannot write one of them."""
    rules = DIALECTS[dialect]
    for sql in (rules.days_in("at", "zone"), rules.is_date, rules.instant, rules.weeks_from_sunday):
        assert "{" not in sql.format(column="at")


@pytest.mark.parametrize("dialect", GUARDED)
@pytest.mark.parametrize("properties", [{}, VIENNA, VIENNA | {"week_start": "sunday"}])
def test_guarded_tables(dialect: str, properties: dict[str, Any]) -> None:
    """The SQL is proved to read no other table. Red when its functions are unknown: pg_typeof was."""
    guarded = template().guarded(read_tables({"tables": {"events": "owner"}}))
    variables = {"user_group": {"id": "acme", "properties": properties}}
    for unit in ("week", "month"):
        found = guarded.bind(variables | {"params": {"unit": unit}}, dialect=dialect, now=NOW)
        assert "owner" in found.sql
