"""The servers that people use, each started as a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from engines.ports import free_port
from engines.warm_python import Popen

ROOT = Path(__file__).parents[2]
SERVERS = {
    "uvicorn": ["uvicorn", "{app}", "--port", "{port}", "--ws", "websockets-sansio"],
    "uvicorn-wsproto": ["uvicorn", "{app}", "--port", "{port}", "--ws", "wsproto", "--http", "h11"],
    "hypercorn": [
        "hypercorn", "{app}", "--bind", "127.0.0.1:{port}",
        "--access-logfile", "-", "--access-logformat", "%(R)s %(s)s",
    ],
    "granian": [
        "granian", "{app}", "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}",
        "--access-log", "--access-log-fmt", "%(method)s %(path)s?%(query_string)s %(status)d",
    ],
}  # fmt: skip
"""Each with its access log, and the query in it."""


@dataclass
class Server:
    """A server that answers, and the file that it writes its log to."""

    address: str
    log: Path
    process: subprocess.Popen[bytes]

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=f"http://{self.address}", trust_env=False, timeout=120)

    def stop(self) -> None:
        """Ends it as an operator does, and waits until it has."""
        self.process.terminate()
        try:
            self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@asynccontextmanager
async def started(server: str, app: str, log: Path) -> AsyncIterator[Server]:
    """One of SERVERS with this app (``module:name``), once it answers ``/ready``, whatever the answer."""
    port = free_port()
    command = [part.format(app=app, port=port) for part in SERVERS[server]]
    with log.open("wb") as lines:
        process = Popen([sys.executable, "-m", *command], cwd=ROOT, stdout=lines, stderr=lines)
    running = Server(f"127.0.0.1:{port}", log, process)
    try:
        async with asyncio.timeout(120), running.client() as client:
            while True:
                assert process.poll() is None, log.read_text()
                try:
                    await client.get("/ready")
                    break
                except httpx2.TransportError:
                    await asyncio.sleep(0.05)
        yield running
    finally:
        running.stop()
