"""Finds the OpenAPI documents of a site, and the operations in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tenantry_site.config.model import NamedDocument, SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.reference.json_ref import DocumentDiagnostics, DocumentLoader, JsonRef, is_external, resolve_path
from tenantry_site.reference.operation import Operation
from tenantry_site.suggestions import PathSuggestions

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query", "x-query")
"""The keys of a path item that are operations. OpenAPI 3.1 has no key for QUERY (RFC 10008); some documents write
``x-query``."""

_VERSION: Final = re.compile(r"3\.[012](?:\.\d+)?(?:-\w+)?")


class Documents:
    """The OpenAPI documents of a site: those that the configuration names, and others in the site's folder.

    ``named``: path or web address of a document in the configuration -> the places that name it: the ``url`` of a tab
    or anchor, or None for the top level. Documents are in the order of the configuration. Other documents are read when
    a page names an operation that no named document has.
    """

    __slots__ = ("_diagnostics", "_loader", "_operations", "_unnamed", "_unnamed_diagnostics", "_used", "named")

    def __init__(
        self, config: SiteConfig, files: Mapping[str, str | bytes], fetched: Mapping[str, str | bytes]
    ) -> None:
        self._loader = DocumentLoader(files, fetched)
        self._diagnostics = DocumentDiagnostics()
        self._unnamed_diagnostics: dict[str, DocumentDiagnostics] = {}
        self._operations: dict[str, tuple[Operation, ...]] = {}
        self._used: dict[str, None] = {}
        self._unnamed: tuple[str, ...] | None = None
        self.named: dict[str, list[str | None]] = {}
        for each in config.documents:
            path = self._path(each)
            if path is not None:
                self.named.setdefault(path, []).append(each.url)
                self.read(path)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Problems in the documents that are named or used. A problem inside an operation is reported for that
        operation's page."""
        return (
            *self._diagnostics.since(0),
            *(one for path in self._used for one in self._unnamed_diagnostics[path].since(0)),
        )

    @property
    def used(self) -> tuple[str, ...]:
        """The documents that the configuration names, and the documents that have an operation on a page."""
        return (*self.named, *self._used)

    def use(self, path: str) -> None:
        if path not in self.named:
            self._used[path] = None

    def unnamed(self) -> tuple[str, ...]:
        """The documents that are in the folder but not named in the configuration, the least nested first."""
        if self._unnamed is None:
            self._unnamed = tuple(path for path in self._loader.declared() if path not in self.named)
        return self._unnamed

    def read(self, path: str) -> tuple[Operation, ...]:
        """The operations of a document, which is read once. A document that is not OpenAPI has no operations. If the
        configuration does not name the document, problems are reported only if it is used."""
        if path not in self._operations:
            diagnostics = (
                self._diagnostics
                if path in self.named
                else self._unnamed_diagnostics.setdefault(path, DocumentDiagnostics())
            )
            root = JsonRef(self._loader.value(path, diagnostics), path, "", self._loader, diagnostics)
            self._operations[path] = tuple(_operations(root)) if root and _is_openapi(root) else ()
        return self._operations[path]

    def fault(self, path: str) -> str:
        """Why a document has no operations; empty if it has some."""
        if self.read(path):
            return ""
        reported = (
            self._unnamed_diagnostics[path].since(0)
            if path in self._unnamed_diagnostics
            else self._diagnostics.since(0)
        )
        return next((one.message for one in reported if one.path == path), "it has no operation")

    def likely(self) -> list[str]:
        return self._loader.likely()

    def _path(self, named: NamedDocument) -> str | None:
        written = named.written
        if is_external(written):
            if written in self._loader:
                return written
            fix = "build with --fetch, or save the document in the site's folder and write its path"
            self._report("API003", f"openapi: {written} is a web address, and was not fetched", fix, named)
            return None
        path = resolve_path("", written)
        if path is not None and path in self._loader:
            return path
        near = PathSuggestions(self._loader.likely()).find(path or written)
        fix = f"write {near!r}" if near else "write the path of a JSON or YAML file of the site"
        self._report("API002", f"openapi: there is no file {written}", fix, named)
        return None

    def _report(self, code: str, message: str, fix: str, named: NamedDocument) -> None:
        self._diagnostics.add(Severity.WARNING, code, message, fix, pointer=named.pointer)


def _is_openapi(root: JsonRef) -> bool:
    if not isinstance(root.value, dict):
        root.report_type("an OpenAPI object")
        return False
    version = root.value.get("openapi")
    if isinstance(version, (str, int, float)) and _VERSION.fullmatch(str(version).strip()):
        return True
    if "swagger" in root.value:
        message = f"this is Swagger {root.text('swagger')}; only OpenAPI 3.0 and 3.1 are supported"
        root.report("API004", message, "convert the document to OpenAPI 3", Severity.ERROR)
        return False
    if version is None:
        message, fix = "the document has no `openapi` field", 'add "openapi": "3.1.0" if it is an OpenAPI document'
    else:
        message, fix = f"OpenAPI {str(version)[:40]} is not supported", "use OpenAPI 3.0 or 3.1"
    root.report("API004", message, fix, Severity.ERROR)
    return False


def _operations(root: JsonRef) -> Iterator[Operation]:
    for path, item in root.entries("paths"):
        if not path.startswith("x-"):
            yield from item_operations(path, item)
    for name, item in root.entries("webhooks"):
        around = item.followed().as_object()
        for key in METHODS:
            if around.has(key) and isinstance(around.at(key).value, dict):
                yield Operation("WEBHOOK", name, root.path, around.at(key), around)
                break


def item_operations(path: str, item: JsonRef) -> Iterator[Operation]:
    """The operations of a path item. ``path``: their path in the document."""
    around = item.followed().as_object()
    for key in around.value or ():
        if key.lower() in METHODS:
            ref = around.at(key).as_object()
            if ref:
                yield Operation(key.lower().removeprefix("x-").upper(), path, item.path, ref, around)
