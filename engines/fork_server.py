"""The process of a ``ForkServer`` (fork_servers.py), run by the interpreter of any environment: so stdlib only.

It imports what the command ``tenantry`` imports and the environment has, and forks for each caller. It ends with its
stdin, and so does what still runs.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

Called = tuple[str, list[str], str, dict[str, str], int]
"""The interpreter, words of which the first is a file of Python, working folder, environment and umask."""

FURTHER = (
    "tenantry.cli",
    "tenantry.backends.sql",
    "tenantry.datasources.engines",
    "tenantry.server.app",
    "tenantry.server.settings",
    "alembic.command",
    "sqlalchemy.dialects.sqlite",
    "_strptime",
)
"""What commands import when they run."""


def main(script: str, listening: int) -> None:
    sys.path[0] = str(Path(script).parent)
    gc.disable()
    for name in FURTHER:
        _import(name)
    streams, called = _next_caller(socket.socket(fileno=listening), script)
    gc.enable()
    _become(streams, *called)
    if sys.argv[0] == script:
        _run(sys.modules["tenantry.cli"].main)
    else:
        for name in [name for name in sys.modules if name.startswith("tenantry")]:
            del sys.modules[name]  # it may use of ours what it imports, and nothing else
        _run(lambda: runpy.run_path(sys.argv[0], run_name="__main__"))


def _import(name: str) -> None:
    with suppress(ImportError), warnings.catch_warnings():  # a missing extra: the command imports it again, and says so
        warnings.simplefilter("error")  # as in the session of a page
        import_module(name)


def _run(program: Callable[[], object]) -> None:
    """Run and end it as the interpreter does, without taking each module apart, half of a command's time."""
    try:
        program()
        status = 0
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        status = end.code
    threading._shutdown()
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)  # and the interpreter says what it cannot write


def _next_caller(listening: socket.socket, script: str) -> tuple[list[int], Called]:
    """Fork for each caller, and return in the child: with the caller's streams, and how it called."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with listening, selectors.DefaultSelector() as events:
        events.register(0, selectors.EVENT_READ)
        events.register(listening, selectors.EVENT_READ)
        while True:
            key, _ = events.select()[0]  # one only: what it does may end the cause of another
            if key.fd == 0:  # the tests have ended
                for process in running:
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                os._exit(0)
            elif key.fileobj is listening:
                caller, _ = listening.accept()
                length, streams, _, _ = socket.recv_fds(caller, 4, 5)
                called = marshal.loads(caller.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL))
                if called[1][0] == script and called[1][1:]:
                    _import(sys.modules["tenantry.cli"]._MODULES.get(called[1][1], "tenantry.cli"))
                gc.freeze()  # no collection in a child writes to the pages that it shares with this process
                pid = os.fork()
                if pid == 0:
                    for process, (_, other) in running.items():
                        os.close(process)
                        other.close()
                    caller.close()
                    return streams, called
                for stream in streams:
                    os.close(stream)
                process = os.pidfd_open(pid)
                running[process] = pid, caller
                events.register(process, selectors.EVENT_READ)
                events.register(caller, selectors.EVENT_READ, process)
                _tell(caller, pid)
            elif key.data is not None:  # the caller was killed
                events.unregister(key.fileobj)
                signal.pidfd_send_signal(key.data, signal.SIGKILL)
            else:
                pid, caller = running.pop(key.fd)
                _, status = os.waitpid(pid, 0)
                events.unregister(key.fd)
                os.close(key.fd)
                with suppress(KeyError):
                    events.unregister(caller)
                _tell(caller, status)
                caller.close()


def _tell(caller: socket.socket, number: int) -> None:
    with suppress(OSError):  # it was killed
        caller.sendall(number.to_bytes(4, "big"))


def _become(streams: list[int], python: str, words: list[str], folder: str, environ: dict[str, str], mask: int) -> None:
    """Make this process what ``python`` is when it begins to run ``words``, with stdin, stdout and stderr, and the
    numbers of further streams as its last words."""
    prefix = str(Path(python).parents[1])
    sys.path[1:] = [each.replace(sys.prefix, prefix, 1) for each in sys.path[1:]]
    sys.prefix = sys.exec_prefix = prefix
    sys.executable = python
    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    sys.argv = [*words, *map(str, streams[3:])]
    sys.path[0] = str(Path(words[0]).parent)
    os.chdir(folder)
    os.umask(mask)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
