"""A schema as it is shown to a reader: references followed, ``allOf`` merged, cut where it would have no end; and its
bounds as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.reference.json_ref import JsonRef
from tenantry_site.reference.merged_schema import MergedSchema, merge_schema

ABSENT: Final[Any] = object()
"""Stands for a default, a constant or an example that is not given: null is a value like any other."""


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object. ``name`` is its key, or says what keys are meant."""

    name: str
    shape: Shape
    required: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """``type`` is as text (``array of strings``), ``kind`` the JSON type or empty, ``name`` the reference's.

    ``fields`` are an object's properties; ``extra`` the shape of all others, if anything is said.
    ``items`` is an array's. ``alternatives`` are those of ``oneOf`` or ``anyOf``, with ``choice`` as their heading.
    ``recursive``: the schema is one of those that it stands in, and is not drawn again. ``constraints`` are words;
    ``pattern`` is apart because it is code; ``least`` is the least number above 0 that is allowed.
    """

    type: str = "any"
    kind: str = ""
    name: str = ""
    title: str = ""
    description: str = ""
    format: str = ""
    constraints: tuple[str, ...] = ()
    pattern: str = ""
    least: int | float | None = None
    enum: tuple[Any, ...] = ()
    const: Any = ABSENT
    default: Any = ABSENT
    example: Any = ABSENT
    fields: tuple[Field, ...] = ()
    extra: Shape | None = None
    closed: bool = False
    items: Shape | None = None
    choice: str = ""
    alternatives: tuple[Shape, ...] = ()
    discriminator: str = ""
    nullable: bool = False
    deprecated: bool = False
    read_only: bool = False
    write_only: bool = False
    recursive: bool = False

    @property
    def nested(self) -> bool:
        """Whether there is more to show of it than one line."""
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
    """``{"minLength": 1, "maxLength": 255}`` -> ``("1 to 255 characters",)``. What is no number is passed over."""
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
    """The bound that may be reached and the one that may not: 3.0 says which by a truth value, 3.1 by a number."""
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
    """The value if it is a number; a truth value is none."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def written(value: float) -> str:
    """A number as people write it: 3, not 3.0; large bounds as they are."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else str(value)


def least(facts: Mapping[str, Any]) -> int | float | None:
    """The least number that a schema allows where that is more than 0: an example is better off with it."""
    limit, above = _limit(facts, "minimum", "exclusiveMinimum")
    found = above + 1 if above is not None else limit
    return None if found is None or found <= 0 else found


_MOST: Final = 600
"""Shapes under one body or parameter: what is larger is no longer read, and would weigh more than the whole page."""
_DEEPEST: Final = 12


Known = dict[tuple[str, str], tuple[Shape, tuple[Diagnostic, ...]]]
"""Shapes that were made of a reference, by the file that it stands in and its text, and what was said while."""


class Schemas:
    """Makes shapes. ``ordered``: properties stay in the document's order; else required first, then by name.

    ``known`` has the shapes that operations share, such as that of an error; it is added to.
    """

    __slots__ = ("_depth", "_known", "_left", "_ordered", "_trail")

    def __init__(self, known: Known | None = None, *, ordered: bool) -> None:
        self._known: Known = {} if known is None else known
        self._ordered = ordered
        self._left = _MOST
        self._depth = 0
        self._trail: list[tuple[str, str]] = []

    def shape(self, ref: JsonRef) -> Shape:
        """The shape of the schema at a reference; what any value has where there is none."""
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
                return Shape(type=merged.name or "the same", name=merged.name, recursive=True)
            if self._left < 0 or self._depth > _DEEPEST:
                return self._cut(ref, merged)
            return self._finished(merged)
        finally:
            self._depth -= 1
            del self._trail[before:]

    def _cut(self, ref: JsonRef, merged: MergedSchema) -> Shape:
        limit = f"{_DEEPEST} levels" if self._depth > _DEEPEST else f"{_MOST} parts"
        message = f"this schema has more than the {limit} that a page shows of one body"
        ref.report("API009", message, "nothing, or give the deep part a page of its own", Severity.INFO)
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


def _needed(merged: MergedSchema) -> Iterator[str]:
    """The names that are required and described nowhere: an alternative may consist of nothing else."""
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
