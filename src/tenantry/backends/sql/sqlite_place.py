"""Where an SQLite file was when it was opened."""

from __future__ import annotations

import time

from tenantry.database.address import SQLiteFile
from tenantry.errors import StoreUnavailable

GLANCE_SECONDS = 0.001
"""For so long a look-up takes it that the file is where it was at the last look (docs/decisions/0021-glances.md)."""


class Place:
    """Notices that another file has come to the path: what is open would go on in one that nobody can find again."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._opened: tuple[int, int] | None = None
        self._looked = float("-inf")

    def remember(self) -> None:
        """To be called when the file was opened. Raises as ``check`` does, if another one was opened before."""
        if self._opened is None:
            self._opened = self._file.identity()
        else:
            self.check()

    def check(self) -> None:
        """Raises StoreUnavailable. Opening the new file is no way out: the old one's write-ahead log is beside it."""
        opened = self._opened  # another thread may forget it meanwhile
        if opened is not None and self._file.identity() != opened:
            raise StoreUnavailable(
                f"the {self._file.label} was moved, deleted or replaced while it was open: "
                "stop all programs that use it and start them again"
            )

    def glance(self) -> None:
        """The same, at most once in GLANCE_SECONDS: a file that is taken away may be read for so long after."""
        now = time.monotonic()
        if now - self._looked >= GLANCE_SECONDS:
            self.check()
            self._looked = now

    def forget(self) -> None:
        self._opened = None
