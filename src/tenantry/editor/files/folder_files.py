"""Reads and writes files below a folder. No symbolic link below it is followed."""

# Each path is opened folder by folder with O_NOFOLLOW. So an attacker gains nothing by replacing a folder with a link
# between a check and the access.

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

from tenantry.editor.workspace import symbolic_link
from tenantry.errors import FileNotSaved, UnusableFile

MAX_BYTES: Final = 1024 * 1024
"""Maximum bytes of a file."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_in_this_process: Final = Lock()


def revision(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold this host's lock for ``root`` while the block runs. This waits until the lock is free, so call it in a
    thread."""
    with _in_this_process, _opened(root, ()) as folder:
        with contextlib.suppress(OSError):  # a network file system may have no locks
            fcntl.flock(folder, fcntl.LOCK_EX)  # closing the folder releases the lock
        yield


def read_file(root: Path, path: str) -> bytes | None:
    """Return the content, or None if there is no such file. Raises UnusableFile if it is larger than MAX_BYTES or
    cannot be read."""
    *folders, name = path.split("/")
    try:
        with _opened(root, folders) as folder:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            with os.fdopen(file, "rb") as stream:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise UnusableFile(f"{path} is not a file", field="/path")
                content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableFile(f"{path} cannot be read: {_reason(root, path, error)}", field="/path") from None
    if len(content) > MAX_BYTES:
        raise UnusableFile(f"{path} is larger than {MAX_BYTES} bytes", field="/path")
    return content


def write_file(root: Path, path: str, content: bytes) -> None:
    """Write or replace a file. A replaced file keeps its mode and, if permitted, its owner. After a crash, the file has
    its old or its new content. Raises FileNotSaved."""
    *folders, name = path.split("/")
    draft = f".{name[:100]}.{secrets.token_hex(6)}"
    with _saving(root, path), _opened(root, folders, create=True) as folder:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
        with contextlib.ExitStack() as undo:
            undo.callback(_discard, draft, folder)
            with os.fdopen(file, "wb") as stream:
                _keep_owner(name, folder, file)
                stream.write(content)
                stream.flush()
                os.fsync(file)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            undo.pop_all()
        os.fsync(folder)


def _discard(draft: str, folder: int) -> None:
    with contextlib.suppress(OSError):  # the caller gets the error that made the draft useless
        os.unlink(draft, dir_fd=folder)


def delete_file(root: Path, path: str) -> None:
    """Raises FileNotSaved."""
    *folders, name = path.split("/")
    with _saving(root, path), _opened(root, folders) as folder:
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)


def rename_file(root: Path, path: str, to: str) -> None:
    """Rename a file, and replace ``to`` if it exists. Raises FileNotSaved."""
    *folders, name = path.split("/")
    *new_folders, new_name = to.split("/")
    with _saving(root, path), _opened(root, folders) as old, _opened(root, new_folders, create=True) as new:
        os.rename(name, new_name, src_dir_fd=old, dst_dir_fd=new)
        os.fsync(new)
        os.fsync(old)


@contextlib.contextmanager
def _opened(root: Path, folders: tuple[str, ...] | list[str], *, create: bool = False) -> Iterator[int]:
    opened = os.open(root, _FOLDER)
    try:
        for name in folders:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=opened)
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


@contextlib.contextmanager
def _saving(root: Path, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileNotSaved(f"{path} is unchanged, because it cannot be written: {_reason(root, path, error)}") from None


def _keep_owner(name: str, folder: int, file: int) -> None:
    try:
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    for owner in (-1, old.st_uid):  # only the superuser may give a file to another user
        with contextlib.suppress(PermissionError):
            os.fchown(file, owner, old.st_gid)
    os.fchmod(file, stat.S_IMODE(old.st_mode))


def _reason(root: Path, path: str, error: OSError) -> str:
    link = symbolic_link(root, path)
    return error.strerror or str(error) if link is None else f"{link} is a symbolic link"
