"""UserGroup: one immutable record, and what templates may read of it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from tenantry.groups import RESERVED_NAMES, GroupChanges, GroupDraft, Record, thaw
from tenantry.testing import make_environment, make_group

PROPERTIES: dict[str, Any] = {"region": "eu", "items": ["x"], "keys": {"get": 1}, "params": "mine", "user_group": "me"}


def test_a_group_is_frozen_and_has_slots() -> None:
    """No field can be set, and none added."""
    group = make_group(properties=PROPERTIES)
    with pytest.raises(FrozenInstanceError):
        group.name = "other"  # type: ignore[misc]  # that it is refused is the fact
    with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
        group.more = 1  # type: ignore[attr-defined]  # as above
    assert not hasattr(group, "__dict__")


def test_properties_and_mapping_are_frozen_copies() -> None:
    """Red when __post_init__ keeps the caller's dict."""
    properties, mapping = {"regions": ["eu"]}, {"main": "ds_1"}
    group = make_group(properties=properties, mapping=mapping)
    properties["regions"].append("us")
    mapping["main"] = "ds_2"
    assert thaw(group.properties) == {"regions": ["eu"]}
    assert thaw(group.mapping) == {"main": "ds_1"}


def test_variables_are_the_properties_user_group_and_no_params() -> None:
    """A bare name is a property; id, name, environment and properties are under ``user_group``."""
    group = make_group(provided_id="acme", name="Acme & Co", properties={"region": "eu"})
    assert group.variables == {
        "region": "eu",
        "user_group": {
            "id": "acme",
            "name": "Acme & Co",
            "environment": "production",
            "properties": {"region": "eu"},
        },
        "params": {},
    }


def test_a_property_with_a_reserved_name_is_reached_in_full_only() -> None:
    """Red when RESERVED_NAMES is not taken out of the bare names: ``user_group`` would be the tenant's own text."""
    variables = make_group(properties=PROPERTIES).variables
    assert frozenset({"user_group", "params", "viewer"}) == RESERVED_NAMES
    assert variables["params"] == {}
    assert isinstance(variables["user_group"], Record)
    assert variables["user_group"]["properties"]["params"] == "mine"
    assert variables["user_group"]["properties"]["user_group"] == "me"


def test_method_names_are_ordinary_properties() -> None:
    """``items``, ``keys`` and ``get`` are what the tenant put there."""
    variables = make_group(properties=PROPERTIES).variables
    assert variables["items"] == ["x"]
    assert variables["keys"]["get"] == 1


def test_a_group_without_properties_has_no_bare_name() -> None:
    """None and an empty object differ in the record and not in what templates see."""
    bare, empty = make_group(properties=None), make_group(properties={})
    assert list(bare.variables) == list(empty.variables) == ["user_group", "params"]
    assert bare.properties is None
    assert empty.properties == {}
    assert bare != empty


def test_as_dict_is_plain_and_holds_no_secret() -> None:
    """JSON-ready, without the handle, with what the interface shows."""
    shown = make_group(properties=PROPERTIES, mapping={"main": "ds_1"}).as_dict()
    assert shown["properties"] == PROPERTIES
    assert type(shown["properties"]) is dict
    assert type(shown["properties"]["keys"]) is dict
    assert shown["mapping"] == {"main": "ds_1"}
    assert shown["api_environment_tag"] == "Customer"
    assert "handle" not in shown


def test_repr_shows_no_property_value() -> None:
    """Red when Record's repr is that of a dict: a traceback or log line would hold a tenant's data.

    Red too when a draft or a change shows the plain dict that it was given.
    """
    properties = {"password": "hunter2", "deep": {"er": ["hunter2"]}}
    shown = (make_group(properties=properties), GroupDraft("acme", "Acme", properties), GroupChanges("A", properties))
    assert "hunter2" not in "".join(map(repr, shown))


def test_equal_groups_have_one_hash() -> None:
    """Red without __hash__: the generated one hashes the Records and raises. A group can be a key of a dict."""
    handle = bytes(8)
    group = make_group(handle=handle, properties={"a": [1]})
    twin = make_group(handle=handle, properties={"a": [1]})
    assert group == twin
    assert hash(group) == hash(twin)
    assert {group: 1}[twin] == 1
    changed = replace(group, revision=2)
    assert changed != group
    assert len({group, twin, changed}) == 2


def test_other_properties_make_another_group() -> None:
    """Equality looks at the properties too, not at the handle alone."""
    group = make_group(properties={"a": 1})
    assert replace(group, properties=Record({"a": 2})) != group


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_and_pickles_are_equal(again: Any) -> None:
    """A group goes through a process boundary with its variables."""
    group = make_group(properties=PROPERTIES, environment=make_environment(name="staging"))
    twin = again(group)
    assert twin == group
    assert twin.variables == group.variables
    assert twin.variables["user_group"]["environment"] == "staging"


def test_replace_makes_new_variables() -> None:
    """An update of the properties is an update of what templates see."""
    group = replace(make_group(properties={"region": "eu"}), properties=Record({"region": "us"}))
    assert group.variables["region"] == "us"
