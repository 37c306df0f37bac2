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
from tenantry.slots.advice import SET_FOLDER, os_failure
from tenantry.slots.file import HEADER, MADE_AT, SIZE, open_file
from tenantry.slots.folder import run_folder
from tenantry.slots.table import TABLE, WORD, Table, fresh_odd

_YOUNG: Final = 3_600.0
"""Seconds between two touches of the file's times: what clears temporary folders goes by days."""


class Slots(Table):
    """``<run folder>/<store id>.slots``. Open one with ``Slots.open``, in each process or before a fork.

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
        except ValueError as error:  # it was cut short since it was looked at
            raise StoreUnavailable(f"cannot map {self.path} into memory: {error}") from None
        finally:
            os.close(descriptor)
        # While it is mapped, no new file can have its inode.
        self._identity = (status.st_dev, status.st_ino)
        self._given = given
        self._name = name
        self._store_id = store_id
        self._touched = -_YOUNG
        super().__init__(memoryview(self._file)[HEADER : HEADER + TABLE].cast("Q"))

    @classmethod
    def open(cls, store_id: str, folder: Path | str | None = None, *, name: str | None = None) -> Slots:
        """Maps the file of this store, which is made if there is none. ``folder``: None means ``run_folder()``, by the
        run ``name`` of the store; None: by its id.

        Raises StoreUnavailable, with the path and how to mend it, if the folder or file cannot be used or trusted;
        FolderTaken where another name would help.
        """
        return cls(store_id, folder, store_id if name is None else name)

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
        self.retire()
        return Slots.open(self._store_id, self._given, name=self._name)

    def leases_left(self, lease: float, now: float) -> float:
        """Seconds for which a process of this host may still go by another file than this one, if it may use what it
        knows for ``lease`` seconds; ``now`` is the boot clock's. 0.0 for a file that is older than that.

        Whoever asks the store for its changes once this file is there finds this file. So a lease under another one
        was asked for before this one was made.
        """
        made_at = 0 if self._file is None else int.from_bytes(self._file[MADE_AT], sys.byteorder)
        age = now - made_at / 1e6
        return 0.0 if age < 0 else max(0.0, lease - age)  # made before the machine was started: no process is so old

    def settle(self) -> None:
        """No process of this host goes by another file. To be called by who knows it: no lease was ever given when this
        file was there already."""
        if self._file is not None:
            self._file[MADE_AT] = bytes(8)

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

    def retire(self) -> None:
        """Makes all words odd: whoever still looks at this file keeps nothing, until it has found the right one."""
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
