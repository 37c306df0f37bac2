"""HostSlots: the slots of this host for one store."""

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
from tenantry.backends.sql.tables import generation
from tenantry.cache.slots import FolderTaken, SharedSlots, monotonic_with_suspend
from tenantry.errors import StoreUnavailable

logger: logging.Logger = logging.getLogger(__name__)

_BETWEEN_RENAMES: Final = 60.0
"""Seconds for which a process gives a store no second name. No other user can foresee one, so a second is no help."""


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """The id of a store, and the random name of its run folder."""

    store_id: str
    run_name: str


class HostSlots:
    """Opens ``<run folder>/<store id>.slots`` at first use, and again when the file was replaced.

    ``read`` reads the identity of the store; ``rename`` replaces its run name if that is still the given one.
    ``tenantry.cache.slots`` makes and checks the folder.
    """

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
        """What was opened last; None before."""
        return self._opened[1] if self._opened else None

    @property
    def settling(self) -> float:
        """Seconds for which committed writes still wait in ``wait_until_visible``."""
        return max(0.0, self._visible_at - time.monotonic())

    async def for_writing(self, deadline: float) -> tuple[StoreIdentity, SharedSlots]:
        """The last known identity of the store, and its slots. Raises StoreUnavailable: a write that the caches of
        this host cannot see is refused."""
        return await self.open(self._known or await self._read(deadline), deadline)

    async def open(self, identity: StoreIdentity, deadline: float) -> tuple[StoreIdentity, SharedSlots]:
        """The slots in the file that is now at the path. If another user has taken the run folder, the store is
        renamed, and the returned identity has the new name. Raises StoreUnavailable."""
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
        """Notes a lease (seconds) that the store has recorded."""
        self._longest_lease = max(self._longest_lease, seconds)

    async def wait_until_visible(
        self, identity: StoreIdentity, announced_in: SharedSlots, handles: Iterable[bytes]
    ) -> None:
        """Returns, mostly at once, when no process of this host can use an answer older than the write that was just
        committed.

        If the file of slots was replaced since ``announced_in``, the write is announced in the new one. If the file is
        younger than the longest lease, a process may still read the previous file, until its lease runs out.
        """
        try:
            slots = self._open(identity)
            if slots is not announced_in:
                for handle in handles:
                    slots.touch(handle)
            left = slots.leases_left(self._longest_lease, monotonic_with_suspend())
        except (StoreUnavailable, FolderTaken):  # then nothing can be announced on this host: all leases run out
            left = self._longest_lease
        if left:
            self._visible_at = max(self._visible_at, time.monotonic() + left)
            logger.warning(
                "the table of this host was made only now, so a write is answered %.1f s after its commit: until then "
                "another process may use what it has cached",
                left,
            )
            await asyncio.sleep(left)

    def forget(self) -> None:
        """Makes the next write read the identity: another database may be at the URL. The slots stay mapped."""
        self._known = None


def rename(connection: Connection, identity: StoreIdentity) -> None:
    """Gives the store a new random run name if it still has this one; of many callers one does it."""
    this = (generation.c.store_id == identity.store_id, generation.c.run_name == identity.run_name)
    connection.execute(generation.update().where(*this).values(run_name=secrets.token_hex(8)))


def raise_lease(connection: Connection, seconds: float) -> float:
    """Records the lease unless a longer one is recorded; returns the previous one in seconds, 0.0 for none."""
    before: int = connection.execute(LONGEST_LEASE).scalar_one()
    wanted = ceil(seconds * 1e6)
    if wanted > before:
        connection.execute(generation.update().values(longest_lease=wanted))
    return before / 1e6
