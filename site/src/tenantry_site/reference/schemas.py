"""Reads JSON schemas into the form in which pages show them: with references followed, ``allOf`` merged, recursion and
size limited, and constraints in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.reference.json_ref import JsonRef
from tenantry_site.reference.merged_schema import MergedSchema, merge_schema

ABSENT: Final[Any] = object()
"""Marks an absent default, constant or example. (None cannot, because null is a valid value.)"""


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object. ``name``: the key; ``/pattern/`` for a pattern property, ``[0]`` for an array item."""

    name: str
    shape: Shape
    required: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema as pages show it."""

    type: str = "any"
    """The type in words: ``array of strings``."""
    kind: str = ""
    """The JSON type; empty for any type."""
    name: str = ""
    """The last part of the ``$ref``."""
    title: str = ""
    description: str = ""
    format: str = ""
    constraints: tuple[str, ...] = ()
    """The constraints in words."""
    pattern: str = ""
    """The pattern, separate from ``constraints`` because it is code."""
    least: int | float | None = None
    """The minimum, if it is greater than 0."""
    enum: tuple[Any, ...] = ()
    const: Any = ABSENT
    default: Any = ABSENT
    example: Any = ABSENT
    fields: tuple[Field, ...] = ()
    """The properties of an object."""
    extra: Shape | None = None
    """The schema of additional properties, if given."""
    closed: bool = False
    """Whether no additional properties are allowed."""
    items: Shape | None = None
    """The schema of an array's items."""
    choice: str = ""
    """The heading of ``alternatives``."""
    alternatives: tuple[Shape, ...] = ()
    """The schemas of ``oneOf`` or ``anyOf``."""
    discriminator: str = ""
    nullable: bool = False
    deprecated: bool = False
    read_only: bool = False
    write_only: bool = False
    recursive: bool = False
    """Whether the contents are not shown, because the schema contains itself or is too large."""

    @property
    def nested(self) -> bool:
        """Whether the schema has contents to show below its line: properties, alternatives, or items that have such
        contents."""
        inner = self.items
        while inner is not None and inner.items is not None:
            inner = inner.items
        specific = self.extra is not None and (self.extra.type != ANY.type or self.extra.description)
        return bool(self.fields or self.alternatives or specific or (inner is not None and inner.nested))


ANY: Final = Shape()
NOTHING: Final = Shape(type="nothing")


_COUNTED: Final = (
    ("minLength", "maxLength", "character", "characters"),
    ("minItems", "maxItems", "item", "items"),
    ("minProperties", "maxProperties", "name", "names"),
)


def constraints(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The constraints of a schema in words: ``{"minLength": 1, "maxLength": 255}`` gives ``("1 to 255 characters",)``.
    Bounds that are not numbers are ignored."""
    return (*_counts(facts), *_bounds(facts), *_others(facts))


def _counts(facts: Mapping[str, Any]) -> Iterator[str]:
    for least_key, most_key, one, many in _COUNTED:
        least, most = number(facts.get(least_key)), number(facts.get(most_key))
        if least == 0:
            least = None
        if least is not None and most is not None:
            yield f"{written(least)} {one if least == 1 else many}" if least == most else _range(least, most, many)
        elif least is not None:
            yield f"at least {written(least)} {one if least == 1 else many}"
        elif most is not None:
            yield f"at most {written(most)} {one if most == 1 else many}"


def _range(least: float, most: float, unit: str) -> str:
    return f"{written(least)} to {written(most)} {unit}"


def _bounds(facts: Mapping[str, Any]) -> Iterator[str]:
    least, above = _limit(facts, "minimum", "exclusiveMinimum")
    most, below = _limit(facts, "maximum", "exclusiveMaximum")
    if least is not None and most is not None:
        yield f"{written(least)} to {written(most)}"
    elif least is not None:
        yield f"at least {written(least)}"
    elif most is not None:
        yield f"at most {written(most)}"
    if above is not None:
        yield f"more than {written(above)}"
    if below is not None:
        yield f"less than {written(below)}"


def _limit(facts: Mapping[str, Any], bound: str, exclusive: str) -> tuple[float | None, float | None]:
    """The inclusive and the exclusive bound. ``exclusive`` is a boolean in OpenAPI 3.0, and a number in 3.1."""
    limit, strict = number(facts.get(bound)), facts.get(exclusive)
    if strict is True:
        return None, limit
    return limit, number(strict)


def _others(facts: Mapping[str, Any]) -> Iterator[str]:
    step = number(facts.get("multipleOf"))
    if step is not None:
        yield f"a multiple of {written(step)}"
    if facts.get("uniqueItems") is True:
        yield "no item twice"


def number(value: Any) -> int | float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def written(value: float) -> str:
    """A number as text: ``3`` for 3.0. Numbers from 10^15 on keep Python's notation."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else str(value)


def least(facts: Mapping[str, Any]) -> int | float | None:
    """The minimum of a numeric schema, for a generated example; None if it is not greater than 0."""
    limit, above = _limit(facts, "minimum", "exclusiveMinimum")
    found = above + 1 if above is not None else limit
    return None if found is None or found <= 0 else found


_MOST: Final = 600
"""Maximum number of schemas in one body or parameter. Further ones are left out, to limit the size of the page."""
_DEEPEST: Final = 12


Known = dict[tuple[str, str], tuple[Shape, tuple[Diagnostic, ...]]]
"""Cache: (document, ``$ref``) -> the shape, and the diagnostics reported while it was read."""


class Schemas:
    """Reads schemas. ``ordered``: keep the document's order of properties. Otherwise required properties come first,
    and both the required and the optional properties are sorted by name.

    ``known``: a cache of shapes that operations share, such as the shape of an error.
    """

    __slots__ = ("_depth", "_known", "_left", "_ordered", "_trail")

    def __init__(self, known: Known | None = None, *, ordered: bool) -> None:
        self._known: Known = {} if known is None else known
        self._ordered = ordered
        self._left = _MOST
        self._depth = 0
        self._trail: list[tuple[str, str]] = []

    def shape(self, ref: JsonRef) -> Shape:
        """The shape of the schema at ``ref``; the shape of any value if there is no schema."""
        if self._depth:
            return self._made(ref)
        self._left = _MOST
        if not isinstance(ref.value, dict) or ref.value.keys() != {"$ref"}:
            return self._made(ref)
        key = (ref.path, str(ref.value["$ref"]))
        if key not in self._known:
            before = len(ref.diagnostics)
            self._known[key] = (self._made(ref), ref.diagnostics.since(before))
        shape, diagnostics = self._known[key]
        ref.diagnostics.repeat(diagnostics)
        return shape

    def _made(self, ref: JsonRef) -> Shape:
        self._left -= 1
        merged = MergedSchema()
        before = len(self._trail)
        self._depth += 1
        try:
            if not merge_schema(ref, merged, self._trail):
                return _again(merged)
            if self._left < 0 or self._depth > _DEEPEST:
                return self._cut(ref, merged)
            return _again(merged) if merged.recursive else self._finished(merged)
        finally:
            self._depth -= 1
            del self._trail[before:]

    def _cut(self, ref: JsonRef, merged: MergedSchema) -> Shape:
        limit = f"{_DEEPEST} levels" if self._depth > _DEEPEST else f"{_MOST} parts"
        message = f"this schema has more than {limit}; a page does not show the rest"
        ref.report("API009", message, "simplify the schema, or ignore this", Severity.INFO)
        return Shape(type=_words(merged), kind=merged.kind(), name=merged.name, recursive=True)

    def _finished(self, merged: MergedSchema) -> Shape:
        if merged.impossible:
            return NOTHING
        facts = merged.facts
        items = self.shape(merged.items) if merged.items is not None else None
        alternatives = tuple(self._alternative(ref, merged) for ref in merged.alternatives)
        return Shape(
            type=_words(merged, items),
            kind=merged.kind(),
            name=merged.name,
            title=_text(facts, "title"),
            description=_text(facts, "description"),
            format=_text(facts, "format"),
            constraints=(*constraints(facts), *_needed(merged)),
            pattern=_text(facts, "pattern"),
            least=least(facts),
            enum=tuple(value for value in merged.enum() if value is not None),
            const=facts.get("const", ABSENT),
            default=facts.get("default", ABSENT),
            example=_example(facts),
            fields=tuple(self._fields(merged)),
            extra=self.shape(merged.extra) if merged.extra is not None else None,
            closed=merged.closed,
            items=items,
            choice=merged.choice if alternatives else "",
            alternatives=alternatives,
            discriminator=merged.discriminator,
            nullable=merged.nullable,
            deprecated=facts.get("deprecated") is True,
            read_only=facts.get("readOnly") is True,
            write_only=facts.get("writeOnly") is True,
        )

    def _fields(self, merged: MergedSchema) -> Iterator[Field]:
        names: Sequence[str] = list(merged.properties)
        if not self._ordered and not merged.tuple_:
            names = sorted(names, key=lambda name: (name not in merged.required, name.casefold(), name))
        for name in names:
            yield Field(name, self.shape(merged.properties[name]), name in merged.required)

    def _alternative(self, ref: JsonRef, merged: MergedSchema) -> Shape:
        shape = self.shape(ref)
        label = merged.labels.get(ref.text("$ref")) if ref.has("$ref") else None
        if label is None or shape.title == label:
            return shape
        return replace(shape, title=label)


def _again(merged: MergedSchema) -> Shape:
    description, nullable = _text(merged.facts, "description"), merged.nullable
    name = merged.name
    return Shape(type=name or "the same", name=name, description=description, nullable=nullable, recursive=True)


def _needed(merged: MergedSchema) -> Iterator[str]:
    """Yield a constraint with the names of the required properties that have no schema. Some alternatives have no other
    content."""
    missing = sorted(merged.required - merged.properties.keys())
    if missing and not merged.alternatives:
        yield f"needs {', '.join(missing)}"


_MANY: Final = {
    "string": "strings", "number": "numbers", "integer": "integers", "boolean": "booleans", "object": "objects",
    "any": "any values", "null": "nulls", "file": "files",
}  # fmt: skip


def _words(merged: MergedSchema, items: Shape | None = None) -> str:
    kinds = merged.kinds()
    if "array" in kinds and items is not None:
        kinds = tuple(f"array of {_many(items)}" if kind == "array" else kind for kind in kinds)
    if not kinds and merged.alternatives:
        return ""
    return " or ".join(kinds) if kinds else ANY.type


def _many(items: Shape) -> str:
    return _plural(items) + (" or nulls" if items.nullable else "")


def _plural(items: Shape) -> str:
    if items.recursive and items.name:
        return items.name
    head, of, rest = items.type.partition(" of ")
    if of:
        return f"{head}s{of}{rest}"
    return " or ".join(_MANY.get(word, word) for word in items.type.split(" or ")) if items.type else "alternatives"


def _text(facts: dict[str, Any], key: str) -> str:
    value = facts.get(key)
    return value if isinstance(value, str) else ""


def _example(facts: dict[str, Any]) -> Any:
    if "example" in facts:
        return facts["example"]
    several = facts.get("examples")
    return several[0] if isinstance(several, list) and several else ABSENT
