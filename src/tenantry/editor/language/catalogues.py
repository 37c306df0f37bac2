from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any, Final

from cachetools import LRUCache
from pydantic import Field
from starlette.responses import JSONResponse, Response

from tenantry.datasources import find_tables
from tenantry.datasources.catalogue import Catalogue
from tenantry.datasources.checks import read_declaration
from tenantry.editor.requests import EditorRequest, GroupBody, find_viewed_group
from tenantry.editor.workbench import Workbench
from tenantry.errors import TemplateError
from tenantry.groups import RegisteredSource
from tenantry.sql import DIALECTS
from tenantry.sql.guarding import GuardedTables, known_functions, read_stored_tables

MAX_AGE: Final = 600.0
"""Seconds after which a request starts another read of the catalogue. The request does not wait: its response has the
known catalogue."""
_KEPT: Final = 64
"""Maximum number of data sources whose catalogues are kept."""


class CatalogueBody(GroupBody):
    schema_: Annotated[str, Field(max_length=255, alias="schema")] = "main"
    refresh: bool = False
    """Whether to read the catalogue again before the response."""


@dataclass(slots=True)
class _Read:
    catalogue: Catalogue
    at: float


class Catalogues:
    """Reads and keeps the catalogues (tables and columns) of data sources. At most one read of a source runs at a
    time."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._kept: LRUCache[RegisteredSource, _Read] = LRUCache(_KEPT)
        self._under_way: dict[RegisteredSource, asyncio.Task[_Read]] = {}

    async def respond(self, asked: EditorRequest[CatalogueBody]) -> Response:
        body, sources = asked.body, self._workbench.sources
        group = await find_viewed_group(self._workbench, asked.author, body)
        source = await sources.registered(group, body.schema_)
        dialect = await sources.dialect(group, body.schema_)
        read = await self._read(source, refresh=body.refresh)
        return await asyncio.to_thread(self._response, source, dialect, read)

    def _response(self, source: RegisteredSource, dialect: str, read: _Read) -> Response:
        content = _content(read.catalogue, dialect, self._declared(source))
        return JSONResponse(content | {"age": round(monotonic() - read.at, 1)})

    def known(self, source: RegisteredSource) -> Catalogue | None:
        """Return the catalogue, or None if it was not read yet."""
        found = self._kept.get(source)
        return None if found is None else found.catalogue

    async def _read(self, source: RegisteredSource, *, refresh: bool) -> _Read:
        known = self._kept.get(source)
        if known is not None and not refresh and monotonic() - known.at < MAX_AGE:
            return known
        task = self._under_way.get(source)
        if task is None:
            task = self._under_way[source] = asyncio.create_task(self._read_anew(source))
            # If nobody awaits the task, asyncio must not log its error.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return known if known is not None and not refresh else await asyncio.shield(task)

    async def _read_anew(self, source: RegisteredSource) -> _Read:
        try:
            begun = monotonic()
            read = self._kept[source] = _Read(await self._workbench.sources.catalogue(source), begun)
            return read
        finally:
            self._under_way.pop(source, None)

    def _declared(self, source: RegisteredSource) -> GuardedTables | None:
        try:
            if source.tables:
                return read_stored_tables(source.tables)
            workspace = self._workbench.workspace
            file = find_tables(workspace.queries)
            return None if file is None or workspace.link_in(file) is not None else read_declaration(file)
        except (TemplateError, ValueError, OSError):  # the check of tables.yaml reports it
            return None


def _content(catalogue: Catalogue, dialect: str, tables: GuardedTables | None) -> dict[str, Any]:
    found = DIALECTS[dialect]
    functions = {*known_functions(found), *(() if tables is None else tables.functions)}
    listed = [
        {
            "name": each.name,
            "columns": list(each.columns),
            "kind": _kind(each.name, dialect, tables),
            "view": each.is_view,
        }
        for each in catalogue.tables
    ]
    return {"dialect": dialect, "tables": listed, "functions": sorted(functions)}


def _kind(name: str, dialect: str, tables: GuardedTables | None) -> str:
    if tables is None:
        return "open"
    entry = tables.entry(name, DIALECTS[dialect])
    return "unlisted" if entry is None else "shared" if entry.is_shared else "guarded"
