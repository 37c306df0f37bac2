"""Access to the values of OpenAPI documents, with their positions for diagnostics.

Reading through a ``JsonRef`` never raises. A value of the wrong type is reported and treated as absent, so that callers
get only values of the expected type.
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
    "API002": "The configuration names an OpenAPI document that the site does not have.",
    "API003": "The configuration names an OpenAPI document by web address, which was not fetched (`--fetch`).",
    "API004": "A document is not OpenAPI 3.0 or 3.1.",
    "API005": "A part of a document does not have the type that OpenAPI requires, and is left out.",
    "API006": "A `$ref` names something that does not exist.",
    "API007": "A `$ref` leads to a web address or out of the site's folder.",
    "API008": "A chain of `$ref`s leads back to itself.",
    "API009": "A schema is nested too deeply or is too large to be shown completely.",
    "API010": "A page names an operation that no document has.",
    "API011": "The `api` of a page has no method.",
    "API012": "The `api` of a page is not a path or an http(s) address.",
    "API013": "A parameter of a path is not declared, or a declared path parameter is not in the path.",
    "API014": "A document uses a security scheme that it does not declare.",
    "API015": "The front matter of an API page has a value that is not allowed.",
    "API016": "The address of a server is not an http(s) address or a path.",
    "API017": "The `api` of a page is a path, but the configuration has no `api.baseUrl`.",
}
"""Diagnostic code -> its meaning. Codes are stable."""


SUFFIXES: Final = (".json", ".yaml", ".yml")

_DECLARES: Final = re.compile(
    r"""(?:^|[{,])[ \t\ufeff]*(["']?)(?:openapi|swagger)\1[ \t]*:[ \t\r\n]*["']?[0-9]""", re.MULTILINE
)
"""The version field of an OpenAPI or Swagger document, in JSON or YAML."""


class DocumentDiagnostics:
    """Collects diagnostics in order, without repetitions."""

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
        """Add a diagnostic. ``position``: line and column."""
        self._found[Diagnostic(severity, code, message, fix, pointer, *position, path)] = None

    def repeat(self, found: Iterable[Diagnostic]) -> None:
        self._found.update(dict.fromkeys(found))

    def since(self, count: int) -> tuple[Diagnostic, ...]:
        return tuple(self._found)[count:]

    def __len__(self) -> int:
        return len(self._found)


class DocumentLoader:
    """Loads documents by path within the site, or by the web address from which they were fetched. Each document is
    parsed once."""

    __slots__ = ("_fetched", "_files", "_values")

    def __init__(self, files: Mapping[str, str | bytes], fetched: Mapping[str, str | bytes]) -> None:
        self._files = files
        self._fetched = fetched
        self._values: dict[str, Any] = {}

    def value(self, path: str, diagnostics: DocumentDiagnostics) -> Any:
        """The parsed document at ``path``, which must be known. None if it cannot be read; the first call reports
        why."""
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
        return [path for path in self._files if path.lower().endswith(SUFFIXES)]

    def declared(self) -> list[str]:
        """The JSON and YAML files with an ``openapi`` or ``swagger`` version, the least nested first. The files are
        searched with a pattern, not parsed."""
        return [path for path in sorted(self.likely(), key=_depth) if _DECLARES.search(self._text(path)) is not None]

    def _text(self, path: str) -> str:
        content = self._files[path]
        if isinstance(content, str):
            return content
        return content.removeprefix(BOM_UTF8).decode("latin-1")  # the pattern that is searched for is ASCII


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path


def resolve_path(base: str, reference: str) -> str | None:
    """The path within the site of a relative reference in the file ``base``; None if it leads out of the site."""
    start = "" if reference.startswith("/") else dirname(base)
    path = normpath(f"{start}/{unquote(reference)}".replace("\\", "/").lstrip("/") or ".")
    return None if path.startswith("..") or path == "." else path


def is_external(reference: str) -> bool:
    """Whether a reference has a scheme or host, so that it does not name a file of the site."""
    try:
        parts = urlsplit(reference)
    except ValueError:
        return True
    return bool(parts.netloc) or len(parts.scheme) > 1  # a scheme of one letter is the drive of a Windows path


_LONGEST_CHAIN: Final = 20  # maximum number of references to follow in a chain
_NOWHERE: Final = object()


def escaped(key: str) -> str:
    """A key as a segment of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class JsonRef:
    """A value of a document with its position. ``value``: None if there is no value at ``pointer``, or it is null."""

    value: Any
    path: str
    pointer: str
    loader: DocumentLoader
    diagnostics: DocumentDiagnostics

    def __bool__(self) -> bool:
        return self.value is not None

    def at(self, key: str) -> JsonRef:
        """A reference to the value of a key. Its ``value`` is None if this is not an object with that key."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return replace(self, value=value, pointer=f"{self.pointer}/{escaped(key)}")

    def has(self, key: str) -> bool:
        """Whether this is an object with this key, whose value may be null."""
        return isinstance(self.value, dict) and key in self.value

    def text(self, key: str) -> str:
        """The value of a key as a string; a number is converted. Empty if the key is absent. A value of another type is
        reported and gives an empty string."""
        found = self.at(key)
        if isinstance(found.value, str):
            return found.value
        if isinstance(found.value, (int, float)) and not isinstance(found.value, bool):
            return str(found.value)
        if found:
            found.report_type("a string")
        return ""

    def flag(self, key: str) -> bool:
        """Whether the value of a key is true. A value that is not a boolean is reported and gives False."""
        found = self.at(key)
        if found and not isinstance(found.value, bool):
            found.report_type("true or false")
        return found.value is True

    def entries(self, key: str) -> Iterator[tuple[str, JsonRef]]:
        """Yield the keys and values of the object at a key; nothing if the key is absent. A value that is not an object
        is reported and yields nothing."""
        found = self.at(key)
        if isinstance(found.value, dict):
            for name in found.value:
                yield name, found.at(name)
        elif found:
            found.report_type("an object")

    def items(self, key: str) -> Iterator[JsonRef]:
        """Yield the values of the array at a key; nothing if the key is absent. A value that is not an array is
        reported and yields nothing."""
        found = self.at(key)
        if isinstance(found.value, list):
            for index, value in enumerate(found.value):
                yield replace(found, value=value, pointer=f"{found.pointer}/{index}")
        elif found:
            found.report_type("an array")

    def object(self, key: str) -> JsonRef:
        """The object at a key, with a ``$ref`` followed. Its ``value`` is None if the key is absent. A value that is
        not an object is reported and gives None too."""
        return self.at(key).followed().as_object()

    def as_object(self) -> JsonRef:
        """This reference if its value is an object; else a reference with the ``value`` None. A value of another type
        is reported."""
        if isinstance(self.value, dict):
            return self
        if self:
            self.report_type("an object")
        return replace(self, value=None)

    def followed(self) -> JsonRef:
        """The target of this object's ``$ref``, through further references; without a ``$ref``, this value. Keys next
        to a ``$ref`` replace those of the target. A broken reference is reported and gives the ``value`` None."""
        ref, seen = self, {(self.path, self.pointer)}
        siblings: dict[str, Any] = {}
        while isinstance(ref.value, dict) and isinstance(reference := ref.value.get("$ref"), str):
            siblings = {**{key: value for key, value in ref.value.items() if key != "$ref"}, **siblings}
            target = ref._resolve(reference)
            if (target.path, target.pointer) in seen or len(seen) > _LONGEST_CHAIN:
                self.report(
                    "API008", f"$ref {reference!r} leads back to itself", "let the last reference lead to a schema"
                )
                return replace(self, value=None)
            seen.add((target.path, target.pointer))
            ref = target
        if siblings and isinstance(ref.value, dict):
            return replace(ref, value={**ref.value, **siblings})
        return ref

    def _resolve(self, reference: str) -> JsonRef:
        file, _, fragment = reference.partition("#")
        if is_external(file):
            fix = "save a copy in the site's folder and refer to it"
            return self._missing("API007", f"$ref {reference!r} is a web address, which is not fetched", fix)
        path = resolve_path(self.path, file) if file else self.path
        if path is None:
            fix = "copy the file into the folder"
            return self._missing("API007", f"$ref {reference!r} leads out of the site's folder", fix)
        if path not in self.loader:
            return self._missing("API006", f"$ref {reference!r}: there is no file {path}", "fix the path")
        value = self.loader.value(path, self.diagnostics)
        for part in fragment.split("/")[1:] if fragment else ():
            value = _step(value, unquote(part).replace("~1", "/").replace("~0", "~"))
        if value is _NOWHERE or (fragment and not fragment.startswith("/")):
            fix = "fix the reference, or add its target"
            return self._missing("API006", f"$ref {reference!r} names something that does not exist", fix)
        return replace(self, value=value, path=path, pointer=unquote(fragment))

    def _missing(self, code: str, message: str, fix: str) -> JsonRef:
        self.report(code, message, fix)
        return replace(self, value=None, pointer=f"{self.pointer}/$ref")

    def report(self, code: str, message: str, fix: str, severity: Severity = Severity.WARNING) -> None:
        self.diagnostics.add(severity, code, message, fix, path=self.path, pointer=self.pointer)

    def report_type(self, expected: str) -> None:
        """Report that this value is of the wrong type. ``expected``: the type in words."""
        found = _KINDS.get(type(self.value), "a value")
        self.report("API005", f"this is {found}, but {expected} is required", f"write {expected}, or remove it")


def _step(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key, _NOWHERE)
    if isinstance(value, list) and key.isdecimal() and len(key) < 10 and int(key) < len(value):
        return value[int(key)]
    return _NOWHERE


_KINDS: Final = {
    str: "a string", bool: "true or false", int: "a number", float: "a number", list: "an array", dict: "an object",
}  # fmt: skip
