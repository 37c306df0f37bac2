"""Commands ``tenantry …``, and other programs of an environment, forked from a process that has imported what the
commands import, which is most of their time.

What is not as in a fresh process: all have one hash seed; modules are already imported, for a program only those of
others; none is taken apart at the end.
"""

from __future__ import annotations

import marshal
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

_SERVER = Path(__file__).with_name("fork_server.py")

_SCRIPT = """#!{python} -IS
import _signal, _socket, marshal, os, sys
words = [{script!r}, *sys.argv[1:]]
if {{
    name: value for name, value in os.environ.items() if name.startswith({early}) and value != "C.UTF-8"
}} != {same}:
    os.execv({script!r}, words)
os.umask(mask := os.umask(0o77))
message = marshal.dumps((words, os.getcwd(), dict(os.environ), mask))
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
server.sendmsg([len(message).to_bytes(4, "big"), message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
pid = int.from_bytes(server.recv(4), "big")
for number in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM):
    _signal.signal(number, lambda number, frame: os.kill(pid, number))
status = int.from_bytes(server.recv(4), "big")
if os.WIFSIGNALED(status):
    _signal.signal(os.WTERMSIG(status), _signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.WEXITSTATUS(status))
"""

_EARLY = ("PYTHON", "LANG", "LC_", "TZ")
"""Beginnings of the names of variables that the interpreter reads before it runs anything. It sets LC_CTYPE itself, to
C.UTF-8, if no locale is set."""


class ForkServer:
    """A server for the environment of ``script``, the console script ``tenantry``. Only on Linux.

    ``folder``, for the PATH, holds another ``tenantry`` that calls the server, and passes signals on. Where the locale
    or a PYTHON* variable differs from those in ``environ``, it runs ``script``.
    """

    def __init__(self, script: Path, environ: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tenantry-")  # a socket's path has at most 107 bytes
        self.folder = Path(self._folder.name)
        python = script.with_name("python")
        self._address = address = str(self.folder / "socket")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            self._process = subprocess.Popen(
                [python, _SERVER, str(listening.fileno()), script],
                env=environ,
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
            )
        same = {name: value for name, value in environ.items() if name.startswith(_EARLY) and value != "C.UTF-8"}
        command = self.folder / script.name
        command.write_text(
            _SCRIPT.format(python=python, early=_EARLY, same=same, script=str(script), address=address),
            "utf-8",
        )
        command.chmod(0o755)

    def run(self, program: Path, folder: Path, environ: Mapping[str, str], *streams: int) -> Callable[[float], None]:
        """A file of Python, whose words are the numbers of ``streams``. What it returns waits for its end."""
        caller = socket.socket(socket.AF_UNIX)
        caller.connect(self._address)
        os.umask(mask := os.umask(0o77))
        message = marshal.dumps(([str(program)], str(folder), dict(environ), mask))
        socket.send_fds(caller, [len(message).to_bytes(4, "big"), message], [0, 1, 2, *streams])

        def wait(seconds: float) -> None:
            with caller:
                caller.settimeout(seconds)
                while caller.recv(8):
                    pass

        return wait

    def close(self) -> None:
        """End the server, and what still runs."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()
