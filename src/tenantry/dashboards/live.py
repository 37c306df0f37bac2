"""What an answer that stays open waits for: rows that have changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Final

from tenantry.datasources import DataSources
from tenantry.errors import TenantryError
from tenantry.groups import UserGroup
from tenantry.slots import monotonic_with_suspend

_SIGN_SECONDS: Final = 30.0
"""Proxies close a connection on which nothing comes for a minute."""
_OPEN_SECONDS: Final = 900.0


class ChangedPanels:
    """``async with ChangedPanels(sources, group, {"1-1": "main"}) as changes: async for ids in changes: …``: the panels
    whose data source the program has reported as changed, by ``DataSources.changed`` in this process.

    Nothing is in a list after half a minute without one. It ends after a quarter of an hour: a page asks again then, of
    a process that may be a newer one."""

    def __init__(self, sources: DataSources, group: UserGroup, schemas: dict[str, str]) -> None:
        self._sources = sources
        self._group = group
        self._schemas = schemas
        self._clock = monotonic_with_suspend
        self._panels: dict[str, list[str]] = {}
        self._changed: set[str] = set()
        self._event = asyncio.Event()

    async def __aenter__(self) -> ChangedPanels:
        self._sources.listeners.add(self._note_change)
        for schema in set(self._schemas.values()):
            try:
                source = (await self._sources.registered(self._group, schema)).id
            except TenantryError:  # its panels say why they have no rows
                continue
            self._panels.setdefault(source, []).extend(self._of_schema(schema))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sources.listeners.discard(self._note_change)

    async def __aiter__(self) -> AsyncIterator[list[str]]:
        ends = self._clock() + _OPEN_SECONDS
        while self._clock() < ends:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SIGN_SECONDS):
                    await self._event.wait()
            self._event.clear()
            found, self._changed = self._changed, set()
            yield sorted(found)

    def _of_schema(self, schema: str) -> Iterable[str]:
        return (panel for panel, asked in self._schemas.items() if asked == schema)

    def _note_change(self, source_id: str) -> None:
        found = self._panels.get(source_id, ())
        self._changed.update(found)
        if found:
            self._event.set()
