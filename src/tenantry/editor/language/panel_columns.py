from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

from cachetools import LRUCache

from tenantry.dashboards import SavedDashboard
from tenantry.dashboards.checks import columns_in, templates_of, unknown_columns
from tenantry.dashboards.definition import Panel
from tenantry.datasources import DataSources
from tenantry.datasources.checks import AskedQuery, EngineCheck, plans_without_running
from tenantry.editor.language.compiler import Compiler
from tenantry.errors import TenantryError
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.sql.checks import Finding

_KEPT: Final = 16

_Columns: TypeAlias = Mapping[str, Sequence[str]]


class _PanelQuery(NamedTuple):
    panel: Panel
    query: AskedQuery


class PanelColumns:
    """Compares the columns that a dashboard names with the columns that its queries return for a group. Keeps the
    columns of the last queries."""

    def __init__(self, sources: DataSources, compiler: Compiler, seconds: float) -> None:
        self._sources = sources
        self._compiler = compiler
        self._seconds = seconds
        # Most keystrokes do not change a query.
        self._kept: LRUCache[tuple[Any, ...], list[_Columns]] = LRUCache(_KEPT)

    async def findings(self, saved: SavedDashboard, group: UserGroup) -> list[Finding]:
        asked = [
            _PanelQuery(panel, AskedQuery(file, template, panel.schema, names=True))
            for panel, file, template in templates_of(saved)
            if panel is not None and columns_in(saved, panel, template)
        ]
        key = (group.handle, group.revision, *(_key(each.query) for each in asked))
        columns = self._kept.get(key)
        if columns is None:
            columns = self._kept[key] = await self._read([each.query for each in asked], group)
        return [
            finding
            for (panel, query), found in zip(asked, columns, strict=True)
            for _, finding in unknown_columns(saved, panel, query.template, found)
        ]

    async def _read(self, asked: list[AskedQuery], group: UserGroup) -> list[_Columns]:
        sources: list[RegisteredSource] = []
        for schema in {each.schema for each in asked}:
            with suppress(TenantryError):  # a run reports it
                source = await self._sources.registered(group, schema)
                sources += [source] if plans_without_running(source) else []
        check = EngineCheck(asked, sources)
        await self._compiler.run(lambda: check.add(group))
        with suppress(TimeoutError, TenantryError):
            async with asyncio.timeout(self._seconds):
                report = await check.run(self._sources)
                return [report.columns.get(each, {}) for each in asked]
        return [{} for _ in asked]


def _key(asked: AskedQuery) -> tuple[Any, ...]:
    template = asked.template
    # If a file or draft of a fragment changes, the mapping of fragments becomes a new object.
    return asked.schema, template.text, repr(template.parameters), template.definition.fragments
