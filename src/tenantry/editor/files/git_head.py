# Only `ls-tree`, `cat-file` and `rev-parse` run. They use no index, hook, filter or external diff, so git runs no
# program that the repository's configuration names. There is one exception: in a partial clone, git would fetch a
# missing object, by programs from the configuration (`ext::`, `core.sshCommand`, `remote.origin.uploadpack`).
# GIT_ALLOW_PROTOCOL prevents this, whatever `protocol.ext.allow` is. Git 2.39.4 and later do not even try to fetch,
# because of GIT_NO_LAZY_FETCH.

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from enum import StrEnum
from hashlib import sha1, sha256
from io import BytesIO
from pathlib import Path
from threading import Timer
from typing import Final

from tenantry.editor.files.folder_files import MAX_BYTES
from tenantry.editor.files.saved_files import SavedFiles
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import UnusableFile

SECONDS: Final = 5.0
"""Maximum duration of a git command."""
_MAX_OUTPUT: Final = 8 * 1024 * 1024
"""Maximum bytes of a git command's output."""
_SAFE: Final = tuple(
    word
    for setting in ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "core.pager=cat")
    for word in ("-c", setting)
)
_ENVIRONMENT: Final = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_FILES: Final = frozenset({"100644", "100755"})


def files_at_head(root: Path, places: Sequence[str]) -> Mapping[str, str] | None:
    """Return the object ids of the files that HEAD has in ``places``, by path relative to ``root``. The mapping is
    empty before the first commit. Return None if ``root`` is in no git repository, git is missing or takes too long, or
    there are too many files. Blocks."""
    listed = _git(root, "ls-tree", "-r", "-z", "HEAD", "--", *filter(None, places))
    if listed is None:
        is_inside = _git(root, "rev-parse", "--is-inside-work-tree") == b"true\n"
        return {} if is_inside and _git(root, "rev-parse", "--verify", "HEAD") is None else None
    found = {}
    for entry in filter(None, listed.split(b"\0")):
        about, _, path = entry.partition(b"\t")
        mode, _, object_id = about.decode().split()
        if mode in _FILES:
            found[os.fsdecode(path)] = object_id
    return found


def content_at_head(root: Path, path: str) -> bytes | None:
    """Return a file's content at HEAD. Return None if HEAD lacks the file, if the content is missing (in a partial
    clone) or exceeds MAX_BYTES, or if ``files_at_head`` returns None. Blocks."""
    object_id = (files_at_head(root, [path]) or {}).get(path)
    size = _git(root, "cat-file", "-s", object_id) if object_id else None
    if object_id is None or size is None or int(size) > MAX_BYTES:
        return None
    return _git(root, "cat-file", "blob", object_id)


def is_stored_as(object_id: str, content: bytes) -> bool:
    """Whether git would store this content as this object. Git may store a line feed for each CRLF."""
    return object_id in {_object_id(each, len(object_id)) for each in (content, content.replace(b"\r\n", b"\n"))}


def _git(root: Path, *arguments: str) -> bytes | None:
    program = shutil.which("git")
    if program is None:
        return None
    # Leave out variables such as GIT_DIR, which git sets for the programs that it starts.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        process = subprocess.Popen(  # noqa: S603  # a fixed command; paths come after --
            [program, "--no-pager", "--no-optional-locks", *_SAFE, *arguments],
            cwd=root,
            env=environment | _ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    timer = Timer(SECONDS, process.kill)
    timer.start()
    with process, closing(process.stdout or BytesIO()) as output:
        found = output.read(_MAX_OUTPUT + 1)
        if len(found) > _MAX_OUTPUT:
            process.kill()
    timer.cancel()
    return found if process.returncode == 0 else None


def _object_id(content: bytes, length: int) -> str:
    blob = b"blob %d\0" % len(content) + content
    return (sha1(blob, usedforsecurity=False) if length == 40 else sha256(blob)).hexdigest()


_LONGEST: Final = 72
"""Maximum characters of the first line of a commit message."""


class Status(StrEnum):
    SAME = "same"
    CHANGED = "changed"
    NEW = "new"


def compare_with_head(workspace: Workspace) -> tuple[list[tuple[str, FileKind, Status | None]], list[str] | None]:
    """Return the files with their status, and the paths of removed files. Without git, each status and the list of
    paths are None. Blocks. Raises UnusableFile for too many files."""
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
    """Return a commit message for the changes since HEAD, empty without changes, or None without git. The first line
    names the changed files. If it would be too long, it says only how many files changed, and a list follows.
    Blocks."""
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
