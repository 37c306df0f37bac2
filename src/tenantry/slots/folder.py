"""The run folder: where the processes of one host meet.

``TENANTRY_RUN_DIR``, else a place that hangs on nothing but who runs the process, so that a server, a cron job and an
administrator's shell agree on it: ``/dev/shm/tenantry-<user id>``, or ``/tmp/…`` on a system without that file system
in memory. With ``TENANTRY_RUN_GROUP`` several users of one host share ``…/tenantry-group-<group id>``.

Both places are open to everybody, so a folder is trusted only if nobody else can have put it there or can write to it.
Every refusal is a StoreUnavailable, also of a setting: a server may meet it while it serves, and then must answer 503
and tell strangers no path.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tenantry.errors import StoreUnavailable

DIRECTORY_VARIABLE: Final = "TENANTRY_RUN_DIR"
GROUP_VARIABLE: Final = "TENANTRY_RUN_GROUP"

_BASES: Final = (Path("/dev/shm"), Path("/tmp"))  # noqa: S108  # what is found there is checked before it is used
_POSIX: Final = sys.platform != "win32"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder that was checked: belongs to this user, or to the ``group`` (a gid) that shares it."""

    path: Path
    group: int | None

    @property
    def mode(self) -> int:
        """Permissions of a new folder."""
        return 0o700 if self.group is None else 0o2770

    @property
    def file_mode(self) -> int:
        """Permissions of a new file in it."""
        return 0o600 if self.group is None else 0o660

    def distrust(self, status: os.stat_result) -> str | None:
        """Why a folder or file with this status is not safe to share; None if it is."""
        if not _POSIX:
            return None
        writers = stat.S_IWOTH if self.group is not None else stat.S_IWOTH | stat.S_IWGRP
        if self.group is None and status.st_uid != os.geteuid():
            return f"belongs to user {status.st_uid}, and this process runs as user {os.geteuid()}"
        if self.group is not None and status.st_gid != self.group:
            return f"belongs to group {status.st_gid}, and {GROUP_VARIABLE} names group {self.group}"
        if status.st_mode & writers:
            return f"can be written to by others (mode {stat.S_IMODE(status.st_mode):04o})"
        return None


def run_folder(given: Path | str | None = None) -> RunFolder:
    """The run folder, made if there is none; ``given``: this one. Raises StoreUnavailable if it cannot be trusted."""
    group = _group()
    named = given or os.environ.get(DIRECTORY_VARIABLE)
    folder = RunFolder(Path(named) if named else _usual_place(group), group)
    if not folder.path.is_absolute():
        raise StoreUnavailable(
            f"the run folder {folder.path} is a relative path, which means another folder to each process: "
            f"give {DIRECTORY_VARIABLE} an absolute one"
        )
    try:
        if not os.path.lexists(folder.path):
            _make(folder)
        _check(folder)
    except OSError as error:
        raise StoreUnavailable(f"cannot use the run folder {folder.path}: {error.strerror}. {_MEND}") from None
    return folder


_MEND: Final = (
    f"Set {DIRECTORY_VARIABLE} to a folder on this host that the user of every Tenantry process here can write to, the "
    f"same for all, or {GROUP_VARIABLE} to the group that they are in"
)


def _usual_place(group: int | None) -> Path:
    if not _POSIX:
        return Path(tempfile.gettempdir()) / f"tenantry-{os.environ.get('USERNAME', 'user')}"
    base = next((base for base in _BASES if base.is_dir() and os.access(base, os.W_OK | os.X_OK)), _BASES[-1])
    return base / (f"tenantry-{os.geteuid()}" if group is None else f"tenantry-group-{group}")


def _group() -> int | None:
    """The gid that TENANTRY_RUN_GROUP names."""
    named = os.environ.get(GROUP_VARIABLE)
    if not named or not _POSIX:
        return None
    if named.isdecimal():
        return int(named)
    import grp  # there is none on Windows

    try:
        return grp.getgrnam(named).gr_gid
    except KeyError:
        raise StoreUnavailable(f"{GROUP_VARIABLE} names {named!r}, and this host has no such group") from None


def _make(folder: RunFolder) -> None:
    """Puts the folder in its place with the right owner and mode from the first moment, whoever else does the same."""
    draft = folder.path.with_name(f".{folder.path.name}.{secrets.token_hex(8)}")
    draft.mkdir(mode=0o700)
    try:
        if folder.group is not None:
            os.chown(draft, -1, folder.group)
        draft.chmod(folder.mode)
        draft.rename(folder.path)  # over an empty folder of another who was as quick: one is as good as the other
    except OSError:
        with contextlib.suppress(OSError):
            draft.rmdir()
        if not os.path.lexists(folder.path):
            raise


def _check(folder: RunFolder) -> None:
    path = folder.path
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise StoreUnavailable(f"the run folder {path} is a symbolic link: remove it, or name where it leads. {_MEND}")
    if not stat.S_ISDIR(status.st_mode):
        raise StoreUnavailable(f"the run folder {path} is not a folder: remove it. {_MEND}")
    if reason := folder.distrust(status):
        raise StoreUnavailable(f"the run folder {path} {reason}: remove it or correct its owner and mode. {_MEND}")
    above = path.parent.stat()
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
        raise StoreUnavailable(
            f"anybody can replace the run folder {path}, since {path.parent} lets everybody rename what is in it: "
            f"run `chmod +t {path.parent}`. {_MEND}"
        )
