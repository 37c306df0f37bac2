from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from tenantry.dashboards import StrictBody
from tenantry.editor.authors import Right
from tenantry.editor.files.added_panel import add_panel
from tenantry.editor.files.formatting import format_query
from tenantry.editor.files.git_head import commit_message, compare_with_head, content_at_head
from tenantry.editor.files.saved_files import Conflict, SavedFile, SavedFiles, with_short_breaks
from tenantry.editor.requests import MAX_BODY_OF_TEXTS, EditorEndpoints, EditorRequest, NoBody
from tenantry.editor.workbench import Workbench
from tenantry.editor.workspace import FileKind
from tenantry.errors import InvalidBody, NotFound, RightMissing, TemplateError, did_you_mean
from tenantry.groups import AuditNote
from tenantry.http import error_document, request_id_of
from tenantry.sql import DIALECTS, FRAGMENT_NAME
from tenantry.sql.inspect import DEFAULT_DIALECT, dialect_named

_MAX_CHARACTERS: Final = 65_536
"""Maximum characters of a query to format, or of a dashboard that gets a panel."""
_THREADS: Final = 2
"""Maximum number of texts that are formatted, or get a panel, at the same time."""

T = TypeVar("T")
FilePath = Annotated[str, Field(max_length=255)]
Name = Annotated[str, Field(max_length=200)]
Revision = Annotated[str, Field(max_length=64)]


class FileBody(StrictBody):
    path: FilePath


class SaveBody(FileBody):
    text: str
    revision: Revision | None
    """The revision of the file that the author changed; None: a new file."""


class DeleteBody(FileBody):
    revision: Revision


class RenameBody(DeleteBody):
    to: FilePath


class FormatBody(FileBody):
    text: str
    dialect: Annotated[str, Field(max_length=50)] = DEFAULT_DIALECT


class PanelBody(StrictBody):
    dashboard: FilePath
    text: str
    query: Annotated[str, Field(max_length=255)]
    """The name of the query, or the path of its file."""
    kind: Literal["figure", "line", "bars", "table"]
    column: Name | None = None
    """The column with the values; a table has none."""
    by: Name | None = None
    """The column for the axis of a chart."""
    columns: Annotated[list[Name], Field(max_length=200)] = []
    """The columns of a table. An empty list means all columns."""


def file_routes(endpoints: EditorEndpoints) -> list[BaseRoute]:
    files = _FileEndpoints(endpoints.workbench)
    post, save = endpoints.post, Right.SAVE
    return [
        post("/-/files", NoBody, files.list),
        post("/-/file", FileBody, files.read),
        post("/-/file/new", FileBody, files.check_new),
        post("/-/file/head", FileBody, files.head),
        post("/-/file/save", SaveBody, files.save, right=save, max_bytes=MAX_BODY_OF_TEXTS),
        post("/-/file/delete", DeleteBody, files.delete, right=save),
        post("/-/file/rename", RenameBody, files.rename, right=save),
        post("/-/format", FormatBody, files.format, max_bytes=MAX_BODY_OF_TEXTS),
        post("/-/add-panel", PanelBody, files.add_panel, max_bytes=MAX_BODY_OF_TEXTS),
        post("/-/commit-message", NoBody, files.message),
    ]


class _FileEndpoints:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._files = SavedFiles(workbench.workspace)
        self._threads = ThreadPoolExecutor(_THREADS, "tenantry-editor-files")

    async def list(self, asked: EditorRequest[NoBody]) -> Response:
        found, removed = await run_in_threadpool(compare_with_head, self._workbench.workspace)
        files = [{"path": path, "kind": kind, "status": status} for path, kind, status in found]
        return JSONResponse({"files": files, "git": removed is not None})

    async def read(self, asked: EditorRequest[FileBody]) -> Response:
        file = await run_in_threadpool(self._files.read, asked.body.path)
        if file.content is None:
            raise NotFound(f"there is no file {file.path}", field="/path")
        return JSONResponse({"path": file.path, "text": file.text, "revision": file.revision})

    async def check_new(self, asked: EditorRequest[FileBody]) -> Response:
        path = asked.body.path
        await run_in_threadpool(self._files.check_name, path, "/path")
        if (await run_in_threadpool(self._files.read, path)).content is not None:
            raise InvalidBody(f"there is a file {path} already", field="/path")
        return JSONResponse({})

    async def head(self, asked: EditorRequest[FileBody]) -> Response:
        path, workspace = asked.body.path, self._workbench.workspace
        workspace.require(path)
        content = await run_in_threadpool(content_at_head, workspace.root, path)
        return JSONResponse({"text": SavedFile(path, content).text})

    async def save(self, asked: EditorRequest[SaveBody]) -> Response:
        self._require_writable()
        body = asked.body
        try:
            saved = await run_in_threadpool(self._files.save, body.path, body.text, body.revision)
        except Conflict as conflict:
            return _conflict(conflict, asked)
        await self._record(asked, "file.saved", body.path, {"digest": saved.revision or ""})
        return JSONResponse({"revision": saved.revision})

    async def delete(self, asked: EditorRequest[DeleteBody]) -> Response:
        self._require_writable()
        body = asked.body
        try:
            await run_in_threadpool(self._files.delete, body.path, body.revision)
        except Conflict as conflict:
            return _conflict(conflict, asked)
        await self._record(asked, "file.deleted", body.path, {"digest": body.revision})
        return JSONResponse({})

    async def rename(self, asked: EditorRequest[RenameBody]) -> Response:
        self._require_writable()
        body = asked.body
        try:
            await run_in_threadpool(self._files.rename, body.path, body.to, body.revision)
        except Conflict as conflict:
            return _conflict(conflict, asked)
        await self._record(asked, "file.renamed", body.path, {"to": body.to})
        return JSONResponse({})

    async def message(self, asked: EditorRequest[NoBody]) -> Response:
        return JSONResponse({"message": await run_in_threadpool(commit_message, self._workbench.workspace)})

    async def format(self, asked: EditorRequest[FormatBody]) -> Response:
        body = asked.body
        if self._workbench.workspace.require(body.path) is not FileKind.QUERY:
            raise InvalidBody("only a query can be formatted: name a .sql file", field="/path")
        if body.dialect not in DIALECTS:
            near = did_you_mean(body.dialect, DIALECTS)
            raise InvalidBody(f"there is no dialect {body.dialect!r}. {near}".strip(), field="/dialect")
        try:
            dialect = dialect_named(body.dialect)
            text = await self._compute(body.text, partial(format_query, dialect=dialect, file=body.path))
        except TemplateError as error:
            raise InvalidBody(error.message, field="/text") from None
        if text is None:
            return JSONResponse(
                {
                    "text": body.text,
                    "message": "the query was left as it is: formatting would change more than its layout",
                }
            )
        return JSONResponse({"text": text})

    async def add_panel(self, asked: EditorRequest[PanelBody]) -> Response:
        body, workspace = asked.body, self._workbench.workspace
        if workspace.require(body.dashboard, "/dashboard") is not FileKind.DASHBOARD:
            raise InvalidBody(f"{body.dashboard} is not a dashboard", field="/dashboard")
        query = workspace.name(body.query) if workspace.kind(body.query) is FileKind.QUERY else body.query
        if not FRAGMENT_NAME.fullmatch(query):
            raise InvalidBody(f"there is no saved query {query!r}: save it first", field="/query")
        name = workspace.name(body.dashboard)
        try:
            panel = _panel(body, query)
            adding = partial(add_panel, name=name, panel=panel, file=body.dashboard)
            text = await self._compute(body.text, adding)
        except TemplateError as error:
            raise InvalidBody(error.message, field="/text") from None
        return JSONResponse({"text": text})

    async def _compute(self, text: str, work: Callable[[str], T]) -> T:
        if len(text) > _MAX_CHARACTERS:
            problem = f"the text has {len(text)} characters, and at most {_MAX_CHARACTERS} are allowed here"
            raise InvalidBody(problem, field="/text")
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, with_short_breaks(text))

    def _require_writable(self) -> None:
        if self._workbench.read_only:
            raise RightMissing("this editor is read-only: its files cannot be changed")

    async def _record(self, asked: EditorRequest[Any], action: str, path: str, details: dict[str, str]) -> None:
        author = asked.author.audited(request_id_of(asked.request.headers.raw))
        await self._workbench.store.audit.record(AuditNote(author, action, "", path, details))


def _panel(body: PanelBody, query: str) -> dict[str, str | list[str]]:
    if body.kind == "table":
        return {"table": query, **({"columns": body.columns} if body.columns else {})}
    if not body.column:
        raise InvalidBody("choose the column that the panel shows", field="/column")
    if body.kind == "figure":
        return {"figure": body.column, "query": query}
    if not body.by:
        raise InvalidBody("choose the column of the axis", field="/by")
    return {body.kind.removesuffix("s"): body.column, "by": body.by, "query": query}


def _conflict(conflict: Conflict, asked: EditorRequest[Any]) -> Response:
    document = error_document(conflict, request_id_of(asked.request.headers.raw))
    theirs = {"text": conflict.theirs.text, "revision": conflict.theirs.revision}
    return JSONResponse(document | {"theirs": theirs}, conflict.status)
