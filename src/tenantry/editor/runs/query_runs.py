from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from starlette.responses import JSONResponse, Response

from tenantry.datasources import Limits, timeout_error
from tenantry.datasources.checks import PlanTemplate, plan_prefix
from tenantry.datasources.results import DEFAULT_FORMAT, Format, Result, json_row_parts, scalar_text
from tenantry.editor.authors import Right
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.query_errors import internal_error, query_error
from tenantry.editor.requests import EditorRequest, find_viewed_group, require_right, status_for_author
from tenantry.editor.runs.ndjson import HEADERS, Lines, json_line, while_allowed
from tenantry.editor.runs.prepared_query import PreparedQuery, RunBody, prepare_query, record_query
from tenantry.editor.workbench import Workbench
from tenantry.errors import NoAuthor, QueryTimeout, TenantryError
from tenantry.groups import UserGroup
from tenantry.middleware import ResponseCut

_FORMAT: Final = Format(exact_numbers="text")
Types = Sequence[str | None] | None


class RowLines:
    """Writes rows as lines ``{"columns": …}`` and ``{"rows": …}``, up to the limits. If the engine has no column types,
    later rows may change the type of a column. Then the columns are written again."""

    def __init__(self, limits: Limits, names: Sequence[str], types: Types) -> None:
        self._limits = limits
        self._names = names
        self._types = types
        self._found: list[str | None] | None = None
        self._size = 0
        self.row_count: int = 0
        self.is_cut: bool = False
        """Whether the rows are too many or too large for the limits. If so, no further rows are written."""

    def write(self, rows: Sequence[tuple[object, ...]]) -> bytes:
        left = self._limits.row_limit - self.row_count
        if self.is_cut or len(rows) > left:
            self.is_cut = True
            rows = rows[: 0 if self._size > self._limits.max_bytes else left]
        result = Result(self._names, rows, self._types)
        written = self._columns(result)
        if rows:
            self.row_count += len(rows)
            written += b'{"rows":' + b"".join(json_row_parts(result, _FORMAT)) + b"}\n"
            self._size += len(written)
            self.is_cut = self.is_cut or self._size > self._limits.max_bytes
        return written

    def end(self) -> bytes:
        return b""

    def _columns(self, result: Result) -> bytes:
        found = [column.type for column in result.columns]
        if self._found is not None:
            found = [_common(*pair) for pair in zip(self._found, found, strict=True)]
        if found == self._found:
            return b""
        self._found = found
        return json_line({"columns": [{"name": n, "type": t} for n, t in zip(self._names, found, strict=True)]})


def _common(before: str | None, now: str | None) -> str | None:
    if before is None or now is None or before == now:
        return before or now
    return "float" if {before, now} == {"float", "integer"} else "mixed"


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


def plan_text(result: Result) -> str:
    if result.names == ("id", "parent", "notused", "detail"):
        return _tree(result)
    rows = [["" if value is None else scalar_text(value, DEFAULT_FORMAT) for value in row] for row in result.rows]
    if len(result.names) == 1 or result.names == ("explain_key", "explain_value"):
        return "\n".join(row[-1] for row in rows)
    table = [list(result.names), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(result.names))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)


def _tree(result: Result) -> str:
    # SQLite: each row names its parent.
    depths, lines = {0: -1}, []
    for number, parent, _, detail in result.rows:
        depths[number] = depths.get(parent, -1) + 1
        lines.append(f"{'  ' * depths[number]}{detail}")
    return "\n".join(lines)
