"""The OpenAPI documents of a site, read when they are first needed, and the diagnostics of what is wrong in them."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
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
