from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from tenantry.errors import InvalidKeys
from tenantry.run_group import run_group

_MODE: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_LARGEST: Final = 1 << 20
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def create_private(path: Path, content: bytes) -> None:
    """Create a file of mode 0600 and sync it to disk. Raises InvalidKeys if it exists or cannot be created."""
    try:
        _write_new(path, content)
        _sync_folder(path.parent)
    except FileExistsError:
        raise InvalidKeys(
            f"{path} already exists and is not overwritten, because that would invalidate the tokens "
            "signed with its keys: run `tenantry keys rotate` to add a key"
        ) from None
    except OSError as error:
        raise InvalidKeys(f"cannot create the signing-key file {path}: {error.strerror}") from None


def read_private(path: Path) -> bytes:
    """Return the content of a private file. Raises InvalidKeys if it cannot be read, is too large, or if anyone but its
    owner can access it.

    The file's group may read it if TENANTRY_RUN_GROUP names this group. If root owns the file, its group may read it,
    unless the group is root's and this process runs as root."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO must not block
    except FileNotFoundError:
        raise InvalidKeys(
            f"there is no signing-key file {path}: run `tenantry keys new`, or set TENANTRY_KEYS to the path of one"
        ) from None
    except OSError as error:
        raise InvalidKeys(f"cannot read the signing-key file {path}: {error.strerror}") from None
    try:
        _check(path, os.fstat(descriptor))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(_LARGEST)
    except OSError as error:
        raise InvalidKeys(f"cannot read the signing-key file {path}: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _read_by_its_group(status: os.stat_result) -> int:
    # With ``fsGroup``, Kubernetes makes files that root owns and the service's group may read.
    given = status.st_uid == 0 and (os.geteuid() != 0 or status.st_gid != 0)
    return stat.S_IRGRP if given or status.st_gid == _run_group() else 0


def _run_group() -> int | None:
    with suppress(LookupError):  # an unknown group may read nothing
        return run_group()
    return None


def _check(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise InvalidKeys(f"the signing-key file {path} is not a plain file")
    if status.st_mode & (_OTHERS & ~_read_by_its_group(status)):
        group = _run_group()
        is_read_only = not status.st_mode & (_OTHERS & ~stat.S_IRGRP)
        fix = f"chmod 600 {path}" if group is None or not is_read_only else f"chgrp {group} {path}"
        raise InvalidKeys(
            f"the signing-key file {path} has mode {stat.S_IMODE(status.st_mode):04o}, which lets other users "
            f"access it: run `{fix}`, and rotate the keys if anyone may have read them"
        )
    if status.st_size >= _LARGEST:
        raise InvalidKeys(f"the signing-key file {path} is 1 MiB or larger; check that it is a key file")


def replace_private(path: Path, content: bytes) -> None:
    """Replace the content of a file atomically. Its owner and the read access of its group stay the same. Call this
    within ``locked``. Raises InvalidKeys if this fails."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.unlink(missing_ok=True)
        _write_new(temporary, content, like=path.stat())
        try:
            temporary.replace(path)
        except OSError:
            temporary.unlink()
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise InvalidKeys(f"cannot change the signing-key file {path}: {error.strerror}") from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the file while the block runs, as ``replace_private`` requires. Raises InvalidKeys if it cannot be
    opened."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            raise InvalidKeys(f"there is no signing-key file {path}: run `tenantry keys new`") from None
        except OSError as error:
            raise InvalidKeys(f"cannot change the signing-key file {path}: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if not _is_at(path, descriptor):
                continue  # replaced while we waited: lock the new file
            yield
            return
        finally:
            os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _write_new(path: Path, content: bytes, *, like: os.stat_result | None = None) -> None:
    descriptor = os.open(path, _NEW, _MODE)
    with ExitStack() as undo:
        undo.callback(path.unlink)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, _MODE)
            if like is not None:  # root may rotate the keys: the app must still be able to read them
                _give(descriptor, like)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        undo.pop_all()


def _give(descriptor: int, like: os.stat_result) -> None:
    made, by_its_group = os.fstat(descriptor), like.st_mode & _read_by_its_group(like)
    if like.st_uid != made.st_uid or ((like.st_uid == 0 or by_its_group) and like.st_gid != made.st_gid):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, _MODE | by_its_group)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
