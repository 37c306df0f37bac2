"""On a fresh clone one process of the tests collects alone, and the others after it find all modules compiled.

Collecting imports a thousand modules and rewrites the assertions of six hundred: several processes at the same time
would each compile all of them.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """pytest writes its cache folder at the end of a run: where it is, no clone is fresh."""
    root = session.config.rootpath
    if not hasattr(session.config, "workerinput") or (root / ".pytest_cache").exists():
        return (yield)
    with (root / "pyproject.toml").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)  # when the first is done
            fcntl.flock(lock, fcntl.LOCK_UN)
        return (yield)
