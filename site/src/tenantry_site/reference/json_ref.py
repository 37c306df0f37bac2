"""The OpenAPI documents of a site, read when they are first needed; JsonRef: one value of one, with its position.

Reading on from a JsonRef never raises. A value of the wrong type is reported and taken as absent, so that whoever reads
a document sees only what has the right type.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import dirname, normpath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.reference.document_parser import UnreadableDocument, parse

CODES: Final[dict[str, str]] = {
    "API001": "An OpenAPI document cannot be read as JSON or YAML.",
    "API002": "The configuration names an OpenAPI document that is not among the files of the site.",
    "API003": "The configuration names an OpenAPI document by a web address, and it was not fetched (`--fetch`).",
    "API004": "A document is not OpenAPI 3.0 or 3.1.",
    "API005": "A part of a document has another shape than OpenAPI gives it, and is left out.",
    "API006": "A `$ref` leads to nothing.",
    "API007": "A `$ref` leads to a web address or out of the site's folder.",
    "API008": "A chain of `$ref`s leads only to itself.",
    "API009": "A document, or the schema of one operation, is too deep or too large to be shown whole.",
    "API010": "A page names an operation that no document has.",
    "API011": "The `api` of a page has no method.",
    "API012": "The `api` of a page is not a path or an http(s) address.",
    "API013": "A parameter of a path is not declared, or a declared path parameter is not in the path.",
    "API014": "A page or a document asks for a security scheme that the document does not declare.",
    "API015": "The front matter of an API page has a value that is not one of those allowed.",
    "API016": "The address of a server is not an http(s) address or a path.",
    "API017": "The `api` page has a path and the configuration has no `api.baseUrl`.",
}
"""Each code and its meaning; a code is stable."""


SUFFIXES: Final = (".json", ".yaml", ".yml")

_DECLARES: Final = re.compile(
    r"""(?:^|[{,])[ \t\ufeff]*(["']?)(?:openapi|swagger)\1[ \t]*:[ \t\r\n]*["']?[0-9]""", re.MULTILINE
)
"""The version of an OpenAPI or Swagger document, as JSON and YAML write it."""


class DocumentDiagnostics:
    """Diagnostics as they are found, each once, in order."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}

    def add(
        self,
        severity: Severity,
        code: str,
        message: str,
        fix: str,
        *,
        path: str = "",
        pointer: str = "",
        position: tuple[int, int] = (0, 0),
    ) -> None:
        """Adds a finding at a position."""
        self._found[Diagnostic(severity, code, message, fix, pointer, *position, path)] = None

    def repeat(self, found: Iterable[Diagnostic]) -> None:
        """Adds what was reported before."""
        self._found.update(dict.fromkeys(found))

    def since(self, count: int) -> tuple[Diagnostic, ...]:
        """What was added after there were ``count``."""
        return tuple(self._found)[count:]

    def __len__(self) -> int:
        return len(self._found)


class DocumentLoader:
    """The values of documents by their paths within the site, or by the web address that they were fetched from."""

    __slots__ = ("_fetched", "_files", "_values")

    def __init__(self, files: Mapping[str, str | bytes], fetched: Mapping[str, str | bytes]) -> None:
        self._files = files
        self._fetched = fetched
        self._values: dict[str, Any] = {}

    def value(self, path: str, diagnostics: DocumentDiagnostics) -> Any:
        """What the document at a path holds; None, and a diagnostic where it cannot be read. Read once."""
        if path not in self._values:
            self._values[path] = None
            try:
                self._values[path] = parse((self._fetched if path in self._fetched else self._files)[path])
            except UnreadableDocument as error:
                message = f"{path} cannot be read: {error.message}"
                diagnostics.add(
                    Severity.ERROR, "API001", message, error.fix, path=path, position=(error.line, error.column)
                )
        return self._values[path]

    def __contains__(self, path: str) -> bool:
        return path in self._fetched or path in self._files

    def likely(self) -> list[str]:
        """The files that may be OpenAPI documents by their names."""
        return [path for path in self._files if path.lower().endswith(SUFFIXES)]

    def declared(self) -> list[str]:
        """Those of them that declare themselves to be OpenAPI or Swagger. They are searched, not parsed."""
        return [path for path in sorted(self.likely(), key=_depth) if _DECLARES.search(self._text(path)) is not None]

    def _text(self, path: str) -> str:
        content = self._files[path]
        if isinstance(content, str):
            return content
        return content.removeprefix(BOM_UTF8).decode("latin-1")  # what is searched for is ASCII


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path


def resolve_path(base: str, reference: str) -> str | None:
    """The path within the site that a reference written in the file ``base`` means; None if it leaves the site."""
    start = "" if reference.startswith("/") else dirname(base)
    path = normpath(f"{start}/{unquote(reference)}".replace("\\", "/").lstrip("/") or ".")
    return None if path.startswith("..") or path == "." else path


def is_external(reference: str) -> bool:
    """Whether a reference is a web address, or of another scheme than a file of the site has."""
    try:
        parts = urlsplit(reference)
    except ValueError:
        return True
    return bool(parts.netloc) or len(parts.scheme) > 1  # one letter is the drive of a Windows path


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

    def report_type(self, expected: str) -> None:
        """Reports that there is something else here than there must be."""
        found = _KINDS.get(type(self.value), "a value")
        self.report("API005", f"{found} stands where {expected} belongs", f"write {expected}, or leave it out")


def _step(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key, _NOWHERE)
    if isinstance(value, list) and key.isdecimal() and len(key) < 10 and int(key) < len(value):
        return value[int(key)]
    return _NOWHERE


_KINDS: Final = {
    str: "a text", bool: "true or false", int: "a number", float: "a number", list: "an array", dict: "an object",
}  # fmt: skip
