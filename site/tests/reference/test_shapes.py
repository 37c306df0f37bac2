"""Schemas as a reader sees them."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry_site.reference.bodies import as_text, sample
from tenantry_site.reference.schemas import ABSENT, Shape
from tests.reference.stage import codes, config, endpoint, one


def shape_of(schema: Any, *, ordered: bool = False, **schemas: Any) -> Shape:
    """The shape of a schema; ``schemas`` are the document's components."""
    content = {"content": {"application/json": {"schema": schema}}}
    settings = config(openapi=("api.json",), api={"maintainOrder": ordered})
    read, _ = endpoint(one({"requestBody": content}, components={"schemas": schemas}), settings)
    assert read.body is not None
    return read.body.media[0].shape


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "string"),
        ({"type": ["string", "integer"]}, "string or integer"),
        ({"type": "array", "items": {"type": "integer"}}, "array of integers"),
        ({"type": "array", "items": {"type": "array", "items": {}}}, "array of arrays of any values"),
        ({"properties": {"a": {}}}, "object"),
        ({"items": {"type": "string"}}, "array of strings"),
        ({"enum": [1, 2]}, "integer"),
        ({"const": "x"}, "string"),
        ({"pattern": "^a"}, "string"),
        ({"type": "string", "format": "binary"}, "file"),
        ({}, "any"),
        (True, "any"),
        (False, "nothing"),
        ({"type": "wrong"}, "any"),
        ({"type": 5}, "any"),
    ],
)
def test_types_in_words(schema: Any, words: str) -> None:
    """Given or told from the other keywords."""
    assert shape_of(schema).type == words


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": True},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "string"}, {"const": None}]},
        {"type": "string", "enum": ["a", None]},
    ],
)
def test_null_in_its_five_spellings(schema: Any) -> None:
    """3.0's word, 3.1's list, an alternative, a value. Red when ``anyOf`` with null is drawn as two alternatives."""
    shape = shape_of(schema)
    assert (shape.nullable, shape.type, shape.alternatives) == (True, "string", ())
    assert None not in shape.enum


def test_null_next_to_other_types() -> None:
    """Next to a schema that contains itself, to several, in a list, alone, and by reference.

    Red when a list of such nodes shows "any", as ``anyOf`` ignored that its only schema was already open.
    """
    node = {"properties": {"next": {"anyOf": [ref("Node"), {"type": "null"}], "description": "The next one."}}}
    following = shape_of(ref("Node"), Node=node).fields[0].shape
    assert (following.type, following.recursive, following.nullable) == ("Node", True, True)
    assert following.description == "The next one."
    several = shape_of({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]})
    assert ([each.type for each in several.alternatives], several.nullable) == (["string", "integer"], True)
    assert shape_of({"type": "array", "items": {"type": ["string", "null"]}}).type == "array of strings or nulls"
    assert shape_of({"anyOf": [{"type": "null"}]}).type == "null"
    for null in (ref("Null"), {"type": ["null"]}):
        shape = shape_of({"anyOf": [null, {"type": "string"}]}, Null={"type": "null"})
        assert (shape.type, shape.nullable, shape.alternatives) == ("string", True, ())


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"minLength": 1, "maxLength": 255}, ("1 to 255 characters",)),
        ({"minLength": 3, "maxLength": 3}, ("3 characters",)),
        ({"maxLength": 1}, ("at most 1 character",)),
        ({"minimum": 0, "maximum": 10.0}, ("0 to 10",)),
        ({"minimum": 1, "exclusiveMinimum": True}, ("more than 1",)),
        ({"exclusiveMinimum": 1}, ("more than 1",)),
        ({"minimum": 1, "exclusiveMaximum": 5}, ("at least 1", "less than 5")),
        ({"multipleOf": 0.5}, ("a multiple of 0.5",)),
        ({"minItems": 1, "uniqueItems": True}, ("at least 1 item", "no item twice")),
        ({"minProperties": 2}, ("at least 2 names",)),
        ({"minimum": "x", "maxLength": True, "multipleOf": None}, ()),
    ],
)
def test_bounds_in_words(schema: Any, words: tuple[str, ...]) -> None:
    """Of 3.0 and of 3.1; what is no number says nothing."""
    assert shape_of(schema).constraints == words


def test_all_of_is_merged() -> None:
    """Fields together, what is found outside before what is found within. Red when a second part replaces the first."""
    base = {
        "type": "object",
        "description": "inner",
        "required": ["a"],
        "properties": {"a": {"type": "string", "format": "uri"}},
    }
    more = {"properties": {"b": {"type": "integer"}, "a": {"maxLength": 3}}, "required": ["b"]}
    shape = shape_of({"description": "outer", "allOf": [ref("Base"), more]}, Base=base)
    assert shape.description == "outer"
    assert [(field.name, field.required) for field in shape.fields] == [("a", True), ("b", True)]
    assert (shape.fields[0].shape.format, shape.fields[0].shape.constraints) == ("uri", ("at most 3 characters",))


def test_words_beside_a_reference_go_before_it() -> None:
    """As 3.1 allows and 3.0's writers do too."""
    shape = shape_of(
        {"$ref": "#/components/schemas/A", "description": "mine"}, A={"type": "string", "description": "its"}
    )
    assert (shape.description, shape.type) == ("mine", "string")


def test_a_tree_is_cut_where_it_begins_again() -> None:
    """Red when the trail of references is not kept: it ends at the recursion limit."""
    node = {"type": "object", "properties": {"children": {"type": "array", "items": ref("Node")}, "next": ref("Node")}}
    shape = shape_of(ref("Node"), Node=node)
    children, following = shape.fields
    assert children.shape.type == "array of Node"
    assert children.shape.items is not None
    assert children.shape.items.recursive
    assert following.shape.recursive
    assert sample(shape, request=False) == {"children": []}


def test_siblings_of_one_type_are_not_recursive() -> None:
    """Two fields of one type stand beside each other, not within. Red when the trail is never left."""
    shape = shape_of({"properties": {"a": ref("T"), "b": ref("T")}}, T={"properties": {"x": {"type": "string"}}})
    assert not any(field.shape.recursive for field in shape.fields)


def test_a_schema_that_explodes_is_cut() -> None:
    """Six types, each with five of the next, are twenty thousand parts. Red when the budget is not counted."""
    schemas: dict[str, Any] = {
        f"T{n}": {"type": "object", "properties": {f"p{k}": ref(f"T{n + 1}") for k in range(5)}} for n in range(6)
    }
    content = {"content": {"application/json": {"schema": ref("T0")}}}
    read, diagnostics = endpoint(one({"requestBody": content}, components={"schemas": {**schemas, "T6": {}}}))
    assert read.body is not None
    assert set(codes(diagnostics)) == {"API009"}
    assert len(as_text(sample(read.body.media[0].shape, request=True), "json")) < 50_000


def test_alternatives_and_their_names() -> None:
    """oneOf with a discriminator: the value that chooses each."""
    pet = {
        "oneOf": [ref("Cat"), ref("Dog")],
        "discriminator": {"propertyName": "kind", "mapping": {"meow": "#/components/schemas/Cat"}},
    }
    shape = shape_of(pet, Cat={"properties": {"kind": {"const": "meow"}}}, Dog={"title": "A dog", "type": "object"})
    assert (shape.choice, shape.discriminator) == ("One of", "kind")
    assert [each.title for each in shape.alternatives] == ["meow", "A dog"]
    assert sample(shape, request=True) == {"kind": "meow"}


def test_maps_tuples_and_patterns() -> None:
    """additionalProperties, prefixItems and patternProperties."""
    assert shape_of({"additionalProperties": {"type": "integer"}}).extra == shape_of({"type": "integer"})
    shape = shape_of({"type": "array", "prefixItems": [{"type": "string"}, {"const": 2}]})
    assert [field.name for field in shape.fields] == ["[0]", "[1]"]
    assert sample(shape, request=False) == ["string", 2]
    shape = shape_of(
        {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False}
    )
    assert (shape.fields[0].name, shape.closed) == ("/^x-/", True)


@pytest.mark.parametrize(("ordered", "names"), [(True, ["zeta", "beta", "alpha"]), (False, ["beta", "alpha", "zeta"])])
def test_maintain_order(ordered: bool, names: list[str]) -> None:
    """The document's order, or required first and then by name. Red when maintainOrder is not asked for."""
    schema = {"properties": {"zeta": {}, "beta": {}, "alpha": {}}, "required": ["beta"]}
    assert [field.name for field in shape_of(schema, ordered=ordered).fields] == names


def test_samples() -> None:
    """Examples, defaults, constants, enumerations and formats of a response."""
    schema = {
        "properties": {
            "id": {"type": "string", "readOnly": True}, "secret": {"type": "string", "writeOnly": True},
            "mail": {"type": "string", "format": "email"}, "size": {"type": "integer", "minimum": 3},
            "kind": {"enum": ["a", "b"]}, "on": {"type": "boolean", "default": False}, "name": {"examples": ["Ann"]},
            "old": {"type": "string", "deprecated": True}, "null": {"default": None},
        }
    }  # fmt: skip
    shape = shape_of(schema, ordered=True)
    common = {"mail": "user@example.com", "size": 3, "kind": "a", "on": False, "name": "Ann", "null": None}
    assert sample(shape, request=False) == {"id": "string", **common}
    assert sample(shape_of({}), request=True) is ABSENT


def test_the_sample_of_a_request_holds_what_is_required() -> None:
    """And what the document gives an example of. Nothing that a reader would send by mistake: "string", "key".

    Red when optional fields are in the body, or a required text is "string".
    """
    text = {"type": "string"}
    schema = {
        "required": ["id", "name", "mail", "size", "tags", "rows", "map"],
        "properties": {
            "id": {**text, "readOnly": True}, "name": text, "mail": {**text, "format": "email"},
            "size": {"type": "integer", "minimum": 3}, "tags": {"type": "array", "items": text},
            "rows": {"type": "array", "items": {"required": ["a"], "properties": {"a": text, "b": text}}},
            "map": {"additionalProperties": text}, "spare": text, "by_default": {"default": 5},
            "shown": {**text, "example": "x"}, "kind": {"const": "k"}, "secret": {**text, "writeOnly": True},
        },
    }  # fmt: skip
    shape = shape_of(schema, ordered=True)
    assert sample(shape, request=True) == {
        "name": "", "mail": "user@example.com", "size": 3, "tags": [], "rows": [{"a": ""}], "map": {}, "shown": "x",
        "kind": "k",
    }  # fmt: skip
    assert sample(shape_of({"properties": {"a": text}}), request=True) == {}


@pytest.mark.parametrize("key", ["allOf", "anyOf"])
def test_a_chain_of_references_without_an_end(key: str) -> None:
    """Red when a schema that is composed of thousands, one within the other, ends the drawing of its page."""
    chain = {f"S{at}": {key: [ref(f"S{at + 1}")]} for at in range(2000)}
    assert shape_of(ref("S0"), **chain) is not None
