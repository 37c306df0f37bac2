"""Connections over real sockets: kept, broken, of several loops, and never by way of somebody else."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tenantry.backends.introspection import IntrospectionBackend
from tenantry.errors import StoreUnavailable
from tests.backends.introspection.conftest import PATH
from tests.backends.introspection.test_backend import ACME, ACMES, API_TOKEN, KEYS, active_response

BODY = json.dumps(active_response(ACME)).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Head and body of one request; nothing when the client has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    (length,) = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return head + await reader.readexactly(int(length.split(b":")[1]))


class Server:
    """Answers each request with ANSWER, ``per_connection`` times, and counts."""

    def __init__(self, per_connection: int = 1_000_000) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self._per_connection = per_connection
        self._writers: list[asyncio.StreamWriter] = []

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        for _ in range(self._per_connection):
            request = await read_request(reader)
            if not request:
                break
            self.requests.append(request)
            writer.write(ANSWER)
            await writer.drain()
        else:
            await read_request(reader)  # the connection breaks when it is used once more
        writer.close()

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[str]:
    listener = await asyncio.start_server(server.talk, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}{PATH}"
    finally:
        listener.close()
        server.close()
        await listener.wait_closed()


def make_backend(url: str) -> IntrospectionBackend:
    return IntrospectionBackend(url, api_token=API_TOKEN, keys=KEYS, timeout=20)


async def test_connections_are_kept() -> None:
    """Ten questions, one connection; after ``aclose`` another one. Red when each question opens its own."""
    server = Server()
    async with serving(server) as url:
        backend = make_backend(url)
        for _ in range(10):
            assert await backend.find(ACMES) == ACME
        assert (server.connections, len(server.requests)) == (1, 10)
        await backend.aclose()
        assert await backend.find(ACMES) == ACME
        assert server.connections == 2
        await backend.aclose()
        await backend.aclose()


async def test_a_kept_connection_that_breaks() -> None:
    """The server closes it when the question is there: asked again on a new one, and nobody notices.

    Red without the second attempt: StoreUnavailable."""
    server = Server(per_connection=1)
    async with serving(server) as url:
        backend = make_backend(url)
        for _ in range(3):
            assert await backend.find(ACMES) == ACME
        assert server.connections == 3
        await backend.aclose()


async def test_nothing_goes_through_a_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red with trust_env: the token goes to whoever ``HTTP_PROXY`` names."""
    server, proxy = Server(), Server()
    async with serving(server) as url, serving(proxy) as other:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, other.removesuffix(PATH))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        backend = make_backend(url)
        assert await backend.find(ACMES) == ACME
        assert (server.connections, proxy.connections) == (1, 0)
        await backend.aclose()


def test_loops_that_end() -> None:
    """One backend in one loop after another, none of which closes it: each loop closes its own connections.

    Red when the connections are not tied to the loop: an unclosed transport warns, and a dead one is used."""
    backends: list[IntrospectionBackend] = []

    async def once() -> None:
        server = Server()
        async with serving(server) as url:
            backend = make_backend(url)
            backends.append(backend)
            assert await backend.find(ACMES) == ACME

    async def again(backend: IntrospectionBackend) -> None:
        with pytest.raises(StoreUnavailable, match="ConnectError"):
            await backend.find(ACMES)

    for _ in range(3):
        asyncio.run(once())
    for backend in backends:
        asyncio.run(again(backend))
    gc.collect()


async def test_an_answer_that_is_cut_off() -> None:
    """Half a body is no answer."""

    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(ANSWER[:-10])
        writer.close()

    listener = await asyncio.start_server(half, "127.0.0.1", 0)
    async with listener:
        backend = make_backend(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}{PATH}")
        with pytest.raises(StoreUnavailable, match="RemoteProtocolError"):
            await backend.find(ACMES)
        await backend.aclose()
