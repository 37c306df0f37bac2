"""A folder in memory for the files of a test run. At each commit SQLite waits for a disk, and each new database of
PostgreSQL is three hundred files, which take ten times as long on one.

Only on a machine that has plenty of memory, and that runs programs from a folder in it: some tests make such programs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from engines.locks import locked

MEMORY, ABOUT_MEMORY = Path("/dev/shm"), Path("/proc/meminfo")
LEAST_GIBIBYTES = 8
"""Free memory. A run of all tests needs less than a quarter of it."""

_VARIABLE = "PYTEST_DEBUG_TEMPROOT"  # where pytest makes its temporary folders
_PREFIX = "tenantry-tests-"
_LEAVING = pytest.StashKey[ExitStack]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """The first process of a run makes the folder; those that it starts find it in their environment."""
    config.stash[_LEAVING] = leaving = ExitStack()
    if _VARIABLE not in os.environ and _is_fit(MEMORY):
        os.environ[_VARIABLE] = str(leaving.enter_context(folder_in(MEMORY)))
        leaving.callback(os.environ.pop, _VARIABLE)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_LEAVING].close()


def temporary_folder() -> str:
    """Where the servers of tests make the folders of their data."""
    return os.environ.get(_VARIABLE) or tempfile.gettempdir()


@contextmanager
def folder_in(memory: Path) -> Iterator[Path]:
    """A folder that is removed at the end, or by the next run if this one is killed: memory must not fill up."""
    # While no other run makes a folder, or removes one that is not locked yet.
    with locked(memory):
        for left in memory.glob(f"{_PREFIX}*"):
            _remove_unused(left)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=memory))
        folder.chmod(0o755)  # PostgreSQL runs as another user where root starts it
        used = (folder / "used").open("w")
        fcntl.flock(used, fcntl.LOCK_EX)
    with used:
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


def _remove_unused(folder: Path) -> None:
    """Removes the folder of a run that was killed: nobody holds its lock."""
    if folder.stat().st_uid != os.geteuid():
        return
    try:
        with (folder / "used").open("a") as used:
            fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    shutil.rmtree(folder, ignore_errors=True)


def _is_fit(memory: Path) -> bool:
    """Whether there is such a folder, with enough room and memory, where programs may run."""
    if not (memory.is_dir() and os.access(memory, os.W_OK) and ABOUT_MEMORY.is_file()):
        return False
    system, least = os.statvfs(memory), LEAST_GIBIBYTES * 2**30
    return not system.f_flag & os.ST_NOEXEC and min(system.f_bavail * system.f_frsize, _available()) >= least


def _available() -> int:
    """Bytes of memory that programs can have."""
    lines = ABOUT_MEMORY.read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
