from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tenantry.dashboards import SUFFIXES
from tenantry.editor.files.folder_files import (
    delete_file,
    locked,
    read_file,
    rename_file,
    revision,
    write_file,
)
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import FileConflict, InvalidBody, UnusableFile
from tenantry.sql import FRAGMENT_NAME, MAX_TEXT

MAX_FILES: Final = 11_000


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The content of a file. If ``content`` is None, the file does not exist."""

    path: str
    content: bytes | None

    @property
    def revision(self) -> str | None:
        """A digest of the content."""
        return None if self.content is None else revision(self.content)

    @property
    def text(self) -> str | None:
        """The text, with ``\\n`` for each line break. Raises UnusableFile if it is not UTF-8."""
        if self.content is None:
            return None
        try:
            return with_short_breaks(self.content.decode())
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise UnusableFile(f"{self.path}:{line}: the file is not UTF-8; save it as UTF-8", field="/path") from None

    def like(self, text: str) -> bytes:
        """Encode ``text`` with the line breaks of this file. If this file ends with a line break, so does the
        result."""
        old = self.content or b"\n"
        text = with_short_breaks(text)
        if text and not text.endswith("\n") and old.endswith(b"\n"):
            text += "\n"
        if 2 * old.count(b"\r\n") > old.count(b"\n"):
            text = text.replace("\n", "\r\n")
        return text.encode()


class Conflict(FileConflict):
    """The file has changed since the author opened it. ``theirs``: the file as it is now."""

    def __init__(self, theirs: SavedFile) -> None:
        changed = "deleted" if theirs.content is None else "changed"
        message = f"{theirs.path} was {changed} since you opened it"
        super().__init__(message, field="/revision")
        self.args = (message,)
        self.theirs = theirs


class SavedFiles:
    """The files of a workspace. All methods block. They raise InvalidBody for a path that is not in the workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def _root(self) -> Path:
        return self._workspace.root  # changes when somebody makes or moves the folder of the queries

    def list(self) -> list[tuple[str, FileKind]]:
        """Return the path and kind of each file. Raises UnusableFile for too many files."""
        found = []
        for place in self._workspace.places:
            for path in self._workspace.list(place):
                kind = self._workspace.kind(path)
                if kind is not None:
                    found.append((path, kind))
                if len(found) > MAX_FILES:
                    raise UnusableFile(f"the folder has more than {MAX_FILES} files: open a smaller one")
        return sorted(found)

    def read(self, path: str, field: str = "/path") -> SavedFile:
        """Read a file, which may not exist. Raises UnusableFile."""
        self._workspace.require(path, field)
        return SavedFile(path, read_file(self._root, path))

    def save(self, path: str, text: str, expected: str | None) -> SavedFile:
        """Write a file. ``expected``: its revision, or None for a new file. If the file already has this text, it is
        not written. Raises Conflict if it has another revision, FileNotSaved, UnusableFile, and InvalidBody for an
        invalid name or text."""
        _check_text(text)
        with locked(self._root):
            old = self.read(path)
            new = SavedFile(path, old.like(text))
            if new.content == old.content:
                return old
            _check(old, expected)
            if old.content is None:
                self.check_name(path, "/path")
            write_file(self._root, path, new.content or b"")
        return new

    def delete(self, path: str, expected: str) -> None:
        """Delete a file. Raises FileNotSaved, UnusableFile, and Conflict if the file's revision is not ``expected``."""
        with locked(self._root):
            _check(self.read(path), expected)
            delete_file(self._root, path)

    def rename(self, path: str, to: str, expected: str) -> None:
        """Rename a file. Raises the errors of ``delete``, and InvalidBody if ``to`` exists, has another kind or is not
        a valid name."""
        with locked(self._root):
            _check(self.read(path), expected)
            if self._workspace.require(path) is not self._workspace.require(to, "/to"):
                raise InvalidBody(
                    f"{path} cannot be renamed to {to}, because the new path is for another kind of file (query, "
                    "dashboard or tables): choose a path for the same kind",
                    field="/to",
                )
            if self.read(to, "/to").content is not None:
                raise InvalidBody(f"{to} exists: choose another name", field="/to")
            self.check_name(to, "/to", renamed=path)
            rename_file(self._root, path, to)

    def check_name(self, path: str, field: str, renamed: str = "") -> None:
        """Check that a new file can have this path. Raises InvalidBody if not, and UnusableFile if this cannot be
        checked."""
        kind = self._workspace.require(path, field)
        stem = path.rpartition(".")[0]
        if kind is FileKind.TABLES:
            return
        if not FRAGMENT_NAME.fullmatch(self._workspace.name(path)):
            problem = "use letters, digits, _ and - in the names of files and folders, and begin with a letter"
            raise InvalidBody(f"{path}: {problem}", field=field)
        for suffix in SUFFIXES if kind is FileKind.DASHBOARD else ():
            other = stem + suffix
            if other not in {path, renamed} and read_file(self._root, other) is not None:
                raise InvalidBody(
                    f"{path} would define the same dashboard as {other}: choose another name", field=field
                )


def _check(file: SavedFile, expected: str | None) -> None:
    if file.revision != expected:
        raise Conflict(file)


def _check_text(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise InvalidBody(f"a file is at most {MAX_TEXT} characters long, but this has {len(text)}", field="/text")
    if "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise InvalidBody("a file cannot contain a NUL or a lone surrogate: remove the character", field="/text")


def with_short_breaks(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
