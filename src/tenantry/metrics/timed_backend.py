"""TimedBackend: a backend between a resolver and the real one, which measures each call."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tenantry.ports import LeasedBackend, SnapshotBackend, SourceLeaseHolder

if TYPE_CHECKING:
    from tenantry.groups import Changes, Reading, Token, UserGroup
    from tenantry.ports import Backend, Slots, SourceLease

BOUNDS: Final = (
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0,
    2.5, 5.0,
)  # fmt: skip
"""Upper bounds in seconds, from a read of SQLite to a store that is given up on."""

OTHERS = "(others)"
"""The group label of reads when there are too many groups to name."""


class Buckets:
    """Durations, counted. Cheap enough for each read of a backend."""

    __slots__ = ("_counts", "total")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self.total: float = 0.0
        """Seconds, all together."""

    def add(self, seconds: float) -> None:
        """Another one."""
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def cumulated(self) -> list[tuple[str, float]]:
        """Upper bound and how many took at most that long, the last one ``+Inf``."""
        sums: list[tuple[str, float]] = []
        so_far = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self._counts, strict=True):
            so_far += count
            sums.append((bound, so_far))
        return sums


class TimedBackend:
    """``Resolver(timed := TimedBackend(store), …)``, then ``metrics_app(resolver=resolver, backend=timed)``.

    It is asked on misses only, so a hit costs what it did. With ``label_groups`` the reads of each group are counted
    under its environment and id, for ``max_groups`` groups at most; the reads of later ones are counted together.

    It has ``read_at_snapshot`` and ``changes`` only where ``backend`` has them: by those a resolver knows what it may
    cache.
    """

    read_at_snapshot: Callable[..., Coroutine[Any, Any, Reading]]
    changes: Callable[..., Coroutine[Any, Any, Changes]]

    def __init__(
        self, backend: Backend | LeasedBackend, *, label_groups: bool = False, max_groups: int = 1_000
    ) -> None:
        self.durations: dict[str, Buckets] = {"find": Buckets(), "look": Buckets(), "changes": Buckets()}
        """By call, answered or failed. A ``look`` is ``read_at_snapshot``: the label is older than the method."""
        self.groups: dict[tuple[str, str], int] = {}
        """Reads by environment and group, if they are counted."""
        self._backend: Any = backend
        self._max_groups = max_groups if label_groups else 0
        if isinstance(backend, SnapshotBackend):
            self.read_at_snapshot = self._read_at_snapshot
        if isinstance(backend, LeasedBackend):
            self.changes = self._changes

    @property
    def slots(self) -> Slots | None:
        """The backend's own."""
        slots: Slots | None = self._backend.slots
        return slots

    @property
    def source_lease(self) -> SourceLease | None:
        """The backend's own."""
        return self._backend.source_lease if isinstance(self._backend, SourceLeaseHolder) else None

    def offer_source_lease(self, lease: SourceLease | None) -> None:
        """Passed on: the DataSources of the store ask the store."""
        if isinstance(self._backend, SourceLeaseHolder):
            self._backend.offer_source_lease(lease)

    async def find(self, token: Token) -> UserGroup | None:
        """The backend's own, timed and counted."""
        with self._timed("find"):
            group: UserGroup | None = await self._backend.find(token)
        self._count(group)
        return group

    async def _read_at_snapshot(self, token: Token, *, fresh: bool) -> Reading:
        with self._timed("look"):
            reading: Reading = await self._backend.read_at_snapshot(token, fresh=fresh)
        self._count(reading.group)
        return reading

    async def _changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        with self._timed("changes"):
            changes: Changes = await self._backend.changes(since, lease=lease)
        return changes

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
        key = (group.environment.name, group.provided_id)
        if key not in self.groups and len(self.groups) >= self._max_groups:
            key = (group.environment.name, OTHERS)
        self.groups[key] = self.groups.get(key, 0) + 1
