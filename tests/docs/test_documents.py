"""Every code block of the README and of docs/ runs, in order, as its reader would run it."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.sql import SQLTemplate
from tests.docs.blocks import Block, blocks

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = ("pip install", "make ", "git clone", "cd ")
"""First words of lines that set up a machine: `make test` itself is what proves those."""

_TITLE = re.compile(r'title="([\w.-]+)"')


class Reader:
    """Somebody who follows one document in an empty folder: a shell, a Python session, and servers left running.

    A block with ``title="name"`` is saved under that name; a block of bash with ``server`` is left running.
    """

    def __init__(self, folder: Path, exports: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.exports = exports
        self.ports = {"127.0.0.1:8000": _free_port(), "127.0.0.1:8001": _free_port()}
        self.session = types.ModuleType("document")
        self.runner = asyncio.Runner()
        self.servers: list[subprocess.Popen[bytes]] = []
        self.environ = folder / "environ"
        self.environ.write_text("")

    def follow(self, block: Block, document: Path) -> None:
        """Does what the block says. Raises what it raises, with the document's own line numbers."""
        text = block.text
        for written, port in self.ports.items():
            text = text.replace(written, f"127.0.0.1:{port}").replace(f"--port {written[-4:]}", f"--port {port}")
        title = _TITLE.search(block.info)
        if title is not None:
            (self.folder / title[1]).write_text(text, "utf-8")
        elif block.language == "python":
            self._python(text, block, document)
        elif block.language == "bash" and "server" in block.info:
            self._serve(text)
        elif block.language == "bash":
            self._bash(text)
        elif block.language == "sql":
            SQLTemplate(text, "postgresql")

    def close(self) -> None:
        for server in self.servers:
            server.send_signal(signal.SIGINT)
            server.wait(15)
        self.runner.close()

    def _python(self, text: str, block: Block, document: Path) -> None:
        code = compile("\n" * (block.line - 1) + text, document.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, self.session.__dict__)
        if inspect.iscoroutine(result):
            self.runner.run(_finish(result))

    def _bash(self, text: str) -> None:
        lines = [_strict(line) for line in text.splitlines() if not line.startswith(NOT_RUN)]
        exported = self.folder / "exported"
        keep = [f"export -p > {self.environ}", f"env -0 > {exported}"]
        done = subprocess.run(
            ["bash", "-c", "\n".join([f"source {self.environ}", "set -euo pipefail", *lines, *keep])],
            cwd=self.folder,
            env=self._first_environ(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout.decode()}\n{done.stderr.decode()}"
        for pair in exported.read_text().split("\0"):
            name, _, value = pair.partition("=")
            if name.isidentifier():
                self.exports.setenv(name, value)

    def _serve(self, text: str) -> None:
        script = f"source {self.environ}\nexec {text.strip()}"
        self.servers.append(subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=self._first_environ()))
        named = re.search(r"--port (\d+)", text)
        place = ("127.0.0.1", int(named[1]) if named else self.ports["127.0.0.1:8000"])
        for _ in range(200):
            try:
                socket.create_connection(place, 1).close()
                return
            except OSError:
                assert self.servers[-1].poll() is None, "the server stopped"
                time.sleep(0.1)
        raise AssertionError("the server did not answer")

    def _first_environ(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        run_folder = os.environ["TENANTRY_RUN_DIR"]  # the shell and the session are processes of one host
        return {
            "PATH": path,
            "HOME": str(self.folder),
            "TENANTRY_PORT": str(self.ports["127.0.0.1:8000"]),
            "TENANTRY_RUN_DIR": run_folder,
        }


def _strict(line: str) -> str:
    """``set -e`` overlooks what fails before the last ``&&``, and whatever begins with ``!``."""
    if not line.startswith("! ") and " && " not in line:
        return line
    assert re.search(r"<<| #|\\$", line) is None, f"this line cannot be made strict: {line}"
    return f"{line} || exit 1"


async def _finish(coroutine: types.CoroutineType[object, object, object]) -> None:
    await coroutine


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader in an empty folder, which is also the working folder of this process."""
    monkeypatch.chdir(tmp_path)
    someone = Reader(tmp_path, monkeypatch)
    monkeypatch.setitem(sys.modules, "document", someone.session)
    yield someone
    someone.close()


@pytest.mark.parametrize("line", ["false", "! true", "false && true", "true && ! true", "true && ! true && true"])
def test_a_failure_in_a_chain_or_a_negation_is_seen(line: str, reader: Reader) -> None:
    """Red for all but the first without ``_strict``: several checks of the tutorial could not fail."""
    with pytest.raises(AssertionError):
        reader.follow(Block("bash", "", f"{line}\ntrue\n", 1), ROOT)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_runs(document: Path, reader: Reader) -> None:
    """Each block of the document does what it says, in order, from an empty folder."""
    found = blocks(document)
    if "curl " in document.read_text("utf-8") and shutil.which("curl") is None:
        pytest.skip("this document uses curl, which is not on this machine")
    for block in found:
        reader.follow(block, document)
