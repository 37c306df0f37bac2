"""``Popen`` and ``run`` for processes of this interpreter, forked from one that has imported SQLAlchemy, pydantic and
uvicorn: these imports are two thirds of what a server costs that a test starts.

Each is a process as any other, and imports our code itself. Tests of what is imported start a real interpreter.
"""

from __future__ import annotations

import atexit
import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from engines.warm_interpreter import request

EARLY = ("PYTHON", "LANG", "LC_", "TZ", "OTEL_")
"""Beginnings of variables that Python reads at its start, or one of the packages when it is imported."""
_EACH = ("PYTHONPATH", "PYTHONUNBUFFERED")
"""Those that each process follows all the same."""

_FORKED = {"args", "cwd", "env", "stdin", "stdout", "stderr", "text", "start_new_session"}
"""Options of Popen with which a process can be forked."""

_lock = Lock()


class Popen(subprocess.Popen[Any]):
    """Starts a real interpreter where it cannot fork: with other words than ``python -m …`` or ``python -c …``, other
    options, or another locale, for example."""

    def __init__(self, args: Sequence[str | os.PathLike[str]], **options: Any) -> None:
        words = [os.fspath(each) for each in args]
        environ = {**(os.environ if options.get("env") is None else options["env"])}
        folder = os.fspath(options.get("cwd") or Path.cwd())
        self._message = b""
        if (
            sys.platform == "linux"
            and words[0] == sys.executable
            and words[1:2] in (["-m"], ["-c"])
            and options.keys() <= _FORKED
            and _early(environ) == _early(os.environ)
            and "COVERAGE_PROCESS_START" not in environ
        ):
            self._message = marshal.dumps(
                ([0, 1, 2], words[1:], folder, environ, bool(options.get("start_new_session")))
            )
        super().__init__(args, **options)

    def _execute_child(self, *given: Any) -> None:
        """The same in Python 3.11 to 3.14: ``given[10:16]`` are the ends of the pipes, -1 for a stream of ours."""
        if not self._message:
            super()._execute_child(*given)  # type: ignore[misc]  # not in the stubs
            return
        ends = given[10:16]
        streams = [
            number if end == -1 else end for number, end in zip((0, 1, 2), (ends[0], ends[3], ends[5]), strict=True)
        ]
        with _lock:
            self.pid = request(_interpreter(), self._message, streams)
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]


def run(
    args: Sequence[str | os.PathLike[str]],
    *,
    capture_output: bool = False,
    check: bool = False,
    timeout: float | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(args, **options) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def _early(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(EARLY) and name not in _EACH}


@cache
def _interpreter() -> socket.socket:
    """It ends when the other end of its socket is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environ = {name: value for name, value in os.environ.items() if name not in _EACH}
    program = Path(__file__).with_name("warm_interpreter.py")
    with theirs:
        process = subprocess.Popen(
            [sys.executable, program, str(theirs.fileno())],
            env=environ,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours
