"""What an answer that stays open waits for: rows that have changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, suppress
from typing import Final

from tenantry.datasources import DataSources
from tenantry.datasources.pools import source_name
from tenantry.errors import TenantryError
from tenantry.groups import UserGroup
from tenantry.slots import monotonic_with_suspend

_SIGN_SECONDS: Final = 30.0
"""Proxies close a connection on which nothing comes for a minute."""
_OPEN_SECONDS: Final = 900.0


class ChangedPanels:
    """``async with ChangedPanels(sources, group, {"1-1": "main"}) as changes: async for ids in changes: …``: the panels
    whose data source the program has reported as changed, by ``DataSources.changed``.

    Nothing is in a list after half a minute without one. It ends after a quarter of an hour, for a page asks again
    then, of a process that may be a newer one; and when this process is about to end."""

    def __init__(self, sources: DataSources, group: UserGroup, schemas: dict[str, str]) -> None:
        self._sources = sources
        self._group = group
        self._schemas = schemas
        self._clock = monotonic_with_suspend
        self._panels: dict[str, list[str]] = {}
        self._listening = ExitStack()

    async def __aenter__(self) -> ChangedPanels:
        self._inbox = self._listening.enter_context(self._sources.changes.listen())
        try:
            for schema in set(self._schemas.values()):
                with suppress(TenantryError):  # its panels say why they have no rows
                    source = source_name(await self._sources.registered(self._group, schema))
                    self._panels.setdefault(source, []).extend(self._of_schema(schema))
        except BaseException:
            self._listening.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()

    async def __aiter__(self) -> AsyncIterator[list[str]]:
        ends, inbox = self._clock() + _OPEN_SECONDS, self._inbox
        while self._clock() < ends and not inbox.has_ended:
            changed = await inbox.take() if await inbox.wait(_SIGN_SECONDS) else frozenset()
            found = self._panels if None in changed else changed & self._panels.keys()
            panels = sorted(panel for source in found if source is not None for panel in self._panels[source])
            if panels or not changed:
                yield panels

    def _of_schema(self, schema: str) -> Iterable[str]:
        return (panel for panel, asked in self._schemas.items() if asked == schema)
