"""Reader: somebody who follows one document in an empty folder, with what the document told to install."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from engines.fork_servers import ForkServer
from engines.ports import free_port
from tenantry.sql import SQLTemplate
from tests.docs.blocks import Block

SESSION = Path(__file__).with_name("session.py")
NOT_RUN = ("pip install", "make ", "git clone", "cd ")
"""First words of lines that set up a machine. The environment holds what the lines with ``pip install`` name."""

SECONDS = 300
"""How long one block may take on a machine that does much else."""

_TITLE = re.compile(r'title="([\w.-]+(?:/[\w.-]+)*)"')
_INSTALL = "pip install "


def requirements(found: list[Block]) -> list[str]:
    """What the visible shell lines of a document tell to install."""
    lines = [
        line for block in found if block.language == "bash" and not block.hidden for line in block.text.splitlines()
    ]
    return [word for line in lines if line.startswith(_INSTALL) for word in shlex.split(line, comments=True)[2:]]


def runs(block: Block) -> bool:
    """Whether its reader runs it, and so has to have installed something before."""
    if block.language == "bash":
        return any(line and not line.startswith((*NOT_RUN, "#")) for line in block.text.splitlines())
    return block.language == "python" and _TITLE.search(block.info) is None


def has_commands(found: list[Block]) -> bool:
    """Whether its reader runs ``tenantry``."""
    return any("tenantry " in block.text for block in found if block.language == "bash" and runs(block))


class Reader:
    """A shell, a Python session, and servers left running, all of one virtual environment.

    A block with ``title="name"`` is saved under that name; a block of bash with ``server`` is left running.
    """

    def __init__(self, folder: Path, python: Path, *, forks: bool = False, base: ForkServer | None = None) -> None:
        """``forks``: each ``tenantry`` of the shell, and the session, are of a ForkServer.

        ``base``: a server of fewer libraries, to fork that one from, or the session alone.
        """
        self.folder = folder
        self.python = python
        self.ports = {"127.0.0.1:8000": free_port(), "127.0.0.1:8001": free_port()}
        self.exports: dict[str, str] = {}
        self.servers: dict[int, subprocess.Popen[bytes]] = {}
        """By port: a server on a port that is taken is started after the one before was ended, as with Ctrl-C."""
        self.session: _Session | None = None
        self.environ = folder / "environ"
        self.environ.write_text("")
        self.path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        self.base = base
        self.forks: ForkServer | None = None
        if forks and sys.platform == "linux":
            self.forks = ForkServer(python.with_name("tenantry"), self._first_environ(), base)
            self.path = f"{self.forks.folder}{os.pathsep}{self.path}"

    def follow(self, block: Block, document: Path) -> None:
        """Does what the block says. Raises AssertionError with what went wrong, and the document's line numbers."""
        text = block.text
        for written, port in self.ports.items():
            text = text.replace(written, f"127.0.0.1:{port}").replace(f"--port {written[-4:]}", f"--port {port}")
        title = _TITLE.search(block.info)
        if title is not None:
            (self.folder / title[1]).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / title[1]).write_text(text, "utf-8")
        elif block.language == "python":
            if self.session is None:
                self.session = _Session(self.python, self.folder, self._first_environ(), self.forks or self.base)
            self.session.run(text, document.name, block.line, self.exports)
        elif block.language == "bash" and "server" in block.info:
            self._serve(text)
        elif block.language == "bash":
            self._bash(text)
        elif block.language == "sql":
            SQLTemplate(text, "postgresql")

    def close(self) -> None:
        for port in list(self.servers):
            self._end(port)
        if self.session is not None:
            self.session.close()
        if self.forks is not None:
            self.forks.close()

    def _bash(self, text: str) -> None:
        lines = [_strict(line) for line in text.splitlines() if not line.startswith(NOT_RUN)]
        exported = self.folder / "exported"
        keep = [f"export -p > {self.environ}", f"env -0 > {exported}"]
        done = subprocess.run(
            ["bash", "-c", "\n".join([f"source {self.environ}", "set -euo pipefail", *lines, *keep])],
            cwd=self.folder,
            env=self._first_environ(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout.decode()}\n{done.stderr.decode()}"
        for pair in exported.read_text().split("\0"):
            name, _, value = pair.partition("=")
            if name.isidentifier():
                self.exports[name] = value

    def _serve(self, text: str) -> None:
        script = f"source {self.environ}\nexec {text.strip()}"
        named = re.search(r"--port (\d+)", text)
        port = int(named[1]) if named else self.ports["127.0.0.1:8000"]
        self._end(port)
        server = subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=self._first_environ())
        self.servers[port] = server
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                assert server.poll() is None, "the server stopped"
                assert time.monotonic() < deadline, "the server did not answer"
                time.sleep(0.05)

    def _end(self, port: int) -> None:
        server = self.servers.pop(port, None)
        if server is not None:
            server.send_signal(signal.SIGINT)
            server.wait(SECONDS)

    def _first_environ(self) -> dict[str, str]:
        return {
            "PATH": self.path,
            "HOME": str(self.folder),
            "TENANTRY_PORT": str(self.ports["127.0.0.1:8000"]),
            "TENANTRY_RUN_DIR": os.environ["TENANTRY_RUN_DIR"],  # shell and session are processes of one host
        }


class _Session:
    """The Python session; each warning in it is an error."""

    def __init__(self, python: Path, folder: Path, environ: Mapping[str, str], forks: ForkServer | None) -> None:
        reads, self._commands = os.pipe()
        self._answers, writes = os.pipe()
        if forks is None:
            words = [python, SESSION, str(reads), str(writes)]
            process = subprocess.Popen(words, cwd=folder, env=environ, pass_fds=(reads, writes))
            self._wait: Callable[[float], object] = process.wait
        else:
            self._wait = forks.run([python, SESSION], folder, environ, reads, writes)
        os.close(reads)
        os.close(writes)
        self._answer = os.fdopen(self._answers)

    def run(self, code: str, file: str, line: int, environ: Mapping[str, str]) -> None:
        command = {"code": code, "file": file, "line": line, "environ": environ}
        os.write(self._commands, (json.dumps(command) + "\n").encode())
        answer = self._answer.readline()
        assert answer, "the session has ended"
        error = json.loads(answer)["error"]
        assert error is None, error

    def close(self) -> None:
        os.close(self._commands)
        self._answer.close()
        self._wait(SECONDS)


def _strict(line: str) -> str:
    """``set -e`` overlooks what fails before the last ``&&``, and whatever begins with ``!``."""
    if not line.startswith("! ") and " && " not in line:
        return line
    assert re.search(r"<<| #|\\$", line) is None, f"this line cannot be made strict: {line}"
    return f"{line} || exit 1"
