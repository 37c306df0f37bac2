"""ReportBuffer: report lines that the client has not read yet.

Most clients send their whole body before they read, so waiting for them would deadlock. The unread report goes to a
temporary file; at most MEMORY bytes stay in memory.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO, Final

from tenantry.provisioning.http.request import ClientDisconnected

MEMORY: Final = 1024 * 1024
"""Bytes that are held in memory."""

MOST: Final = 512 * 1024 * 1024
"""Bytes of the file. A client that has so many to read must read before more of its body is."""

_PIECE: Final = 64 * 1024

_log = logging.getLogger("tenantry.api")


class ReportBuffer:
    """Written by one task and read by another. ``close`` closes the file."""

    def __init__(self) -> None:
        self._file: IO[bytes] = BytesIO()
        self._in_memory = True
        self._most = MOST
        self._written = 0
        self._read = 0
        self._ended = False
        self._abandoned = False
        self._changed = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Appends. Raises OSError if the disk is full, ClientDisconnected if the reader is gone."""
        self._require_reader()
        if self._in_memory and self._written + len(data) > MEMORY:
            self._move_to_file()
        self._file.seek(self._written)
        self._file.write(data)
        self._written += len(data)
        self._changed.set()

    def _move_to_file(self) -> None:
        moved: IO[bytes] | None = None
        self._file.seek(0)
        try:
            moved = TemporaryFile()  # noqa: SIM115 - closed by ``close``
            moved.write(self._file.read())
            moved.flush()
        except OSError as error:
            if moved is not None:
                with suppress(OSError):  # it writes once more what the disk has no room for
                    moved.close()
            if self._most != MEMORY:
                _log.warning("a client that is slow to read its report is waited for: no temporary file (%s)", error)
            self._most = MEMORY
            return
        self._file, self._in_memory = moved, False

    async def wait_for_space(self) -> None:
        """Waits for space. Raises ClientDisconnected if the reader is gone."""
        self._require_reader()
        while self._written >= self._most:
            self._changed.clear()
            await self._changed.wait()
            self._require_reader()

    def _require_reader(self) -> None:
        if self._abandoned:
            raise ClientDisconnected("nobody reads the report any more")

    async def wait_for_end(self) -> None:
        """Waits until nothing more is written, or nothing more may be."""
        while not self._ended and self._written < self._most:
            self._changed.clear()
            await self._changed.wait()

    def end(self) -> None:
        """Nothing more is written."""
        self._ended = True
        self._changed.set()

    def abandon(self) -> None:
        """Nothing more is read."""
        self._abandoned = True
        self._changed.set()

    async def read(self) -> bytes:
        """The next piece; empty at the end."""
        while self._read == self._written:
            if self._ended:
                return b""
            self._changed.clear()
            await self._changed.wait()
        self._file.seek(self._read)
        piece = self._file.read(_PIECE)
        self._read += len(piece)
        if self._read == self._written:  # from the beginning again: the file is no longer than what was not read
            self._file.seek(0)
            self._file.truncate()
            self._read = self._written = 0
            self._changed.set()
        return piece

    def close(self) -> None:
        """Gives back the file, and what was not read with it."""
        with suppress(OSError):  # it writes once more what the disk has no room for
            self._file.close()
