from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from contextlib import suppress
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO, Any, Final

from pydantic_core import to_json
from starlette.types import Message, Receive, Scope, Send

from tenantry.errors import TenantryError
from tenantry.http import error_document
from tenantry.provisioning.http.endpoint import StreamedResponse, public_error
from tenantry.provisioning.http.request import ApiRequest, ClientDisconnected

MEDIA_TYPE: Final = "application/x-ndjson"

AFTER_BODY: Final = b"report-after-body"
"""Value of the Prefer header (RFC 7240) that delays the report until all lines are processed, or until the buffer is
full."""
# Some proxies cannot handle a response that begins before the request ends: nginx stops forwarding the body, and Caddy
# drops a part of it.

LINES_BETWEEN: Final = 25
"""After this many lines are read or reported, the event loop may run other tasks."""
# This takes a few milliseconds.

_log = logging.getLogger("tenantry.api")


class ReportResponse(StreamedResponse):
    """A response of JSON lines, which are sent while the work continues. The last line says how the work ended."""

    def __init__(self, request: ApiRequest, *, dry_run: bool, after_body: bool = False) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._after_body = after_body
        if after_body:
            self.headers["preference-applied"] = AFTER_BODY.decode()
        if dry_run:
            self.headers["dry-run"] = "true"
        self._request = request

    @abstractmethod
    async def _write_lines(self, buffer: ReportBuffer) -> None: ...

    @abstractmethod
    def _last_line(self) -> dict[str, Any]:
        """Return the members of the last line, without ``success`` and ``error``."""

    async def _after_error(self) -> None: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        buffer = ReportBuffer()
        sending = asyncio.create_task(self._send(buffer, send))
        sending.add_done_callback(lambda _: buffer.abandon())
        try:
            with suppress(ClientDisconnected):
                await self._report(buffer)
                buffer.end()
                await asyncio.wait([sending])
        finally:
            sending.cancel()
            await asyncio.wait([sending])  # the task may still read from the buffer
            buffer.close()
        if not sending.cancelled():
            with suppress(ClientDisconnected):
                sending.result()

    async def _send(self, buffer: ReportBuffer, send: Send) -> None:
        if self._after_body:
            await buffer.wait_for_end()
        await _deliver(send, {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while piece := await buffer.read():
            await _deliver(send, {"type": "http.response.body", "body": piece, "more_body": True})
        await _deliver(send, {"type": "http.response.body", "body": b""})

    async def _report(self, buffer: ReportBuffer) -> None:
        error: TenantryError | None = None
        try:
            await self._write_lines(buffer)
        except ClientDisconnected:
            raise
        except Exception as raised:  # noqa: BLE001 - after any error the report ends with a last line
            error = public_error(raised, self._request)
            self.code = error.code
        status = {"success": 1} if error is None else error_document(error, self._request.id)
        buffer.write(to_json({**status, **self._last_line()}) + b"\n")
        if error is not None:
            await self._after_error()


async def _deliver(send: Send, message: Message) -> None:
    """Send ``message``. Raises ClientDisconnected if ``send`` raises OSError (ASGI HTTP 2.4)."""
    try:
        await send(message)
    except OSError as error:
        raise ClientDisconnected("the connection broke before the report was sent") from error


# --- the part of the report that the client has not read --------------------------------------------------------------

MEMORY: Final = 1024 * 1024
"""Maximum bytes of the report held in memory."""

MAX_FILE: Final = 512 * 1024 * 1024
"""With this many bytes in the temporary file, the server does no more work until the client has read all of them."""

_PIECE: Final = 64 * 1024


class ReportBuffer:
    """Holds the report until the client reads it. One task writes to the buffer and one reads from it. A report of more
    than MEMORY bytes moves to a temporary file, which ``close`` deletes."""

    # Most clients send the whole body before they read.

    def __init__(self) -> None:
        self._file: IO[bytes] = BytesIO()
        self._in_memory = True
        self._most = MAX_FILE
        self._written = 0
        self._read = 0
        self._ended = False
        self._abandoned = False
        self._changed = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Append to the report. Raises OSError if the disk is full, and ClientDisconnected if the reading task has
        ended."""
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
                with suppress(OSError):  # ``close`` flushes, so it fails again if the disk is full
                    moved.close()
            if self._most != MEMORY:
                _log.warning("a bulk report has no temporary file, so its request waits for the reader: %s", error)
            self._most = MEMORY
            return
        self._file, self._in_memory = moved, False

    async def wait_for_space(self) -> None:
        """Wait until the buffer has space. Raises ClientDisconnected if the task that sends its content has ended."""
        self._require_reader()
        while self._written >= self._most:
            self._changed.clear()
            await self._changed.wait()
            self._require_reader()

    def _require_reader(self) -> None:
        if self._abandoned:
            raise ClientDisconnected("the client stopped reading the report")

    async def wait_for_end(self) -> None:
        while not self._ended and self._written < self._most:
            self._changed.clear()
            await self._changed.wait()

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    def abandon(self) -> None:
        self._abandoned = True
        self._changed.set()

    async def read(self) -> bytes:
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
        with suppress(OSError):  # ``close`` flushes, so it fails again if the disk is full
            self._file.close()
