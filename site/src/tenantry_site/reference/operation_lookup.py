"""Finds the OpenAPI operation that a page's front matter names: ``[FILE] METHOD /path`` or ``[FILE] webhook NAME``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from posixpath import basename, splitext
from types import MappingProxyType
from typing import Final

from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.navigation.tree import prefix_of
from tenantry_site.reference.documents import METHODS, Documents
from tenantry_site.reference.json_ref import resolve_path
from tenantry_site.reference.operation import Operation
from tenantry_site.suggestions import PathSuggestions, nearest

_SPEC: Final = re.compile(r"(?:(?P<file>\S.*?)\s+)?(?P<method>[A-Za-z][A-Za-z-]*)\s+(?P<path>\S.*)")
_NAMES: Final = re.compile(r"\{[^{}]*\}")
_WORDS: Final = frozenset({*(method.removeprefix("x-") for method in METHODS), "webhook"})


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """A parsed ``openapi`` field. ``method``: in upper case. ``file``: empty for any document."""

    file: str
    method: str
    path: str


def parse_spec(spec: str) -> OperationSpec | None:
    """Parse an ``openapi`` field; None if it lacks a method or path. The method may be in any case."""
    match = _SPEC.fullmatch(" ".join(spec.split()))
    if match is None or match["method"].lower() not in _WORDS:
        return None
    return OperationSpec(match["file"] or "", match["method"].upper(), match["path"])


def files_among(file: str, paths: Sequence[str]) -> Iterator[str]:
    """The documents that ``file`` may mean: the document with this path, else all with this file name, else all with
    this name and another suffix."""
    if file in paths:  # a web address
        yield file
        return
    path = resolve_path("", file)
    if path in paths:
        yield str(path)
        return
    for same in (basename, _stem):
        found = [known for known in paths if same(known) == same(path or file)]
        if found:
            yield from found
            return


def _stem(path: str) -> str:
    return splitext(basename(path))[0]


def find_operation(entry: OperationSpec, operations: Sequence[Operation]) -> Operation | None:
    """The operation with exactly this method and path."""
    for operation in operations:
        if operation.path == entry.path and operation.method == entry.method:
            return operation
    return None


def nearest_operation(entry: OperationSpec, operations: Sequence[Operation]) -> Operation | None:
    """The most similar operation, or None. An operation whose path differs only in parameter names is preferred to a
    similar spelling; among equals, an operation with the same method is preferred."""
    path = nearest(entry.path, (one.path for one in operations))
    shape = _NAMES.sub("{}", entry.path.rstrip("/").casefold())
    same = [one for one in operations if _NAMES.sub("{}", one.path.rstrip("/").casefold()) == shape]
    found = same or [one for one in operations if one.path == path]
    return next((one for one in found if one.method == entry.method), found[0] if found else None)


_SHOWN: Final = 6
"""Maximum number of documents that a diagnostic lists."""


def read_documents(
    config: SiteConfig, files: Mapping[str, str | bytes], fetched: Mapping[str, str | bytes] = MappingProxyType({})
) -> Reference:
    """Read the OpenAPI documents that a configuration names. Other documents in the site are read when pages need them.

    ``files``: path -> content of the site's files. ``fetched``: web address -> content of a document. Invalid documents
    give diagnostics, not errors.
    """
    return Reference(Documents(config, files, fetched))


class Reference:
    """The operations in the OpenAPI documents of a site."""

    __slots__ = ("_documents", "_prefixes")

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._prefixes = [
            (prefix, path)
            for path, urls in documents.named.items()
            for url in urls
            if url is not None and (prefix := prefix_of(url))
        ]
        self._prefixes.sort(key=lambda pair: -len(pair[0]))  # so that the longest matching prefix is found first

    @property
    def documents(self) -> Mapping[str, tuple[Operation, ...]]:
        """Document that the configuration names -> its operations, in the order of the configuration."""
        return {path: self._documents.read(path) for path in self._documents.named}

    @property
    def operations(self) -> tuple[Operation, ...]:
        """All operations of the documents that the configuration names or pages use."""
        return tuple(chain.from_iterable(map(self._documents.read, self._documents.used)))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Problems in the documents. A problem inside an operation is reported for that operation's page."""
        return self._documents.diagnostics

    def folder(self, document: str) -> str:
        """The folder for the generated pages of a document: the longest path prefix of the tabs and anchors that name
        it. Empty without one: then no pages are generated."""
        return next((prefix for prefix, path in self._prefixes if path == document), "")

    def find(self, spec: str, page: str = "") -> Operation | None:
        """The operation for ``[FILE] METHOD /path`` or ``[FILE] webhook NAME``, or None.

        The path must match exactly. Documents are searched in this order: those that the tab or anchor of ``page``
        names, those that the configuration names, others in the site's folder.
        """
        entry = parse_spec(spec)
        if entry is None:
            return None
        for path in self._considered(entry.file, page):
            operation = find_operation(entry, self._documents.read(path))
            if operation is not None:
                self._documents.use(path)
                return operation
        return None

    def problem(self, spec: str, source: str) -> Diagnostic:
        """The diagnostic for the page ``source`` after ``find`` returned None."""
        entry = parse_spec(spec)
        if entry is None:
            message, fix = f"openapi: {spec!r} has no method and path", 'write "METHOD /path", as in "GET /users"'
            return Diagnostic(Severity.WARNING, "API010", message, fix, path=source)
        page = source.rpartition(".")[0]
        considered = tuple(self._considered(entry.file, page))
        if entry.file and not considered:
            known = PathSuggestions((*self._documents.named, *self._documents.unnamed())).find(entry.file)
            message = f"openapi: there is no OpenAPI document {entry.file}{self._seen(self._considered('', page))}"
            fix = f"write {known!r}" if known else "add the file, or write the path of an existing one"
        elif not considered:
            message = f"openapi: {entry.method} {entry.path}: the site has no OpenAPI document"
            fix = "put the document into the site's folder, or name its web address in `openapi` and build with --fetch"
        else:
            message = f"openapi: no document has the operation {entry.method} {entry.path}{self._seen(considered)}"
            close = nearest_operation(entry, tuple(chain.from_iterable(map(self._documents.read, considered))))
            fix = f'write "{close.method} {close.path}"' if close else "write an operation that the document has"
        return Diagnostic(Severity.WARNING, "API010", message, fix, path=source)

    def _considered(self, file: str, page: str) -> Iterator[str]:
        """The documents to search for an operation, in order, without repetitions."""
        seen: set[str] = set()
        for path in self._in_turn(file, page):
            if path not in seen:
                seen.add(path)
                yield path

    def _in_turn(self, file: str, page: str) -> Iterator[str]:
        if file:
            yield from files_among(file, (*self._documents.named, *self._documents.unnamed()))
            if (path := resolve_path("", file)) in self._documents.likely():
                yield str(path)
            return
        yield from (path for prefix, path in self._prefixes if page == prefix or page.startswith(f"{prefix}/"))
        yield from self._documents.named
        yield from self._documents.unnamed()

    def _seen(self, paths: Iterable[str]) -> str:
        """The end of a message: the documents that were searched, with their problems."""
        known = list(paths)
        if not known:
            return "; the site has none"
        considered = [
            f"{path} ({fault})" if (fault := self._documents.fault(path)) else path for path in known[:_SHOWN]
        ]
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        return f"; considered: {', '.join(considered)}{more}"
