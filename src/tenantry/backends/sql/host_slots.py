from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from tenantry.backends.sql.queries import LONGEST_LEASE
from tenantry.cache.slots import FolderTaken, SharedSlots
from tenantry.clock import monotonic_with_suspend
from tenantry.database.tables import generation
from tenantry.errors import StoreUnavailable

logger: logging.Logger = logging.getLogger(__name__)

_BETWEEN_RENAMES: Final = 60.0
"""Minimum seconds between two changes of a store's run name by this process. A further random name would not help if
the folder of the new name is also unusable."""


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    store_id: str
    run_name: str
    """The random name of the store's run folder. All hosts use the same name. The store may get a different name
    later."""


class HostSlots:
    """Opens the file of a store's slots on this host, and opens it again when it has been replaced. ``rename`` gives
    the store another run name, unless another process has done so."""

    def __init__(
        self,
        folder: str | Path | None,
        read: Callable[[float], Awaitable[StoreIdentity]],
        rename: Callable[[StoreIdentity, float], Awaitable[StoreIdentity]],
    ) -> None:
        self._folder = folder
        self._read = read
        self._rename = rename
        self._renamed_at = -_BETWEEN_RENAMES
        self._known: StoreIdentity | None = None
        self._lock = threading.Lock()
        self._opened: tuple[StoreIdentity, SharedSlots] | None = None
        self._longest_lease = 0.0
        self._visible_at = 0.0

    @property
    def slots(self) -> SharedSlots | None:
        return self._opened[1] if self._opened else None

    @property
    def settling(self) -> float:
        return max(0.0, self._visible_at - time.monotonic())

    async def for_writing(self, deadline: float) -> tuple[StoreIdentity, SharedSlots]:
        """Return the store's identity, as last known, and the slots. Raises StoreUnavailable."""
        return await self.open(self._known or await self._read(deadline), deadline)

    async def open(self, identity: StoreIdentity, deadline: float) -> tuple[StoreIdentity, SharedSlots]:
        """Open the slots. If the run folder is unusable (FolderTaken), first give the store another run name. Raises
        StoreUnavailable."""
        try:
            return identity, self._open(identity)
        except FolderTaken as taken:
            if time.monotonic() - self._renamed_at < _BETWEEN_RENAMES:
                raise taken.refusal from None
            logger.warning("another run folder is used from now on: %s", taken.refusal.message)
        renamed = await self._rename(identity, deadline)
        self._renamed_at = time.monotonic()
        try:
            return renamed, self._open(renamed)
        except FolderTaken as taken:
            raise taken.refusal from None

    def _open(self, identity: StoreIdentity) -> SharedSlots:
        with self._lock:
            opened = self._opened
            if opened and opened[0] == identity:
                slots = opened[1].renewed()
            else:
                slots = SharedSlots.open(identity.store_id, self._folder, name=identity.run_name)
                if opened and opened[0].store_id == identity.store_id and opened[1].path != slots.path:
                    opened[1].retire()
            self._opened, self._known = (identity, slots), identity
            return slots

    def raise_longest_lease(self, seconds: float) -> None:
        self._longest_lease = max(self._longest_lease, seconds)

    async def wait_until_visible(
        self, identity: StoreIdentity, announced_in: SharedSlots, handles: Iterable[bytes]
    ) -> None:
        """After a commit, wait until no process on this host can use an answer that was cached before it.
        ``announced_in``: the slots in which the write was announced."""
        try:
            slots = self._open(identity)
            if slots is not announced_in:  # the file was replaced; other processes may still use the old one
                for handle in handles:
                    slots.touch(handle)
            left = slots.leases_left(self._longest_lease, monotonic_with_suspend())
        except (StoreUnavailable, FolderTaken):  # no process could be notified, so wait until all leases have ended
            left = self._longest_lease
        if left:
            self._visible_at = max(self._visible_at, time.monotonic() + left)
            logger.warning(
                "the slots file of this host is new or cannot be used: a write waits %.1f s after its commit, because "
                "until then another process may use an older answer",
                left,
            )
            await asyncio.sleep(left)

    def forget(self) -> None:
        """Make the next write read the store's identity again. The slots stay open."""
        self._known = None


def rename(connection: Connection, identity: StoreIdentity) -> None:
    this = (generation.c.store_id == identity.store_id, generation.c.run_name == identity.run_name)
    connection.execute(generation.update().where(*this).values(run_name=secrets.token_hex(8)))


def raise_lease(connection: Connection, seconds: float) -> float:
    """Record a lease of ``seconds`` if it is longer than all earlier leases of the store. Return the longest earlier
    lease in seconds."""
    before: int = connection.execute(LONGEST_LEASE).scalar_one()
    wanted = ceil(seconds * 1e6)
    if wanted > before:
        connection.execute(generation.update().values(longest_lease=wanted))
    return before / 1e6


def write_nothing(connection: Connection) -> None:
    """Set a value to itself, so that the database raises an error if it permits no writes. Do nothing if the row is
    locked."""
    if connection.execute(LONGEST_LEASE.with_for_update(skip_locked=True)).first() is not None:
        connection.execute(generation.update().values(run_name=generation.c.run_name))
