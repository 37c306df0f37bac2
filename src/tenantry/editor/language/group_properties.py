"""The properties of all groups of an environment, gathered in the background."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from tenantry.aio import silence_destroy_warning
from tenantry.editor.workbench import EditorStore
from tenantry.errors import TenantryError
from tenantry.groups import Environment
from tenantry.sql.checks import Coverage, PropertyTypes

FIRST_WAIT: Final = 0.3
"""Maximum seconds that a request waits for properties that were never gathered."""
MAX_AGE: Final = 60.0
"""Minimum seconds until the properties are gathered again. After a long gathering, the pause is longer."""
_RETRY: Final = 2.0
"""Seconds before another attempt if the store does not answer."""
_PAGE: Final = 500
_SHARE: Final = 20  # the pause after gathering is at least 20 times as long as the gathering

_log: Final = logging.getLogger("tenantry.editor")


@dataclass(frozen=True, slots=True)
class GatheredProperties:
    types: PropertyTypes
    coverage: Coverage


@dataclass(slots=True)
class _Known:
    found: GatheredProperties | None = None
    next_gathering: float = 0.0
    task: asyncio.Task[None] | None = field(default=None, repr=False)


class GroupProperties:
    """Gathers the properties when a request needs them, and again after MAX_AGE."""

    def __init__(self, store: EditorStore) -> None:
        self._store = store
        self._known: dict[int, _Known] = {}

    async def of(self, environment: Environment) -> GatheredProperties | None:
        """Return the properties as last gathered, or None if they are not gathered yet."""
        known = self._known.setdefault(environment.id, _Known())
        if known.task is None and monotonic() >= known.next_gathering:
            known.task = asyncio.create_task(self._refresh(environment, known))
            silence_destroy_warning(known.task)
        if known.found is None and known.task is not None:
            await asyncio.wait({known.task}, timeout=FIRST_WAIT)
        return known.found

    async def _refresh(self, environment: Environment, known: _Known) -> None:
        begun, pause = monotonic(), _RETRY
        try:
            types = await self._gather(environment)
            known.found = GatheredProperties(types, Coverage(types))
            pause = max(MAX_AGE, _SHARE * (monotonic() - begun))
        except TenantryError as error:
            _log.warning("the editor could not read the groups of %s: %s", environment.name, error.message)
        finally:
            known.next_gathering = monotonic() + pause
            known.task = None

    async def _gather(self, environment: Environment) -> PropertyTypes:
        types = PropertyTypes(None)
        page = await self._store.groups.list(environment, limit=_PAGE)
        while page:
            for group in page:
                types.add(group.provided_id, group.properties)
            await asyncio.sleep(0)  # let other requests run
            page = await self._store.groups.list(environment, after=page[-1].team_id, limit=_PAGE)
        return types
