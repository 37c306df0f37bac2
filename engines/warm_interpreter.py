"""The process behind ``warm_python.py``: it has imported large packages, and forks for each start.

Of ours it imports nothing: each process reads our code itself, from where its ``PYTHONPATH`` says. So does each worker
that a process with the option ``--workers`` starts by multiprocessing: it is forked too, and not a copy of its parent.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import marshal
import multiprocessing.process
import multiprocessing.util
import os
import runpy
import signal
import socket
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = (
    *("cachetools", "click", "jinja2.sandbox", "opentelemetry.propagate", "pydantic_settings", "sqlite3"),
    *("sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite", "sqlalchemy.ext.compiler"),
    *("starlette.applications", "starlette.middleware.base", "starlette.staticfiles", "starlette.websockets"),
    *("uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.main", "uvicorn.protocols.http.auto"),
    "uvicorn.protocols.websockets.auto",
)
"""None that starts a thread when it is imported, or reads variables other than those of warm_python.EARLY."""
FORKER = b"forks workers"
"""The name of the child of a process with workers that is not one of them."""
DESCRIPTORS = 64
"""As many as a process may be given at its start."""


def main(control: socket.socket) -> None:
    gc.disable()
    for name in PACKAGES:
        import_module(name)
    gc.freeze()  # no collection in a child writes to the pages that it shares with this process
    gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the tests
    streams, message = _next_start(control)
    control.close()
    _become(streams, *marshal.loads(message))


def _next_start(control: socket.socket) -> tuple[list[int], bytes]:
    """Return in a child of no living process here: the caller adopts it, and then waits for it as for any child."""
    while True:
        message, streams, _, _ = socket.recv_fds(control, 1 << 20, DESCRIPTORS)
        if not message:  # the caller has ended
            os._exit(0)
        between = os.fork()
        if between == 0:
            parent = os.getpid()
            pid = os.fork()
            if pid == 0:
                while os.getppid() == parent:  # until the caller is
                    time.sleep(0.001)
                return streams, message
            control.send(pid.to_bytes(4, "big"))
            os._exit(0)
        os.waitpid(between, 0)
        control.send(b"adopted")
        for stream in streams:
            os.close(stream)


def _become(
    received: list[int], numbers: list[int], words: list[str], folder: str, environ: dict[str, str], own_session: bool
) -> None:
    """Run ``python`` with these words, as if it had just been started with the descriptors under these numbers."""
    if own_session:
        os.setsid()
    above = [fcntl.fcntl(each, fcntl.F_DUPFD, max(numbers) + 1) for each in received]  # one may have another's number
    for descriptor in received:
        os.close(descriptor)
    for number, descriptor in zip(numbers, above, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number, name in ((1, "stdout"), (2, "stderr")):
        before = getattr(sys, name)
        buffering = 1 if name == "stderr" else -1
        opened = open(number, "w", buffering, before.encoding, before.errors, closefd=False)  # noqa: SIM115  # for good
        opened.reconfigure(write_through="PYTHONUNBUFFERED" in environ)
        setattr(sys, name, opened)
        setattr(sys, f"__{name}__", opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    multiprocessing.process.ORIGINAL_DIR = folder  # type: ignore[attr-defined]  # it was read at the import
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kind, what, *rest = words
    paths = environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = ["" if kind == "-c" else folder, *(each for each in paths if each)]
    sys.argv = [kind, *rest]
    if "--workers" in rest:
        _fork_workers()
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = module = ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), module.__dict__)  # the code of a test


def _fork_workers() -> None:
    """Have multiprocessing take this process's workers from a child that forks before anything of ours is imported."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        _call_this(FORKER)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with its parent
        received, message = _next_start(theirs)
        theirs.close()
        _call_this(b"python")
        _become(received, *marshal.loads(message))
        raise AssertionError("a worker ends by itself")
    theirs.close()
    util: Any = multiprocessing.util
    start_as_before = util.spawnv_passfds

    def start(path: bytes, args: Sequence[str], descriptors: Sequence[int]) -> int:
        if "--multiprocessing-fork" not in args:  # the tracker of resources
            return int(start_as_before(path, args, descriptors))
        words = [*args[args.index("-c") :]]
        numbers = [0, 1, 2, *(int(each) for each in descriptors)]
        message = marshal.dumps((numbers, words, str(Path.cwd()), dict(os.environ), False))
        return request(ours, message, numbers)

    util.spawnv_passfds = start


def request(control: socket.socket, message: bytes, descriptors: Sequence[int]) -> int:
    """Have a process forked and adopt it. Returns its id."""
    _adopt(True)
    socket.send_fds(control, [message], descriptors)
    pid = int.from_bytes(control.recv(4), "big")
    control.recv(16)
    _adopt(False)
    return pid


def _call_this(name: bytes) -> None:
    ctypes.CDLL(None).prctl(15, name)  # PR_SET_NAME


def _adopt(now: bool) -> None:
    """Make this process the parent of descendants whose parent ends, or no longer."""
    ctypes.CDLL(None).prctl(36, int(now), 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
