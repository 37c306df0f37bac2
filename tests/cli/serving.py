"""``tenantry serve`` as a process, and what is asked of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx2

from engines.warm_python import Popen


class Server:
    """A running server: its address, and what it wrote on stderr until it ended."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self._log = log

    def ended(self, number: int | None = None) -> str:
        """Signals it, waits, and gives its log. It must end well."""
        if number is not None:
            self.process.send_signal(number)
        assert self.process.wait(timeout=120) == 0, self._log.read_text()
        return self._log.read_text()

    def log(self) -> str:
        return self._log.read_text()


_LIMITED = """
import resource, sys
from tenantry.cli import main
number = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
main()
"""


@contextmanager
def serving(
    folder: Path, *options: str, variables: dict[str, str] | None = None, open_files: int | None = None
) -> Iterator[Server]:
    """``tenantry serve`` with these options in ``folder``, on a free port; with more environment ``variables``, and
    under ``ulimit -n open_files``."""
    log = folder / "serve.log"
    start = ["-m", "tenantry"] if open_files is None else ["-c", _LIMITED, str(open_files)]
    command = [sys.executable, *start, "serve", "--port", "0", *options]
    with log.open("w") as stderr:
        process = Popen(command, cwd=folder, stderr=stderr, text=True, env={**os.environ, **(variables or {})})
        try:
            yield Server(process, _address(process, log), log)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(timeout=120)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    with log.open() as written:
        text = "".join(_until(written, lambda so_far: "Ctrl-C stops it" in so_far or process.poll() is not None))
    match = re.search(r"http://[^/]+", text)
    assert match is not None, text
    return match[0]


def _until(written: IO[str], enough: Callable[[str], bool]) -> Iterator[str]:
    import time

    so_far = ""
    for _ in range(3_600):
        so_far += (part := written.read())
        yield part
        if enough(so_far):
            return
        time.sleep(0.05)
    raise AssertionError(so_far)


def client(server: Server, secret: str) -> httpx2.Client:
    return httpx2.Client(base_url=server.url, headers={"Authorization": f"Token {secret}"}, timeout=120)
