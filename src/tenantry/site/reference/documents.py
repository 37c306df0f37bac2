"""Documents: the OpenAPI documents that a configuration names, and the operations in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tenantry.site.config.model import SiteConfig
from tenantry.site.diagnostic import Diagnostic, Severity
from tenantry.site.reference.library import Library, Notes, is_elsewhere, nearest, within
from tenantry.site.reference.operation import Operation
from tenantry.site.reference.place import Place

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query", "x-query")
"""The keys of a path item that are operations; 3.1 has no word for QUERY (RFC 10008), so some write ``x-query``."""

_VERSION: Final = re.compile(r"3\.[012](?:\.\d+)?(?:-\w+)?")


class Documents:
    """The operations of each document, by its path, in the document's order."""

    __slots__ = ("_library", "_notes", "operations")

    def __init__(
        self, config: SiteConfig, files: Mapping[str, str | bytes], fetched: Mapping[str, str | bytes]
    ) -> None:
        self._library = Library(files, fetched)
        self._notes = Notes()
        self.operations: dict[str, tuple[Operation, ...]] = {}
        for written in config.openapi:
            path = self._path(written)
            if path is not None:
                self.read(path)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the documents themselves; what is wrong within an operation is said on its page."""
        return self._notes.since(0)

    def read(self, path: str) -> tuple[Operation, ...]:
        """The operations of a document, read once; none where it is not OpenAPI."""
        if path not in self.operations:
            root = Place(self._library.value(path, self._notes), path, "", self._library, self._notes)
            self.operations[path] = tuple(_operations(root)) if root and _is_openapi(root) else ()
        return self.operations[path]

    def likely(self) -> list[str]:
        """The files of the site that may be OpenAPI documents."""
        return self._library.likely()

    def _path(self, written: str) -> str | None:
        if is_elsewhere(written):
            if written in self._library:
                return written
            fix = "build with --fetch, or save a copy of the document beside the pages and name that"
            self._say("API003", f"openapi: {written} is a web address, and was not fetched", fix)
            return None
        path = within("", written)
        if path is not None and path in self._library:
            return path
        near = nearest(path or written, self._library.likely())
        fix = f"write {near!r}" if near else "write the path of a JSON or YAML file of the site"
        self._say("API002", f"openapi: there is no file {written}", fix)
        return None

    def _say(self, code: str, message: str, fix: str) -> None:
        self._notes.add(Severity.WARNING, code, message, fix, pointer="/openapi")


def _is_openapi(root: Place) -> bool:
    if not isinstance(root.value, dict):
        root.note_shape("an OpenAPI object")
        return False
    version = root.value.get("openapi")
    if isinstance(version, (str, int, float)) and _VERSION.fullmatch(str(version).strip()):
        return True
    if "swagger" in root.value:
        message = f"this is Swagger {root.text('swagger')}, and only OpenAPI 3.0 and 3.1 are read"
        root.note("API004", message, "convert the document to OpenAPI 3", Severity.ERROR)
        return False
    if version is None:
        message, fix = "the document does not say `openapi`", 'write "openapi": "3.1.0" at its top, if it is one'
    else:
        message, fix = f"OpenAPI {str(version)[:40]} is not read", "write OpenAPI 3.0 or 3.1"
    root.note("API004", message, fix, Severity.ERROR)
    return False


def _operations(root: Place) -> Iterator[Operation]:
    for path, item in root.entries("paths"):
        if not path.startswith("x-"):
            yield from item_operations(path, item)
    for name, item in root.entries("webhooks"):
        around = item.followed().as_object()
        for key in METHODS:
            if around.has(key) and isinstance(around.at(key).value, dict):
                yield Operation("WEBHOOK", name, root.path, around.at(key), around)
                break


def item_operations(path: str, item: Place) -> Iterator[Operation]:
    """The operations of one path item."""
    around = item.followed().as_object()
    for key in around.value or ():
        if key.lower() in METHODS:
            place = around.at(key).as_object()
            if place:
                yield Operation(key.lower().removeprefix("x-").upper(), path, item.path, place, around)
