"""``/api/users/bulk``: many user groups in one request, a line of JSON each (NDJSON), and a report of as many lines."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import to_json
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry.api.endpoint import (
    ApiContext,
    Endpoint,
    ErrorFormat,
    StreamedResponse,
    digest_of,
    public_error,
    require_scope,
)
from tenantry.api.lines import MAX_BULK, MAX_LINE, BodyLines, Line
from tenantry.api.operations import merged_group, parse_line
from tenantry.api.query_parameters import read_flag
from tenantry.api.rehearsal import Rehearsal
from tenantry.api.report_buffer import ReportBuffer
from tenantry.api.request import ApiRequest, ClientDisconnected
from tenantry.api.strict_json import decode_json
from tenantry.errors import (
    BadRequest,
    BodyTooLarge,
    Draining,
    StoreUnavailable,
    TenantryError,
)
from tenantry.groups import ApiToken, Author
from tenantry.groups import Scope as ApiScope
from tenantry.http import error_document
from tenantry.provisioning import Deadline, Outcome, Upsert, UpsertProvisioner, UpsertResult

MEDIA_TYPE: Final = "application/x-ndjson"

MOST_TOGETHER: Final = 500
"""Lines that share a transaction. SQLite's file, and a row that all writers of PostgreSQL pass by, are locked for some
ten milliseconds then."""

BYTES_TOGETHER: Final = 1024 * 1024
"""After so many bytes the lines of a transaction are enough."""

_LINES_BETWEEN: Final = 25
"""Lines that are read before others have a turn of the event loop: some milliseconds."""

FAILED: Final = "failed"
"""The count of lines that did nothing, in the summary."""


class BulkEndpoint(Endpoint):
    """Creates or changes the groups that the lines name. ``draining`` says whether the server is about to stop."""

    def __init__(self, context: ApiContext, draining: Callable[[], bool]) -> None:
        super().__init__("POST", error_format=ErrorFormat(accept=MEDIA_TYPE.encode()), observer=context.observer)
        self._context = context
        self._draining = draining

    async def respond(self, request: ApiRequest) -> Response:
        """200 and the report. Raises the errors of docs/http-api.md, in its order, before any line was done."""
        context, digest = self._context, digest_of(request.api_token())  # 400, 401
        await context.authenticate(digest, Deadline(context.store_seconds))  # 401
        request.require_length(MAX_BULK)  # 400, 413
        request.require_media_type(MEDIA_TYPE)  # 415
        rehearsed = request.dry_run("replace")  # 400
        replace = read_flag(request.query("replace", "dry_run"), "replace")  # 400
        if request.has_idempotency_key:
            raise BadRequest(
                "a bulk takes no Idempotency-Key and needs none: sent again, it leaves what it has done as it is"
            )
        request.set_operation("bulk")
        batches = _Batches(context, digest, request.id, replace=replace, rehearsed=rehearsed)
        await batches.authorize(Deadline(context.store_seconds))  # 403
        body = BodyLines(request, context.body_seconds)
        await body.begin()  # 400, 408, 413
        return BulkResponse(request, body, batches, self._draining, rehearsed=rehearsed)


# --- lines to groups --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Read:
    """A line that was read: what it asks for, or why it cannot be done."""

    number: int
    asked: Upsert | TenantryError


@dataclass(frozen=True, slots=True)
class _Batches:
    """Does the lines of one request, a batch at a time."""

    context: ApiContext
    digest: bytes
    request_id: str
    replace: bool
    rehearsed: bool

    async def authorize(self, deadline: Deadline) -> ApiToken:
        """The caller, who may have been cut off since the last batch. Raises Unauthorized, MissingScope."""
        caller = await self.context.authenticate(self.digest, deadline)
        require_scope(caller, ApiScope.PROVISION_WRITE)
        return caller

    def read(self, line: Line) -> _Read:
        """What the line asks for."""
        try:
            if line.text is None:
                raise BodyTooLarge(f"the line is longer than {MAX_LINE} bytes")
            operation = parse_line(decode_json(line.text, what="line"), replace=self.replace)
        except TenantryError as error:
            return _Read(line.number, error)
        return _Read(line.number, Upsert(operation.user_group_id, operation.changes()))

    async def write(self, batch: list[_Read]) -> list[UpsertResult]:
        """What became of each. Raises what ``authorize`` raises, and then nothing was written."""
        context = self.context
        deadline = Deadline(context.store_seconds, lambda: context.store.settling)
        caller = await self.authorize(deadline)
        kind = Rehearsal if self.rehearsed else UpsertProvisioner
        provisioner: UpsertProvisioner = kind(context.store, context.keys, deadline=deadline, contract=context.contract)
        author = Author(f"api token {caller.id} ({caller.label})", self.request_id)
        asked = [each.asked for each in batch if isinstance(each.asked, Upsert)]
        done = iter(await provisioner.upsert_many(caller.environment, asked, merge=not self.replace, author=author))
        return [next(done) if isinstance(each.asked, Upsert) else each.asked for each in batch]


# --- the report -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Counts:
    counts: Counter[str] = field(default_factory=Counter)

    def summary(self) -> dict[str, int]:
        named = {name: self.counts[name] for name in (*Outcome, FAILED)}
        return {"lines": sum(named.values()), **{str(name): count for name, count in named.items()}}


def report_line(number: int, result: UpsertResult) -> dict[str, Any]:
    """What is said of the line with this number: the answer to PATCH, or the error."""
    if isinstance(result, TenantryError):
        return {"line": number, **error_document(result, None)}
    return {
        "line": number,
        "success": 1,
        "result": result.outcome.value,
        "user_group": merged_group(result.group),
    }


class BulkResponse(StreamedResponse):
    """Does the lines as they arrive, and reports of each. What a line without a report asked for was not done, unless
    the connection broke before its report arrived."""

    def __init__(
        self,
        request: ApiRequest,
        body: BodyLines,
        batches: _Batches,
        draining: Callable[[], bool],
        *,
        rehearsed: bool,
    ) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        if rehearsed:
            self.headers["dry-run"] = "true"
        self._request = request
        self._body = body
        self._batches = batches
        self._draining = draining
        self._counts = _Counts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it. Returns early when the client is gone: what was written until then stays."""
        buffer = ReportBuffer()
        sending = asyncio.create_task(self._send(buffer, send))
        try:
            with suppress(ClientDisconnected):
                await self._report(buffer)
                buffer.end()
                await sending
        finally:
            sending.cancel()
            buffer.close()

    async def _send(self, buffer: ReportBuffer, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while piece := await buffer.read():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _report(self, buffer: ReportBuffer) -> None:
        """All lines, and the last one, which sums up and says why the report ends early, if it does."""
        error: TenantryError | None = None
        try:
            await self._do_lines(buffer)
        except ClientDisconnected:
            raise
        except Exception as raised:  # noqa: BLE001 - the last resort: every report has a last line
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
                raise Draining("this server is about to stop: send the lines that have no report to another")
            await body.read()

    async def _do(self, lines: Iterable[Line], buffer: ReportBuffer) -> None:
        """Does them, as many together as may be. An id that comes again begins a new batch: the later line is made of
        what the one before it has made."""
        batch: list[_Read] = []
        ids: set[str] = set()
        size = 0
        for line in lines:
            read = self._batches.read(line)
            named = read.asked.provided_id if isinstance(read.asked, Upsert) else None
            if named in ids or len(batch) == MOST_TOGETHER or size > BYTES_TOGETHER:
                await self._write(batch, buffer)
                batch, ids, size = [], set(), 0
            batch.append(read)
            size += len(line.text or b"")
            if named is not None:
                ids.add(named)
            if len(batch) % _LINES_BETWEEN == 0:
                await asyncio.sleep(0)
        if batch:
            await self._write(batch, buffer)

    async def _write(self, batch: list[_Read], buffer: ReportBuffer) -> None:
        """Raises StoreUnavailable, after its report, where the store could not be used for it: nor could it be for the
        next."""
        await buffer.wait_for_space()
        results = await self._batches.write(batch)
        self._counts.counts.update(
            FAILED if isinstance(each, TenantryError) else each.outcome.value for each in results
        )
        lines = [to_json(report_line(read.number, each)) for read, each in zip(batch, results, strict=True)]
        buffer.write(b"\n".join([*lines, b""]))
        for each in results:
            if isinstance(each, StoreUnavailable):
                raise each
