"""SlotTable: how writers change the versions of a host's slots; PrivateSlots of one process; and their clocks."""

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
"""Includes suspend: a lease ends while the machine sleeps."""

if sys.platform == "linux":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # CLOCK_MONOTONIC stops in suspend
elif sys.platform == "darwin":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_MONOTONIC)  # time.monotonic stops there
else:
    monotonic_with_suspend = time.monotonic


def utc_now() -> datetime:
    """The time of day by this host's clock: a ``ports.Clock``. It may be set, so it measures nothing."""
    return datetime.now(UTC)


VERSION_BYTES: Final = 8

TABLE_BYTES: Final = SLOT_COUNT * VERSION_BYTES
"""Bytes of all versions."""


def new_version() -> int:
    """A unique even version: 63 random bits; not 0, the version in new tables."""
    return secrets.randbits(63) << 1 or new_version()


def write_in_progress() -> int:
    """A unique odd version."""
    return secrets.randbits(63) << 1 | 1


class SlotTable:
    """The versions in a buffer of TABLE_BYTES bytes. New tables hold 0, which no slot ever gets again."""

    __slots__ = ("__weakref__", "_versions")

    def __init__(self, versions: memoryview[int]) -> None:
        self._versions = versions

    @property
    def versions(self) -> memoryview[int]:
        """Live versions; they stay readable after ``close``."""
        return self._versions

    def copy(self) -> memoryview[int]:
        """A snapshot of all versions."""
        return memoryview(self._versions.tobytes()).cast("Q")

    def repair(self, slot: int, version: int) -> None:
        """End a crashed writer's write in progress, if the slot still has ``version``. A slow writer loses nothing."""
        versions = self._versions
        if version & 1 and versions[slot] == version and not versions.readonly:
            versions[slot] = new_version()

    def touch(self, handle: bytes) -> None:
        """Void cached answers of the handle's slot."""
        self._for_writing()[slot_index(handle)] = new_version()

    @contextmanager
    def writing(self, handle: bytes) -> Iterator[None]:
        """Around a write and its commit: an odd version before, a new even one after, even on failure."""
        versions, slot = self._for_writing(), slot_index(handle)
        versions[slot] = write_in_progress()
        try:
            yield
        finally:
            versions[slot] = new_version()

    def _for_writing(self) -> memoryview[int]:
        """Subclasses raise if no other process would see the write."""
        return self._versions


class PrivateSlots(SlotTable):
    """Slots of a store in one process, with the methods of ``SharedSlots``."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(memoryview(bytearray(TABLE_BYTES)).cast("Q"))

    def is_current(self) -> bool:
        """Always."""
        return True

    def renewed(self) -> PrivateSlots:
        """Itself."""
        return self

    def close(self) -> None:
        """No effect."""
