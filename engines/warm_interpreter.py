"""The process behind ``warm_python.py``: it has imported large packages, and forks for each start.

Of ours it imports nothing: each process reads our code itself, from where its ``PYTHONPATH`` says.
"""

from __future__ import annotations

import gc
import marshal
import multiprocessing.process
import os
import runpy
import signal
import socket
import sys
import time
from importlib import import_module
from types import ModuleType

PACKAGES = (
    *("cachetools", "click", "jinja2.sandbox", "opentelemetry.propagate", "pydantic_settings", "sqlite3"),
    *("sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite", "sqlalchemy.ext.compiler"),
    *("starlette.applications", "starlette.middleware.base", "starlette.staticfiles", "starlette.websockets"),
    *("uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.main", "uvicorn.protocols.http.auto"),
    "uvicorn.protocols.websockets.auto",
)
"""None that starts a thread when it is imported, or reads variables other than those of warm_python.EARLY."""


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
        message, streams, _, _ = socket.recv_fds(control, 1 << 20, 3)
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


def _become(streams: list[int], words: list[str], folder: str, environ: dict[str, str], own_session: bool) -> None:
    """Run ``python`` with these words, as if it had just been started."""
    if own_session:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
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
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = module = ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), module.__dict__)  # the code of a test


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
