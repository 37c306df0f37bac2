from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO, Final

from tenantry.provisioning.http.request import ClientDisconnected

MEMORY: Final = 1024 * 1024
"""Maximum bytes of the report held in memory."""

MOST: Final = 512 * 1024 * 1024
"""Maximum bytes of the temporary file. When it is full, no more lines are read until the client reads the report."""

_PIECE: Final = 64 * 1024

_log = logging.getLogger("tenantry.api")


class ReportBuffer:
    """Holds the part of the report that the client has not read yet. One task writes, another reads.

    Most clients send their whole body before they read the report: without a buffer, client and server would wait for
    each other. Beyond MEMORY bytes the report moves to a temporary file, which ``close`` deletes.
    """

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
        """Append ``data``. Raises OSError if the disk is full, ClientDisconnected if the reader is gone."""
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
                with suppress(OSError):  # closing flushes, which fails again on a full disk
                    moved.close()
            if self._most != MEMORY:
                _log.warning("a bulk report has no temporary file, so its request waits for the reader: %s", error)
            self._most = MEMORY
            return
        self._file, self._in_memory = moved, False

    async def wait_for_space(self) -> None:
        """Wait until the buffer is not full. Raises ClientDisconnected if the reader is gone."""
        self._require_reader()
        while self._written >= self._most:
            self._changed.clear()
            await self._changed.wait()
            self._require_reader()

    def _require_reader(self) -> None:
        if self._abandoned:
            raise ClientDisconnected("the client stopped reading the report")

    async def wait_for_end(self) -> None:
        """Wait until the report ends or the buffer is full."""
        while not self._ended and self._written < self._most:
            self._changed.clear()
            await self._changed.wait()

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    def abandon(self) -> None:
        """Mark the reader as gone: ``write`` and ``wait_for_space`` raise ClientDisconnected from now on."""
        self._abandoned = True
        self._changed.set()

    async def read(self) -> bytes:
        """Wait for the next piece, and return it; empty at the end of the report."""
        while self._read == self._written:
            if self._ended:
                return b""
            self._changed.clear()
            await self._changed.wait()
        self._file.seek(self._read)
        piece = self._file.read(_PIECE)
        self._read += len(piece)
        if self._read == self._written:  # everything is read: reuse the space
            self._file.seek(0)
            self._file.truncate()
            self._read = self._written = 0
            self._changed.set()
        return piece

    def close(self) -> None:
        with suppress(OSError):  # closing flushes, which fails again on a full disk
            self._file.close()
