from __future__ import annotations

from enum import StrEnum
from typing import Final

from tenantry.editor.files.git_head import files_at_head, is_stored_as
from tenantry.editor.files.saved_files import SavedFiles
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import UnusableFile

_LONGEST: Final = 72
"""Maximum characters of the first line of a commit message (git's own documents advise 50)."""


class Status(StrEnum):
    """A file compared with HEAD."""

    SAME = "same"
    CHANGED = "changed"
    NEW = "new"


def compare_with_head(workspace: Workspace) -> tuple[list[tuple[str, FileKind, Status | None]], list[str] | None]:
    """Return the files of a workspace, and the paths of removed files. Without git, each status is None, and None
    replaces the paths. Blocks. Raises UnusableFile for too many files."""
    files = SavedFiles(workspace)
    head = files_at_head(workspace.root, workspace.places)
    found = [
        (path, kind, None if head is None else _status(files, path, head.get(path))) for path, kind in files.list()
    ]
    if head is None:
        return found, None
    listed = {path for path, _, _ in found}
    return found, sorted(path for path in head.keys() - listed if workspace.kind(path) is not None)


def commit_message(workspace: Workspace) -> str | None:
    """Return a commit message for the changes since HEAD, or None without git. The first line names the files if they
    fit. Otherwise it counts them, and a list follows. The message is empty without changes. Blocks."""
    files, removed = compare_with_head(workspace)
    if removed is None:
        return None
    by_status = {status: [path for path, _, each in files if each is status] for status in Status}
    added, changed = by_status[Status.NEW], by_status[Status.CHANGED]
    actions = {"add": added, "change": changed, "remove": removed}
    lines = [f"{action} {path}" for action, paths in actions.items() for path in paths]
    named = ", ".join(lines)
    if len(named) <= _LONGEST or len(lines) == 1:
        return named[:1].upper() + named[1:]
    return "\n".join([f"Change {len(lines)} files", "", *(f"- {each}" for each in lines)])


def _status(files: SavedFiles, path: str, object_id: str | None) -> Status:
    if object_id is None:
        return Status.NEW
    try:
        content = files.read(path).content
    except UnusableFile:
        return Status.CHANGED
    return Status.SAME if content is not None and is_stored_as(object_id, content) else Status.CHANGED
