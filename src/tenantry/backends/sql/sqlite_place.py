"""Where an SQLite file was when it was opened."""

from __future__ import annotations

from tenantry.errors import StoreUnavailable
from tenantry.migrations.address import SQLiteFile


class Place:
    """Notices that another file has come to the path: what is open would go on in one that nobody can find again."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._opened: tuple[int, int] | None = None

    def remember(self) -> None:
        if self._opened is None:
            self._opened = self._file.identity()

    def check(self) -> None:
        """Raises StoreUnavailable. Opening the new file is no way out: the old one's write-ahead log is beside it."""
        opened = self._opened  # another thread may forget it meanwhile
        if opened is not None and self._file.identity() != opened:
            raise StoreUnavailable(
                f"the {self._file.label} was moved, deleted or replaced while it was open: "
                "stop all programs that use it and start them again"
            )

    def forget(self) -> None:
        self._opened = None
