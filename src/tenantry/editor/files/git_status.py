from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tenantry.editor.files.git_head import HeadFile, files_at_head
from tenantry.editor.files.saved_files import SavedFiles
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import UnusableFile


class Status(StrEnum):
    """A file compared with HEAD."""

    SAME = "same"
    CHANGED = "changed"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The files of a workspace, compared with HEAD. Without git, ``removed`` and each status are None."""

    files: list[tuple[str, FileKind, Status | None]]
    removed: list[str] | None


def compare_with_head(workspace: Workspace) -> Comparison:
    """Blocks. Raises UnusableFile for too many files."""
    files = SavedFiles(workspace)
    head = files_at_head(workspace.root, workspace.places)
    found = [
        (path, kind, None if head is None else _status(files, path, head.get(path))) for path, kind in files.list()
    ]
    if head is None:
        return Comparison(found, None)
    listed = {path for path, _, _ in found}
    removed = sorted(path for path in head.keys() - listed if workspace.kind(path) is not None)
    return Comparison(found, removed)


def changes_since_head(workspace: Workspace) -> Mapping[str, list[str]] | None:
    """Return the paths that were ``added``, ``changed`` and ``removed``, or None without git. Blocks."""
    compared = compare_with_head(workspace)
    if compared.removed is None:
        return None
    by_status = {
        status: [path for path, _, each in compared.files if each is status] for status in (Status.NEW, Status.CHANGED)
    }
    return {"added": by_status[Status.NEW], "changed": by_status[Status.CHANGED], "removed": compared.removed}


def _status(files: SavedFiles, path: str, head: HeadFile | None) -> Status:
    if head is None:
        return Status.NEW
    try:
        content = files.read(path).content
    except UnusableFile:
        return Status.CHANGED
    return Status.SAME if content is not None and head.is_same(content) else Status.CHANGED
