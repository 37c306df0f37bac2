"""Canary groups: typed as the example, different for every group, and found again."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Environment, Record, Tag, UserGroup, thaw
from tenantry.provisioning import Provisioner
from tenantry.testing import canary_groups, make_group
from tenantry.tokens import KeyRing, SigningKey

EXAMPLE = {
    "region": "eu",
    "seats": 20,
    "rate": 0.5,
    "trial": True,
    "nothing": None,
    "regions": ["eu", "us"],
    "billing": {"plan": "basic", "since": "2026-01-01"},
    "at": "2026-01-01T10:00:00Z",
    "key": "0b0c1c2e-7f3c-4b52-9b6c-1f0a5d2c9e11",
    "accent": "#2f5bd8",
    "email": "anna@shop.example",
    "home": "https://shop.example/a",
}


def leaves(value: Any, name: str = "properties") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, f"{name}.{key}")]
    if isinstance(value, list):
        return [leaf for n, item in enumerate(value) for leaf in leaves(item, f"{name}[{n}]")]
    return [(name, value)]


def test_every_value_is_unique_and_found_again() -> None:
    """Of 412 groups, within a longer text and in capitals; only booleans and null are no canaries."""
    groups = canary_groups(412, like=EXAMPLE)
    values: dict[str, tuple[int, str]] = {}
    for number, group in enumerate(groups):
        listed = leaves(thaw(group.properties))
        for name, value in [*listed, ("user_group.id", group.provided_id), ("user_group.name", group.name)]:
            found = groups.find(f"before {value}, after".upper())
            assert {(canary.group, canary.name) for canary in found} == (
                set() if value in (True, None) else {(number, name)}
            ), name
            values[str(value)] = (number, name)
    assert len(values) == 412 * 14 + 2


def test_values_are_typed_as_the_example() -> None:
    """What a program parses stays parseable."""
    group = canary_groups(1, like=EXAMPLE)[0]
    own = thaw(group.properties)
    assert [type(own[name]) for name in own] == [type(EXAMPLE[name]) for name in EXAMPLE]
    assert UUID(own["key"])
    assert own["at"].endswith("T10:00:00Z")
    assert own["email"].endswith("@example.com")
    assert own["home"].startswith("https://")
    assert own["seats"] < 2**31
    assert [len(own["regions"]), own["trial"], own["nothing"]] == [2, True, None]
    assert type(canary_groups(1, like={"rate": Decimal("0.5")})[0].variables["rate"]) is Decimal


def test_groups_are_the_same_every_time() -> None:
    """A failure can be seen again."""
    assert thaw(canary_groups(3, like=EXAMPLE)[2].properties) == thaw(canary_groups(3, like=EXAMPLE)[2].properties)


def test_a_schema_instead_of_an_example() -> None:
    """Its types and formats; what is an enum is one of it."""
    schema = {
        "type": "object",
        "properties": {
            "region": {"type": "string"},
            "plan": {"enum": ["basic", "pro"]},
            "seats": {"type": ["null", "integer"]},
            "share": {"type": "number"},
            "on": {"type": "boolean"},
            "days": {"type": "array", "items": {"type": "string", "format": "date"}},
            "inner": {"properties": {"id": {"type": "string", "format": "uuid"}}},
        },
    }
    own = thaw(canary_groups(1, schema=schema)[0].properties)
    assert own["region"].startswith("canary")
    assert own["plan"] == "basic"
    assert type(own["seats"]) is int
    assert type(own["share"]) is float
    assert own["on"] is True
    assert own["days"][0] > "2100"
    assert UUID(own["inner"]["id"])


def test_values_of_ones_own() -> None:
    """A constant is no canary. Those of a function are, where they are one long word; the same twice is an error."""
    groups = canary_groups(3, like={"region": "eu"}, values={"locale": "en-US", "code": lambda n: f"CARRIER{n}"})
    assert groups[1].variables["locale"] == "en-US"
    assert {canary.group for canary in groups.find('{"code": "carrier1"}')} == {1}
    with pytest.raises(ValueError, match=r"properties\.code is the same for two groups"):
        canary_groups(3, like={}, values={"code": lambda n: "CARRIER"})


def test_a_group_as_the_example() -> None:
    """Its environment and mapping too; and exactly one example is given."""
    environment = Environment(7, "staging", Tag.CUSTOMER)
    like = make_group(environment=environment, properties={"region": "eu"}, mapping={"main": "warehouse"})
    made = canary_groups(2, like=like)[1]
    assert isinstance(made, UserGroup)
    assert (made.environment, made.mapping) == (environment, Record({"main": "warehouse"}))
    assert canary_groups(2, like=like, mapping=lambda n: {"main": f"w{n}"})[1].mapping == Record({"main": "w1"})
    with pytest.raises(TypeError, match="pass exactly one of an example"):
        canary_groups(2)


async def test_groups_in_a_store() -> None:
    """They get the store's handles, and a token each."""
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.TESTING)
    groups = canary_groups(2, like={"region": "eu"}, environment=environment)
    before = groups[0].handle
    tokens = await groups.provision(Provisioner(store, KeyRing([SigningKey("k1", b"k" * 32)])), environment)
    assert set(tokens) == {group.provided_id for group in groups}
    assert groups[0].handle != before
    assert groups[0].environment.id == environment.id
