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
message = marshal.dumps(({python!r}, words, os.getcwd(), dict(os.environ), mask))
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

    def __init__(self, script: Path, environ: Mapping[str, str], base: ForkServer | None = None) -> None:
        """``base``: a server to fork this one from, of an environment whose libraries this one has too. What such a
        library has found missing at its import stays missing."""
        self._folder = tempfile.TemporaryDirectory(prefix="tenantry-")  # a socket's path has at most 107 bytes
        self.folder = Path(self._folder.name)
        python = script.with_name("python")
        self._address = address = str(self.folder / "socket")
        stdin, self._end = os.pipe()
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            number = listening.fileno()
            if base is None:
                command = [python, _SERVER, script, str(number)]
                process = subprocess.Popen(command, env=environ, stdin=stdin, pass_fds=[number])
                self._wait: Callable[[float], object] = process.wait
            else:
                self._wait = base.run([python, _SERVER, script], Path.cwd(), environ, number, stdin=stdin)
        os.close(stdin)
        same = {name: value for name, value in environ.items() if name.startswith(_EARLY) and value != "C.UTF-8"}
        caller = self.folder / script.name
        caller.write_text(
            _SCRIPT.format(python=str(python), early=_EARLY, same=same, script=str(script), address=address),
            "utf-8",
        )
        caller.chmod(0o755)

    def run(
        self, command: list[Path], folder: Path, environ: Mapping[str, str], *streams: int, stdin: int = 0
    ) -> Callable[[float], None]:
        """An interpreter, a file of Python and its words; the last are the numbers of ``streams``. What this returns
        waits for its end."""
        caller = socket.socket(socket.AF_UNIX)
        caller.connect(self._address)
        python, *words = map(str, command)
        os.umask(mask := os.umask(0o77))
        message = marshal.dumps((python, words, str(folder), dict(environ), mask))
        socket.send_fds(caller, [len(message).to_bytes(4, "big"), message], [stdin, 1, 2, *streams])

        def wait(seconds: float) -> None:
            with caller:
                caller.settimeout(seconds)
                while caller.recv(8):
                    pass

        return wait

    def close(self) -> None:
        """End the server, and what still runs."""
        os.close(self._end)
        self._wait(60)
        self._folder.cleanup()
