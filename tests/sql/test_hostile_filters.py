"""Hostile values in the positions that filters and fragments make: one text for all, and each value a parameter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from engines.samples import sampled
from tenantry.errors import InvalidParameter, TemplateError
from tenantry.sql import DIALECTS, BoundSQL, SQLTemplate
from tenantry.sql.filters.registry import _ARGUMENTS
from tests.sql.each_dialect import each_dialect
from tests.sql.test_hostile import OURS, given_values, payloads, variables

__all__ = ["payloads"]  # a fixture

FRAGMENTS = {
    "mine": "select a from t where a = {{ x }} and b like '%{{ x }}' and c in {{ xs }}",
    "nested": "select a from ({{> mine }}) as m where {{ x | matches(d) }}",
}
DECLARED: dict[str, Any] = {"text": {"x": "text"}, "list": {"x": "list of text"}}
POSITIONS = {
    "one_of": "select 1 where {{ params.c | one_of(a: a = {{ params.x }}, b: b in ({{ params.x }}, 1)) }}",
    "one_of, composed": "select 1 where {{ params.c | one_of(a: a = '<{{ params.x }}>', b: a = {{ params.x }}) }}",
    "one_of, clause": "select 1 where 1 = 1 [[ and {{ params.c | one_of(a: a = {{ params.x }}, b: b) }} ]]",
    "default": "select {{ params.none | one_of(a: {{ params.x }}, b: '{{ params.x }}') | default(b) }} as v",
    "not_a_filter": "select 1 where 1 = 1 [[ and a = lower({{ params.x }} || {{ x | not_a_filter }}) ]]",
    "matches": "select 1 where {{ x | matches(a) }}",
    "matches, list": "select 1 where {{ xs | matches(a) }}",
    "matches, column": "select 1 where {{ y | matches(coalesce(a, {{ x }})) }}",
    "text: matches": "select 1 where {{ params.x | matches(a) }}",
    "list: matches": "select 1 where {{ params.x | matches(a) }}",
    "text: declared": "select a = {{ params.x }}, '{{ params.x }}' || a [[ , 'a{{ params.x }}' || a ]] from t",
    "list: declared": "select 1 where a not in {{ params.x }}",
    "excludes": "select 1 where {{ x | excludes(a) }}",
    "excludes, list": "select 1 where {{ xs | excludes(a) }}",
    "text: excludes": "select 1 where {{ params.x | excludes(a) }}",
    "list: excludes": "select 1 where {{ params.x | excludes(a) }}",
    "within": "select 1 where {{ window | within(a) }}",
    "within, column": "select 1 where {{ dates | within(coalesce(a, {{ x }})) }}",
    "trunc": "select {{ params.unit | trunc(coalesce(a, {{ params.x }})) }}",
    "fragment": "select a from ({{> mine }}) as f where e = {{ x }}",
    "nested fragment": "select a from ({{> nested }}) as f",
}
"""By name: those that begin with a type declare ``params.x`` as one."""
CONVERTED = {
    "contains": "select 1 where a like {{ x | contains }}",
    "prefix": "select 1 where a like {{ x | prefix }} [[ and b like {{ params.x | prefix }} ]]",
    "suffix": "select 1 where a like {{ x | suffix }}",
    "array": "select 1 where a = any({{ xs | array }})",
    "json": "select 1 where f({{ window | json }}) = 1",
    "nullable": "select 1 where a is not distinct from {{ params.x | nullable }}",
}
"""Filter -> a template in which the parameter is made of the value."""
TEMPLATES = {
    name: SQLTemplate(text, params=DECLARED.get(name.partition(":")[0]), fragments=FRAGMENTS if "{{>" in text else None)
    for name, text in POSITIONS.items()
}


def bound(name: str, value: str, dialect: str) -> BoundSQL:
    sent = {**variables(value), "y": "plain", "window": {"start": value, "end": value}}
    sent["dates"] = {"start": "2026-01-01", "end": "2026-02-01"}
    if TEMPLATES[name].parameters == {}:
        sent["params"] = {"x": value, "c": "a", "unit": "day"}
    return TEMPLATES[name].bind(sent, DIALECTS[dialect].paramstyle, dialect=dialect)


def check(name: str, values: Iterable[str], dialect: str) -> None:
    usual = bound(name, "benign", dialect)
    assert "benign" not in usual.sql
    held = [each.replace("benign", "{}") for each in given_values(usual) if isinstance(each, str)]
    assert any("{}" in each for each in held)
    for value in values:
        found = bound(name, value, dialect)
        assert found.sql is usual.sql
        assert [each for each in given_values(found) if isinstance(each, str)] == [
            each.replace("{}", value) for each in held
        ]


@sampled(21)
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_the_text_is_identical_for_every_payload(payloads: list[str], name: str, dialect: str) -> None:
    """19,867 payloads of the corpus, and ours; in the other dialect a tenth, as the same code binds for all dialects.
    Red when `render` writes a value, or when a payload is a choice."""
    check(name, payloads if dialect == "postgresql" else payloads[::10], dialect)


@each_dialect
def test_in_every_dialect(dialect: str) -> None:
    """Ours alone; where a dialect does not have a construct, its refusal names it."""
    for name in POSITIONS:
        try:
            check(name, OURS, dialect)
        except TemplateError:
            assert name in {"trunc", "not_a_filter"}, name


@pytest.mark.parametrize("name", [name for name in CONVERTED if name in _ARGUMENTS])
def test_the_text_is_identical_where_the_parameter_is_made_of_the_value(payloads: list[str], name: str) -> None:
    """Escaped, in an array or in JSON: all that changes is the parameter."""
    template = SQLTemplate(CONVERTED[name], "postgresql")
    usual = template.bind({**variables("benign"), "window": {"a": "benign"}})
    assert "benign" not in usual.sql
    made = {str(usual.params)}
    for value in payloads:
        found = template.bind({**variables(value), "window": {"a": value}})
        assert found.sql is usual.sql
        made.add(str(found.params))
    assert len(made) == len({*payloads, "benign"})


@pytest.mark.parametrize("name", ["one_of", "default", "trunc"])
def test_a_payload_chooses_nothing(payloads: list[str], name: str) -> None:
    """As the name of a text or of a unit it is refused, and the refusal does not show it."""
    for value in payloads:
        sent = {"x": "plain", "params": {"x": "plain", **dict.fromkeys(("c", "unit", "none"), value)}}
        with pytest.raises(InvalidParameter) as error:
            TEMPLATES[name].bind(sent)
        assert len(value) < 6 or value not in error.value.message


def test_every_filter_has_a_position() -> None:
    """Red when a filter is added to the language and its positions are not here."""
    texts = [*POSITIONS.values(), *CONVERTED.values()]
    assert [name for name in _ARGUMENTS if not any(f"| {name}" in text for text in texts)] == []
