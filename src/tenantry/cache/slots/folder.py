"""The processes of one host share slots files (``SharedSlots``) in the run folder.

By default, the run folder is in ``/dev/shm`` or ``/tmp``: ``tenantry-<user id>-<name>`` or, with
``TENANTRY_RUN_GROUP``, ``tenantry-group-<group id>-<name>``."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tenantry.errors import StoreUnavailable
from tenantry.run_group import GROUP_VARIABLE, run_group

DIRECTORY_VARIABLE: Final = "TENANTRY_RUN_DIR"

SET_FOLDER: Final = (
    f"Set {DIRECTORY_VARIABLE} to one folder that every Tenantry process on this host can write to, or "
    f"{GROUP_VARIABLE} to the group that these processes share"
)

_FULL: Final = f"Free some space there (a store takes 512 KiB), or set {DIRECTORY_VARIABLE} to a folder elsewhere"
_DENIED: Final = f"Correct its owner and mode. {SET_FOLDER}"
_ADVICE: Final = {
    errno.EMFILE: "This process has reached its limit on open files: raise it (`ulimit -n`, LimitNOFILE=)",
    errno.ENFILE: "The machine has reached its limit on open files: raise it (`sysctl fs.file-max`)",
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: f"That file system is read-only. {SET_FOLDER}",
    errno.ENOMEM: "This process is out of memory: free some, or raise the limit (`ulimit -v`, MemoryMax=)",
    errno.EAGAIN: "This process has reached its limit of locked memory: raise it (`ulimit -l`, LimitMEMLOCK=)",
    errno.ENOENT: SET_FOLDER,
    errno.ENOTDIR: SET_FOLDER,
}

_BASES: Final = (Path("/dev/shm"), Path("/tmp"))  # noqa: S108  # the folder is checked before use


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder that the processes of one host share. ``group``: the id of the OS group that may use it. None: only the
    folder's owner may."""

    path: Path
    group: int | None

    @property
    def mode(self) -> int:
        """The folder's mode."""
        return 0o700 if self.group is None else 0o2770

    @property
    def file_mode(self) -> int:
        """The mode of its files."""
        return 0o600 if self.group is None else 0o660

    def distrust(self, status: os.stat_result) -> str | None:
        """Return why a folder or file with this status is unsafe (somebody else owns it, or others may write to it), or
        None if it is safe."""
        writers = stat.S_IWOTH if self.group is not None else stat.S_IWOTH | stat.S_IWGRP
        if self.group is None and status.st_uid != os.geteuid():
            return f"belongs to user {status.st_uid}, and this process runs as user {os.geteuid()}"
        if self.group is not None and status.st_gid != self.group:
            return f"belongs to group {status.st_gid}, and {GROUP_VARIABLE} names group {self.group}"
        if status.st_mode & writers:
            return f"can be written to by others (mode {stat.S_IMODE(status.st_mode):04o})"
        return None


class FolderTaken(Exception):
    """The default run folder belongs to another OS user or group, can be written to by others, or is not a folder. The
    caller can pass another ``name`` to ``run_folder``, or raise ``refusal``."""

    def __init__(self, refusal: StoreUnavailable) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def run_folder(given: Path | str | None = None, *, name: str) -> RunFolder:
    """Return the run folder: ``given``, else TENANTRY_RUN_DIR, else the default folder for ``name``. Make it if it is
    missing. For an unusable folder, raises FolderTaken if another ``name`` may help, otherwise StoreUnavailable."""
    group = _group()
    chosen = given or os.environ.get(DIRECTORY_VARIABLE)
    folder = RunFolder(Path(chosen) if chosen else _usual_path(group, name), group)
    if not folder.path.is_absolute():
        raise StoreUnavailable(
            f"the run folder {folder.path} is a relative path: set {DIRECTORY_VARIABLE} to an absolute path"
        )
    made = False
    try:
        if not os.path.lexists(folder.path):
            made = _make(folder)
        refusal = _refusal(folder)
    except OSError as error:
        raise StoreUnavailable(os_failure("cannot use the run folder", folder.path, error, SET_FOLDER)) from None
    if refusal is None:
        return folder
    if chosen or made:  # the operator chose this folder, or we made it: another name would not help
        raise refusal
    raise FolderTaken(refusal)


def _usual_path(group: int | None, name: str) -> Path:
    base = next((base for base in _BASES if base.is_dir() and os.access(base, os.W_OK | os.X_OK)), _BASES[-1])
    return base / (f"tenantry-{os.geteuid()}-{name}" if group is None else f"tenantry-group-{group}-{name}")


def _group() -> int | None:
    try:
        return run_group()
    except LookupError as error:
        raise StoreUnavailable(str(error.args[0])) from None


def _make(folder: RunFolder) -> bool:
    # Make the folder under a random name, then rename it, so that a user who watches the parent folder cannot learn the
    # name in advance.
    draft = folder.path.with_name(f".tenantry-{secrets.token_hex(8)}")
    draft.mkdir(mode=0o700)
    try:
        if folder.group is not None:
            os.chown(draft, -1, folder.group)
        draft.chmod(folder.mode)
        draft.rename(folder.path)  # this may replace an empty folder that another of our processes has made
    except OSError:
        with contextlib.suppress(OSError):
            draft.rmdir()
        if not os.path.lexists(folder.path):
            raise
        return False
    return True


def _refusal(folder: RunFolder) -> StoreUnavailable | None:
    path = folder.path
    status = path.lstat()
    reason, fix = folder.distrust(status), "remove it or correct its owner and mode"
    if stat.S_ISLNK(status.st_mode):
        reason, fix = "is a symbolic link", "remove it, or name its target"
    elif not stat.S_ISDIR(status.st_mode):
        reason, fix = "is not a folder", "remove it"
    if reason:
        return StoreUnavailable(f"the run folder {path} {reason}: {fix}. {SET_FOLDER}")
    above = path.parent.stat()
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
        raise StoreUnavailable(
            f"any user can replace the run folder {path}, because {path.parent} has no sticky bit: "
            f"run `chmod +t {path.parent}`. {SET_FOLDER}"
        )
    return None


def os_failure(what: str, path: Path, error: OSError, otherwise: str) -> str:
    """Return the message for ``error``. It ends with advice for the errno, or with ``otherwise``."""
    advice = otherwise if error.errno is None else _ADVICE.get(error.errno, otherwise)
    return f"{what} {path}: {error.strerror or error}. {advice}"
