"""Slot tables and clocks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tenantry.cache import SLOT_COUNT, slot_index

# Unique versions need no lock: two increments of one version could collide. CPython copies an item of a ``Q``
# memoryview in one atomic 8-byte move; elsewhere a torn version matches nothing.
VERSION_BYTES: Final = 8

TABLE_BYTES: Final = SLOT_COUNT * VERSION_BYTES
"""Bytes of all versions."""


def new_version() -> int:
    """A unique, even, nonzero version."""
    return secrets.randbits(63) << 1 or new_version()


def write_in_progress() -> int:
    """A unique odd version."""
    return secrets.randbits(63) << 1 | 1


class SlotTable:
    """Versions in a buffer of TABLE_BYTES bytes."""

    __slots__ = ("__weakref__", "_versions")

    def __init__(self, versions: memoryview[int]) -> None:
        self._versions = versions

    @property
    def versions(self) -> memoryview[int]:
        """Live versions, readable after ``close``."""
        return self._versions

    def copy(self) -> memoryview[int]:
        """A snapshot of all versions."""
        return memoryview(self._versions.tobytes()).cast("Q")

    def repair(self, slot: int, version: int) -> None:
        """End a crashed writer's write at ``version``."""
        versions = self._versions
        if version & 1 and versions[slot] == version and not versions.readonly:
            versions[slot] = new_version()

    def touch(self, handle: bytes) -> None:
        """Invalidate cached answers of the handle."""
        self._for_writing()[slot_index(handle)] = new_version()

    @contextmanager
    def writing(self, handle: bytes) -> Iterator[None]:
        """Wrap a write and its commit."""
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
    """Slots for one process."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(memoryview(bytearray(TABLE_BYTES)).cast("Q"))

    def is_current(self) -> bool:
        return True

    def renewed(self) -> PrivateSlots:
        return self

    def close(self) -> None:
        """No effect."""
