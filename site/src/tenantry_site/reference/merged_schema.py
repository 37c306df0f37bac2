"""Merges a schema with all schemas that it includes by ``$ref`` and ``allOf``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tenantry_site.reference.json_ref import JsonRef

Trail = list[tuple[str, str]]
"""The references that are being followed, as (document, pointer). A reference to one of them is recursive."""

_KINDS: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_PROPERTIES: Final = frozenset(
    {"$ref", "allOf", "oneOf", "anyOf", "properties", "required", "items", "additionalProperties", "patternProperties",
     "prefixItems", "discriminator", "nullable"}
)  # fmt: skip
_LONGEST: Final = 100  # maximum number of parts of an allOf, of alternatives, and of pattern properties
_MOST_PROPERTIES: Final = 500
_MOST_REFERENCES: Final = 100  # references that one schema includes; a longer chain could overflow the stack


class MergedSchema:
    """The merged keywords of a schema. If several included schemas have a keyword, the value in the outermost schema
    counts.

    ``facts``: keyword -> value, for keywords that have no attribute here. ``extra``: schema of additional properties.
    ``closed``: whether additional properties are forbidden. ``choice``: the heading of ``alternatives``, ``One of`` or
    ``Any of``. ``labels``: reference -> discriminator value. ``impossible``: whether no value is valid. ``recursive``:
    whether the schema's only alternative contains the schema. ``tuple_``: whether this is an array with a schema for
    each position.
    """

    __slots__ = (
        "alternatives", "choice", "closed", "discriminator", "extra", "facts", "impossible", "items", "labels", "name",
        "nullable", "properties", "recursive", "required", "tuple_",
    )  # fmt: skip

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.properties: dict[str, JsonRef] = {}
        self.required: set[str] = set()
        self.items: JsonRef | None = None
        self.extra: JsonRef | None = None
        self.alternatives: list[JsonRef] = []
        self.choice: str = ""
        self.labels: dict[str, str] = {}
        self.discriminator: str = ""
        self.name: str = ""
        self.nullable: bool = False
        self.closed: bool = False
        self.impossible: bool = False
        self.recursive: bool = False
        self.tuple_: bool = False

    def kinds(self) -> tuple[str, ...]:
        """The allowed JSON types; null only if no other type is allowed; ``("file",)`` for binary data. Without
        ``type``, they are inferred from other keywords."""
        given = self.facts.get("type")
        several = given if isinstance(given, list) else [given]
        found = tuple(dict.fromkeys(kind for kind in several if isinstance(kind, str) and kind in _KINDS))
        if "null" in found and len(found) > 1:
            found = tuple(kind for kind in found if kind != "null")
        if not found:
            return self._guessed()
        media_type = self.facts.get("contentMediaType")
        is_file = self.facts.get("format") == "binary" or media_type == "application/octet-stream"
        return ("file",) if found == ("string",) and is_file else found

    def _guessed(self) -> tuple[str, ...]:
        if self.properties or self.extra is not None or self.closed:
            return ("object",)
        if self.items is not None:
            return ("array",)
        values = [self.facts["const"]] if "const" in self.facts else self.enum()
        kinds = tuple(dict.fromkeys(kind_of(value) for value in values))
        if kinds:
            return tuple(kind for kind in kinds if kind != "null") or kinds
        return ("string",) if self.facts.keys() & {"pattern", "minLength", "maxLength", "format"} else ()

    def kind(self) -> str:
        """The first allowed type; empty if any type is allowed."""
        kinds = self.kinds()
        return kinds[0] if kinds else ""

    def enum(self) -> list[Any]:
        given = self.facts.get("enum")
        return given if isinstance(given, list) else []


def kind_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def merge_schema(ref: JsonRef, into: MergedSchema, trail: Trail) -> bool:
    """Merge the schema at ``ref`` into ``into``. If it is part of itself or behind too many references, set only the
    name and return False."""
    if ref.has("$ref"):
        target = ref.followed()
        if isinstance(target.value, dict):
            into.name = into.name or target.pointer.rpartition("/")[2]
            if (target.path, target.pointer) in trail or len(trail) >= _MOST_REFERENCES:
                return False
            trail.append((target.path, target.pointer))
        ref = target
    if isinstance(ref.value, bool):
        into.impossible = into.impossible or not ref.value
        return True
    ref = ref.as_object()
    if ref:
        _take(ref, into, trail)
    return True


def _take(ref: JsonRef, into: MergedSchema, trail: Trail) -> None:
    for key, value in ref.value.items():
        if key not in _PROPERTIES:
            into.facts.setdefault(key, value)
    into.required.update(name.value for name in ref.items("required") if isinstance(name.value, str))
    kinds, enum = ref.value.get("type"), ref.value.get("enum")
    by_type = isinstance(kinds, list) and "null" in kinds and len(kinds) > 1
    by_enum = isinstance(enum, list) and None in enum and len(enum) > 1
    into.nullable = into.nullable or by_type or by_enum or ref.value.get("nullable") is True
    _properties(ref, into)
    if "items" in ref.value and into.items is None and not isinstance(ref.value["items"], list):
        into.items = ref.at("items")
    members = _some(ref, "prefixItems")
    if members:
        into.tuple_ = True
        into.properties.update({f"[{index}]": member for index, member in enumerate(members)})
    for part in _some(ref, "allOf"):
        merge_schema(part, into, trail)
    _choices(ref, into, trail)


def _some(ref: JsonRef, key: str) -> list[JsonRef]:
    return list(ref.items(key))[:_LONGEST] if key in ref.value else []


def _properties(ref: JsonRef, into: MergedSchema) -> None:
    if "properties" in ref.value:
        for name, found in list(ref.entries("properties"))[:_MOST_PROPERTIES]:
            into.properties[name] = _both(into.properties[name], found) if name in into.properties else found
    if "patternProperties" in ref.value:
        for pattern, found in list(ref.entries("patternProperties"))[:_LONGEST]:
            into.properties.setdefault(f"/{pattern}/", found)
    others = ref.value.get("additionalProperties")
    into.closed = into.closed or others is False
    specific = (isinstance(others, dict) and others) or (others is True and not into.properties)
    if specific and into.extra is None:
        into.extra = ref.at("additionalProperties")


def _both(one: JsonRef, other: JsonRef) -> JsonRef:
    """A property that two parts of an ``allOf`` describe: an ``allOf`` of both schemas."""
    if one.path != other.path or one.value == other.value:
        return one
    return replace(one, value={"allOf": [one.value, other.value]})


def _choices(ref: JsonRef, into: MergedSchema, trail: Trail) -> None:
    for key, words in (("oneOf", "One of"), ("anyOf", "Any of")):
        given = _some(ref, key)
        real = [one for one in given if not _is_null(one)]
        into.nullable = into.nullable or len(real) < len(given)
        if len(real) == 1:
            into.recursive = not merge_schema(real[0], into, trail) or into.recursive
        elif given and not real:
            into.facts.setdefault("type", "null")
        elif real:
            into.choice = into.choice or words
            into.alternatives += real[: _LONGEST - len(into.alternatives)]
    if "discriminator" in ref.value:
        rule = ref.at("discriminator").as_object()
        into.discriminator = into.discriminator or rule.text("propertyName")
        for value, target in rule.entries("mapping"):
            if isinstance(target.value, str):
                into.labels.setdefault(target.value, value)


def _is_null(ref: JsonRef) -> bool:
    value = ref.followed().value
    if not isinstance(value, dict):
        return False
    by_const = "const" in value and value["const"] is None
    return value.get("type") in ("null", ["null"]) or by_const or value.get("enum") == [None]
