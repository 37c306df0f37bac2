"""PropertySchema: what a schema refuses, in properties and in itself; and the schema that groups satisfy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.errors import InvalidPropertySchema
from tenantry.groups import Record
from tenantry.groups.property_schema import PropertySchema, SchemaLearner

SCHEMA = PropertySchema(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "region": {"type": "string", "enum": ["eu", "us", None]},
            "seats": {"type": ["integer", "null"], "description": "how many"},
            "rate": {"type": "number"},
            "flags": {"type": "array", "items": {"type": "boolean"}},
            "address": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            },
            "tier": {"const": 1},
        },
        "required": ["region"],
    }
)


@pytest.mark.parametrize(
    ("properties", "wrong"),
    [
        ({"region": "eu"}, []),
        ({"region": "eu", "seats": None, "rate": 1, "flags": [], "tier": 1, "other": {"a": [1]}}, []),
        ({"region": "eu", "address": {"city": "x"}}, []),
        (None, [("region",)]),
        ({}, [("region",)]),
        ({"region": "de"}, [("region",)]),
        ({"region": 1}, [("region",)]),
        ({"region": "eu", "seats": True}, [("seats",)]),
        ({"region": "eu", "seats": 1.5}, [("seats",)]),
        ({"region": "eu", "tier": True}, [("tier",)]),
        ({"region": "eu", "flags": [True, 1, "x"]}, [("flags", 1), ("flags", 2)]),
        ({"region": "eu", "address": {"street": "x"}}, [("address", "city"), ("address", "street")]),
    ],
)
def test_what_properties_violate(properties: dict[str, Any] | None, wrong: list[tuple[Any, ...]]) -> None:
    """Each violation by its path; the same of plain dicts and of Records. Red when a keyword is taken and not
    checked."""
    assert [each.path for each in SCHEMA.violations(properties)] == wrong
    if properties is not None:
        assert [each.path for each in SCHEMA.violations(Record(properties))] == wrong
    assert all("eu" not in each.problem for each in SCHEMA.violations(properties)), "a problem names no value"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"minProperties": 1}, "minProperties is not a supported keyword"),
        ({"properties": {"a": {"pattern": "x"}}}, "properties/a/pattern is not a supported keyword"),
        ({"requird": ["a"]}, "did you mean required\\? Supported here: additionalProperties, .*, type$"),
        ({"properties": {"a": {"x-viewer": {}}}}, "properties/a/x-viewer is not a supported keyword"),
        ({"x-viewer": []}, "x-viewer is not an object"),
        ({"x-viewer": {"requird": []}}, "x-viewer/requird is not a supported keyword"),
        ({"type": "text"}, "type must be one of"),
        ({"type": []}, "type must be one of"),
        ({"type": "array"}, 'must be "object"'),
        ({"properties": []}, "properties must be an object"),
        ({"properties": {"a": True}}, "properties/a is not an object"),
        ({"required": "region"}, "required must be a list of names"),
        ({"additionalProperties": {}}, "additionalProperties must be true or false"),
        ({"properties": {"a": {"enum": "x"}}}, "enum must be a list"),
    ],
)
def test_a_schema_that_would_not_be_checked_is_refused(document: dict[str, Any], problem: str) -> None:
    """Red when an unknown keyword is passed over: its author believes that it holds."""
    with pytest.raises(InvalidPropertySchema, match=problem):
        PropertySchema(document)


def test_what_is_declared() -> None:
    """Paths in objects too, and which of them every group has. Red when what is in an optional object counts as
    required."""
    assert {"region", "address", "address.city"} <= SCHEMA.paths()
    declared = SCHEMA.declared()
    assert [path for path, (_, always) in declared.items() if always] == ["region"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.sampled_from(["a", "secret"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["a", "b", "region"])
groups = st.lists(st.none() | st.dictionaries(names, json_values, max_size=3), max_size=6)


@given(groups)
def test_the_learned_schema_holds_for_each_group_and_names_no_value(properties: list[dict[str, Any] | None]) -> None:
    """It can be declared as it is. Red when a type, a list's items or what is required is learned from some groups
    only."""
    learner = SchemaLearner()
    for each in properties:
        learner.add(each)
    document = learner.document()
    schema = PropertySchema(document)
    assert [list(schema.violations(each)) for each in properties] == [[] for _ in properties]
    assert "secret" not in repr(document)
    for name in {name for each in properties if each for name in each}:
        everywhere = all(each is not None and name in each for each in properties)
        assert (name in document.get("required", [])) == everywhere
