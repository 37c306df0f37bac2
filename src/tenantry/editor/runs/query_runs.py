from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from starlette.responses import JSONResponse, Response

from tenantry.datasources import timeout_error
from tenantry.datasources.checks import PlanTemplate, plan_prefix
from tenantry.datasources.results import Result
from tenantry.editor.authors import Right
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.query_errors import internal_error, query_error
from tenantry.editor.requests import EditorRequest, require_right, status_for_author
from tenantry.editor.runs.audit import record_query
from tenantry.editor.runs.ndjson import HEADERS, Lines, json_line, while_allowed
from tenantry.editor.runs.plans import plan_text
from tenantry.editor.runs.prepared_query import PreparedQuery, RunBody, prepare_query
from tenantry.editor.runs.row_lines import RowLines, Types
from tenantry.editor.viewed_groups import find_viewed_group
from tenantry.editor.workbench import Workbench
from tenantry.errors import NoAuthor, QueryTimeout, TenantryError
from tenantry.groups import UserGroup
from tenantry.middleware import ResponseCut

PLAN_SECONDS: Final = 1.0
"""Maximum seconds for a plan."""
_ENDED: Final = "your session has ended or your rights have changed: open the editor again"


class QueryRuns:
    """Runs queries of the editor, even unsaved ones, as a group. Each run is recorded in the audit trail before its
    query is sent."""

    def __init__(self, workbench: Workbench, queries: QueryDrafts) -> None:
        self._workbench = workbench
        self._queries = queries

    async def run(self, asked: EditorRequest[RunBody]) -> Response:
        group = await self._group(asked)
        return Lines(asked, self._lines(asked, group))

    async def plan(self, asked: EditorRequest[RunBody]) -> Response:
        group = await self._group(asked)
        sent, body = "", asked.body
        try:
            prepared = await prepare_query(self._workbench, self._queries, body, group)
            prefix = plan_prefix(prepared.explained)
            if prefix is None:
                return JSONResponse({"text": None})
            sent = prefix + prepared.sql
            await record_query(self._workbench, asked, _action(body), prepared, "plan")
            result = await _plan(prepared, prefix)
        except TenantryError as error:
            document = {"success": 0, "error": query_error(error, body.path, body.text, sent)}
            return JSONResponse(document, status_for_author(error))
        return JSONResponse({"text": plan_text(result)})

    async def csv(self, asked: EditorRequest[RunBody]) -> Response:
        group = await self._group(asked)
        prepared = await prepare_query(self._workbench, self._queries, asked.body, group)
        await record_query(self._workbench, asked, _action(asked.body), prepared, "csv")
        try:
            async with while_allowed(asked):
                stream = await prepared.sources.stream(
                    group, prepared.schema, prepared.query, prepared.variables, format="csv", formula_safe=True
                )
        except ResponseCut as cut:
            raise NoAuthor(_ENDED) from cut
        if not await asked.is_still_allowed():
            await stream.aclose()
            raise NoAuthor(_ENDED)

        async def parts() -> AsyncGenerator[bytes]:
            async with stream:
                async for part in stream:
                    yield part

        name = (prepared.query.name or "query").rpartition("/")[2]
        return Lines(asked, parts(), stream.media_type, HEADERS | stream.headers(f"{name}.csv"))

    async def _group(self, asked: EditorRequest[RunBody]) -> UserGroup:
        if asked.body.unguarded:
            require_right(asked.author, Right.UNGUARDED)
        self._workbench.workspace.require_query(asked.body.path)
        return await find_viewed_group(self._workbench, asked.author, asked.body)

    async def _lines(self, asked: EditorRequest[RunBody], group: UserGroup) -> AsyncGenerator[bytes]:
        body, sent, limits = asked.body, "", self._workbench.limits
        try:
            prepared = await prepare_query(self._workbench, self._queries, body, group)
            sent = prepared.sql
            await record_query(self._workbench, asked, _action(body), prepared, "rows")
            allowed = {"rows": limits.row_limit, "bytes": limits.max_bytes, "seconds": limits.timeout}
            started = prepared.as_json() | {"unguarded": body.unguarded, "limits": allowed}
            yield json_line({"started": started})
            run = _Run(self._workbench, prepared)
            async for part in run.parts():
                notes = [*run.notes()]
                if notes != started["notes"]:  # a connection is open now, so the role is known
                    started["notes"] = notes
                    yield json_line({"started": started})
                yield part
            yield json_line({"done": run.outcome()})
        except TenantryError as error:
            yield json_line({"error": query_error(error, body.path, body.text, sent)})
        except Exception as error:  # noqa: BLE001  # the response has begun
            yield json_line({"error": internal_error(error)})


class _Run:
    def __init__(self, workbench: Workbench, prepared: PreparedQuery) -> None:
        self._limits = workbench.limits
        self._prepared = prepared
        self._queue_seconds = 0.0
        self._began = monotonic()
        self._lines: RowLines | None = None

    async def parts(self) -> AsyncGenerator[bytes]:
        """Raises the errors of ``DataSources.open_chunks``."""
        given = self._prepared
        chunks = await given.sources.open_chunks(
            given.group,
            given.schema,
            given.query,
            given.variables,
            self._make_writer,
            now=given.now,
            on_begin=self._begin,
        )
        # The reader's time counts, too: a reader who does not read would keep the connection from other authors.
        seconds = self._limits.timeout
        late = timeout_error(given.explained.source_id, seconds)
        left = max(0.0, self._began + seconds - monotonic())
        deadline = asyncio.get_running_loop().call_later(left, chunks.close, late)
        try:
            while (part := await chunks.next()) is not None:
                if part:
                    yield part
                if self._is_cut:
                    break
        finally:
            deadline.cancel()
            chunks.close()

    def notes(self) -> tuple[str, ...]:
        return self._prepared.sources.notes(self._prepared.registered)

    def outcome(self) -> dict[str, Any]:
        return {
            "rows": 0 if self._lines is None else self._lines.row_count,
            "seconds": round(monotonic() - self._began, 4),
            "queue_seconds": round(self._queue_seconds, 4),
            "cut": self._is_cut,
        }

    @property
    def _is_cut(self) -> bool:
        return self._lines is not None and self._lines.is_cut

    def _make_writer(self, names: Sequence[str], types: Types, arrow_types: Types = None, /) -> RowLines:
        self._lines = RowLines(self._limits, names, types)
        return self._lines

    def _begin(self, queue_seconds: float) -> None:
        self._began, self._queue_seconds = monotonic(), queue_seconds


async def _plan(prepared: PreparedQuery, prefix: str) -> Result:
    template = PlanTemplate(prepared.query, prefix)
    with suppress(TimeoutError):
        async with asyncio.timeout(PLAN_SECONDS):
            return await prepared.sources.query(
                prepared.group, prepared.schema, template, prepared.variables, now=prepared.now
            )
    raise QueryTimeout(f"the data source did not explain the query within {PLAN_SECONDS:g} s")


def _action(body: RunBody) -> str:
    return "query.unguarded" if body.unguarded else "query.run"
