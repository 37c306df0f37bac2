"""SlotTable: the versions of a store's slots, and how a writer changes them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tenantry.cache import SLOT_COUNT, slot_index

VERSION_BYTES: Final = 8
"""Bytes of one version. Readers take no lock: CPython copies an item of a ``Q`` memoryview in one 8-byte move. On an
interpreter that does not, a half-written version equals no noted one, so that the answer counts as invalid."""

TABLE_BYTES: Final = SLOT_COUNT * VERSION_BYTES
"""Bytes of a whole table."""


def new_version() -> int:
    """A random even version, not 0, for a slot at rest. Random, because two writers that counted up without a lock
    could store the same number."""
    return secrets.randbits(63) << 1 or new_version()


def write_in_progress() -> int:
    """A version for a slot during a write: random and odd."""
    return secrets.randbits(63) << 1 | 1


class SlotTable:
    """The versions of SLOT_COUNT slots in a buffer. Changes are visible at once to all who use the buffer."""

    __slots__ = ("__weakref__", "_versions")

    def __init__(self, versions: memoryview[int]) -> None:
        self._versions = versions

    @property
    def versions(self) -> memoryview[int]:
        """The live versions, readable even after ``close``."""
        return self._versions

    def copy(self) -> memoryview[int]:
        """A copy of all versions, which later writes do not change."""
        return memoryview(self._versions.tobytes()).cast("Q")

    def repair(self, slot: int, version: int) -> None:
        """Give the slot an even version if it still has this odd one: its writer has crashed."""
        versions = self._versions
        if version & 1 and versions[slot] == version and not versions.readonly:
            versions[slot] = new_version()

    def touch(self, handle: bytes) -> None:
        """Change the version of the handle's slot after a commit, which invalidates cached answers."""
        self._for_writing()[slot_index(handle)] = new_version()

    @contextmanager
    def writing(self, handle: bytes) -> Iterator[None]:
        """Keep the version of the handle's slot odd inside the block, which makes and commits a write."""
        versions, slot = self._for_writing(), slot_index(handle)
        versions[slot] = write_in_progress()
        try:
            yield
        finally:
            versions[slot] = new_version()

    def _for_writing(self) -> memoryview[int]:
        """The versions to change. A subclass raises StoreUnavailable if other processes would not see the change."""
        return self._versions


class PrivateSlots(SlotTable):
    """Slots in the memory of one process."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(memoryview(bytearray(TABLE_BYTES)).cast("Q"))

    def is_current(self) -> bool:
        return True

    def renewed(self) -> PrivateSlots:
        return self

    def close(self) -> None:
        """No effect."""
