"""Binder: names and literals are data, and the closures mean what a node-by-node interpreter means."""

from __future__ import annotations

import pytest

from tenantry.errors import MissingVariable
from tenantry.sql import SQLTemplate


@pytest.mark.parametrize("hostile", ["'); import os; ('", "\\ ", "{x}", "%s", "\n\r\t", "\u2028", "#", "{{{{", "é\x7f"])
def test_hostile_literals_stay_literals(hostile: str) -> None:
    """The text of a concatenated literal reaches the parameter. Red when a literal's quotes stay doubled."""
    quoted = hostile.replace("'", "''").replace("{{", "\\{{")
    text = f"select '{quoted}{{{{ x }}}}', '{{{{ x }}}}{quoted}', a /* {quoted.replace('*/', '')} */"
    assert SQLTemplate(text, "sqlite").bind({"x": "-"}).params == (hostile + "-", "-" + hostile)


@pytest.mark.parametrize("name", ["class", "v", "None", "ünïcode", "a1", "import"])
def test_any_name_can_be_a_variable(name: str) -> None:
    """Python's keywords are names like others."""
    template = SQLTemplate(f"select f({{{{ {name} }}}}, {{{{ x.{name} }}}}, {{{{ x.y }}}})", "sqlite")
    assert template.bind({name: 1, "x": {name: 2, "y": 3}}).params == (1, 2, 3)


def test_a_path_and_its_prefix_can_both_be_named() -> None:
    """One of them cannot have a value then, and the error says so."""
    template = SQLTemplate("select {{ a }} as v, {{ a.b }} as v, {{ a.c }} as v", "sqlite")
    with pytest.raises(MissingVariable) as caught:
        template.bind({"a": "text"})
    assert caught.value.names == ("a.b", "a.c")


def test_equal_shapes_give_the_same_text_object() -> None:
    """Also by another spelling of the dialect. Red when each call of ``bind`` makes a Binder."""
    template = SQLTemplate("select a from t where b = {{ b }} and c in {{ c }} [[ and d = {{ params.d }} ]]", "sqlite")
    values = {"b": 1, "c": ["x", "y"], "params": {"d": 2}}
    for style in ("qmark", "named"):
        first, second = template.bind(values, style), template.bind(values, style)
        third = template.bind(values, style, dialect="sqlite")
        assert first == second == third
        assert first.sql is second.sql is third.sql


def test_what_a_dropped_clause_requires_is_required() -> None:
    """Red when ``bind`` reads only what is in its steps."""
    template = SQLTemplate("select 1 [[ where a = {{ params.a }} and b = {{ b | not_a_filter }} ]]", "sqlite")
    with pytest.raises(MissingVariable) as caught:
        template.bind({"params": {}})
    assert caught.value.names == ("b",)
    assert template.bind({"b": 1, "params": {}}).params == ()


def test_a_missing_variable_comes_before_a_bad_one() -> None:
    """Wherever each of them is. Red when ``bind`` raises what it met first."""
    template = SQLTemplate("select {{ bad }} as v, {{ gone }} as w", "sqlite")
    with pytest.raises(MissingVariable) as caught:
        template.bind({"bad": object()})
    assert caught.value.names == ("gone",)
