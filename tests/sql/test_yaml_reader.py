"""The reader of YAML: the core schema of version 1.2, nothing that refers to something else, and located errors."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry.errors import TemplateError
from tenantry.sql.header.yaml_reader import MAX_DEPTH, read_yaml
from tenantry.sql.source import Source

SCALARS = [
    ("NO", "NO"),
    ("on", "on"),
    ("yes", "yes"),
    ("1:30", "1:30"),
    ("2026-01-01", "2026-01-01"),
    ("2026-01-01 10:00:00", "2026-01-01 10:00:00"),
    ("1_000", "1_000"),
    ("0b1", "0b1"),
    ("<<", "<<"),
    ("1.2.3", "1.2.3"),
    ("012", 12),
    ("-7", -7),
    ("0o17", 15),
    ("0x1F", 31),
    (".5", 0.5),
    ("1e3", 1000.0),
    ("-.INF", float("-inf")),
    ("true", True),
    ("FALSE", False),
    ("~", None),
    ("", None),
    ("Null", None),
    ("'5'", "5"),
    ('"~"', "~"),
    ("'true'", "true"),
]
REFUSED = [
    ("a: 1\nb: 2\na: 3", "3:1: the key a appears twice; first at 1:1"),
    ("a:\n  b: {c: 1, c: 2}", "2:13: the key c appears twice; first at 2:7"),
    ("a: &x 1", "1:4: anchors (&name) and aliases (*name) are not supported"),
    ("a: *x", "1:4: anchors (&name) and aliases (*name) are not supported"),
    ("&x a: 1", "1:1: anchors"),
    ("a: !!str 1", "1:4: tags (!name) are not supported"),
    ("a: !!python/object/apply:os.system [ls]", "1:4: tags (!name) are not supported"),
    ("%YAML 1.1\n---\na: NO", "1:1: directives (%YAML, %TAG) are not supported"),
    ("a: 1\n---\nb: 2", "2:1: this begins a second document"),
    ("a: b: c", "1:5: this is not YAML: mapping values are not allowed here"),
    ("a: @x", "1:4: this is not YAML: found character '@' that cannot start any token"),
    ("a: [1", "1:5: this is not YAML"),
    ("\ta: 1", "1:1: this is not YAML"),
    ("\ta: 1", "fix: indent with spaces"),
    ("a: {{ b }}", "fix: write `key: value`; put a string that begins with {{ in quotes"),
    ("? [a]\n: b", "1:3: a key must be a string"),
    ('a: "\\U99999999"', "this is not YAML"),
    ('a: "\\0"', "1:4: this string contains a NUL or a lone surrogate"),
    ('a: "\\ud800"', "1:4: this string contains a NUL or a lone surrogate"),
    ("a: \x07", "1:4: YAML has no such character"),
    ("a: " + "9" * 401, "1:4: this number is too long"),
    ("[" * (MAX_DEPTH + 2), f"1:{MAX_DEPTH + 2}: this is more than {MAX_DEPTH} levels deep"),
]


def read(text: str) -> Any:
    return read_yaml(Source(text), 0, len(text)).plain()


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars_are_those_of_the_core_schema(text: str, value: Any) -> None:
    """Red with the library's own constructor: it makes a date of 2026-01-01, and with a directive False of NO."""
    found = read(f"a: {text}\n")["a"]
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_refused(text: str, message: str) -> None:
    """Each with line, column, a caret and a fix. Red without the check of each: a second key wins, an alias is read."""
    with pytest.raises(TemplateError) as caught:
        read(text)
    assert message in caught.value.message
    assert "\n  fix: " in caught.value.message
    assert caught.value.location is not None


def test_a_short_text_stays_short() -> None:
    """Nine levels of aliases are a billion texts. Red when aliases are read."""
    lines = ["a: &a [x, x]"] + [f"{b}: &{b} [*{a}, *{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(TemplateError, match="aliases"):
        read("\n".join(lines))


def test_values_know_where_they_are() -> None:
    """Offsets are those of the source, which holds more than the YAML. Red when the start is not added."""
    source = Source("/* ---\nä: 1\nlist:\n  - 'x'\n--- */")
    root = read_yaml(source, 7, len(source.text) - 6)
    assert isinstance(root.value, dict)
    assert {key: str(source.location(offset)) for key, offset in root.keys.items()} == {"ä": "2:1", "list": "3:1"}
    items = root.value["list"].value
    assert isinstance(items, list)
    assert str(source.location(items[0].offset)) == "4:5"


def test_the_library_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the import's own error comes out."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(TemplateError) as caught:
        read("a: 1")
    assert "needs the library PyYAML" in caught.value.message
    assert "pip install 'tenantry[sql]'" in caught.value.message


PIECES = ["a", "b", ": ", "\n", "  ", "- ", "[", "]", "{", "}", ",", "&x", "*x", "!t", "'", '"', "|", ">", "#", "%",
          "---", "...", "\\U", "FFFFFFFF", "?", "~", "0x", ".inf", "\r", "\u2028", "\x85", "\t", "@", "`", "\ufeff",
          "é"]  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No other error comes out. Red without OverflowError (an escape beyond Unicode) or the check of directives."""
    with suppress(TemplateError):
        read(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab: #'\"\\n\té{}[],&*!|>%@", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab: #", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), JSON, max_size=3))
def test_json_is_yaml(value: dict[str, Any]) -> None:
    """Another reader as the oracle. Red when quoted scalars are resolved as plain ones."""
    assert read(json.dumps(value, ensure_ascii=False)) == (value or {})
