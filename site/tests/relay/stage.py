"""The stage of the relay's tests: canaries that count who connects, a resolver that lies, a server that is allowed.

The whole internet is one canary: every connection to a public address lands there, and none leaves the machine.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from tenantry_site.relay import Relay, dial
from tenantry_site.relay.dial import Ip

PUBLIC = "93.184.215.14"
"""An address of the public internet. Nothing is sent to it."""

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]

real_open_socket = dial.open_socket


class Listener:
    """A TCP server on a free port. Counts connections, keeps what it read first, and answers by ``handle``."""

    def __init__(self, host: str, handle: Handler | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.host = host
        self.accepts = 0
        self.requests: list[bytes] = []
        self._handle = handle or hello
        self._tls = tls

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, self.host, 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        self._server.close_clients() if hasattr(self._server, "close_clients") else None
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepts += 1
        with suppress(OSError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            for line in request.lower().splitlines():
                if line.startswith(b"content-length:"):
                    request += await reader.readexactly(int(line.partition(b":")[2]))
            self.requests.append(request)
            await self._handle(request, writer)
            await writer.drain()
        writer.close()


async def hello(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"ok": true}')


@dataclass
class World:
    """Where connections of a test end. ``names`` gives each name its answers, one after the other; the last stays."""

    allowed: Listener
    canary: Listener
    canary6: Listener
    internet: Listener
    names: dict[str, list[list[str]]] = field(default_factory=dict)
    dials: list[tuple[str, int]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def reached(self) -> int:
        """Connections that nobody allowed."""
        return self.canary.accepts + self.canary6.accepts + self.internet.accepts

    def forget(self) -> None:
        """Back to the beginning, with the same ports."""
        for listener in (self.allowed, self.canary, self.canary6, self.internet):
            listener.accepts = 0
            listener.requests.clear()
        for noted in (self.names, self.dials, self.asked):
            noted.clear()

    async def resolve(self, name: str, port: int) -> list[str]:
        """Any name that a test says nothing of leads to this machine: the worst answer for a relay."""
        self.asked.append(name)
        answers = self.names.get(name, [["127.0.0.1", "::1"]])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def open_socket(self, ip: Ip, port: int) -> Any:
        """As the relay's, but that the internet is on this machine."""
        self.dials.append((str(ip), port))
        if ip.is_global:
            return await real_open_socket(ip_address("127.0.0.1"), self.internet.port)
        return await real_open_socket(ip, port)

    def fill(self, text: str) -> str:
        """``{canary}``, ``{canary6}``, ``{allowed}``: the ports."""
        for name in ("allowed", "canary", "canary6"):
            text = text.replace("{" + name + "}", str(getattr(self, name).port))
        return text


@asynccontextmanager
async def world(handle: Handler | None = None, tls: ssl.SSLContext | None = None) -> AsyncIterator[World]:
    """Four listeners. The test replaces ``dial.open_socket`` with the world's."""
    made = World(Listener("127.0.0.1", handle, tls), Listener("127.0.0.1"), Listener("::1"), Listener("127.0.0.1"))
    listeners = (made.allowed, made.canary, made.canary6, made.internet)
    for listener in listeners:
        await listener.start()
    try:
        yield made
    finally:
        for listener in listeners:
            await listener.stop()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    content: dict[str, Any]

    @property
    def code(self) -> str | None:
        """The code of the refusal, or None."""
        error = self.content.get("error")
        return error["code"] if error else None


OWN = {"host": "docs.example", "content-type": "application/json", "x-tenantry-relay": "1"}


async def post(relay: Relay, content: Any, *, headers: dict[str, str] | None = None, method: str = "POST") -> Answer:
    """What the relay answers. ``content``: values of JSON, or bytes as they are."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    pairs = [(name.encode(), value.encode()) for name, value in (headers or OWN).items()]
    scope = {"type": "http", "method": method, "path": "/", "query_string": b"", "headers": pairs}
    inbox = [{"type": "http.request", "body": raw, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return inbox.pop(0) if inbox else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await relay(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    names = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], names, json.loads(body))
