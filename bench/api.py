"""GET and POST of /api/user per second over a real socket, beside a bare Starlette route that echoes JSON."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.table import Aim, Table
from tenantry.backends.sql import SQLStore
from tenantry.groups import Tag
from tenantry.keys import create_key_file
from tenantry.migrations import migrate
from tenantry.provisioning import issue_api_token

CONNECTIONS = 16
ROUNDS = 9
SECONDS = 1.0

ECHO = """
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

async def echo(request: Request) -> JSONResponse:
    return JSONResponse(await request.json())

app = Starlette(routes=[Route("/api/user", echo, methods=["GET", "POST"])])
"""

SERVE = """
import sys
import uvicorn
sys.path.insert(0, {folder!r})
{imports}
uvicorn.run({app}, port={port}, log_level="error")
"""


class Server:
    """An app in a process of its own, on a free port, stopped by its own process id."""

    def __init__(self, folder: Path, imports: str, app: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        code = SERVE.format(folder=str(folder), imports=imports, app=app, port=self.port)
        self.process = subprocess.Popen([sys.executable, "-c", code], cwd=folder)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(15)


def _request(method: str, body: object, token: str) -> bytes:
    payload = json.dumps(body).encode()
    lines = [
        f"{method} /api/user HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Token {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(payload)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + payload


async def _rate(port: int, request: bytes) -> float:
    """Answers a second, over CONNECTIONS kept open; any answer that is not 200 ends the benchmark."""
    stop = time.monotonic() + SECONDS

    async def one() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answers = 0
        while time.monotonic() < stop:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.split(b"\r\n", 1)[0].decode())
            length = head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]
            await reader.readexactly(int(length))
            answers += 1
        writer.close()
        await writer.wait_closed()
        return answers

    start = time.monotonic()
    total = sum(await asyncio.gather(*(one() for _ in range(CONNECTIONS))))
    return total / (time.monotonic() - start)


async def _api_token(url: str) -> str:
    store = SQLStore(url)
    production = await store.create_environment("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store, production, label="bench")
    await store.aclose()
    return secret


def table() -> Table:
    """Runs it, on SQLite."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-") as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'tenantry.db'}"
        create_key_file(folder / "tenantry.keys")
        migrate(url)
        token = asyncio.run(_api_token(url))
        (folder / "echo.py").write_text(ECHO)
        imports = "from tenantry.app import create_app\nfrom tenantry.keys import SigningKeys"
        servers = {
            "echo": Server(folder, "from echo import app", "app"),
            "tenantry": Server(folder, imports, f"create_app({url!r}, SigningKeys.from_file('tenantry.keys'))"),
        }
        try:
            return asyncio.run(_measure(servers, token))
        finally:
            for server in servers.values():
                server.stop()


async def _measure(servers: dict[str, Server], token: str) -> Table:
    body = {"user_group_id": "acme", "name": "Acme", "properties": {"region": "eu", "seats": 5}}
    work = {
        "Starlette JSON echo, GET": ("echo", _request("GET", body, token)),
        "Starlette JSON echo, POST": ("echo", _request("POST", body, token)),
        "GET of an existing group": ("tenantry", _request("GET", body, token)),
        "POST, get or create": ("tenantry", _request("POST", body, token)),
    }
    rates: dict[str, list[float]] = {name: [] for name in work}
    order = list(work)
    for round_number in range(ROUNDS + 1):
        random.shuffle(order)
        for name in order:
            server, request = work[name]
            rate = await _rate(servers[server].port, request)
            if round_number:  # the first round warms
                rates[name].append(rate)
    result = Table("/api/user on SQLite, one worker, 16 connections", ["what", "answers/s", "× bare echo"])
    for name, values in rates.items():
        base = rates["Starlette JSON echo, POST" if "POST" in name else "Starlette JSON echo, GET"]
        ratio = statistics.median(a / b for a, b in zip(values, base, strict=True))
        result.add(name, f"{statistics.median(values):,.0f}", f"{ratio:.2f}")
        if name.startswith("GET of"):
            result.aims.append(Aim("GET of an existing group, × a bare echo", ratio, 0.4, at_least=True))
    return result
