from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from tenantry.errors import BadRequest, Draining, StoreUnavailable
from tenantry.groups import ApiToken, Author
from tenantry.groups import Scope as ApiScope
from tenantry.provisioning import Deadline, UpsertProvisioner, UpsertResult
from tenantry.provisioning.http.dry_run import DryRunProvisioner
from tenantry.provisioning.http.endpoint import ApiContext, Endpoint, ErrorFormat, digest_of, require_scope
from tenantry.provisioning.http.ndjson_reader import MAX_BULK, BodyLines, Line
from tenantry.provisioning.http.report import AFTER_BODY, LINES_BETWEEN, MEDIA_TYPE, ReportBuffer, ReportResponse
from tenantry.provisioning.http.request import ApiRequest, read_flag
from tenantry.provisioning.http.upsert_lines import UpsertBatch, UpsertCounts, read_line


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
        # Read the API token again for each batch, because it may have been revoked since the last batch.
        caller = await self.context.authenticate(self.digest, deadline)
        require_scope(caller, ApiScope.PROVISION_WRITE)
        return caller

    async def write(self, batch: UpsertBatch) -> list[UpsertResult]:
        context = self.context
        deadline = Deadline(context.store_seconds, lambda: context.store.settling)
        caller = await self.authorize(deadline)
        kind = DryRunProvisioner if self.dry_run else UpsertProvisioner
        provisioner: UpsertProvisioner = kind(context.store, context.keys, deadline=deadline, contract=context.contract)
        author = Author.of_request(caller, self.request_id)
        return await batch.write(provisioner, caller.environment, merge=not self.replace, author=author)


class BulkResponse(ReportResponse):
    def __init__(
        self,
        request: ApiRequest,
        body: BodyLines,
        writer: _Writer,
        draining: Callable[[], bool],
        *,
        dry_run: bool,
    ) -> None:
        super().__init__(request, dry_run=dry_run, after_body=request.prefers(AFTER_BODY))
        self._body = body
        self._writer = writer
        self._draining = draining
        self._counts = UpsertCounts()

    def _last_line(self) -> dict[str, Any]:
        return {"summary": self._counts.summary()}

    async def _after_error(self) -> None:
        await self._body.discard()

    async def _write_lines(self, buffer: ReportBuffer) -> None:
        body = self._body
        while True:
            await self._do(body.lines(), buffer)
            if body.complete:
                return
            if self._draining():
                raise Draining("this server is about to stop: resend the unreported lines to another server")
            await body.read()

    async def _do(self, lines: Iterable[Line], buffer: ReportBuffer) -> None:
        batch = UpsertBatch()
        for line in lines:
            read = read_line(line, replace=self._writer.replace)
            if not batch.takes(read):
                await self._write(batch, buffer)
                batch = UpsertBatch()
            batch.add(read)
            if len(batch.lines) % LINES_BETWEEN == 0:
                await asyncio.sleep(0)
        if batch.lines:
            await self._write(batch, buffer)

    async def _write(self, batch: UpsertBatch, buffer: ReportBuffer) -> None:
        await buffer.wait_for_space()
        results = await self._writer.write(batch)
        self._counts.add(results)
        report = batch.report(results)
        while piece := b"".join(to_json(line) + b"\n" for line in islice(report, LINES_BETWEEN)):
            buffer.write(piece)
            await asyncio.sleep(0)
        for each in results:
            if isinstance(each, StoreUnavailable):
                raise each
