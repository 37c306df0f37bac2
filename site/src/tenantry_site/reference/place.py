"""Place: one value of an OpenAPI document, with where it stands; reading on from it never raises.

A part of the wrong type is noted and taken as absent, so that whoever reads a document sees only what has a shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

from tenantry_site.diagnostic import Severity
from tenantry_site.reference.library import Library, Notes, is_elsewhere, within

_LONGEST_CHAIN: Final = 20  # of references that lead to references
_NOWHERE: Final = object()


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class Place:
    """``value`` is what stands at ``pointer`` of the document ``path``; None also where nothing does."""

    value: Any
    path: str
    pointer: str
    library: Library
    notes: Notes

    def __bool__(self) -> bool:
        return self.value is not None

    def at(self, key: str) -> Place:
        """The value of a key of an object; a place of None where there is none."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return replace(self, value=value, pointer=f"{self.pointer}/{escaped(key)}")

    def has(self, key: str) -> bool:
        """Whether this is an object with this key, its value null included."""
        return isinstance(self.value, dict) and key in self.value

    def text(self, key: str) -> str:
        """The text of a key; a number is written out, and anything else is noted and empty."""
        found = self.at(key)
        if isinstance(found.value, str):
            return found.value
        if isinstance(found.value, (int, float)) and not isinstance(found.value, bool):
            return str(found.value)
        if found:
            found.note_shape("a text")
        return ""

    def flag(self, key: str) -> bool:
        """Whether a key is true; anything that is not a truth value is noted and false."""
        found = self.at(key)
        if found and not isinstance(found.value, bool):
            found.note_shape("true or false")
        return found.value is True

    def entries(self, key: str) -> Iterator[tuple[str, Place]]:
        """The keys and values of an object at a key."""
        found = self.at(key)
        if isinstance(found.value, dict):
            for name in found.value:
                yield name, found.at(name)
        elif found:
            found.note_shape("an object")

    def items(self, key: str) -> Iterator[Place]:
        """The values of an array at a key."""
        found = self.at(key)
        if isinstance(found.value, list):
            for index, value in enumerate(found.value):
                yield replace(found, value=value, pointer=f"{found.pointer}/{index}")
        elif found:
            found.note_shape("an array")

    def object(self, key: str) -> Place:
        """The object at a key, its reference followed; a place of None where there is none."""
        return self.at(key).followed().as_object()

    def as_object(self) -> Place:
        """This place if it holds an object; else one of None, and a note where there is something else."""
        if isinstance(self.value, dict):
            return self
        if self:
            self.note_shape("an object")
        return replace(self, value=None)

    def followed(self) -> Place:
        """What a ``$ref`` here leads to, through any number of them; what stands beside a ``$ref`` goes before it."""
        place, seen = self, {(self.path, self.pointer)}
        beside: dict[str, Any] = {}
        while isinstance(place.value, dict) and isinstance(reference := place.value.get("$ref"), str):
            beside = {**{key: value for key, value in place.value.items() if key != "$ref"}, **beside}
            target = place._target(reference)
            if (target.path, target.pointer) in seen or len(seen) > _LONGEST_CHAIN:
                self.note("API008", f"$ref {reference!r} leads only to itself", "write the schema out at its end")
                return replace(self, value=None)
            seen.add((target.path, target.pointer))
            place = target
        if beside and isinstance(place.value, dict):
            return replace(place, value={**place.value, **beside})
        return place

    def _target(self, reference: str) -> Place:
        file, _, fragment = reference.partition("#")
        if is_elsewhere(file):
            fix = "save a copy beside the pages and refer to that"
            return self._lost("API007", f"$ref {reference!r} is a web address, and a build fetches nothing", fix)
        path = within(self.path, file) if file else self.path
        if path is None:
            return self._lost("API007", f"$ref {reference!r} leaves the site's folder", "copy the file into it")
        if path not in self.library:
            return self._lost("API006", f"$ref {reference!r}: there is no file {path}", "mend the path")
        value = self.library.value(path, self.notes)
        for part in fragment.split("/")[1:] if fragment else ():
            value = _step(value, unquote(part).replace("~1", "/").replace("~0", "~"))
        if value is _NOWHERE or (fragment and not fragment.startswith("/")):
            return self._lost("API006", f"$ref {reference!r} leads to nothing", "mend the reference, or add the part")
        return replace(self, value=value, path=path, pointer=unquote(fragment))

    def _lost(self, code: str, message: str, fix: str) -> Place:
        self.note(code, message, fix)
        return replace(self, value=None, pointer=f"{self.pointer}/$ref")

    def note(self, code: str, message: str, fix: str, severity: Severity = Severity.WARNING) -> None:
        """Says something about this place."""
        self.notes.add(severity, code, message, fix, path=self.path, pointer=self.pointer)

    def note_shape(self, wanted: str) -> None:
        """Says that there is something else here than there must be."""
        found = _KINDS.get(type(self.value), "a value")
        self.note("API005", f"{found} stands where {wanted} belongs", f"write {wanted}, or leave it out")


def _step(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key, _NOWHERE)
    if isinstance(value, list) and key.isdecimal() and len(key) < 10 and int(key) < len(value):
        return value[int(key)]
    return _NOWHERE


_KINDS: Final = {
    str: "a text", bool: "true or false", int: "a number", float: "a number", list: "an array", dict: "an object",
}  # fmt: skip
