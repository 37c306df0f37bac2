"""The codec of a user group: each of its forms as it is, and nothing else taken for one."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import JSON

from tenantry.database.tables import environments, groups
from tenantry.groups import (
    CACHE_ENTRY,
    INTROSPECTION,
    JSON_COLUMNS,
    SETTABLE_FIELDS,
    STORED_RESPONSE,
    TIME_COLUMNS,
    Environment,
    EnvironmentRow,
    GroupChanges,
    GroupCodec,
    GroupDraft,
    GroupRow,
    Record,
    Token,
    UserGroup,
    from_micros,
    to_micros,
)
from tenantry.testing import make_environment, make_group, make_token

HANDLE = bytes(range(8))
GROUP = make_group(
    team_id=7,
    environment=make_environment(external_data_sources=True, grace_seconds=60),
    properties={"ü": [1, 2.5, None, {"items": True}]},
    mapping={"main": "ds_1"},
    handle=HANDLE,
    token_version=8,
    revision=9,
    grace_until=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
    expires_at=datetime(2026, 1, 3, 3, 4, 5, 678901, UTC),
    suspended=True,
    revoked_viewers={"ann": 1_767_323_045},
)
BARE = make_group(handle=HANDLE)
INTROSPECTED: dict[str, Any] = {
    "team_id": 7,
    "provided_id": "acme",
    "name": "Acme",
    "environment": {
        "id": 1,
        "name": "production",
        "tag": "Customer",
        "external_data_sources": True,
        "grace_seconds": 60,
    },
    "properties": {"ü": [1, 2.5, None, {"items": True}]},
    "mapping": {"main": "ds_1"},
    "handle": "0001020304050607",
    "token_version": 8,
    "revision": 9,
    "grace_until": "2026-01-02T03:04:05.678901+00:00",
    "expires_at": "2026-01-03T03:04:05.678901+00:00",
    "suspended": True,
    "revoked_viewers": {"ann": 1_767_323_045},
}
MICROS = 1_767_323_045_678_901
ENDS = MICROS + 86_400_000_000
LATER = {"expires_at": None, "suspended": False, "revoked_viewers": None}
"""The fields that documents of an earlier version lack, and what they have then."""
CACHED = {
    **{name: value for name, value in INTROSPECTED.items() if name != "handle"},
    "environment": [1, "production", "Customer", True, 60],
    "grace_until": MICROS,
    "expires_at": ENDS,
    "suspended": True,
}
STORED = {name: value for name, value in CACHED.items() if name != "environment"}
FORMS = [
    (INTROSPECTION, INTROSPECTED, {}),
    (CACHE_ENTRY, CACHED, {"handle": HANDLE}),
    (STORED_RESPONSE, STORED, {"handle": HANDLE, "environment": GROUP.environment}),
]


@pytest.mark.parametrize(("codec", "document", "given"), FORMS)
def test_each_form_as_it_is(codec: GroupCodec, document: dict[str, Any], given: dict[str, Any]) -> None:
    """Other versions and other programs read these: red when a name, an order or a spelling changes."""
    assert json.dumps(codec.encode(GROUP)) == json.dumps(document)
    assert _whole(codec.decode(json.loads(json.dumps(document)), **given)) == _whole(GROUP)


@pytest.mark.parametrize(("codec", "document", "given"), FORMS)
def test_none_and_empty_come_back(codec: GroupCodec, document: dict[str, Any], given: dict[str, Any]) -> None:
    """None and ``{}`` are two things."""
    for group in (BARE, replace(BARE, properties=Record({}), mapping=Record({}))):
        given = given and {**given, **({"environment": group.environment} if "environment" in given else {})}
        assert _whole(codec.decode(json.loads(json.dumps(codec.encode(group))), **given)) == _whole(group)


def test_every_field_of_the_record_is_known() -> None:
    """Red when a field is added to UserGroup and to no codec, so that caches would lose it."""
    names = {each.name for each in fields(UserGroup) if each.init}
    assert set(INTROSPECTION.encode(GROUP)) == names
    assert {each.name for each in fields(Environment)} == set(EnvironmentRow._fields)
    assert names - {"environment"} <= set(GroupRow._fields)
    assert {each.name for each in fields(GroupDraft)} == {"provided_id", *SETTABLE_FIELDS}


def test_every_column_is_one_of_the_tables() -> None:
    assert set(GroupRow._fields) == set(groups.c.keys()) - {"environment_id", "created_at", "updated_at"}
    assert set(EnvironmentRow._fields) == set(environments.c.keys()) - {"created_at", "embedding_hosts", "viewer_usage"}
    assert {name for name in GroupRow._fields if isinstance(groups.c[name].type, JSON)} == JSON_COLUMNS
    assert {name for name in GroupRow._fields if name.endswith(("_at", "_until"))} == TIME_COLUMNS


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(("codec", "document", "given"), FORMS)
@settings(deadline=None)
@given(data=st.data())
def test_a_wrong_type_is_refused(
    codec: GroupCodec, document: dict[str, Any], given: dict[str, Any], data: st.DataObject
) -> None:
    """Whatever one field is replaced by: a group with fields of the right types, or ValueError. Without a field too."""
    field, value = data.draw(st.sampled_from(sorted(document))), data.draw(_JSON)
    with suppress(ValueError):
        group = codec.decode({**deepcopy(document), field: value}, **given)
        for made, kind in zip(_values(group), _TYPES, strict=True):
            assert type(made) is kind or (made is None and kind in (Record, datetime))
    kept = {name: each for name, each in deepcopy(document).items() if name != field}
    if field in LATER:
        assert getattr(codec.decode(kept, **given), field) is LATER[field]
        return
    with pytest.raises(ValueError, match="not a user group document") as refused:
        codec.decode(kept, **given)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


_TYPES = [int, str, str, Environment, Record, Record, bytes, int, int, datetime, datetime, bool, Record]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("team_id", True),
        ("revision", 1.0),
        ("handle", "00010203 04050607"),
        ("handle", "000102030405060A"),
        ("handle", "00"),
        ("mapping", {"main": 1}),
        ("properties", []),
        ("grace_until", "2026-01-02T03:04:05"),
        ("grace_until", "0001-01-01T00:00:00+14:00"),
        ("expires_at", "2026-01-02T03:04:05"),
        ("suspended", 1),
        ("revoked_viewers", {"ann": "now"}),
        ("revoked_viewers", {"ann": True}),
        ("environment", {"id": 1, "name": "production", "tag": "customer"}),
        ("environment", {"id": 1, "tag": "Customer"}),
    ],
)
def test_what_nearly_fits_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match="not a user group document"):
        INTROSPECTION.decode({**INTROSPECTED, field: value})


def test_an_introspection_may_be_of_another_version() -> None:
    """Members that are not ours are passed over; an environment of an older server has its defaults."""
    environment = {"id": 1, "name": "production", "tag": "Customer", "more": 1}
    found = INTROSPECTION.decode({**INTROSPECTED, "environment": environment, "more": 1})
    assert found.environment == make_environment()
    abroad = INTROSPECTION.decode({**INTROSPECTED, "grace_until": "2026-01-02T05:04:05+02:00"})
    assert abroad.grace_until is not None
    assert (abroad.grace_until, abroad.grace_until.tzinfo) == (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), UTC)


def test_a_row_becomes_a_group_and_its_tokens() -> None:
    nonce, previous = bytes(16), b"p" * 16
    row = GroupRow(7, "acme", "Acme", "{}", None, HANDLE, 8, "k2", nonce, "k1", previous, MICROS, 9, ENDS, 1, "{}")
    made = row.group(GROUP.environment, GROUP.properties, GROUP.mapping, GROUP.revoked_viewers)
    assert _whole(made) == _whole(GROUP)
    tag = GROUP.environment.tag
    assert row.token(tag) == Token(tag, "k2", HANDLE, 8, nonce)
    assert row.previous_token(tag) == Token(tag, "k1", HANDLE, 7, previous)
    bare = row._replace(previous_key_id=None, previous_nonce=None, grace_until=None, expires_at=None)
    assert bare.previous_token(tag) is None
    plain = bare.group(GROUP.environment, None, None, None)
    assert (plain.grace_until, plain.expires_at) == (None, None)


def test_a_draft_becomes_a_group() -> None:
    token = make_token(version=3)
    made = GroupDraft("acme", "Acme", {"a": [1]}, {"main": "ds_1"}, GROUP.expires_at).make_group(
        7, GROUP.environment, token
    )
    assert (made.team_id, made.provided_id, made.name, made.environment) == (7, "acme", "Acme", GROUP.environment)
    assert (made.properties, made.mapping) == ({"a": [1]}, {"main": "ds_1"})  # type: ignore[comparison-overlap]
    assert (made.handle, made.token_version, made.revision, made.grace_until) == (token.handle, 3, 1, None)
    assert made.expires_at == GROUP.expires_at


def test_changes_name_what_was_given() -> None:
    """None clears a field, and is not the same as a field that was not given."""
    assert GroupChanges().given() == {}
    assert GroupChanges(name="New", mapping=None).given() == {"name": "New", "mapping": None}
    assert GroupChanges(expires_at=None).given() == {"expires_at": None}


@settings(deadline=None)
@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5))])))
def test_a_time_comes_back_to_the_microsecond(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


def _values(group: UserGroup) -> list[Any]:
    return [getattr(group, each.name) for each in fields(group) if each.init]


def _whole(group: UserGroup) -> tuple[list[Any], list[type]]:
    """Each field, and its type: ``==`` alone finds 1, 1.0 and True equal."""
    return _values(group), [type(each) for each in _values(group)]
