from __future__ import annotations

import secrets
from typing import Final

from tenantry.cache import SLOT_COUNT, slot_index

# CPython copies a version in one 8-byte move, so readers need no lock. Another interpreter may read a version that is
# only half written. Such a value differs from every version that a reader noted, so it counts as a change.
VERSION_BYTES: Final = 8
"""Bytes of one version."""

TABLE_BYTES: Final = SLOT_COUNT * VERSION_BYTES
"""Bytes of all versions."""


def new_version() -> int:
    """Return a random even version (no write is in progress), never 0."""
    # If writers counted up instead, two of them could store the same number.
    return secrets.randbits(63) << 1 or new_version()


def write_in_progress() -> int:
    return secrets.randbits(63) << 1 | 1


class SlotWrite:
    """Context manager that marks a write in a slot (``ports.Slots``)."""

    # If two writes overlap, the version is even once the first write has ended. A reader may then cache an answer. The
    # end of the second write invalidates this answer. If the second writer crashes, the next poll drops the answer.
    #
    # This is no generator: if a write is never ended, garbage collection must not end it.

    __slots__ = ("_slot", "_versions")

    def __init__(self, versions: memoryview[int], slot: int) -> None:
        self._versions = versions
        self._slot = slot

    def __enter__(self) -> None:
        self._versions[self._slot] = write_in_progress()

    def __exit__(self, *_: object) -> None:
        self._versions[self._slot] = new_version()


class SlotTable:
    __slots__ = ("__weakref__", "_versions")

    def __init__(self, versions: memoryview[int]) -> None:
        self._versions = versions

    @property
    def versions(self) -> memoryview[int]:
        """The versions of all slots. They can be read even after ``close``."""
        return self._versions

    def copy(self) -> memoryview[int]:
        return memoryview(self._versions.tobytes()).cast("Q")

    def repair(self, slot: int, version: int) -> None:
        versions = self._versions
        if version & 1 and versions[slot] == version and not versions.readonly:
            versions[slot] = new_version()

    def touch(self, handle: bytes) -> None:
        self._for_writing()[slot_index(handle)] = new_version()

    def writing(self, handle: bytes) -> SlotWrite:
        """Return a context manager for a write. It gives the handle's slot an odd version at the start, and a new even
        version at the end."""
        return SlotWrite(self._for_writing(), slot_index(handle))

    def _for_writing(self) -> memoryview[int]:
        """The versions to change. Subclasses raise StoreUnavailable if other processes would not see the change."""
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

    def close(self) -> None: ...
