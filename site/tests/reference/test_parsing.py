"""Documents as text: JSON and YAML, with what both do to people."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site.reference.document_parser import UnreadableDocument, parse


def test_yaml_has_the_scalars_of_its_version_1_2() -> None:
    """Red when PyYAML's own resolvers stay: ``on`` and ``no`` become truth values, dates objects, 12:30 is 750."""
    text = (
        "on: 1\nno: yes\n200: ok\ntrue: t\nnull: n\nday: 2024-01-31\ntime: 12:30\nold: 0123\nhex: 0x1F\n"
        "many: 1_000\nnumber: 1e3\nshort: .5\nbig: .inf\nempty:\ntruth: True\nversion: 3.0.0\n"
    )
    assert parse(text) == {
        "on": 1, "no": "yes", "200": "ok", "true": "t", "null": "n", "day": "2024-01-31", "time": "12:30", "old": 123,
        "hex": 31, "many": "1_000", "number": 1000.0, "short": 0.5, "big": ".inf", "empty": None, "truth": True,
        "version": "3.0.0",
    }  # fmt: skip


def test_yaml_merges_anchors() -> None:
    """``<<`` is no part of YAML 1.2, and documents use it."""
    assert parse("base: &b {a: 1}\nmore:\n  <<: *b\n  c: 2\n")["more"] == {"a": 1, "c": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,\n "b" 2}', "not JSON"),
        ("a: [1\n", "not YAML"),
        ("a: !!python/object/apply:os.system ['true']", "not YAML"),
        ("\xff\xfe".encode("latin-1") + b"\x00", "not text"),
        (b"\xff\x00a", "not text"),
        ("[" * 5000, "deeper than 100"),
        ('{"a":' * 150 + "1" + "}" * 150, "deeper than 100"),
        ("- " * 30_000, "deeper than 100"),
        ("a: " + "{a: " * 30_000, "deeper than 100"),
        ("a: &a [*a]", "deeper than 100"),
        ("9" * 5000, "not YAML"),
        ("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)
        ), "more than"),
        ("a: &a {k: 1}\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} {{<<: [{','.join(['*' + chr(97 + n)] * 9)}]}}\n" for n in range(12)
        ), "too many keys"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_has_a_reason(text: str | bytes, words: str) -> None:
    """Bombs, loops and other people's objects too. Red when the limits or the safe loader are taken away."""
    with pytest.raises(UnreadableDocument) as caught:
        parse(text)
    assert words in caught.value.message
    assert caught.value.fix


def test_a_mistake_has_its_position() -> None:
    """Line and column count from 1."""
    with pytest.raises(UnreadableDocument) as caught:
        parse('{"a": 1,\n "b" 2}')
    assert (caught.value.line, caught.value.column) == (2, 6)
    with pytest.raises(UnreadableDocument) as caught:
        parse("a: 1\n b: 2\n")
    assert caught.value.line == 2
    with pytest.raises(UnreadableDocument) as caught:
        parse(b'{"a":\n "\xff"}')
    assert (caught.value.line, caught.value.column) == (2, 0)


def test_half_characters_and_strange_numbers_can_be_written_out() -> None:
    """Red when a lone surrogate survives: no page could be encoded."""
    found = parse('{"a": "x\\ud800y", "\\udc00": NaN, "b": 1e999, "c": "\\ud83d\\ude00"}')
    assert json.loads(json.dumps(found, allow_nan=False, ensure_ascii=False).encode()) == found
    assert found["c"] == "😀"
    assert found["a"].startswith("x")


@settings(max_examples=examples(60), deadline=None)
@given(
    st.one_of(
        st.binary(max_size=200), st.text(max_size=200), st.text(alphabet="{}[]:,&*!<>-|'\"\n ab01#%@?", max_size=60)
    )
)
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    """Nothing but Unreadable, and what is read can be written."""
    try:
        found = parse(text)
    except UnreadableDocument:
        return
    json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
