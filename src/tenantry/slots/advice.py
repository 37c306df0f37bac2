"""What to do about an error of the operating system that keeps a table from being opened."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

DIRECTORY_VARIABLE: Final = "TENANTRY_RUN_DIR"
GROUP_VARIABLE: Final = "TENANTRY_RUN_GROUP"

SET_FOLDER: Final = (
    f"Set {DIRECTORY_VARIABLE} to a folder on this host that the user of every Tenantry process here can write to, the "
    f"same for all, or {GROUP_VARIABLE} to the group that they are in"
)

_FULL: Final = f"Free some space there (a store takes 512 KiB), or set {DIRECTORY_VARIABLE} to a folder elsewhere"
_DENIED: Final = f"Correct owner and mode of what stands there. {SET_FOLDER}"
_ADVICE: Final = {
    errno.EMFILE: "This process has as many files open as it may: raise its limit (`ulimit -n`, LimitNOFILE=)",
    errno.ENFILE: "The machine has as many files open as it may: raise its limit (`sysctl fs.file-max`)",
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: f"That file system is read-only. {SET_FOLDER}",
    errno.ENOMEM: "There is no memory left for this process: free some, or raise the limit (`ulimit -v`, MemoryMax=)",
    errno.EAGAIN: "This process may not lock so much memory: raise its limit (`ulimit -l`, LimitMEMLOCK=)",
    errno.ENOENT: SET_FOLDER,
    errno.ENOTDIR: SET_FOLDER,
}


def os_failure(what: str, path: Path, error: OSError, otherwise: str) -> str:
    """A sentence that names what failed and why, and what to do; ``otherwise`` is the advice for an error that says
    nothing of its mend."""
    advice = otherwise if error.errno is None else _ADVICE.get(error.errno, otherwise)
    return f"{what} {path}: {error.strerror or error}. {advice}"
