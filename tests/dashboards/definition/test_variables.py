"""Variables in JSON definitions: types kept, text interpolated, everything else refused with a pointer."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from tenantry.dashboards.definition import MAX_DEPTH, Definition, substitute
from tenantry.errors import MissingVariable, TemplateError, UnbindableValue
from tenantry.groups import extend, thaw
from tenantry.testing import make_group

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(JSON_VALUES)
def test_a_value_alone_keeps_its_type(value: Any) -> None:
    """Red when a whole placeholder goes through str(): numbers, lists, objects, booleans and null come out as given."""
    variables = make_group(properties={"v": value}).variables
    for text in ("{{ v }}", "{{v}}", "{{   user_group.properties.v\t}}"):
        result = substitute({"a": [text]}, variables)
        assert repr(result) == repr({"a": [value]})


@given(JSON_VALUES.filter(lambda value: "{{" not in json.dumps(value)))
def test_a_definition_without_places_is_copied(definition: Any) -> None:
    """Nothing else is touched."""
    assert repr(substitute(definition, {})) == repr(definition)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("eu", "eu"),
        ("", ""),
        (3, "3"),
        (-0.5, "-0.5"),
        (1e16, "1e+16"),
        (5.0, "5.0"),
        (True, "true"),
        (False, "false"),
        (2**53, str(2**53)),
    ],
)
def test_within_a_text_scalars_are_written_as_in_json(value: Any, text: str) -> None:
    """``true``, not ``True``; numbers as JSON writes them; spaces outside the braces belong to the text."""
    assert substitute("In {{ v }}, {{v}}.", {"v": value}) == f"In {text}, {text}."
    assert substitute(" {{ v }}", {"v": value}) == f" {text}"


@pytest.mark.parametrize("value", [None, [], ["a"], {}, {"a": 1}])
def test_within_a_text_there_is_no_list_object_or_null(value: Any) -> None:
    """Red when they are written as JSON or str(): ``[]`` and ``None`` would be part of a title."""
    with pytest.raises(UnbindableValue, match=r"^v, at /title, is .* the whole text") as caught:
        substitute({"title": "In {{ v }}"}, make_group(properties={"v": value}).variables)
    assert caught.value.name == "v"


HOSTILE = [
    '"}, {"a": "',
    "{{ user_group.name }}",
    "{{ nope }}",
    "\\{{ x }}",
    "\\",
    "}}",
    "\u2028</script>",
    "$&\\1\\g<0>",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_value_is_never_read_as_a_template_or_as_json(hostile: str) -> None:
    """Red when the result is substituted again, or when the text of the JSON is (a quote would end the string)."""
    result = substitute({"alone": "{{ v }}", "text": "<{{ v }}{{ v }}>"}, {"v": hostile})
    assert result == {"alone": hostile, "text": f"<{hostile}{hostile}>"}
    assert json.loads(json.dumps(result)) == result


def test_paths() -> None:
    """Names, indexes and quoted names; method names are properties; viewer input under ``params`` only."""
    properties = {"items": ["a", {"keys": "b"}], "a b": {"]": 1}, "région": "fr", "params": "mine"}
    variables = extend(make_group(properties=properties).variables, "params", {"items": "viewer", "q": ["x", "y"]})
    paths = [
        "items.0",
        "items[1].keys",
        'user_group.properties["a b"]["]"]',
        "région",
        "user_group.id",
        "params.items",
        "params.q.1",
        "user_group.properties.params",
        "user_group.properties.items[ 0 ]",
    ]
    assert substitute([f"{{{{ {path} }}}}" for path in paths], variables) == [
        "a",
        "b",
        1,
        "fr",
        "acme",
        "viewer",
        "y",
        "mine",
        "a",
    ]


def test_every_missing_variable_is_listed_once_with_its_pointers() -> None:
    """One error for all; pointers are RFC 6901, slashes and tildes escaped."""
    definition = {
        "a/b": ["{{ one }}", "x {{ two.deep }}"],
        "~": "{{ one }}{{ items[9] }}{{ text.more }}{{ null.more }}",
    }
    with pytest.raises(MissingVariable) as caught:
        substitute(definition, {"two": {}, "items": [], "text": "t", "null": None})
    assert caught.value.names == ("one", "two.deep", "items[9]", "text.more", "null.more")
    assert "one (at /a~1b/0), two.deep (at /a~1b/1), one (at /~0), items[9] (at /~0)" in str(caught.value)


def test_missing_at_the_root() -> None:
    """A definition may be one text."""
    with pytest.raises(MissingVariable, match=r"region \(at the root\)"):
        substitute("{{ region }}", {})


@pytest.mark.parametrize(
    "text",
    [
        "{{ }}",
        "{{ a + b }}",
        "{{ a | upper }}",
        "{{ a() }}",
        "{{ 'a' }}",
        "{{ 1 }}",
        "{{ .a }}",
        "{{ a. }}",
        "{{ a..b }}",
        "{{ a b }}",
        "{{ a[b] }}",
        "{{ a[-1] }}",
        "{{ a['b'] }}",
        "{{ a]b }}",
        "{{ [0] }}",
        '{{ a["\\x"] }}',
        "{{ a[0]b }}",
        "{{ a {{ b }}",
        "{{ never closed",
        "text {{",
        "{{{ a }}}",
    ],
)
def test_what_is_not_a_path_is_a_template_error(text: str) -> None:
    """There are no expressions; a mistake is reported with its pointer, before any value is looked at."""
    with pytest.raises(TemplateError, match="definition, at /a/1") as caught:
        Definition({"a": [0, text]})
    assert caught.value.field == "/a/1"


def test_two_braces_are_written_with_a_backslash() -> None:
    """In texts and in names."""
    assert substitute({"\\{{ k": "\\{{ v }} {{ v }} \\{{"}, {"v": 1}) == {"{{ k": "{{ v }} 1 {{"}


def test_a_name_is_never_substituted() -> None:
    """Red when names are copied as they are: ``{{ region }}`` would silently be the name of a field."""
    with pytest.raises(TemplateError, match=r"the keys of an object cannot contain variables"):
        substitute({"{{ region }}": 1}, {"region": "eu"})


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1: 2}, {"a": date(2020, 1, 1)}, b"x", {"a"}])
def test_a_definition_is_json(bad: Any) -> None:
    """What JSON does not have is refused with its pointer."""
    with pytest.raises(TemplateError, match="at /x"):
        Definition({"x": bad})


@pytest.mark.parametrize("bad", [float("nan"), float("-inf"), date(2020, 1, 1), b"x", {"a": [object()]}, {1: 2}])
def test_a_value_is_json(bad: Any) -> None:
    """A host program's own mapping may hold anything; what has no JSON form is named and not put in."""
    with pytest.raises(UnbindableValue) as caught:
        substitute(["{{ v }}"], {"v": bad})
    assert caught.value.name == "v"
    with pytest.raises(UnbindableValue):
        substitute(["a {{ v }}"], {"v": bad})


def test_depth_is_limited() -> None:
    """64 levels, in a definition and in a value; far deeper is an error of ours and no RecursionError."""

    def nested(depth: int) -> Any:
        value: Any = []
        for _ in range(depth - 1):
            value = [value]
        return value

    assert substitute(nested(MAX_DEPTH), {}) == nested(MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(TemplateError, match="nested deeper"):
            Definition(nested(depth))
        with pytest.raises(UnbindableValue, match="nested deeper"):
            substitute("{{ v }}", {"v": nested(depth + 1)})


def test_nothing_is_shared() -> None:
    """Red when values or parts of the definition are put in as they are: one request would change the next one's."""
    definition, value = {"a": ["{{ v }}"], "b": [[]]}, {"list": [1]}
    compiled = Definition(definition)
    first = compiled.substitute({"v": value})
    first["a"][0]["list"].append(2)
    first["b"][0].append(3)
    assert compiled.substitute({"v": value}) == {"a": [{"list": [1]}], "b": [[]]}
    assert (definition, value) == ({"a": ["{{ v }}"], "b": [[]]}, {"list": [1]})


def test_a_record_comes_out_plain() -> None:
    """Lists and objects of a group are dicts and lists in the result, and marked text is plain text."""
    group = make_group(properties={"a": [{"b": 1}]})
    result = substitute(["{{ user_group.properties }}", "{{ a }}"], group.variables)
    assert result == [thaw(group.properties), [{"b": 1}]]
    assert type(result[0]) is dict
    assert type(result[1][0]) is dict
    assert type(substitute("{{ v }}", {"v": Markup("<b>")})) is str
    assert type(substitute("a{{ v }}", {"v": Markup("<b>")})) is str


def test_paths_are_what_a_definition_asks_for() -> None:
    """Known before there is a group: for checks when a dashboard is saved."""
    paths = Definition({"a": "{{ region }}", "b": ["{{ params.from }} to {{ region }}"]}).paths
    assert [(path.text, path.pointer) for path in paths] == [
        ("region", "/a"),
        ("params.from", "/b/0"),
        ("region", "/b/0"),
    ]
