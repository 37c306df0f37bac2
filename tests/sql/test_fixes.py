"""Fixes of messages: each is taken from its message, put into the template, and compiles."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tenantry.errors import MissingVariable, TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.lint import lint

CLAUSE = re.compile(r"\[\[.*?\]\]")
TAG = re.compile(r"\{\{.*?\}\}")


def fix_of(text: str, params: Any = None, dialect: str = "postgresql") -> str:
    """The fix of the one message with which a template does not compile."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(text, dialect, params=params)
    return caught.value.message.partition("\n  fix: ")[2]


def bound(text: str, sent: dict[str, Any]) -> str:
    """The text of a template for what a viewer sent."""
    values = {"tenant": "acme", "tenants": ["acme"], "rate": 2, "params": sent}
    return SQLTemplate(text, "postgresql").bind(values).sql


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("'a', 'b'", ["a", "b"]),
        ("'a','b'", ["a", "b"]),
        ("'us-east-1', '1 hour', it", ["us-east-1", "1 hour", "it"]),
        ("a: 'x', 'a'", ["a", "a_2"]),
        ("sum(amount), sum(id)", ["sum", "sum_2"]),
        ("amount + 1, lower(name)", ["amount", "lower"]),
        ("1, 2.5", ["1", "other"]),
        ("'it''s', 'o''clock'", ["it's", "o'clock"]),
        ("us-east-1: amount > 5, eu west: amount > 50, x: 1 = 1", ["us-east-1", "eu west", "x"]),
        ("amount::int, b", ["amount", "b"]),
    ],
)
def test_texts_without_names(choice: str, names: list[str]) -> None:
    """Broken: a message that shows ``one_of(name: text)`` does not say what a viewer would send."""
    text = "select {{ params.x | one_of(%s) }} as v from t"
    fix = fix_of(text % choice).removeprefix("write one_of(").removesuffix(")")
    for name in names:
        assert bound(text % fix, {"x": name})
    if choice == "'a', 'b'":
        assert fix == "a: 'a', b: 'b'"
    if choice.startswith("us-east-1"):
        assert bound(text % fix, {"x": "us-east-1"}) == "select amount > 5 as v from t"


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("select 1 from t where b between 1 [[ and {{ params.b }} ]]", "b between 1 [[ and {{ params.b }} ]]"),
        (
            "select 1 from t where b between {{ params.a }} [[ and {{ params.b }} ]] and c = 1",
            "b between {{ params.a }} [[ and {{ params.b }} ]]",
        ),
        (
            "select 1 from t where lower(b) between '1' [[ and {{ params.b }} ]] or c = 1",
            "lower(b) between '1' [[ and {{ params.b }} ]]",
        ),
    ],
)
def test_an_end_of_between_in_a_clause(text: str, old: str) -> None:
    """Two comparisons, of which the clause holds one. Broken: "hold a whole condition" does not say how."""
    first, second = fix_of(text).split("; or put all of the `between` into one clause: ")
    for params in ({"a": 1}, {"a": 1, "b": 2}):
        assert bound(text.replace(old, first.removeprefix("write ")), params)
        assert bound(text.replace(old, f"1 = 1 {second}"), params)


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("select 1 from t where b [[ between {{ params.a }} ]] and 5", "b [[ between {{ params.a }} ]] and 5"),
        (
            "select 1 from t where [[ b between {{ params.a }} ]] and {{ params.b }}",
            "[[ b between {{ params.a }} ]] and {{ params.b }}",
        ),
        ("select 1 from t where b between [[ {{ params.a }} and ]] 5", "b between [[ {{ params.a }} and ]] 5"),
        ("select 1 from t where not b between 1 [[ and {{ params.b }} ]]", "not b between 1 [[ and {{ params.b }} ]]"),
        ("select 1 from t where b not between 1 [[ and {{ params.b }} ]]", "b not between 1 [[ and {{ params.b }} ]]"),
        (
            "select 1 from t where (a + b) between 1 [[ and {{ params.b }} ]]",
            "(a + b) between 1 [[ and {{ params.b }} ]]",
        ),
    ],
)
def test_a_between_that_is_kept_whole(text: str, old: str) -> None:
    """A negation stays one: two comparisons would mean another thing."""
    clause = fix_of(text).partition("put all of the `between` into one clause: ")[2]
    assert ("not between" in clause) == ("not" in old)
    for params in ({}, {"a": 1, "b": 2}):
        assert bound(text.replace(old, f"1 = 1 {clause}"), params)


@pytest.mark.parametrize(
    "condition",
    [
        "a + 1 between 1 [[ and {{ params.b }} ]]",
        "a || b between '1' [[ and {{ params.b }} ]]",
        "case when a then b end between 1 [[ and {{ params.b }} ]]",
        "a between 1 [[ and {{ params.b }} + 1 ]]",
        "a between 1 [[ and {{ params.b }}::date ]]",
        "a between 1 [[ and {{ params.b }} || 'x' ]]",
        "a -> 'b' between '1' [[ and {{ params.b }} ]]",
    ],
)
def test_a_between_of_expressions_is_not_rewritten(condition: str) -> None:
    """Broken: with the last word before `between`, or the first one after `and`, the fix means something else."""
    assert fix_of(f"select 1 from t where {condition}") == (
        "put all of the `between` into one clause: [[ and column between {{ params.a }} and {{ params.b }} ]]"
    )


@pytest.mark.parametrize("name", ['"my col"', '"t x".b', "`my col`", "t.b", "lower(b)"])
def test_a_column_of_a_between_is_taken_whole(name: str) -> None:
    """Broken: half a quoted name."""
    dialect = "mysql" if "`" in name else "postgresql"
    for before in ("", "a = 1 and ", "("):
        text = f"select 1 from t where {before}{name} between 1 [[ and {{{{ params.b }}}} ]]{')' * ('(' in before)}"
        assert fix_of(text, dialect=dialect).startswith(f"write {name} >= 1 [[ and {name} <= {{{{ params.b }}}} ]]; or")


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("select 1 from t where day = {{ start }}", "date"),
        ("select 1 from t where {{ start | matches(day) }}", "date"),
        ("select 1 from t where day >= {{ start.start }}", "date range"),
    ],
)
def test_a_declared_parameter_without_its_root(text: str, declared: str) -> None:
    """A group may have a property of that name, so that it is an error where the value is missing. Broken: the message
    says of the property alone that it is missing."""
    from datetime import UTC, datetime

    now = datetime(2026, 5, 20, tzinfo=UTC)
    template = SQLTemplate(text, "postgresql", params={"start": declared})
    with pytest.raises(MissingVariable) as caught:
        template.bind({}, now=now)
    tag = TAG.search(caught.value.message.partition("Write ")[2])
    assert tag is not None
    path = tag[0].strip("{} ")
    fixed = text.replace(path.removeprefix("params."), path)
    sent = "2026-05-01..2026-05-02" if "range" in declared else "2026-05-01"
    assert (
        SQLTemplate(fixed, "postgresql", params={"start": declared}).bind({"params": {"start": sent}}, now=now).params
    )
    (finding,) = [each for each in lint(template) if each.code == "unused-parameter"]
    assert "{{ params.start }}" in finding.fix


@pytest.mark.parametrize(
    "text",
    [
        "select 1 from t where true [[ and day = {{ start }} ]]",
        "select 1 from t where true [[ and day = {{ start }} and a = {{ params.a }} ]]",
        "select 1 from t where day = {{ start | default('2026-01-01') }}",
        "select 1 from t where day is not distinct from {{ start | nullable }}",
        "select 1 from t where {{ params.a | one_of(x: day = {{ start }}, y: 1 = 1) }}",
    ],
)
def test_a_declared_parameter_where_a_property_cannot_be(text: str) -> None:
    """Broken: the fix moves it out of the clause, as if it were the group's."""
    declared = {"start": "date", "a": "text"}
    fix = fix_of(text, declared)
    tag = TAG.search(fix)
    assert tag is not None
    assert tag[0].startswith("{{ params.start")
    assert "for a value that a viewer sends" in fix
    fixed = re.sub(r"\{\{ start[^{}]*\}\}", lambda _: tag[0], text)
    SQLTemplate(fixed, "postgresql", params=declared)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("string", ["text"]),
        ("String", ["text"]),
        ("varchar", ["text"]),
        ("number", ["integer", "decimal"]),
        ("int", ["integer"]),
        ("float", ["decimal"]),
        ("bool", ["boolean"]),
        ("timestamp", ["datetime"]),
        ("duration", ["interval"]),
        ("guid", ["uuid"]),
        ("enum", ["choice"]),
        ("range", ["date range", "datetime range"]),
        ("list of string", ["list of text"]),
        ("list of numbers", ["list of integer", "list of decimal"]),
        ("array of strings", ["list of text"]),
        ("list", ["list of text"]),
    ],
)
def test_types_of_other_languages(written: str, meant: list[str]) -> None:
    """Broken: without their names `string` had no suggestion, and `list of string` that of integers."""
    text = "select 1 where {{ params.x | matches(a) }}"
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(text, "postgresql", params={"x": written})
    fix = caught.value.message.partition("\n  fix: write ")[2].partition(".")[0]
    assert fix.split(" or ") == meant
    for each in meant:
        definition: dict[str, Any] = {"type": each} | ({"choices": ["a"]} if each == "choice" else {})
        SQLTemplate(text, "postgresql", params={"x": definition})


@pytest.mark.parametrize(
    "text",
    [
        "select 1 from t [[ where tenant = {{ tenant }} ]]",
        "select 1 from t where true [[ and tenant = {{ tenant }} ]]",
        "select 1 from t where true [[ and tenant = {{ tenant }} and day >= {{ params.day }} ]]",
        "select 1 from t where true [[ and day >= {{ params.day }} and tenant in {{ tenants }} ]] order by 1",
        "select 1 from t [[ where a between {{ params.a }} and 9 and tenant = '{{ tenant }}' and 'a and b' = c ]]",
        "select 1 from t where true [[ and (a = {{ params.a }} or b = 1) and f(tenant, 1) = {{ tenant }} ]]",
        "select 1 from t where true\n[[ and tenant = {{ tenant }}\n and day >= {{ params.day }} ]]",
        "select 1 from t where true [[ and tenant = {{ tenant }} and a = 5 ]] [[ and b = {{ params.b }} ]]",
    ],
)
def test_a_value_of_the_group_in_a_clause(text: str) -> None:
    """Its condition is before the clause, and the rest in it. Broken: the message offered a mark that the next check
    refused, as nothing in the clause could be absent."""
    fix = fix_of(text)
    moved = fix.removeprefix("move it out of [[ ]]: ").partition("; or, ")[0]
    clause = next(each for each in re.findall(r"\[\[[\s\S]*?\]\]", text) if "{{ tenant" in each)
    fixed = text.replace(clause, moved)
    assert ("params" in clause) == ("[[" in moved)
    sent: dict[str, Any] = {"day": 1, "a": 1, "b": 2}
    for params in ({}, sent):
        assert re.search(r"tenant(, 1\))? (= |in \()\$\d", bound(fixed, params)), fixed
    if "not_a_filter" in fix:
        SQLTemplate(
            re.sub(r"\{\{ (tenants?) \}\}", r"{{ \1 | not_a_filter }}", text).replace("'{{", "{{").replace("}}'", "}}")
        )


@pytest.mark.parametrize(
    "text",
    [
        "select 1 from t where true [[ or tenant = {{ tenant }} and a = {{ params.a }} ]]",
        "select 1 from t where true [[ and tenant = {{ tenant }} or a = {{ params.a }} ]]",
        "select 1 from t where true [[ and a >= {{ params.a }} * {{ rate }} ]]",
        "select 1 from t where true [[ and a = {{ params.a }} [[ and tenant = {{ tenant }} ]] ]]",
        "select 1 from t where true [[ and case when a then b end = {{ params.a }} and tenant = {{ tenant }} ]]",
        "select 1 from t where true [[ /* and */ and tenant = {{ tenant }} and a = {{ params.a }} ]]",
    ],
)
def test_a_clause_that_is_not_plain_is_not_rewritten(text: str) -> None:
    """What the rewritten clause would mean is the author's to say. Each other fix that is shown compiles where it is
    put."""
    fix = fix_of(text)
    moved = fix.partition("; or, ")[0]
    assert moved == "move it out of [[ ]]" or moved.endswith(": and tenant = {{ tenant }}"), moved
    if "{{ rate | not_a_filter }}" in fix:
        SQLTemplate(text.replace("{{ rate }}", "{{ rate | not_a_filter }}"), "postgresql")


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("{{ start-date }}", "{{ start_date }}"),
        ("{{start-date}}", "{{ start_date }}"),
        ("{{ params.start-date }}", "{{ params.start_date }}"),
        ("{{ start date }}", "{{ start_date }}"),
        ("{{ $start }}", "{{ start }}"),
        ("{{ :start }}", "{{ start }}"),
        ("{{ _start }}", "{{ start }}"),
        ("{{ user_group.properties['sales-region'] }}", "{{ user_group.properties.sales_region }}"),
        ("{{ params.start-date | default('a') }}", "{{ params.start_date | default('a') }}"),
        ("{{ params.start-date | matches(day) }}", "{{ params.start_date | matches(day) }}"),
    ],
)
def test_a_name_that_is_none(tag: str, meant: str) -> None:
    """Broken: the message said what no name is, and showed another one."""
    text = f"select 1 from t where {tag}" if "matches" in tag else f"select 1 from t where a = {tag}"
    fix = fix_of(text)
    assert fix.startswith(f"write {meant}: ")
    SQLTemplate(text.replace(tag, meant), "postgresql", params={"start_date": "text"} if "params" in tag else None)


@pytest.mark.parametrize(
    "tag", ["{{ a.0 }}", "{{ x() }}", "{{ a + b }}", "{{ 'x' }}", "{{ 1day }}", "{{ x.__class__ }}"]
)
def test_what_is_no_slip_of_a_name(tag: str) -> None:
    assert fix_of(f"select 1 from t where a = {tag}").startswith("write {{ name }} or ")


@pytest.mark.parametrize(
    ("dialect", "equal"),
    [("mariadb", "column <=> {{ name }}"), ("postgresql", "column is not distinct from {{ name }}")],
)
def test_is_takes_no_parameter(dialect: str, equal: str) -> None:
    """As the dialect writes equality that knows NULL."""
    for operator, negated in (("is", equal), ("is not", f"not ({equal})")):
        assert fix_of(f"select 1 from t where a {operator} {{{{ x }}}}", dialect=dialect).endswith(
            f"NULL equals NULL, `{negated}`"
        )
        fixed = negated.replace("column", "a").replace("name", "x")
        SQLTemplate(f"select 1 from t where {fixed}", dialect)
