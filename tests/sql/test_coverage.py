"""Which groups lack what a template names, or have it in a type that cannot be bound there."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tenantry.errors import MissingVariable, UnbindableValue
from tenantry.groups import Record
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.coverage import Coverage, PropertyTypes
from tenantry.sql.checks.findings import Finding, Severity
from tenantry.sql.checks.lint import coverage_findings, wanted_properties
from tenantry.sql.checks.needs import property_path, takes, type_of
from tenantry.sql.template import tree_of

VALUES: list[Any] = [
    "eu",
    True,
    3,
    2.5,
    None,
    {"a": 1},
    [],
    ["a", "b"],
    [1, 2],
    [1, 2.5],
    [True],
    ["a", 1],
    ["a", None],
    [["a"]],
    [{"a": 1}],
    ["a", {"a": 1}],
]
TEMPLATES = [
    "select 1 where a = {{ x }}",
    "select 1 where a = '{{ x }}'",
    "select 1 where a like '%{{ x }}%'",
    "select 1 where a in {{ x }}",
    "select 1 where a not in ({{ x }})",
    "select 1 limit {{ x }}",
    "select 1 where a @> {{ x | array }}",
    "select 1 where a like {{ x | contains }}",
]


def check(template: SQLTemplate, groups: dict[str, dict[str, Any] | None]) -> list[Finding]:
    """The coverage of one template over some groups."""
    types = PropertyTypes(wanted_properties([template]))
    for name, properties in groups.items():
        types.add(name, properties if properties is None else Record(properties))
    return list(coverage_findings(template, Coverage(types)))


@pytest.mark.parametrize("text", TEMPLATES)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_type_is_taken_exactly_where_bind_takes_it(text: str, value: Any) -> None:
    """The table of types says what ``bind`` does. Red when a position is added to the language and not to the table."""
    template = SQLTemplate(text, "postgresql")
    try:
        template.bind(Record({"x": value}))
        bound = True
    except (MissingVariable, UnbindableValue):
        bound = False
    (reference,) = tree_of(template).references
    assert takes(reference, type_of(value)) == bound


def test_a_list_of_several_types_is_named_by_the_worst() -> None:
    """The author then looks for it. Red when a null is called mixed."""
    assert [type_of(value) for value in ([None, 1], [1, "a"], [1, {}])] == [
        "list of null and others",
        "list of mixed",
        "list of objects and others",
    ]


def test_a_property_that_some_groups_lack() -> None:
    """How many of how many, and five by name; null is as missing as nothing. Red when only what is absent counts."""
    groups: dict[str, dict[str, Any] | None] = {f"g{n}": {"plan": "free"} for n in range(5)}
    groups |= {f"old{n}": {"region": "eu"} for n in range(4)} | {"empty": None, "cleared": {"plan": None}}
    template = SQLTemplate("select 1 from t where\n  plan = {{ plan }} and p = {{ plan }}")
    (finding,) = check(template, groups)
    assert (finding.code, finding.severity) == ("missing-property", Severity.ERROR)
    assert (finding.line, finding.column, finding.variable) == (2, 10, "plan")
    assert finding.message == "plan is missing in 6 of 11 groups: old0, old1, old2, old3, empty and 1 more"
    assert (finding.groups, finding.total, finding.named) == (6, 11, ("old0", "old1", "old2", "old3", "empty"))


def test_a_property_of_another_type() -> None:
    """An error where it cannot be bound, a warning where most groups have another; an integer is a decimal, and an
    empty list any list. Red when each difference counts, or none."""
    one = SQLTemplate("select 1 where seats = {{ seats }}")
    (finding,) = check(one, {"a": {"seats": 1}, "b": {"seats": [1]}, "c": {"seats": {"n": 1}}})
    assert (finding.code, finding.severity, finding.groups) == ("property-type", Severity.ERROR, 2)
    assert finding.message.startswith(
        "seats is a list of integer or an object, where the query takes one value, in 2 of"
    )
    (finding,) = check(one, {"a": {"seats": 1}, "b": {"seats": "1"}, "c": {"seats": 2}, "d": {"seats": 2.5}})
    assert (finding.code, finding.severity, finding.named) == ("property-type-differs", Severity.WARNING, ("b",))
    assert finding.message == "seats is text, not an integer as in other groups, in 1 of 4 groups: b"
    assert check(one, {"a": {"seats": 1}, "b": {"seats": 2.5}}) == []
    (finding,) = check(one, {"a": {"seats": 1}, "b": {"seats": [1]}})
    assert finding.fix == "write `in {{ seats }}`, which takes a list"
    many = SQLTemplate("select 1 where status in {{ statuses }}")
    assert check(many, {"a": {"statuses": ["a"]}, "b": {"statuses": []}}) == []
    (finding,) = check(many, {"a": {"statuses": ["a"]}, "b": {"statuses": "a"}})
    assert (finding.code, finding.named) == ("property-type", ("b",))
    assert "where the query takes a list without null" in finding.message


def test_what_a_template_can_do_without_is_not_needed() -> None:
    """The viewer's, what is declared optional, the group's own fields. Red when each tag is looked up."""
    text = "select {{ user_group.id }} = a [[ and d = {{ discount }} ]] [[ and e = {{ params.e }} ]]"
    assert check(SQLTemplate(text, optional={"discount"}), {"a": {}}) == []
    marked = SQLTemplate("select 1 [[ where a = {{ params.a }} * {{ rate | not_a_filter }} ]]")
    assert [each.code for each in check(marked, {"a": {}, "b": {"rate": 1}})] == ["missing-property"]


def test_a_helper_and_json_take_what_there_is() -> None:
    """What a range or a choice takes is known to it alone. Red when an object is an error for `within`."""
    season = {"start": "2026-01-01", "end": "2026-02-01"}
    text = "select 1 where {{ season | within(at) }} and {{ region | matches(r) }} and j @> {{ season | json }}"
    assert check(SQLTemplate(text, "postgresql"), {"a": {"season": season, "region": ["eu"]}}) == []
    (finding,) = check(SQLTemplate(text, "postgresql"), {"a": {"season": season}, "b": {"season": season, "region": 1}})
    assert (finding.code, finding.variable) == ("missing-property", "region")


def test_paths_within_objects() -> None:
    """By either name of a property. Red when only the first name of a path is looked at."""
    template = SQLTemplate("select {{ address.city }} = a, {{ user_group.properties.address.city }} = b")
    groups = {"a": {"address": {"city": "x"}}, "b": {"address": {"street": "y"}}, "c": {"address": "z"}}
    assert [(each.code, each.named) for each in check(template, groups)] == [("missing-property", ("b", "c"))]
    assert property_path("user_group.properties.region") == property_path("region") == "region"
    assert property_path("user_group.id") is property_path("params.a") is None


def test_a_property_of_no_group_is_left_to_the_lint() -> None:
    """It is an unknown variable, said once. Red when it is said twice."""
    assert check(SQLTemplate("select {{ regoin }} = a"), {"a": {"region": "eu"}}) == []


def test_the_price_does_not_multiply() -> None:
    """Groups are read once, whatever the number of templates: 200 templates with 10,000 groups (the bench has the
    whole: benchmarks/micro/coverage.py). Red when each template goes through the groups: some 20 s here."""
    names = [f"p{n}" for n in range(40)]
    templates = [
        SQLTemplate(" ".join(f"select {{{{ {names[(n + k) % 40]} }}}} = a and" for k in range(6)) + f" {n} = 1")
        for n in range(200)
    ]
    started = time.process_time()
    types = PropertyTypes(wanted_properties(templates))
    for n in range(10_000):
        types.add(f"g{n}", {name: n for at, name in enumerate(names[:20] if n % 2 else names) if n % (at + 3)})
    coverage = Coverage(types)
    found = [finding for template in templates for finding in coverage_findings(template, coverage)]
    assert len(found) == 200 * 6
    assert time.process_time() - started < 10
