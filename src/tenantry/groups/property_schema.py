"""A subset of JSON Schema for the properties of groups. A schema with an unknown keyword is rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from tenantry.errors import InvalidPropertySchema, did_you_mean
from tenantry.groups.record import Record, RecordList

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The ``$schema`` of schemas that SchemaLearner derives."""

_ANNOTATIONS: Final = frozenset(
    ("$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated")
)
_CHECKED: Final = frozenset(("type", "enum", "const", "properties", "required", "additionalProperties", "items"))
VIEWER_SCHEMA: Final = "x-viewer"
"""Top-level keyword of a property schema. Its value is the schema of ``viewer.*``. It does not declare ``viewer.id``,
because every viewer may have an id."""
_TYPES: Final = frozenset(("string", "integer", "number", "boolean", "null", "object", "array"))
_MAX_DEPTH: Final = 8
_MAX_ENUM: Final = 1_000


class Violation(NamedTuple):
    path: tuple[str | int, ...]
    problem: str


class PropertySchema:
    """A JSON Schema of groups' properties. Raises InvalidPropertySchema if ``document`` is not valid."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        properties = {name: value for name, value in document.items() if name != VIEWER_SCHEMA}
        _check(properties, ())
        if VIEWER_SCHEMA in document:
            _check(document[VIEWER_SCHEMA], (VIEWER_SCHEMA,))
        if document.get("type", "object") != "object":
            raise InvalidPropertySchema('the top-level "type" of a schema (also of "x-viewer") must be "object"')
        self.document: Mapping[str, Any] = document
        self.viewer: PropertySchema | None = (
            PropertySchema(document[VIEWER_SCHEMA]) if VIEWER_SCHEMA in document else None
        )
        """The schema of viewers' attributes; None if viewers are not declared."""

    def violations(self, properties: Mapping[str, Any] | Record | None) -> Iterator[Violation]:
        """Yield each violation of the schema. None for ``properties`` counts as {}."""
        yield from _violations(self.document, Record({}) if properties is None else properties, ())

    def paths(self) -> frozenset[str]:
        return frozenset(path for path, _, _ in _declared(self.document, "", required=True))

    def declared(self) -> Mapping[str, tuple[Mapping[str, Any], bool]]:
        """Return a mapping: dotted path of a property -> (its schema, whether it and all its parents are required)."""
        return {path: (schema, required) for path, schema, required in _declared(self.document, "", required=True)}


def _declared(
    schema: Mapping[str, Any], prefix: str, *, required: bool
) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    needed = schema.get("required", ())
    for name, child in schema.get("properties", {}).items():
        always = required and name in needed
        yield prefix + name, child, always
        yield from _declared(child, f"{prefix}{name}.", required=always)


# --- the document itself ----------------------------------------------------------------------------------------------


def _check(schema: Any, path: tuple[str, ...]) -> None:
    if not isinstance(schema, Mapping):
        raise _invalid(path, "is not an object")
    if len(path) > 2 * _MAX_DEPTH:
        raise _invalid(path, "is nested too deeply")
    for keyword in schema:
        if keyword not in _ANNOTATIONS | _CHECKED:
            near = did_you_mean(str(keyword), _CHECKED) or "remove it. "
            listed = ", ".join(sorted(_CHECKED))
            raise _invalid((*path, str(keyword)), f"is not a supported keyword: {near}Supported here: {listed}")
    for keyword, (holds, what) in _SHAPES.items():
        if keyword in schema and not holds(schema[keyword]):
            raise _invalid((*path, keyword), f"must be {what}")
    for name, child in schema.get("properties", {}).items():
        _check(child, (*path, "properties", name))
    if "items" in schema:
        _check(schema["items"], (*path, "items"))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_type(value: Any) -> bool:
    return value in _TYPES if isinstance(value, str) else _is_texts(value) and bool(value) and _TYPES.issuperset(value)


def _is_enum(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _MAX_ENUM


_SHAPES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "type": (_is_type, f"one of {', '.join(sorted(_TYPES))}, or a list of them"),
    "enum": (_is_enum, f"a list of at most {_MAX_ENUM} values"),
    "required": (_is_texts, "a list of names"),
    "additionalProperties": (lambda value: isinstance(value, bool), "true or false"),
    "properties": (lambda value: isinstance(value, Mapping), "an object"),
}
"""For each keyword: a check of its value, and the words in which an error describes a valid value."""


def _types(schema: Mapping[str, Any]) -> set[str] | None:
    given = schema.get("type")
    if given is None:
        return None
    return {given} if isinstance(given, str) else set(given)


def _invalid(path: tuple[str, ...], problem: str) -> InvalidPropertySchema:
    return InvalidPropertySchema(f"in the schema, {'/'.join(path) or 'the document'} {problem}")


# --- values -----------------------------------------------------------------------------------------------------------


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float | Decimal):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, Sequence | RecordList) else "object"


def _violations(schema: Mapping[str, Any], value: Any, path: tuple[str | int, ...]) -> Iterator[Violation]:
    kind, wanted = _json_type(value), _types(schema)
    if wanted is not None and kind not in wanted and not (kind == "integer" and "number" in wanted):
        yield Violation(path, f"is of type {kind}, and the environment's schema wants {' or '.join(sorted(wanted))}")
        return
    if ("enum" in schema and not _is_one_of(value, schema["enum"])) or (
        "const" in schema and not _is_one_of(value, [schema["const"]])
    ):
        yield Violation(path, "is not one of the values that the environment's schema allows")
    if kind == "array" and "items" in schema:
        for index, item in enumerate(value):
            yield from _violations(schema["items"], item, (*path, index))
    if kind == "object":
        yield from _of_object(schema, value, path)


def _of_object(schema: Mapping[str, Any], value: Any, path: tuple[str | int, ...]) -> Iterator[Violation]:
    for name in schema.get("required", ()):
        if name not in value:
            yield Violation((*path, name), "is missing, and the environment's schema requires it")
    children = schema.get("properties", {})
    for name in value:
        if name in children:
            yield from _violations(children[name], value[name], (*path, name))
        elif not schema.get("additionalProperties", True):
            yield Violation((*path, name), "is not in the environment's schema, which allows no other properties")


def _is_one_of(value: Any, allowed: Sequence[Any]) -> bool:
    return any(_json_type(value) == _json_type(each) and value == each for each in allowed)


# --- learned ----------------------------------------------------------------------------------------------------------


class SchemaLearner:
    """Derives a schema from groups' properties."""

    def __init__(self) -> None:
        self._root = _Seen()

    def add(self, properties: Mapping[str, Any] | Record | None) -> None:
        self._root.add(Record({}) if properties is None else properties)

    def document(self) -> dict[str, Any]:
        """Return a schema that all added properties satisfy. The schema contains names and types, but no values."""
        return {"$schema": DIALECT, **self._root.document()}


class _Seen:
    __slots__ = ("children", "items", "number", "types")

    def __init__(self) -> None:
        self.number = 0
        self.types: dict[str, int] = {}
        self.children: dict[str, _Seen] = {}
        self.items: _Seen | None = None

    def add(self, value: Any) -> None:
        kind = _json_type(value)
        self.number += 1
        self.types[kind] = self.types.get(kind, 0) + 1
        if kind == "object":
            for name in value:
                self.children.setdefault(name, _Seen()).add(value[name])
        elif kind == "array":
            self.items = self.items or _Seen()
            for item in value:
                self.items.add(item)

    def document(self) -> dict[str, Any]:
        kinds = sorted(self.types)
        if "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
        schema: dict[str, Any] = {}
        if kinds:
            schema["type"] = kinds[0] if len(kinds) == 1 else kinds
        if self.children:
            schema["properties"] = {name: self.children[name].document() for name in sorted(self.children)}
            objects = self.types.get("object", 0)
            required = sorted(name for name, seen in self.children.items() if seen.number == objects)
            if required:
                schema["required"] = required
        if self.items is not None and self.items.number:
            schema["items"] = self.items.document()
        return schema
