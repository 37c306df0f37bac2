"""One server for all test processes of a run: the first that needs it starts it and stops it after the others left."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest


def run_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder that all processes of this run have in common."""
    folder = factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@contextmanager
def shared(folder: Path, name: str, run: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """Enter ``run`` in one of the processes that share ``folder``; in all of them, give the text that it yields.

    Each process holds a lock on ``name``.users while it uses the server. The one that started it waits at its end until
    no other holds the lock. A process that dies holds none.
    """
    with ExitStack() as leaving:
        users = leaving.enter_context((folder / f"{name}.users").open("w"))
        fcntl.flock(users, fcntl.LOCK_SH)
        address = folder / f"{name}.address"
        with (folder / f"{name}.start").open("w") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            if not address.exists():
                text = leaving.enter_context(run())
                leaving.callback(address.unlink)
                leaving.callback(fcntl.flock, users, fcntl.LOCK_EX)
                address.write_text(text, "utf-8")
        yield address.read_text("utf-8")
