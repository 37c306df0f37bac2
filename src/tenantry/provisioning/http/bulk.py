from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Final

from pydantic_core import to_json
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tenantry.errors import BadRequest, Draining, StoreUnavailable, TenantryError
from tenantry.groups import ApiToken, Author
from tenantry.groups import Scope as ApiScope
from tenantry.http import error_document
from tenantry.provisioning import Deadline, UpsertProvisioner, UpsertResult
from tenantry.provisioning.http.dry_run import DryRunProvisioner
from tenantry.provisioning.http.endpoint import (
    ApiContext,
    Endpoint,
    ErrorFormat,
    StreamedResponse,
    digest_of,
    public_error,
    require_scope,
)
from tenantry.provisioning.http.ndjson_reader import MAX_BULK, BodyLines, Line
from tenantry.provisioning.http.request import ApiRequest, ClientDisconnected, read_flag
from tenantry.provisioning.http.upsert_lines import UpsertBatch, UpsertCounts, read_line

MEDIA_TYPE: Final = "application/x-ndjson"

AFTER_BODY: Final = b"report-after-body"
"""Value of the Prefer header (RFC 7240) that delays the report until all lines are processed. Some proxies cannot
handle a response that begins before the request ends: nginx stops forwarding the body, and Caddy drops a part of it."""

_LINES_BETWEEN: Final = 25
"""After this many lines are read or reported (a few milliseconds of work), the event loop may run other tasks."""

_log = logging.getLogger("tenantry.api")


class BulkEndpoint(Endpoint):
    """``/api/users/bulk``: creates or changes one group per line of an NDJSON body. The response reports every line
    that was written, unless the connection breaks."""

    def __init__(self, context: ApiContext, draining: Callable[[], bool]) -> None:
        super().__init__("POST", error_format=ErrorFormat(accept=MEDIA_TYPE.encode()), observer=context.observer)
        self._context = context
        self._draining = draining

    async def respond(self, request: ApiRequest) -> Response:
        context, digest = self._context, digest_of(request.api_token())  # 400, 401
        await context.authenticate(digest, Deadline(context.store_seconds))  # 401
        request.require_length(MAX_BULK)  # 400, 413
        request.require_media_type(MEDIA_TYPE)  # 415
        dry_run = request.dry_run("replace")  # 400
        replace = read_flag(request.query("replace", "dry_run"), "replace")  # 400
        if request.has_idempotency_key:
            raise BadRequest(
                "a bulk request takes no Idempotency-Key: remove the header (you can repeat a bulk request without it)"
            )
        request.set_operation("bulk")
        writer = _Writer(context, digest, request.id, replace=replace, dry_run=dry_run)
        await writer.authorize(Deadline(context.store_seconds))  # 403
        body = BodyLines(request, context.body_seconds)
        await body.begin()  # 400, 408, 413
        return BulkResponse(request, body, writer, self._draining, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _Writer:
    context: ApiContext
    digest: bytes
    request_id: str
    replace: bool
    dry_run: bool

    async def authorize(self, deadline: Deadline) -> ApiToken:
        """The API token may have been revoked since the last batch."""
        caller = await self.context.authenticate(self.digest, deadline)
        require_scope(caller, ApiScope.PROVISION_WRITE)
        return caller

    async def write(self, batch: UpsertBatch) -> list[UpsertResult]:
        context = self.context
        deadline = Deadline(context.store_seconds, lambda: context.store.settling)
        caller = await self.authorize(deadline)
        kind = DryRunProvisioner if self.dry_run else UpsertProvisioner
        provisioner: UpsertProvisioner = kind(context.store, context.keys, deadline=deadline, contract=context.contract)
        author = Author(f"api token {caller.id} ({caller.label})", self.request_id)
        return await batch.write(provisioner, caller.environment, merge=not self.replace, author=author)


# --- the report -------------------------------------------------------------------------------------------------------


class BulkResponse(StreamedResponse):
    def __init__(
        self,
        request: ApiRequest,
        body: BodyLines,
        writer: _Writer,
        draining: Callable[[], bool],
        *,
        dry_run: bool,
    ) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._after_body = request.prefers(AFTER_BODY)
        if self._after_body:
            self.headers["preference-applied"] = AFTER_BODY.decode()
        if dry_run:
            self.headers["dry-run"] = "true"
        self._request = request
        self._body = body
        self._writer = writer
        self._draining = draining
        self._counts = UpsertCounts()

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
            await self._do_lines(buffer)
        except ClientDisconnected:
            raise
        except Exception as raised:  # noqa: BLE001 - after any error the report ends with a summary
            error = public_error(raised, self._request)
            self.code = error.code
        status = {"success": 1} if error is None else error_document(error, self._request.id)
        buffer.write(to_json({**status, "summary": self._counts.summary()}) + b"\n")
        if error is not None:
            await self._body.discard()

    async def _do_lines(self, buffer: ReportBuffer) -> None:
        body = self._body
        while True:
            await self._do(body.lines(), buffer)
            if body.complete:
                return
            if self._draining():
                raise Draining("this server is about to stop: send the lines that have no report to another server")
            await body.read()

    async def _do(self, lines: Iterable[Line], buffer: ReportBuffer) -> None:
        batch = UpsertBatch()
        for line in lines:
            read = read_line(line, replace=self._writer.replace)
            if not batch.takes(read):
                await self._write(batch, buffer)
                batch = UpsertBatch()
            batch.add(read)
            if len(batch.lines) % _LINES_BETWEEN == 0:
                await asyncio.sleep(0)
        if batch.lines:
            await self._write(batch, buffer)

    async def _write(self, batch: UpsertBatch, buffer: ReportBuffer) -> None:
        await buffer.wait_for_space()
        results = await self._writer.write(batch)
        self._counts.add(results)
        report = batch.report(results)
        while piece := b"".join(to_json(line) + b"\n" for line in islice(report, _LINES_BETWEEN)):
            buffer.write(piece)
            await asyncio.sleep(0)
        for each in results:
            if isinstance(each, StoreUnavailable):
                raise each


async def _deliver(send: Send, message: Message) -> None:
    """Raises ClientDisconnected when ``send`` raises OSError (ASGI HTTP 2.4)."""
    try:
        await send(message)
    except OSError as error:
        raise ClientDisconnected("the connection broke before the report was sent") from error


# --- the part of the report that the client has not read --------------------------------------------------------------

MEMORY: Final = 1024 * 1024
"""Maximum bytes of the report held in memory."""

MOST: Final = 512 * 1024 * 1024
"""Maximum bytes of the report in a temporary file. When the file is full, the server reads no more lines until the
client has read more of the report."""

_PIECE: Final = 64 * 1024


class ReportBuffer:
    """Holds the report until the client reads it: most clients send the whole body first. One task writes to the buffer
    and one reads from it. A report of more than MEMORY bytes moves to a temporary file, which ``close`` deletes."""

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
        """Raises OSError if the disk is full, and ClientDisconnected if the reading task has ended."""
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
        """Raises ClientDisconnected if the reading task has ended."""
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
