from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final, TypeAlias

from tenantry.clock import monotonic_with_suspend
from tenantry.dashboards.protocol.answer_budget import answer_budget
from tenantry.dashboards.protocol.line_stream import RESTART
from tenantry.datasources import DataSources, source_name
from tenantry.errors import QueryOutdated, TenantryError
from tenantry.groups import RegisteredSource, UserGroup

Message: TypeAlias = Mapping[str, Any]

_KEEP_ALIVE_SECONDS: Final = 30.0
"""After this many seconds without changes, an empty message is sent: proxies close a connection that is idle for a
minute."""
_OPEN_SECONDS: Final = 900.0

MAX_OPEN: Final = 100
"""Maximum open responses of a group in a process. Any further response ends after the requested lines are sent."""

MAX_OPEN_OF_VIEWER: Final = 20
"""Maximum open responses of one viewer of a group in a process."""


class ChangedPanels:
    """Notifies a page of changed rows: ``async with ChangedPanels(sources, group, {"1-1": "main"}) as changes: async
    for message in changes: …``. The mapping gives the schema of each panel. When ``DataSources.changed`` is called for
    the data source of ``main``, the message is ``{"changed": ["1-1"]}``. If the group has more than ``MAX_OPEN`` open
    responses, or the viewer more than ``MAX_OPEN_OF_VIEWER``, ``changes`` is None."""

    # After half a minute without changes, an empty message keeps the connection alive. The stream ends after a quarter
    # of an hour, or when the process stops. If a source is moved or deleted, the last message is RESTART.

    def __init__(self, sources: DataSources, group: UserGroup, schemas: dict[str, str]) -> None:
        self._sources = sources
        self._group = group
        self._schemas = schemas
        self._clock = monotonic_with_suspend
        self._panels: dict[str, list[str]] = {}
        self._outdated: TenantryError | None = None
        self._listening = ExitStack()

    async def __aenter__(self) -> ChangedPanels | None:
        budget, group = answer_budget(), self._group
        if budget.count_open(group) > MAX_OPEN or budget.count_open_of_viewer(group) > MAX_OPEN_OF_VIEWER:
            return None
        with ExitStack() as listening:
            self._inbox = listening.enter_context(self._sources.changes.listen())
            found = await sources_of_schemas(self._sources, self._group, self._schemas)
            self._panels = panels_of_sources(found, self._schemas)
            for schema, registered in found.items():
                watch = self._sources.query_watch
                added = watch.add(self._group, schema, registered, self._end, checks_group=False)
                listening.callback(watch.discard, added)
            self._listening = listening.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()

    def _end(self, reason: TenantryError) -> None:
        self._outdated = reason
        self._inbox.end()

    @property
    def first(self) -> Message:
        return {}

    def idle_seconds(self) -> float:
        return _KEEP_ALIVE_SECONDS

    def idle_message(self) -> Message:
        return {}

    async def __aiter__(self) -> AsyncIterator[Message]:
        ends, inbox = self._clock() + _OPEN_SECONDS, self._inbox
        while self._clock() < ends and not inbox.has_ended:
            changed = await inbox.take() if await inbox.wait(self.idle_seconds()) else frozenset()
            found = self._panels if None in changed else changed & self._panels.keys()
            panels = sorted(panel for source in found if source is not None for panel in self._panels[source])
            if panels:
                yield {"changed": panels}
            elif not changed and not inbox.has_ended:
                yield self.idle_message()
        if isinstance(self._outdated, QueryOutdated):
            yield RESTART


async def sources_of_schemas(
    sources: DataSources, group: UserGroup, schemas: Mapping[str, str]
) -> dict[str, RegisteredSource]:
    """Return the group's sources, by schema. A schema for which the group has no source is left out. ``schemas``: the
    schema of each panel, by panel id."""
    found: dict[str, RegisteredSource] = {}
    for schema in set(schemas.values()):
        with suppress(TenantryError):  # the panels' own lines report the error
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
    """Return the ids of the panels whose rows may be outdated. ``shown``: the ``as_of`` of the rows, by panel id."""
    await sources.changes.follow()
    found = panels_of_sources(await sources_of_schemas(sources, group, schemas), schemas)
    may_be_old = sources.changes.may_be_old
    return sorted(
        panel
        for source, panels in found.items()
        for panel in panels
        if panel in shown and may_be_old(source, shown[panel])
    )
