"""Slots: the words of one store on this host, in a file that is mapped into memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import time
from pathlib import Path
from typing import Final

from tenantry.errors import StoreUnavailable
from tenantry.slots.file import HEADER, SIZE, open_file
from tenantry.slots.folder import RunFolder, run_folder
from tenantry.slots.table import TABLE, WORD, Table, fresh_odd

_YOUNG: Final = 3_600.0
"""Seconds between two touches of the file's times: what clears temporary folders goes by days."""


class Slots(Table):
    """``<run folder>/<store id>.slots``. Open one with ``Slots.open``, in each process or before a fork.

    The file may be replaced or deleted under us, by an administrator or by what clears temporary folders. Those who had
    it mapped still share it, and those who come later share another: ask ``is_current``, or go on with ``renewed()``.
    """

    __slots__ = ("_file", "_folder", "_identity", "_store_id", "_touched", "path")

    path: Path
    """Where the file is."""

    def __init__(self, store_id: str, folder: RunFolder) -> None:
        """See ``open``."""
        self.path = folder.path / f"{store_id}.slots"
        descriptor = open_file(self.path, store_id, folder)
        try:
            status = os.fstat(descriptor)
            self._file: mmap.mmap | None = mmap.mmap(descriptor, SIZE)
        except (OSError, ValueError) as error:
            raise StoreUnavailable(f"cannot map {self.path} into memory: {error}") from None
        finally:
            os.close(descriptor)
        # While it is mapped, no new file can have its inode.
        self._identity = (status.st_dev, status.st_ino)
        self._folder = folder.path
        self._store_id = store_id
        self._touched = -_YOUNG
        super().__init__(memoryview(self._file)[HEADER : HEADER + TABLE].cast("Q"))

    @classmethod
    def open(cls, store_id: str, folder: Path | str | None = None) -> Slots:
        """Maps the file of this store, which is made if there is none. ``folder``: None means ``run_folder()``.

        Raises StoreUnavailable, with the path and how to mend it, if the folder or file cannot be used or trusted.
        """
        return cls(store_id, run_folder(folder))

    def __repr__(self) -> str:
        return f"<Slots {self.path}{'' if self._file else ', closed'}>"

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
        self._keep_young()
        return True

    def renewed(self) -> Slots:
        """Itself while it is current, else the file that is there now. Raises StoreUnavailable.

        When the file was replaced, all words of the old one become odd first, so that whoever still looks at it keeps
        nothing until it too has noticed.
        """
        if self.is_current():
            return self
        self._retire()
        return Slots.open(self._store_id, self._folder)

    def close(self) -> None:
        """Lets the file go. Who still holds ``words`` reads on, and the memory is freed with the last of them; who asks
        for ``words`` now gets a table whose words are all odd, so that nothing is kept by it."""
        if self._file is not None:
            self._file = None
            self._words = memoryview(_all_odd()).cast("Q")

    def _written(self) -> memoryview[int]:
        if self._file is None:
            raise StoreUnavailable(f"{self.path} was closed")
        return self._words

    def _retire(self) -> None:
        # Words of a file that was cut short must not be touched: that is a bus error, which kills the process.
        if self._file is not None and self._file.size() >= SIZE:
            self._file[HEADER:SIZE] = _all_odd()

    def _keep_young(self) -> None:
        now = time.monotonic()
        if now - self._touched >= _YOUNG:
            self._touched = now
            with contextlib.suppress(OSError):
                os.utime(self.path)


def _all_odd() -> bytes:
    return fresh_odd().to_bytes(WORD, sys.byteorder) * (TABLE // WORD)
