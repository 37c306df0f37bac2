"""TimedBackend: a backend between a resolver and the real one, which measures each call."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tenantry.metrics.buckets import Buckets

if TYPE_CHECKING:
    from tenantry.groups import Changes, Reading, Token, UserGroup
    from tenantry.ports import Backend, LeasedBackend, Slots

OTHERS = "(others)"
"""Who the reads of a group count for when there are too many groups to name."""


class TimedBackend:
    """``Resolver(timed := TimedBackend(store), …)``, then ``metrics_app(resolver=resolver, backend=timed)``.

    It is asked on misses only, so a hit costs what it did. With ``label_groups`` the reads of each group are counted
    under its environment and id, for ``max_groups`` groups at most; the reads of later ones are counted together.

    It has ``look`` and ``changes`` only where ``backend`` has them: by those a resolver knows what it may keep.
    """

    look: Callable[..., Coroutine[Any, Any, Reading]]
    changes: Callable[..., Coroutine[Any, Any, Changes]]

    def __init__(
        self, backend: Backend | LeasedBackend, *, label_groups: bool = False, max_groups: int = 1_000
    ) -> None:
        self.durations = {"find": Buckets(), "look": Buckets(), "changes": Buckets()}
        """By the call, of those that were answered and those that failed."""
        self.groups: dict[tuple[str, str], int] = {}
        """Reads by environment and group, if they are counted."""
        self._backend: Any = backend
        self._max_groups = max_groups if label_groups else 0
        if hasattr(backend, "read_at_snapshot"):
            self.look = self._look
        if hasattr(backend, "changes"):
            self.changes = self._changes

    @property
    def slots(self) -> Slots | None:
        """The backend's own."""
        slots: Slots | None = self._backend.slots
        return slots

    async def find(self, token: Token) -> UserGroup | None:
        with self._timed("find"):
            group: UserGroup | None = await self._backend.find(token)
        self._count(group)
        return group

    async def _look(self, token: Token, *, fresh: bool) -> Reading:
        with self._timed("look"):
            reading: Reading = await self._backend.read_at_snapshot(token, fresh=fresh)
        self._count(reading.group)
        return reading

    async def _changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        with self._timed("changes"):
            told: Changes = await self._backend.changes(since, lease=lease)
        return told

    @contextmanager
    def _timed(self, call: str) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.durations[call].add(time.monotonic() - begun)

    def _count(self, group: UserGroup | None) -> None:
        if group is None or not self._max_groups:
            return
        place = (group.environment.name, group.provided_id)
        if place not in self.groups and len(self.groups) >= self._max_groups:
            place = (group.environment.name, OTHERS)
        self.groups[place] = self.groups.get(place, 0) + 1
