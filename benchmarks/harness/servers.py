"""Apps served by uvicorn, each in a process of its own, and what a load generator in another process gets from them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from engines.ports import free_port

CONNECTIONS = 16
ROOT = Path(__file__).parents[2]
FAST = ROOT / ".bench" / "site"
"""httptools and uvloop. ``make bench`` puts them here, not into .venv: uvicorn takes them wherever it finds them."""

_SERVE = """
import sys
import uvicorn
from benchmarks.harness.servers import pin
sys.path.insert(0, {folder!r})
pin(0)
{imports}
{run}
"""
_BARE = 'uvicorn.run({app}, port={port}, log_level="error", access_log=False, http={http!r}, loop={loop!r})'
_GUARDED = """
from tenantry.server.uvicorn import listen, run
run({app}, listen("127.0.0.1", {port}), announce=lambda address: None)
"""


def pin(core: int, process: int = 0) -> None:
    """Keeps a process (0: this one) on one core: servers on 0, load on 1; they have one each if there are two."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 1:
            os.sched_setaffinity(process, {cores[core]})


def fast() -> bool:
    """Whether httptools and uvloop are there."""
    return (FAST / "httptools").is_dir() and (FAST / "uvloop").is_dir()


@dataclass(frozen=True)
class Rate:
    """One round of load: answers a second, the server's processor time an answer, latency; times in seconds."""

    answers: float
    processor: float
    p50: float
    p99: float


class Server:
    """``app``, an expression that ``imports`` makes possible, on a free port; stopped by its own process id.

    ``quick``: on httptools and uvloop. ``guarded``: with the connections of ``tenantry serve``."""

    def __init__(self, folder: Path, imports: str, app: str, *, quick: bool = False, guarded: bool = False) -> None:
        self.port: int = free_port()
        http, loop = ("httptools", "uvloop") if quick else ("h11", "asyncio")
        run = (_GUARDED if guarded else _BARE).format(app=app, port=self.port, http=http, loop=loop)
        code = _SERVE.format(folder=str(folder), imports=imports, run=run)
        path = [os.environ.get("PYTHONPATH", ""), str(ROOT), str(FAST) if quick else ""]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        self.process = subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environment)
        self._wait()

    def _wait(self) -> None:
        for _ in range(400):
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError("the server did not start")

    def load(self, request: bytes, seconds: float, *, connections: int = CONNECTIONS) -> Rate:
        """Asks for ``seconds`` on ``connections`` that are kept open."""
        before = self.processor()
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.harness.load", str(self.port), str(connections), str(seconds)],
            input=request,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            check=True,
        )
        spent = self.processor() - before
        figures = json.loads(done.stdout)
        number = figures["answers"]
        return Rate(number / figures["seconds"], spent / number, figures["p50"], figures["p99"])

    def processor(self) -> float:
        """Seconds of processor time that the server has used."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        if not stat.exists():
            return 0.0  # only Linux tells
        fields = stat.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """SIGTERM, and waits for its end."""
        self.process.terminate()
        self.process.wait(15)


def request(method: str, path: str, headers: dict[str, str], body: object = None) -> bytes:
    """The bytes of a request, with ``body`` as JSON."""
    payload = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    if payload:
        lines += ["Content-Type: application/json", f"Content-Length: {len(payload)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + payload
