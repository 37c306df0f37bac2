"""SharedSlots: the slots of one store on this host, in a file that is mapped into memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import time
from pathlib import Path
from typing import Final

from tenantry.cache import SLOT_COUNT
from tenantry.errors import StoreUnavailable
from tenantry.slots.file import HEADER, MADE_AT, SIZE, open_file
from tenantry.slots.folder import SET_FOLDER, os_failure, run_folder
from tenantry.slots.table import TABLE_BYTES, VERSION_BYTES, SlotTable, write_in_progress

_TOUCH_INTERVAL: Final = 3_600.0
"""Seconds between two touches of the file's times: what clears temporary folders goes by days."""


class SharedSlots(SlotTable):
    """``<run folder>/<store id>.slots``. Open one with ``SharedSlots.open``, in each process or before a fork.

    The file may be replaced or deleted under us, by an administrator or by what clears temporary folders. Those who had
    it mapped still share it, and those who come later share another: ask ``is_current``, or go on with ``renewed()``.
    """

    __slots__ = ("_file", "_given", "_identity", "_name", "_store_id", "_touched", "path")

    path: Path
    """Where the file is."""

    def __init__(self, store_id: str, given: Path | str | None, name: str) -> None:
        """See ``open``."""
        folder = run_folder(given, name=name)
        self.path = folder.path / f"{store_id}.slots"
        descriptor = open_file(self.path, store_id, folder)
        try:
            status = os.fstat(descriptor)
            self._file: mmap.mmap | None = mmap.mmap(descriptor, SIZE)
        except OSError as error:
            raise StoreUnavailable(os_failure("cannot map into memory", self.path, error, SET_FOLDER)) from None
        except ValueError as error:  # it was cut short since it was checked
            raise StoreUnavailable(f"cannot map {self.path} into memory: {error}") from None
        finally:
            os.close(descriptor)
        # While it is mapped, no new file can have its inode.
        self._identity = (status.st_dev, status.st_ino)
        self._given = given
        self._name = name
        self._store_id = store_id
        self._touched = -_TOUCH_INTERVAL
        super().__init__(memoryview(self._file)[HEADER : HEADER + TABLE_BYTES].cast("Q"))

    @classmethod
    def open(cls, store_id: str, folder: Path | str | None = None, *, name: str | None = None) -> SharedSlots:
        """Maps the file of this store, which is made if there is none. ``folder``: None means ``run_folder()``, by the
        run ``name`` of the store; None: by its id.

        Raises StoreUnavailable, with the path and what to do, if the folder or file cannot be used or trusted;
        FolderTaken where another name would help.
        """
        return cls(store_id, folder, store_id if name is None else name)

    def __repr__(self) -> str:
        return f"<SharedSlots {self.path}{'' if self._file else ', closed'}>"

    def is_current(self) -> bool:
        """Whether the path still leads to the file that is mapped here, whole. Some microseconds."""
        if self._file is None:
            return False
        try:
            status = self.path.lstat()
        except OSError:
            return False
        if (status.st_dev, status.st_ino) != self._identity or status.st_size < SIZE:
            return False
        self._update_times()
        return True

    def renewed(self) -> SharedSlots:
        """Itself while it is current, else the file that is there now. Raises StoreUnavailable.

        When the file was replaced, every slot of the old one gets a write in progress first, so that whoever still has
        it caches nothing until it too has noticed.
        """
        if self.is_current():
            return self
        self.retire()
        return SharedSlots.open(self._store_id, self._given, name=self._name)

    def leases_left(self, lease: float, now: float) -> float:
        """Seconds for which a process of this host may still use another file than this one, if it may use what it
        has cached for ``lease`` seconds; 0.0 for a file that is older than that. ``now``: of monotonic_with_suspend.

        Whoever asks the store for its changes once this file is there finds this file. So a lease under another one
        was asked for before this one was made.
        """
        made_at = 0 if self._file is None else int.from_bytes(self._file[MADE_AT], sys.byteorder)
        age = now - made_at / 1e6
        return 0.0 if age < 0 else max(0.0, lease - age)  # made before the machine was started: no process is so old

    def settle(self) -> None:
        """No process of this host uses another file. To be called by who knows it: no lease was ever given when this
        file was there already."""
        if self._file is not None:
            self._file[MADE_AT] = bytes(8)

    def close(self) -> None:
        """Releases the file. Who holds ``versions`` reads on, and the memory is freed with the last of them; who asks
        for ``versions`` now gets a table with a write in progress in every slot, so that nothing is cached."""
        if self._file is not None:
            self._file = None
            self._versions = memoryview(_all_in_progress()).cast("Q")

    def _for_writing(self) -> memoryview[int]:
        if self._file is None:
            raise StoreUnavailable(f"{self.path} was closed")
        return self._versions

    def retire(self) -> None:
        """Stores a write in progress in every slot: who still has this file caches nothing until it found the other."""
        # Memory of a file that was cut short must not be touched: that is a bus error, which kills the process.
        if self._file is not None and self._file.size() >= SIZE:
            self._file[HEADER:SIZE] = _all_in_progress()

    def _update_times(self) -> None:
        now = time.monotonic()
        if now - self._touched >= _TOUCH_INTERVAL:
            self._touched = now
            with contextlib.suppress(OSError):
                os.utime(self.path)


def _all_in_progress() -> bytes:
    return write_in_progress().to_bytes(VERSION_BYTES, sys.byteorder) * SLOT_COUNT
