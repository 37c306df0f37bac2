"""The properties of all groups of an environment, gathered in the background so that no request waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from tenantry.aio import silence_destroy_warning
from tenantry.editor.workbench import EditorStore
from tenantry.errors import TenantryError
from tenantry.groups import SOURCES_HANDLE, Changes, Environment
from tenantry.sql.checks import Coverage, PropertyTypes

FIRST_WAIT: Final = 0.3
"""Seconds that the first request for an environment waits for the properties."""
LOOK_EVERY: Final = 2.0
"""Seconds between two looks for changed groups. After a long gathering, the pause is longer."""
MAX_AGE: Final = 300.0
"""Seconds after which the properties are gathered again, even if the store names no change."""
_PAGE: Final = 500
_SHARE: Final = 20  # the pause after gathering is at least 20 times as long as the gathering

_log: Final = logging.getLogger("tenantry.editor")


@dataclass(frozen=True, slots=True)
class GatheredProperties:
    types: PropertyTypes
    coverage: Coverage
    at: float
    """When they were gathered, by ``time.monotonic``."""

    @property
    def age(self) -> float:
        """Seconds since they were gathered."""
        return monotonic() - self.at


@dataclass(slots=True)
class _Known:
    found: GatheredProperties | None = None
    generation: int | None = None
    """The store's generation before the last gathering."""
    last: int = 0
    """The highest id of a group in the last gathering."""
    next_look: float = 0.0
    task: asyncio.Task[None] | None = field(default=None, repr=False)


class GroupProperties:
    """Gathers the groups' properties for each environment, and gathers them again if a group has changed, or after
    MAX_AGE."""

    def __init__(self, store: EditorStore) -> None:
        self._store = store
        self._known: dict[int, _Known] = {}

    async def of(self, environment: Environment) -> GatheredProperties | None:
        """Return the properties as last gathered, or None if they are not gathered yet."""
        known = self._known.setdefault(environment.id, _Known())
        if known.task is None and monotonic() >= known.next_look:
            known.task = asyncio.create_task(self._refresh(environment, known))
            silence_destroy_warning(known.task)
        if known.found is None and known.task is not None:
            await asyncio.wait({known.task}, timeout=FIRST_WAIT)
        return known.found

    async def _refresh(self, environment: Environment, known: _Known) -> None:
        begun, pause = monotonic(), LOOK_EVERY
        try:
            generation, is_changed = await self._changes(known)
            found = known.found
            is_old = found is None or is_changed or found.age > MAX_AGE
            if is_old or await self._has_more(environment, known):
                types, known.last = await self._gather(environment)
                known.found, known.generation = GatheredProperties(types, Coverage(types), begun), generation
                pause = max(pause, _SHARE * (monotonic() - begun))
        except TenantryError as error:
            _log.warning("the editor could not read the groups of %s: %s", environment.name, error.message)
        finally:
            known.next_look = monotonic() + pause
            known.task = None

    async def _changes(self, known: _Known) -> tuple[int | None, bool]:
        read: Callable[[int | None], Awaitable[Changes]] | None = getattr(self._store, "changes", None)
        if read is None:  # a store of the host program may not list changes
            return None, False
        changes = await read(known.generation)
        lacks_some = changes.since != known.generation
        return changes.generation, lacks_some or any(each.handle != SOURCES_HANDLE for each in changes.changes)

    async def _has_more(self, environment: Environment, known: _Known) -> bool:
        # Stores do not list new groups as changes.
        return bool(await self._store.groups.list(environment, after=known.last, limit=1))

    async def _gather(self, environment: Environment) -> tuple[PropertyTypes, int]:
        types, last = PropertyTypes(None), 0
        page = await self._store.groups.list(environment, limit=_PAGE)
        while page:
            for group in page:
                types.add(group.provided_id, group.properties)
            last = page[-1].team_id
            await asyncio.sleep(0)  # let other requests run
            page = await self._store.groups.list(environment, after=last, limit=_PAGE)
        return types, last
