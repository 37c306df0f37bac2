"""JsonRef: one value of an OpenAPI document, with its position; reading on from it never raises.

A value of the wrong type is reported and taken as absent, so that whoever reads a document sees only what has the right
type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

from tenantry_site.diagnostic import Severity
from tenantry_site.reference.document_loader import DocumentDiagnostics, DocumentLoader, is_external, resolve_path

_LONGEST_CHAIN: Final = 20  # of references that lead to references
_NOWHERE: Final = object()


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class JsonRef:
    """``value`` is the value at ``pointer`` of the document ``path``; None also where there is none."""

    value: Any
    path: str
    pointer: str
    loader: DocumentLoader
    diagnostics: DocumentDiagnostics

    def __bool__(self) -> bool:
        return self.value is not None

    def at(self, key: str) -> JsonRef:
        """The value of a key of an object; a reference to None where there is none."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return replace(self, value=value, pointer=f"{self.pointer}/{escaped(key)}")

    def has(self, key: str) -> bool:
        """Whether this is an object with this key, its value null included."""
        return isinstance(self.value, dict) and key in self.value

    def text(self, key: str) -> str:
        """The text of a key; a number is written out, and anything else is reported and empty."""
        found = self.at(key)
        if isinstance(found.value, str):
            return found.value
        if isinstance(found.value, (int, float)) and not isinstance(found.value, bool):
            return str(found.value)
        if found:
            found.report_type("a text")
        return ""

    def flag(self, key: str) -> bool:
        """Whether a key is true; anything that is not a truth value is reported and false."""
        found = self.at(key)
        if found and not isinstance(found.value, bool):
            found.report_type("true or false")
        return found.value is True

    def entries(self, key: str) -> Iterator[tuple[str, JsonRef]]:
        """The keys and values of an object at a key."""
        found = self.at(key)
        if isinstance(found.value, dict):
            for name in found.value:
                yield name, found.at(name)
        elif found:
            found.report_type("an object")

    def items(self, key: str) -> Iterator[JsonRef]:
        """The values of an array at a key."""
        found = self.at(key)
        if isinstance(found.value, list):
            for index, value in enumerate(found.value):
                yield replace(found, value=value, pointer=f"{found.pointer}/{index}")
        elif found:
            found.report_type("an array")

    def object(self, key: str) -> JsonRef:
        """The object at a key, its reference followed; a reference to None where there is none."""
        return self.at(key).followed().as_object()

    def as_object(self) -> JsonRef:
        """This reference if it holds an object; else one of None, and a diagnostic where there is something else."""
        if isinstance(self.value, dict):
            return self
        if self:
            self.report_type("an object")
        return replace(self, value=None)

    def followed(self) -> JsonRef:
        """What a ``$ref`` here leads to, through any number of them; what stands beside a ``$ref`` goes before it."""
        ref, seen = self, {(self.path, self.pointer)}
        beside: dict[str, Any] = {}
        while isinstance(ref.value, dict) and isinstance(reference := ref.value.get("$ref"), str):
            beside = {**{key: value for key, value in ref.value.items() if key != "$ref"}, **beside}
            target = ref._resolve(reference)
            if (target.path, target.pointer) in seen or len(seen) > _LONGEST_CHAIN:
                self.report("API008", f"$ref {reference!r} leads only to itself", "write the schema out at its end")
                return replace(self, value=None)
            seen.add((target.path, target.pointer))
            ref = target
        if beside and isinstance(ref.value, dict):
            return replace(ref, value={**ref.value, **beside})
        return ref

    def _resolve(self, reference: str) -> JsonRef:
        file, _, fragment = reference.partition("#")
        if is_external(file):
            fix = "save a copy beside the pages and refer to that"
            return self._missing("API007", f"$ref {reference!r} is a web address, and a build fetches nothing", fix)
        path = resolve_path(self.path, file) if file else self.path
        if path is None:
            return self._missing("API007", f"$ref {reference!r} leaves the site's folder", "copy the file into it")
        if path not in self.loader:
            return self._missing("API006", f"$ref {reference!r}: there is no file {path}", "fix the path")
        value = self.loader.value(path, self.diagnostics)
        for part in fragment.split("/")[1:] if fragment else ():
            value = _step(value, unquote(part).replace("~1", "/").replace("~0", "~"))
        if value is _NOWHERE or (fragment and not fragment.startswith("/")):
            return self._missing("API006", f"$ref {reference!r} leads to nothing", "fix the reference, or add the part")
        return replace(self, value=value, path=path, pointer=unquote(fragment))

    def _missing(self, code: str, message: str, fix: str) -> JsonRef:
        self.report(code, message, fix)
        return replace(self, value=None, pointer=f"{self.pointer}/$ref")

    def report(self, code: str, message: str, fix: str, severity: Severity = Severity.WARNING) -> None:
        """Reports something about this value."""
        self.diagnostics.add(severity, code, message, fix, path=self.path, pointer=self.pointer)

    def report_type(self, parse_spec: str) -> None:
        """Reports that there is something else here than there must be."""
        found = _KINDS.get(type(self.value), "a value")
        self.report("API005", f"{found} stands where {parse_spec} belongs", f"write {parse_spec}, or leave it out")


def _step(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key, _NOWHERE)
    if isinstance(value, list) and key.isdecimal() and len(key) < 10 and int(key) < len(value):
        return value[int(key)]
    return _NOWHERE


_KINDS: Final = {
    str: "a text", bool: "true or false", int: "a number", float: "a number", list: "an array", dict: "an object",
}  # fmt: skip
