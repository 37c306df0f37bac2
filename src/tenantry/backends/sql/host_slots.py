"""This host's slots for a store, which are found by what the store reports of itself."""

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
    """Which store it is, and the random name that its processes find their run folder by."""

    store_id: str
    run_name: str


class HostSlots:
    """Opens ``<run folder>/<store id>.slots`` when it is first needed, and again when another file has come there.

    ``read`` asks the store for its identity, by a deadline; ``rename`` has it take another run name if it has this one
    still, and returns what it has then. The folder is made and checked by ``tenantry.cache.slots``.
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
        """Seconds for which a write that was committed still waits in ``wait_until_visible``; 0.0 if none does."""
        return max(0.0, self._visible_at - time.monotonic())

    async def for_writing(self, deadline: float) -> tuple[StoreIdentity, SharedSlots]:
        """The identity of the store, as far as is known, and its slots. Raises StoreUnavailable: then nobody may write,
        for the caches of this host would not see it."""
        return await self.open(self._known or await self._read(deadline), deadline)

    async def open(self, identity: StoreIdentity, deadline: float) -> tuple[StoreIdentity, SharedSlots]:
        """The slots of this store, of the file that is at the path now. Where another user has taken the path of the
        run folder, the store gets another name and the identity given back has it. Raises StoreUnavailable."""
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
        """A process may use what it has cached for so many seconds, as the store has recorded."""
        self._longest_lease = max(self._longest_lease, seconds)

    async def wait_until_visible(
        self, identity: StoreIdentity, announced_in: SharedSlots, handles: Iterable[bytes]
    ) -> None:
        """Ends when no process of this host can use an answer that is older than the write with these handles, which
        was committed just now: mostly at once.

        If the file of slots is another than the one that the write was ``announced_in``, it is announced there now. If
        the file is younger than the longest lease, a process may still read the slots of one before it, and has to ask
        the store when its lease has run out.
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
        """Another database may have come to the URL: the next write asks for its identity. The slots stay mapped."""
        self._known = None


def rename(connection: Connection, identity: StoreIdentity) -> None:
    """Gives the store another random run name if it has this one still: of many who want that, one does it."""
    this = (generation.c.store_id == identity.store_id, generation.c.run_name == identity.run_name)
    connection.execute(generation.update().where(*this).values(run_name=secrets.token_hex(8)))


def raise_lease(connection: Connection, seconds: float) -> float:
    """Records that a process may use what it has cached for so long, unless one could already; what was recorded
    before, in seconds. 0.0: no lease was ever given."""
    before: int = connection.execute(LONGEST_LEASE).scalar_one()
    wanted = ceil(seconds * 1e6)
    if wanted > before:
        connection.execute(generation.update().values(longest_lease=wanted))
    return before / 1e6
