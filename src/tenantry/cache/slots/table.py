"""SlotTable: what a writer does to the versions of a host's slots; and PrivateSlots, of one process alone. The clock of
whatever these versions void: its seconds never go back, and go on while the machine is suspended.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final

from tenantry.cache import SLOT_COUNT, slot_index
from tenantry.ports import MonotonicClock

monotonic_with_suspend: MonotonicClock
"""A lease ends while a laptop or a virtual machine is suspended: what was cached before is not used afterwards."""

if sys.platform == "linux":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # CLOCK_MONOTONIC stops in suspend
elif sys.platform == "darwin":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_MONOTONIC)  # time.monotonic stops there
else:
    monotonic_with_suspend = time.monotonic


def utc_now() -> datetime:
    """The time of day by this host's clock: a ``ports.Clock``. It may be set, so nothing is measured by it."""
    return datetime.now(UTC)


VERSION_BYTES: Final = 8

TABLE_BYTES: Final = SLOT_COUNT * VERSION_BYTES
"""Bytes of all versions."""


def new_version() -> int:
    """An even version that was never seen before: 63 random bits. Not 0, which is what new tables hold."""
    return secrets.randbits(63) << 1 or new_version()


def write_in_progress() -> int:
    """The same, odd: a write is in progress."""
    return secrets.randbits(63) << 1 | 1


class SlotTable:
    """The versions in a buffer of TABLE_BYTES bytes.

    All versions of a new table are 0: even, and alike for all, which does no harm, since a slot never has 0 again.
    """

    __slots__ = ("__weakref__", "_versions")

    def __init__(self, versions: memoryview[int]) -> None:
        self._versions = versions

    @property
    def versions(self) -> memoryview[int]:
        """Live: each access reads the version as it is now. May be held on to; it outlives ``close``."""
        return self._versions

    def copy(self) -> memoryview[int]:
        """All versions as they are now; they stay so."""
        return memoryview(self._versions.tobytes()).cast("Q")

    def repair(self, slot: int, version: int) -> None:
        """Ends a write in progress if it still has this ``version``: its writer has crashed.

        A writer that is only slow loses nothing: it stores its own new version after its commit all the same.
        """
        versions = self._versions
        if version & 1 and versions[slot] == version and not versions.readonly:
            versions[slot] = new_version()

    def touch(self, handle: bytes) -> None:
        """Voids whatever is cached of the groups in this handle's slot."""
        self._for_writing()[slot_index(handle)] = new_version()

    @contextmanager
    def writing(self, handle: bytes) -> Iterator[None]:
        """Around a write to a group, its commit included: odd before, even after, whatever happened."""
        versions, slot = self._for_writing(), slot_index(handle)
        versions[slot] = write_in_progress()
        try:
            yield
        finally:
            versions[slot] = new_version()

    def _for_writing(self) -> memoryview[int]:
        """A subclass raises here where a write would be seen by nobody else."""
        return self._versions


class PrivateSlots(SlotTable):
    """Slots of a store that lives in one process: no other sees them. With the methods of ``SharedSlots``."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(memoryview(bytearray(TABLE_BYTES)).cast("Q"))

    def is_current(self) -> bool:
        """Always: nobody can replace it."""
        return True

    def renewed(self) -> PrivateSlots:
        """Itself."""
        return self

    def close(self) -> None:
        """Nothing to do."""
