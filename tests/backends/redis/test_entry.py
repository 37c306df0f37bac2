"""Entries: what is written comes back, and nothing else is believed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.backends.redis.entry import DIGITS, RefusedEntry, key_of, read_entry, stamp, write_entry
from tenantry.groups import LookupResult, Tag, Token
from tenantry.testing import make_environment, make_group, make_token

GROUP = make_group(
    environment=make_environment(external_data_sources=True, grace_seconds=60),
    properties={"ü": [1, 2.5, None, {"items": True}]},
    mapping={"main": "ds_1"},
    grace_until=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
    expires_at=datetime(2026, 1, 3, 3, 4, 5, 678901, UTC),
    token_version=7,
    revision=9,
)
TOKEN = make_token(GROUP)
VALUE = stamp(5) + write_entry("store", TOKEN, GROUP)


def test_a_group_comes_back() -> None:
    """Every field of it, with its generation; without an end of its own."""
    reading = read_entry(VALUE, "store", TOKEN)
    assert reading == LookupResult(GROUP, 5)
    assert reading is not None
    assert reading.group is not None
    assert reading.group.environment == GROUP.environment
    assert reading.group.as_dict() == GROUP.as_dict()
    bare = make_group()
    token = make_token(bare)
    assert read_entry(stamp(0) + write_entry("s", token, bare), "s", token) == LookupResult(bare, 0)


@pytest.mark.parametrize(
    "parts", [{"nonce": bytes(16)}, {"version": 6}, {"version": 8}, {"key_id": "k2"}, {"tag": Tag.TESTING}]
)
def test_another_token_of_the_group_is_not_answered(parts: dict[str, Any]) -> None:
    """Red when any part is left out of the fingerprint."""
    assert read_entry(VALUE, "store", replace(TOKEN, **parts)) is None


def test_an_entry_of_an_earlier_version_answers_nobody() -> None:
    """It knows no end date: a worker of this version that took it would let a group in that has ended. It is a miss,
    and no damage to be reported. Red when the fingerprint is that of earlier versions."""
    version = (7).to_bytes(8, "big")
    parts = (b"tenantry.second-level.v1", b"Customer", TOKEN.key_id.encode(), TOKEN.handle, version, TOKEN.nonce)
    entry = json.loads(VALUE[DIGITS:])
    del entry["expires_at"]
    entry["token"] = sha256(b"".join(len(part).to_bytes(2, "big") + part for part in parts)).hexdigest()
    assert read_entry(stamp(5) + json.dumps(entry).encode(), "store", TOKEN) is None


def test_a_tombstone_answers_nobody() -> None:
    assert read_entry(stamp(5), "store", TOKEN) is None


def test_an_entry_holds_no_secret() -> None:
    """Neither the nonce nor anything that a token can be made of, in any usual spelling."""
    nonce = TOKEN.nonce
    assert nonce not in VALUE
    assert nonce.hex().encode() not in VALUE.lower()
    assert repr(TOKEN.nonce) not in repr(read_entry(VALUE, "store", TOKEN))


def test_a_swapped_entry_is_refused() -> None:
    """One of another store or of another handle, whoever put it there. Red when the entry does not repeat them."""
    with pytest.raises(RefusedEntry):
        read_entry(VALUE, "other", TOKEN)
    with pytest.raises(RefusedEntry):
        read_entry(VALUE, "store", make_token())


def test_a_fingerprint_that_was_moved_is_refused() -> None:
    """An entry whose group is of another version or tag than the token that it names."""
    for field, value in (("token_version", 6), ("environment", [1, "production", "Testing", False, 0])):
        entry = json.loads(VALUE[DIGITS:])
        entry[field] = value
        with pytest.raises(RefusedEntry):
            read_entry(stamp(5) + json.dumps(entry).encode(), "store", TOKEN)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(json.loads(VALUE[DIGITS:]))), _JSON)
def test_a_wrong_type_is_refused(field: str, value: Any) -> None:
    """Whatever one field is replaced by: a group with fields of the right types, None, or RefusedEntry."""
    entry = json.loads(VALUE[DIGITS:])
    entry[field] = value
    _check(stamp(5) + json.dumps(entry).encode(), TOKEN)


@given(st.binary(max_size=60), st.booleans())
def test_no_bytes_break_the_reader(junk: bytes, begun: bool) -> None:
    _check(stamp(1) + junk if begun else junk, TOKEN)


@pytest.mark.parametrize("junk", [b"", b"x", b"[" * 100_000, b"{}", b"[]", b'"store"', b"NaN", b"1", b"null", b"\xff"])
def test_junk_is_refused(junk: bytes) -> None:
    with pytest.raises(RefusedEntry):
        read_entry((stamp(1) if junk else b"1") + junk, "store", TOKEN)


def _check(value: bytes, token: Token) -> None:
    try:
        reading = read_entry(value, "store", token)
    except RefusedEntry:
        return
    if reading is not None:
        group = reading.group
        assert group is not None
        assert (group.handle, group.token_version, group.environment.tag) == (token.handle, token.version, token.tag)
        assert [type(each) for each in (group.team_id, group.provided_id, group.name, group.revision)] == [
            int, str, str, int,
        ]  # fmt: skip


def test_keys_have_one_length_and_a_hash_tag_of_their_own() -> None:
    """No user input is in them; two stores, and two handles, never share one; a cluster spreads them by handle."""
    handles = [bytes(8), bytes(7) + b"\1", b"}{:*\r\n\0\xff"]
    keys = [key_of(store, handle) for store in ("a", "a:b", "a" * 99) for handle in handles]
    assert len(set(keys)) == 9
    assert len({len(key) for key in keys}) == 1
    assert all(key.endswith(f":{{{handle.hex()}}}") for key, handle in zip(keys, handles * 3, strict=True))


@given(st.integers(0, 10**18), st.integers(0, 10**18))
def test_stamps_compare_as_numbers(first: int, second: int) -> None:
    assert (stamp(first) < stamp(second)) == (first < second)
    assert len(stamp(first)) == DIGITS
