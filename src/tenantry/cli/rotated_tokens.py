from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

STDOUT: Final = Path("-")


@dataclass(frozen=True)
class RotationStep:
    """The groups that are rotated in one transaction."""

    environment: str
    signed_by: str | None
    last: int
    """The greatest ``team_id`` of these groups."""
    versions: dict[str, int]
    """The ``token_version`` of each group before the rotation, by ``provided_id``."""


class RotatedTokens:
    """Receives the new tokens of a rotation, and discards them. A subclass writes them, or if it cannot, raises an
    OSError with a file name."""

    unfinished: RotationStep | None = None
    """The last step of an interrupted run. The next run repeats this step first, because some of its groups may have
    new tokens that were not written."""

    def begin(self, step: RotationStep) -> None:
        """Call this before the groups of ``step`` are rotated."""

    def write(self, lines: str) -> None:
        """Write the tokens of the step."""

    def end(self) -> None:
        """Call this after the last step."""


class _OnStdout(RotatedTokens):
    def write(self, lines: str) -> None:
        with _naming(Path("stdout")):
            _print(lines)


class _InFile(RotatedTokens):
    """Writes each token to the file once, even if the command is interrupted. Before a step is rotated, a second file
    notes the step and the size of the token file. After an interruption, the next run truncates the token file to this
    size, and writes the current tokens of the noted step."""

    def __init__(self, path: Path, file: int) -> None:
        self._path, self._file = path, file
        self._notes = path.with_name(f"{path.name}.unfinished")
        self._size = os.fstat(file).st_size
        if self._notes.exists():
            self._read_last_step()
        if self._size and os.pread(file, 1, self._size - 1) != b"\n":
            raise click.BadParameter(f"the last line of {path} is cut off: name a new file", param_hint="--tokens-to")

    def _read_last_step(self) -> None:
        with _private(self._notes) as notes:
            with os.fdopen(notes, "rb", closefd=False) as file:
                whole = file.read()
            whole = whole[: whole.rfind(b"\n") + 1]  # a step whose note is cut off was not begun
            os.ftruncate(notes, len(whole))
        if whole:
            try:
                size, step = json.loads(whole.splitlines()[-1])
                self._size, self.unfinished = min(size, self._size), RotationStep(**step)
            except (ValueError, TypeError):
                raise click.BadParameter(
                    f"{self._notes} is damaged: delete it, and rotate all groups again", param_hint="--tokens-to"
                ) from None

    def begin(self, step: RotationStep) -> None:
        is_new = not self._notes.exists()
        self._size = os.fstat(self._file).st_size
        with _private(self._notes) as notes, _naming(self._notes):
            _append(notes, json.dumps([self._size, asdict(step)]) + "\n")
        if is_new:
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def write(self, lines: str) -> None:
        with _naming(self._path):
            os.ftruncate(self._file, self._size)
            _append(self._file, lines)

    def end(self) -> None:
        self._notes.unlink(missing_ok=True)


@contextmanager
def open_tokens(path: Path | None) -> Iterator[RotatedTokens]:
    """Yield an object that appends tokens to the file ``path``. A missing file is created with mode 0600. For ``-``,
    the object writes them to stdout; for None, it discards them. Raises OSError if the file cannot be opened, and
    click.BadParameter if it is damaged, in use or not private."""
    if path is None:
        yield RotatedTokens()
    elif path == STDOUT:
        yield _OnStdout()
    else:
        with _private(path) as file:
            yield _InFile(path, file)


@contextmanager
def _private(path: Path) -> Iterator[int]:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise click.BadParameter(f"{path} is a symbolic link: name the file itself", param_hint="--tokens-to") from None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise click.BadParameter(
                f"{path} is not a regular file that is private to you: name a new file, or run `chmod 600` on it",
                param_hint="--tokens-to",
            )
        if found.st_uid != os.geteuid():
            raise click.BadParameter(f"{path} belongs to another user: name a new file", param_hint="--tokens-to")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise
            raise click.BadParameter(
                f"another command is writing to {path}: wait until it ends", param_hint="--tokens-to"
            ) from None
        yield file
    finally:
        os.close(file)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _append(file: int, text: str) -> None:
    left = memoryview(text.encode())
    while left:
        left = left[os.write(file, left) :]
    os.fsync(file)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
