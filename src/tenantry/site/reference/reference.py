"""Reference: the operations of a site's OpenAPI documents, and how a page's front matter finds one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType

from tenantry.site.config.model import SiteConfig
from tenantry.site.diagnostic import Diagnostic, Severity
from tenantry.site.reference.documents import Documents
from tenantry.site.reference.finding import file_among, find, near, wanted
from tenantry.site.reference.library import nearest
from tenantry.site.reference.operation import Operation


def read_documents(
    config: SiteConfig, files: Mapping[str, str | bytes], fetched: Mapping[str, str | bytes] = MappingProxyType({})
) -> Reference:
    """Reads what the configuration's ``openapi`` names. ``files``: everything of the site by its path; ``fetched``:
    documents by the web address that the configuration names them by. Never raises."""
    return Reference(Documents(config, files, fetched))


class Reference:
    """The operations of the documents, in their order."""

    __slots__ = ("_documents",)

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    @property
    def documents(self) -> Mapping[str, tuple[Operation, ...]]:
        """The operations by the path of their document, documents in the order of the configuration."""
        return self._documents.operations

    @property
    def operations(self) -> tuple[Operation, ...]:
        """All operations."""
        return tuple(chain.from_iterable(self._documents.operations.values()))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the documents; what is wrong within an operation is said by its page."""
        return self._documents.diagnostics

    def find(self, spec: str) -> Operation | None:
        """The operation that ``[FILE] METHOD /path`` or ``[FILE] webhook NAME`` names. The path must match exactly."""
        entry = wanted(spec)
        if entry is None:
            return None
        found = self._within(entry.file)
        return find(entry, found) if found is not None else None

    def problem(self, spec: str, source: str) -> Diagnostic:
        """Why ``find`` found nothing, for the page ``source``, and what to write instead."""
        entry = wanted(spec)
        if entry is None:
            message, fix = f"openapi: {spec!r} has no method and path", 'write "METHOD /path", as in "GET /users"'
        elif self._within(entry.file) is None:
            known = nearest(entry.file, self._documents.operations)
            message = f"openapi: there is no OpenAPI document {entry.file}"
            fix = f"write {known!r}" if known else "name the document in `openapi` of the configuration file"
        else:
            message = f"openapi: no document has the operation {entry.method} {entry.path}"
            close = near(entry, self._within(entry.file) or ())
            fix = f'write "{close.method} {close.path}"' if close else "write an operation that the document has"
        return Diagnostic(Severity.WARNING, "API010", message, fix, path=source)

    def _within(self, file: str) -> tuple[Operation, ...] | None:
        """The operations of the document that is named; of all where none is; None where there is no such one."""
        if not file:
            return self.operations
        path = file_among(file, tuple(self._documents.operations))
        if path is not None:
            return self._documents.operations[path]
        unlisted = file_among(file, tuple(self._documents.likely()))
        return self._documents.read(unlisted) if unlisted is not None else None
