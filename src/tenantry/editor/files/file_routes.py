from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from tenantry.dashboards import StrictBody
from tenantry.editor.authors import Right
from tenantry.editor.files.commit_message import commit_message
from tenantry.editor.files.git_head import content_at_head
from tenantry.editor.files.git_status import changes_since_head, compare_with_head
from tenantry.editor.files.saved_files import Conflict, SavedFile, SavedFiles
from tenantry.editor.requests import MAX_BODY_OF_TEXTS, EditorEndpoints, EditorRequest, NoBody
from tenantry.editor.workbench import Workbench
from tenantry.errors import NotFound, RightMissing
from tenantry.groups import AuditNote
from tenantry.http import error_document, request_id_of

FilePath = Annotated[str, Field(max_length=255)]
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


def file_routes(endpoints: EditorEndpoints) -> list[BaseRoute]:
    files = _FileEndpoints(endpoints.workbench)
    post, save = endpoints.post, Right.SAVE
    return [
        post("/-/files", NoBody, files.list),
        post("/-/file", FileBody, files.read),
        post("/-/file/head", FileBody, files.head),
        post("/-/file/save", SaveBody, files.save, right=save, max_bytes=MAX_BODY_OF_TEXTS),
        post("/-/file/delete", DeleteBody, files.delete, right=save),
        post("/-/file/rename", RenameBody, files.rename, right=save),
        post("/-/commit-message", NoBody, files.message),
    ]


class _FileEndpoints:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._files = SavedFiles(workbench.workspace)

    async def list(self, asked: EditorRequest[NoBody]) -> Response:
        found = await run_in_threadpool(compare_with_head, self._workbench.workspace)
        files = [{"path": path, "kind": kind, "status": status} for path, kind, status in found.files]
        return JSONResponse({"files": files, "git": found.removed is not None})

    async def read(self, asked: EditorRequest[FileBody]) -> Response:
        file = await run_in_threadpool(self._files.read, asked.body.path)
        if file.content is None:
            raise NotFound(f"there is no file {file.path}", field="/path")
        return JSONResponse({"path": file.path, "text": file.text, "revision": file.revision})

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
        workspace = self._workbench.workspace
        changes = await run_in_threadpool(changes_since_head, workspace)
        return JSONResponse({"message": None if changes is None else commit_message(changes, workspace)})

    def _require_writable(self) -> None:
        if self._workbench.read_only:
            raise RightMissing("this editor is read-only: its files cannot be changed")

    async def _record(self, asked: EditorRequest[Any], action: str, path: str, details: dict[str, str]) -> None:
        author = asked.author.audited(request_id_of(asked.request.headers.raw))
        await self._workbench.store.audit.record(AuditNote(author, action, "", path, details))


def _conflict(conflict: Conflict, asked: EditorRequest[Any]) -> Response:
    document = error_document(conflict, request_id_of(asked.request.headers.raw))
    theirs = {"text": conflict.theirs.text, "revision": conflict.theirs.revision}
    return JSONResponse(document | {"theirs": theirs}, conflict.status)
