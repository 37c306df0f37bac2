"""A query that declares a control's parameter itself, and what a viewer may leave out."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.queries import DashboardQueries, find_queries, relaxed
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.errors import TemplateError
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.parameters.relative_ranges import parse_relative
from tenantry.sql.query_file import Query


def _read(control: str, rows: str = "{table: asked}") -> DashboardFile:
    return read_dashboard(f"title: Sales\ncontrols:\n  a: {control}\nrows:\n  - {rows}\n", "sales", "sales.yaml")


def _queries(dashboard: DashboardFile, declared: str, text: str) -> DashboardQueries:
    header = f"/* ---\nparams:\n  a: {declared}\n--- */\n" if declared else ""
    return find_queries(dashboard, {"asked": Query(header + text, "asked")})


def _parameter(control: str, declared: str, text: str = "select 1 [[ where {{ params.a }} = 1 ]]") -> Parameter:
    return next(_queries(_read(control), declared, text).templates).parameters["a"]


def test_the_controls_default_counts_in_a_query_that_declares_the_parameter() -> None:
    """Else the page would say last 30 days, and the rows would be of all time. Red when the header was believed."""
    within = "select 1 where {{ params.a | within(day) }}"
    assert _parameter("{range: last 30 days}", "date range", within).default == parse_relative("last 30 days")
    own = _parameter("{range: last 30 days}", "{type: datetime range, default: today, zone: Europe/Vienna}", within)
    assert (own.kind, own.default, str(own.zone)) == (
        "datetime range",
        parse_relative("last 30 days"),
        "Europe/Vienna",
    )
    whole = _parameter("{number: 5}", "{type: integer, min: 0}", "select 1 limit {{ params.a }}")
    assert (whole.kind, whole.default, whole.min) == ("integer", 5, 0), "the type and the limits are the query's"
    assert _parameter("{choices: ['1', '2'], default: '2'}", "integer").default == 2
    assert _parameter("{text: }", "{type: text, default: x}").default is None
    assert _parameter(
        "{text: x}", "{type: text, match: prefix}", "select 1 where {{ params.a | matches(b) }}"
    ).match == ("prefix")
    assert _parameter("{text: }", "{type: text, required: true}").required


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna"])
def test_a_default_day_begins_in_the_time_zone_of_the_query(zone: str) -> None:
    """Red when the default is read in UTC: rows of an hour would be missing or too many until a viewer chooses."""
    text = "select 1 where at >= {{ params.a }}"
    parameter = _parameter("{date: '2026-01-05'}", f"{{type: datetime, zone: {zone}}}", text)
    assert parameter.default == datetime(2026, 1, 5, tzinfo=ZoneInfo(zone))


def test_a_fragment_that_declares_the_parameter_is_overruled_too() -> None:
    """Red when only the header of the query itself was."""
    fragment = Query("/* ---\nparams: {a: date range}\n--- */\nselect 1 where {{ params.a | within(day) }}", "inner")
    outer = Query("select * from ({{> inner }}) as x", "asked", fragments={"inner": fragment})
    (template,) = find_queries(_read("{range: last 30 days}"), {"asked": outer}).templates
    assert template.parameters["a"].default == parse_relative("last 30 days")


@pytest.mark.parametrize(
    ("control", "declared", "problem", "fix"),
    [
        ("{text: }", "date range", "declares params.a as date range, and this control gives text", "as text"),
        ("{choices: [x], many: true}", "text", "as text, and this control gives list of choice", "remove a from"),
        ("{range: today}", "{type: relative range}", "as relative range", "as date range"),
        ("{number: 12.5}", "integer", "does not take the default of this control", "a whole number"),
    ],
)
def test_a_type_that_a_control_does_not_have_is_refused_at_the_control(
    control: str, declared: str, problem: str, fix: str
) -> None:
    """When the folder is read. Red when the query's own was taken: each choice of a viewer failed."""
    with pytest.raises(TemplateError, match=r"^sales.yaml:3:") as caught:
        _parameter(control, declared)
    assert problem in caught.value.message
    assert fix in caught.value.message.partition("fix: ")[2]


OPTIONAL, NEEDED = "[[ and b = {{ params.a }} ]]", "and b = {{ params.a }}"
START, END = "[[ and day >= {{ params.a.start }} ]]", "[[ and day < {{ params.a.end }} ]]"
RANGE = "{range: last 30 days}"


@pytest.mark.parametrize(
    ("control", "uses", "clearable", "ends"),
    [
        ("{text: x}", [OPTIONAL], True, ""),
        ("{text: x}", ["and {{ params.a | matches(b) }}"], True, ""),
        ("{text: x}", [NEEDED], False, ""),
        ("{text: x}", [OPTIONAL, NEEDED], False, ""),
        ("{text: }", [OPTIONAL], False, ""),
        ("{text: , required: true}", [NEEDED], False, ""),
        ("{choices: [x, y], many: true, default: [x]}", ["[[ and b in {{ params.a }} ]]"], True, ""),
        (RANGE, ["and {{ params.a | within(day) }}"], False, "start end"),
        (RANGE, [START + END], False, "start end"),
        (RANGE, [START + END.strip("[]")], False, "start"),
        (RANGE, [START.strip("[]") + END], False, "end"),
        (RANGE, ["and day >= {{ params.a.start }} and day < {{ params.a.end }}"], False, ""),
        (RANGE, ["[[ and day >= {{ params.a.start }} and day < {{ params.a.end }} ]]"], False, ""),
        ("{choices: [x, y], default: x}", ["and {{ params.a | one_of(x: 1 = 1, y: 2 = 2) }}"], False, ""),
        (RANGE, [START + END, NEEDED.replace("a }}", "a.start }}")], False, "end"),
        ("{range: last 30 days, min: 2020-01-01}", [START + END], False, "end"),
    ],
)
def test_what_no_query_needs_can_be_left_out(control: str, uses: list[str], clearable: bool, ends: str) -> None:
    """An end of a range, or the value itself in spite of its default, where every query reads it in a part that it can
    do without. Red for the mixed ones when one query was enough."""
    rows = "[" + ", ".join(f'{{table: {{sql: "select 1 where true {use}"}}}}' for use in uses) + "]"
    dashboard = _read(control, rows)
    found, queries = relaxed(dashboard, find_queries(dashboard, {}))
    parameters = [found.controls["a"].parameter, *(each.parameters["a"] for each in queries.templates)]
    assert {(each.clearable, each.open) for each in parameters} == {(clearable, frozenset(ends.split()))}
