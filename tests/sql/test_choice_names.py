"""Names of choices: any text in quotes, whole numbers and booleans, in the tag and in a header."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry.errors import InvalidParameter, TemplateError, UnbindableValue
from tenantry.sql import DIALECTS, Query, SQLTemplate
from tests.sql.each_dialect import each_dialect

NAMES = ["us-east-1", "1 hour", "it's", 'a "b"', "a, b) }}", "ü", "--x", "/* c */", "a:b", "{x}", "[[", "a\\b", "null"]


def quoted(name: str, dialect: str) -> str:
    rules = DIALECTS[dialect]
    text = name.replace("\\", "\\\\") if rules.backslash else name
    return "'" + text.replace("'", "''" if rules.doubled_quotes else "\\'") + "'"


def header(name: str) -> str:
    choices = json.dumps({"choices": {"order": {name: "a desc", "other": "b"}}}).replace("/", r"\u002f")
    return f"/* ---\n{choices}\n--- */\n"


@each_dialect
@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_quotes_is_any_text(dialect: str, name: str) -> None:
    """In the tag, in its default, and in a header. Broken: with a key of letters alone none of them compiles."""
    tag = f"one_of({quoted(name, dialect)} : a desc, other: b) | default({quoted(name, dialect)})"
    for template in (
        SQLTemplate(f"select 1 as v order by {{{{ params.x | {tag} }}}}", dialect),
        Query(header(name) + "select 1 as v order by {{ params.x | one_of(order) }}", dialect=dialect),
    ):
        assert template.bind({"params": {"x": name}}).sql == "select 1 as v order by a desc"
        assert template.bind({"params": {"x": "other"}}).sql == "select 1 as v order by b"
        with pytest.raises(InvalidParameter, match="give one of"):
            template.bind({"params": {"x": "us"}})
    assert SQLTemplate(f"select 1 as v order by {{{{ params.x | {tag} }}}}", dialect).bind({}).sql.endswith("a desc")


def test_a_declared_choice_has_such_names() -> None:
    """Broken: with names of letters alone a choice of a control cannot be a text of one_of."""
    text = "select 1 as v where {{ params.x | one_of('us-east-1': r = 1, '1 hour': r = 2) }}"
    declared = {"type": "choice", "choices": {"us-east-1": "Virginia", "1 hour": "Hour"}, "default": "1 hour"}
    template = SQLTemplate(text, "postgresql", params={"x": declared})
    assert template.bind({}).sql.endswith("r = 2")
    assert template.bind({"params": {"x": "us-east-1"}}).sql.endswith("r = 1")
    with pytest.raises(TemplateError, match=r"params\.x can be us-east-2, but us-east-2 is not in one_of"):
        SQLTemplate(text, "postgresql", params={"x": {"type": "choice", "choices": ["us-east-2"]}})


def test_a_header_has_such_names() -> None:
    """With and without quotes of YAML."""
    header = "/* ---\nchoices:\n  span:\n    1 hour: at > 1\n    'us-east-1': at > 2\n    \"it's\": at > 3\n--- */\n"
    query = Query(header + "select 1 as v where {{ params.x | one_of(span) | default('1 hour') }}")
    for name, number in (("1 hour", 1), ("us-east-1", 2), ("it's", 3)):
        assert query.bind({"params": {"x": name}}).sql.endswith(f"at > {number}")
    assert query.bind({}).sql.endswith("at > 1")


@pytest.mark.parametrize("name", ["", " ", "a ", "a\nb", "a{{b"])
def test_names_that_a_header_cannot_have(name: str) -> None:
    with pytest.raises(TemplateError, match="has a key that is not a name"):
        Query(header(name))


def test_a_quoted_column_is_its_own_name() -> None:
    """As a plain one is."""
    for dialect, column in (("postgresql", '"order id"'), ("mysql", "`order id`"), ("tsql", "[order id]")):
        template = SQLTemplate(f"select {{{{ params.x | one_of({column}, amount) }}}} as v from t", dialect)
        assert template.bind({"params": {"x": "order id"}}).sql == f"select {column} as v from t"


def test_what_is_no_key() -> None:
    """A cast, a struct and a string in an expression. Broken: with each colon after a string taken for a key."""
    template = SQLTemplate("select {{ params.x | one_of(a: 'x'::text, b: 'y' || 'z', c: 'u' /* : */) }} as v")
    assert template.bind({"params": {"x": "a"}}).sql == "select 'x'::text as v"
    assert template.bind({"params": {"x": "b"}}).sql == "select 'y' || 'z' as v"
    for text in ("'a'::text", "'{{ params.y }}': b", "E'a': b", "$$a$$: b"):
        with pytest.raises(TemplateError):
            SQLTemplate(f"select {{{{ params.x | one_of({text}, c: 1) }}}} as v", "postgresql")
    twice = "one_of contains a twice"
    for text, problem in (("'': a", "has an empty name"), ("'a': b, a: c", twice), ("'a':", "is empty")):
        with pytest.raises(TemplateError, match=problem):
            SQLTemplate(f"select {{{{ params.x | one_of({text}) }}}} as v", "postgresql")


ON_OFF = "select 1 as v where {{ params.x | one_of(true: paid, false: 1 = 1) }}"
LEVELS = "select 1 as v where {{ params.x | one_of(1: a, -2: b, 30: c) | default(-2) }}"


def test_a_boolean_chooses() -> None:
    """By what it is, however the viewer spells it. Broken: with the names alone a bool is no name."""
    template = SQLTemplate(ON_OFF, "postgresql", params={"x": "boolean"})
    for sent, condition in (("true", "paid"), ("yes", "paid"), (True, "paid"), ("0", "1 = 1"), (False, "1 = 1")):
        assert template.bind({"params": {"x": sent}}).sql == f"select 1 as v where {condition}"
    default = SQLTemplate(ON_OFF, "postgresql", params={"x": {"type": "boolean", "default": False}})
    assert default.bind({}).sql.endswith("1 = 1")
    with pytest.raises(InvalidParameter):
        template.bind({"params": {"x": "maybe"}})


def test_a_whole_number_chooses() -> None:
    """Broken: 1 chose what True is, as both are one key of a dict."""
    template = SQLTemplate(LEVELS, "postgresql", params={"x": "integer"})
    for sent, condition in (("1", "a"), (1, "a"), ("+1", "a"), ("-2", "b"), (30, "c"), (None, "b")):
        assert template.bind({"params": {"x": sent}}).sql == f"select 1 as v where {condition}"
    with pytest.raises(InvalidParameter, match="give one of 1, -2, 30"):
        template.bind({"params": {"x": "2"}})
    for declared in ({"choices": [1, 30]}, {"default": 30}):
        SQLTemplate(LEVELS.replace(" | default(-2)", ""), "postgresql", params={"x": {"type": "integer", **declared}})


def test_a_property_chooses_by_its_value() -> None:
    """JSON's numbers and booleans, and a text; nothing else is a name."""
    numbers, flags = LEVELS.replace(" | default(-2)", "").replace("params.x", "level"), ON_OFF.replace("params.x", "on")
    assert SQLTemplate(numbers).bind({"level": 1}).sql == SQLTemplate(numbers).bind({"level": "1"}).sql
    assert SQLTemplate(flags).bind({"on": True}).sql.endswith("paid")
    for template, values in ((numbers, [True, 1.0, 2, [1], {}]), (flags, [1, 0, "True"])):
        for value in values:
            with pytest.raises(UnbindableValue):
                SQLTemplate(template).bind({"level": value, "on": value})


@pytest.mark.parametrize(
    ("text", "definition", "problem"),
    [
        ("one_of(true: a)", "boolean", "params.x can be false, but false is not in one_of"),
        ("one_of(true: a, no: b)", "boolean", "one_of takes a name, but params.x is boolean"),
        ("one_of(1: a, two: b)", "integer", "one_of takes a name, but params.x is integer"),
        ("one_of(01: a)", "integer", "one_of takes a name, but params.x is integer"),
        ("one_of(1: a)", {"type": "integer", "choices": [1, 2]}, "params.x can be 2, but 2 is not in one_of"),
        ("one_of(1: a)", "list of integer", "params.x is list of integer"),
        ("one_of(1: a)", "decimal", "params.x is decimal"),
        ("one_of(1: a, '1': b)", "integer", "one_of contains 1 twice"),
        ("trunc(at)", "boolean", "trunc takes a unit, but params.x is boolean"),
    ],
)
def test_names_that_no_value_of_the_type_is(text: str, definition: Any, problem: str) -> None:
    """Broken: with no look at the names a viewer could send what chooses nothing."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(f"select {{{{ params.x | {text} }}}} as v", "postgresql", params={"x": definition})
    assert problem in caught.value.message


def test_the_fix_declares_names_as_texts() -> None:
    """``choices: [true, 1]`` would be a boolean and a number. The fix is taken from the message, and compiles."""
    text = "select {{ params.x | one_of(true: a, '1 hour': b, 5: c, newest: d) }} as v"
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(text, "postgresql", params={"x": "decimal"})
    definition = caught.value.message.partition("declare it: ")[2].splitlines()[0]
    assert definition == "`{type: choice, choices: ['true', '1 hour', '5', newest]}`"
    query = Query(f"/* ---\nparams:\n  x: {definition.strip('`')}\n--- */\n{text}", dialect="postgresql")
    assert query.bind({"params": {"x": "1 hour"}}).sql == "select b as v"
