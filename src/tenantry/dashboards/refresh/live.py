"""Row changes: events for open responses, and the panels that a page must reload."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final, TypeAlias

from tenantry.cache.slots import monotonic_with_suspend
from tenantry.dashboards.protocol.answer_budget import answer_budget
from tenantry.datasources import DataSources, source_name
from tenantry.errors import QueryOutdated, TenantryError
from tenantry.groups import RegisteredSource, UserGroup

Message: TypeAlias = dict[str, Any]

_SIGN_SECONDS: Final = 30.0
"""Proxies close a connection that is idle for a minute."""
_OPEN_SECONDS: Final = 900.0

CHANGED: Final[Message] = {"group": "changed"}
"""Last message after the group or its data source changed: the page begins anew."""
SIGN: Final = b"\n"
"""A message without content, which keeps the connection."""
MAX_OPEN: Final = 100
"""Open answers of one group in one process; further ones end at once."""


class ChangedPanels:
    """``async with ChangedPanels(sources, group, {"1-1": "main"}) as changes: async for message in changes: …`` gives
    ``{"changed": […]}``: panels whose source ``DataSources.changed`` reported. ``changes`` is None beyond ``MAX_OPEN``.

    A message is empty after half a minute of silence. The stream ends after a quarter of an hour or when the process
    stops. When a source is moved or deleted, it ends with CHANGED.
    """

    def __init__(self, sources: DataSources, group: UserGroup, schemas: dict[str, str]) -> None:
        self._sources = sources
        self._group = group
        self._schemas = schemas
        self._clock = monotonic_with_suspend
        self._panels: dict[str, list[str]] = {}
        self._outdated: TenantryError | None = None
        self._listening = ExitStack()

    async def __aenter__(self) -> ChangedPanels | None:
        if answer_budget().count_open(self._group) > MAX_OPEN:
            return None
        try:
            self._inbox = self._listening.enter_context(self._sources.changes.listen())
            found = await sources_of_schemas(self._sources, self._group, self._schemas)
            self._panels = panels_of_sources(found, self._schemas)
            for schema, registered in found.items():
                watch = self._sources.query_watch
                added = watch.add(self._group, schema, registered, self._end, checks_group=False)
                self._listening.callback(watch.discard, added)
        except BaseException:
            self._listening.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()

    def _end(self, reason: TenantryError) -> None:
        self._outdated = reason
        self._inbox.end()

    @property
    def first(self) -> Message:
        """The first message; empty for none."""
        return {}

    def pause(self) -> float:
        """Seconds of silence before ``sign`` is called."""
        return _SIGN_SECONDS

    def sign(self) -> Message:
        """The keep-alive message."""
        return {}

    async def __aiter__(self) -> AsyncIterator[Message]:
        ends, inbox = self._clock() + _OPEN_SECONDS, self._inbox
        while self._clock() < ends and not inbox.has_ended:
            changed = await inbox.take() if await inbox.wait(self.pause()) else frozenset()
            found = self._panels if None in changed else changed & self._panels.keys()
            panels = sorted(panel for source in found if source is not None for panel in self._panels[source])
            if panels:
                yield {"changed": panels}
            elif not changed and not inbox.has_ended:
                yield self.sign()
        if isinstance(self._outdated, QueryOutdated):
            yield CHANGED


async def sources_of_schemas(
    sources: DataSources, group: UserGroup, schemas: Mapping[str, str]
) -> dict[str, RegisteredSource]:
    """The group's mapped sources, for panels given by schema."""
    found: dict[str, RegisteredSource] = {}
    for schema in set(schemas.values()):
        with suppress(TenantryError):  # its panels report the error
            found[schema] = await sources.registered(group, schema)
    return found


def panels_of_sources(found: Mapping[str, RegisteredSource], schemas: Mapping[str, str]) -> dict[str, list[str]]:
    panels: dict[str, list[str]] = {}
    for schema, registered in found.items():
        own = [panel for panel, asked in schemas.items() if asked == schema]
        panels.setdefault(source_name(registered), []).extend(own)
    return panels


async def changed_since(
    sources: DataSources, group: UserGroup, schemas: Mapping[str, str], shown: Mapping[str, float]
) -> list[str]:
    """The panels of ``shown`` (panel to ``as_of``) that may be outdated."""
    await sources.changes.follow()
    found = panels_of_sources(await sources_of_schemas(sources, group, schemas), schemas)
    may_be_old = sources.changes.may_be_old
    return sorted(
        panel
        for source, panels in found.items()
        for panel in panels
        if panel in shown and may_be_old(source, shown[panel])
    )
