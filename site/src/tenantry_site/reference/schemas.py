"""Schemas: from the JSON of a schema to its Shape, within limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.reference.constraints import constraints, least
from tenantry_site.reference.gathered import Gathered, gather
from tenantry_site.reference.place import Place
from tenantry_site.reference.shape import ABSENT, ANY, NOTHING, Field, Shape

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

    def shape(self, place: Place) -> Shape:
        """The shape of the schema at a place; what any value has where there is none."""
        if self._depth:
            return self._made(place)
        self._left = _MOST
        if not isinstance(place.value, dict) or place.value.keys() != {"$ref"}:
            return self._made(place)
        key = (place.path, str(place.value["$ref"]))
        if key not in self._known:
            before = len(place.notes)
            self._known[key] = (self._made(place), place.notes.since(before))
        shape, said = self._known[key]
        place.notes.again(said)
        return shape

    def _made(self, place: Place) -> Shape:
        self._left -= 1
        gathered = Gathered()
        before = len(self._trail)
        self._depth += 1
        try:
            if not gather(place, gathered, self._trail):
                return _again(gathered.name)
            if self._left < 0 or self._depth > _DEEPEST:
                return self._cut(place, gathered)
            return self._finished(gathered)
        finally:
            self._depth -= 1
            del self._trail[before:]

    def _cut(self, place: Place, gathered: Gathered) -> Shape:
        limit = f"{_DEEPEST} levels" if self._depth > _DEEPEST else f"{_MOST} parts"
        message = f"this schema has more than the {limit} that a page shows of one body"
        place.note("API009", message, "nothing, or give the deep part a page of its own", Severity.INFO)
        return Shape(type=_words(gathered), kind=gathered.kind(), name=gathered.name, recursive=True)

    def _finished(self, gathered: Gathered) -> Shape:
        if gathered.impossible:
            return NOTHING
        facts = gathered.facts
        items = self.shape(gathered.items) if gathered.items is not None else None
        alternatives = tuple(self._alternative(place, gathered) for place in gathered.alternatives)
        return Shape(
            type=_words(gathered, items),
            kind=gathered.kind(),
            name=gathered.name,
            title=_text(facts, "title"),
            description=_text(facts, "description"),
            format=_text(facts, "format"),
            constraints=(*constraints(facts), *_needed(gathered)),
            pattern=_text(facts, "pattern"),
            least=least(facts),
            enum=tuple(value for value in gathered.enum() if value is not None),
            const=facts.get("const", ABSENT),
            default=facts.get("default", ABSENT),
            example=_example(facts),
            fields=tuple(self._fields(gathered)),
            extra=self.shape(gathered.extra) if gathered.extra is not None else None,
            closed=gathered.closed,
            items=items,
            choice=gathered.choice if alternatives else "",
            alternatives=alternatives,
            discriminator=gathered.discriminator,
            nullable=gathered.nullable,
            deprecated=facts.get("deprecated") is True,
            read_only=facts.get("readOnly") is True,
            write_only=facts.get("writeOnly") is True,
        )

    def _fields(self, gathered: Gathered) -> Iterator[Field]:
        names: Sequence[str] = list(gathered.properties)
        if not self._ordered and not gathered.tuple_:
            names = sorted(names, key=lambda name: (name not in gathered.required, name.casefold(), name))
        for name in names:
            yield Field(name, self.shape(gathered.properties[name]), name in gathered.required)

    def _alternative(self, place: Place, gathered: Gathered) -> Shape:
        shape = self.shape(place)
        label = gathered.labels.get(place.text("$ref")) if place.has("$ref") else None
        if label is None or shape.title == label:
            return shape
        return replace(shape, title=label)


def _again(name: str) -> Shape:
    return Shape(type=name or "the same", name=name, recursive=True)


def _needed(gathered: Gathered) -> Iterator[str]:
    """The names that are required and described nowhere: an alternative may consist of nothing else."""
    missing = sorted(gathered.required - gathered.properties.keys())
    if missing and not gathered.alternatives:
        yield f"needs {', '.join(missing)}"


_MANY: Final = {
    "string": "strings", "number": "numbers", "integer": "integers", "boolean": "booleans", "object": "objects",
    "any": "any values", "null": "nulls", "file": "files",
}  # fmt: skip


def _words(gathered: Gathered, items: Shape | None = None) -> str:
    kinds = gathered.kinds()
    if "array" in kinds and items is not None:
        kinds = tuple(f"array of {_many(items)}" if kind == "array" else kind for kind in kinds)
    if not kinds and gathered.alternatives:
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
