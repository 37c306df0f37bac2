"""The limits hold for programs too, which can hand over what no JSON can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.errors import InvalidBody
from tenantry.groups import GroupChanges, GroupDraft, Record
from tenantry.provisioning import LONGEST_GRACE, check_changes, check_draft
from tenantry.provisioning.http.endpoint import STORE_SECONDS
from tenantry.provisioning.http.ndjson_reader import MAX_BULK, MAX_LINE
from tenantry.provisioning.http.request import BODY_SECONDS, MAX_BODY
from tenantry.provisioning.http.users import DEFAULT_PAGE, LARGEST_PAGE
from tenantry.provisioning.limits import MAX_BYTES, MAX_DEPTH, MAX_KEYS, MAX_MAPPING, MAX_TEXT, pointer_of

CYCLE: dict[str, Any] = {}
CYCLE["a"] = [CYCLE]


@pytest.mark.parametrize(
    ("properties", "pointer"),
    [
        ({"a": float("nan")}, "/properties/a"),
        ({"a": [float("-inf")]}, "/properties/a/0"),
        ({"a": 10**400}, "/properties/a"),
        ({1: "a"}, "/properties"),
        ({"a": {None: 1}}, "/properties/a"),
        ({"a": b"bytes"}, "/properties/a"),
        ({"a": {1, 2}}, "/properties/a"),
        ({"a": object()}, "/properties/a"),
        (CYCLE, "/properties/a/0/a/0/a/0/a/0"),
        (["a"], "/properties"),
        ({"a\ud800": "b\ud800"}, "/properties/a?"),
        ({"a" * 300: None, "b": "\0"}, "/properties/b"),
    ],
)
def test_what_is_no_json(properties: Any, pointer: str) -> None:
    """InvalidBody with the pointer, whether it is a draft or a change; the value is never in the message."""
    for check in (
        lambda: check_draft(GroupDraft("a", "a", properties)),
        lambda: check_changes(GroupChanges(properties=properties)),
    ):
        with pytest.raises(InvalidBody) as caught:
            check()
        assert caught.value.field == pointer
        assert str(caught.value.args) == str((caught.value.message,))


@pytest.mark.parametrize("text", ["", "x" * 256, "\0", "\ud800", None, 1])
def test_texts(text: Any) -> None:
    """Ids, names, schemas and data sources are 1 to 255 characters that any store can keep."""
    for draft in (
        GroupDraft(text, "a"),
        GroupDraft("a", text),
        GroupDraft("a", "a", None, {text: "a"}),
        GroupDraft("a", "a", None, {"a": text}),
    ):
        with pytest.raises(InvalidBody):
            check_draft(draft)


def test_frozen_records_are_checked_as_what_they_freeze() -> None:
    """A group's own properties can be given back."""
    check_draft(GroupDraft("a", "a", Record({"a": [1, {"b": None}], "c": (1, 2)}), Record({"main": "x"})))  # type: ignore[arg-type]
    with pytest.raises(InvalidBody):
        check_draft(GroupDraft("a", "a", Record({"a": [{"b": 2**53}]})))  # type: ignore[arg-type]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text("aé\x01\u2028😀"),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
        max_leaves=10,
    )
)
def test_the_estimate_of_the_size_is_never_too_low(value: Any) -> None:
    """The bound that spares the measuring is a bound. Red when a character is counted as one byte."""
    import json

    from tenantry.provisioning.limits import _PropertyValidator

    validator = _PropertyValidator()
    properties = {"a": value}
    try:
        validator.visit(properties, (), 1)
    except InvalidBody:
        return
    assert validator.at_most >= len(json.dumps(properties, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.parametrize("extra", [0, 1])
def test_the_size_is_measured_exactly(extra: int) -> None:
    """32 KiB of compact JSON in UTF-8; not of characters, and not of escapes."""
    for character in ("x", "é", "😀"):
        size = MAX_BYTES - len('{"a":""}') + extra
        text = character * (size // len(character.encode())) + "x" * (size % len(character.encode()))
        properties: Mapping[str, Any] = {"a": text}
        if extra:
            with pytest.raises(InvalidBody, match="larger than 32768 bytes"):
                check_draft(GroupDraft("a", "a", properties))
        else:
            check_draft(GroupDraft("a", "a", properties))


def test_pointers() -> None:
    """RFC 6901 section 3: ~ and / are escaped, in this order; a part that cannot be shown is bounded."""
    assert pointer_of(["a/b", "m~n", "~1", 0, ""]) == "/a~1b/m~0n/~01/0/"
    assert pointer_of(["x" * 300]) == "/" + "x" * 255


def test_the_limits_are_those_of_the_pages() -> None:
    """docs/http-api.md and docs/provisioning-many.md name these numbers, and clients rely on them. The other tests
    compute with the constants. Red when one of them changes."""
    assert (MAX_BODY, MAX_LINE, MAX_BULK) == (65_536, 65_536, 134_217_728)
    assert (MAX_TEXT, MAX_BYTES, MAX_DEPTH, MAX_KEYS, MAX_MAPPING) == (255, 32_768, 8, 256, 100)
    assert (DEFAULT_PAGE, LARGEST_PAGE, LONGEST_GRACE) == (100, 500, 86_400)
    assert (BODY_SECONDS, STORE_SECONDS) == (10.0, 2.0)
