"""A viewer who leaves stops the query on the database, under the three servers that people use; so does SIGTERM."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect

from engines.ports import free_port
from engines.postgres import Postgres
from engines.warm_python import Popen

APP = "tests.datasources.served_queries:app"
ROOT = Path(__file__).parents[2]
SERVERS = {
    "uvicorn": ["uvicorn", APP, "--port", "{port}"],
    "hypercorn": ["hypercorn", APP, "--bind", "127.0.0.1:{port}", "--workers", "0", "--graceful-timeout", "600"],
    "granian": ["granian", APP, "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}"],
    "uvicorn, limited": ["uvicorn", APP, "--port", "{port}", "--timeout-graceful-shutdown", "1"],
    "hypercorn, limited": ["hypercorn", APP, "--bind", "127.0.0.1:{port}", "--graceful-timeout", "1"],
}
"""The first three wait for what runs, for ten minutes or without end."""
SOON = 60.0
"""Seconds within which something happens on a busy machine. A query that is not stopped runs for ten minutes."""


@dataclass
class Served:
    """A server process, and what runs on its database: the marks of the queries."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path
    running: Callable[[], set[str]]
    token: str = ""

    async def get_token(self) -> None:
        async with asyncio.timeout(120):
            while not self.token:
                assert self.process.poll() is None, self.log.read_text()
                try:
                    self.token = (await self.ask("GET", "/token")).rpartition("\r\n")[2]
                except OSError:
                    await asyncio.sleep(0.05)

    @asynccontextmanager
    async def send(self, method: str, path: str, body: str = "") -> AsyncIterator[asyncio.StreamReader]:
        """Sends a request; the socket is closed after the block."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        token = f"X-User-Group-Token: {self.token}\r\n" if self.token else ""
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        writer.write(f"{head}{token}{length}\r\n{body}".encode())
        try:
            yield reader
        finally:
            writer.close()
            await writer.wait_closed()

    async def ask(self, method: str, path: str, body: str = "") -> str:
        async with asyncio.timeout(SOON), self.send(method, path, body) as reader:
            return (await reader.read()).decode()

    async def wait(self, *marks: str) -> None:
        """Until just the queries with these marks run on the database."""
        async with asyncio.timeout(SOON):
            while await asyncio.to_thread(self.running) != set(marks):
                await asyncio.sleep(0.02)


@contextmanager
def serve(name: str, log: Path, running: Callable[[], set[str]], **environment: str) -> Iterator[Served]:
    port = free_port()
    command = [part.format(port=port) for part in SERVERS[name]]
    with log.open("wb") as lines:
        process = Popen(
            [sys.executable, "-m", *command], cwd=ROOT, stdout=lines, stderr=lines, env={**os.environ, **environment}
        )
    try:
        yield Served(port, process, log, running)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(SOON)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def serve_postgresql(server: str, postgres: Postgres, log: Path, signals: str = "yes") -> Iterator[Served]:
    url = postgres.create_database()
    name = urlsplit(url).path.removeprefix("/")
    listed = (
        f"select substring(query from '''(.*)'' as mark') from pg_stat_activity where datname = '{name}' "
        "and state = 'active' and query like '%pg_sleep(600)%' and pid <> pg_backend_pid()"
    )

    def running() -> set[str]:
        return set(postgres.execute(listed).split())

    with serve(server, log, running, SOURCE_URL=url, SOURCE_KIND="postgresql", SIGNALS=signals) as served:
        yield served


@pytest.fixture(params=["uvicorn", "hypercorn", "granian"], scope="module")
async def served(request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory) -> AsyncIterator[Served]:
    with serve_postgresql(request.param, postgres, tmp_path_factory.mktemp("served") / "log") as served:
        await served.get_token()
        yield served


@pytest.mark.parametrize(
    ("path", "marks"),
    [("/plain", {"plain"}), ("/several", {"one", "two"}), ("/wrapped/plain", {"plain"})],
)
@pytest.mark.parametrize("body", ["", '{"a": 1}'])
async def test_a_viewer_who_leaves_stops_the_query(served: Served, path: str, marks: set[str], body: str) -> None:
    """Also where several panels run at once, the body was not read yet, or BaseHTTPMiddleware is between. Red when
    while_connected does nothing, and when each block has a watch of its own (hypercorn: one of two panels goes on)."""
    async with served.send("POST" if body else "GET", path, body):
        await served.wait(*marks)
    await served.wait()
    assert "Traceback" not in served.log.read_text()


@pytest.mark.parametrize("path", ["/coroutine", "/function", "/wrapped/coroutine", "/wrapped/function"])
async def test_a_dashboard_ends_with_its_viewer(served: Served, path: str) -> None:
    """Also one that runs in a thread, which asks no more afterwards. Red when the endpoint watches nothing, when
    DataSources take no notice of VIEWER_OF_THREAD, and when a query is stopped but the next one is not refused."""
    async with served.send("GET", path):
        await served.wait(path.rpartition("/")[2])
    await served.wait()
    assert await asyncio.wait_for(served.ask("GET", "/token"), SOON)
    assert await asyncio.to_thread(served.running) == set()
    assert "Traceback" not in served.log.read_text()


async def test_the_body_is_there_after_the_block(served: Served) -> None:
    """And a streamed answer is sent whole. Red when the watch takes the body's messages."""
    answer = await served.ask("POST", "/body", "what was sent")
    assert "what was sent" in answer
    assert " and more" in answer


async def test_a_closed_websocket_stops_the_query(served: Served) -> None:
    """And what its client sent while a block ran comes to the app, all of it in its order. Red when ReadAhead keeps
    nothing: the app never gets the three messages."""
    async with (
        connect(
            f"ws://127.0.0.1:{served.port}/chat", additional_headers={"X-User-Group-Token": served.token}, proxy=None
        ) as chat,
        asyncio.timeout(SOON),
    ):
        assert await chat.recv() == "first"
        for text in ("a", "b", "c"):
            await chat.send(text)
        assert [await chat.recv() for _ in range(3)] == ["a", "b", "c"]
        await served.wait("chat")
    await served.wait()


async def test_sigterm_stops_the_queries(served: Served) -> None:
    """At once, and the server ends: those that wait get 503. The last test of its server. Red without
    ``stop_on_signals``, where ``stop`` waits for the queries, and where the server's own handler is not called."""
    async with served.send("GET", "/plain") as view, served.send("GET", "/function") as page:
        await served.wait("plain", "function")
        served.process.terminate()
        await served.wait()
        async with asyncio.timeout(SOON):
            for answer in (view, page):
                assert b" 503 " in await answer.readline()
        assert await asyncio.to_thread(served.process.wait, SOON) is not None
    assert "never retrieved" not in served.log.read_text()


WAITS_WITHOUT_LIMIT = pytest.mark.skipif(
    sys.version_info >= (3, 12, 1),
    reason="a worker of hypercorn waits for open connections without limit, as asyncio's Server.wait_closed() does",
)


@pytest.mark.parametrize("server", ["uvicorn, limited", pytest.param("hypercorn, limited", marks=WAITS_WITHOUT_LIMIT)])
async def test_a_server_that_gives_up_waiting_stops_them_too(server: str, postgres: Postgres, tmp_path: Path) -> None:
    """SIGTERM without ``stop_on_signals``: the process ends long before the query, which is gone from the database. Red
    without ``sources.aclose()`` in the lifespan or where ``aclose`` waits for the query."""
    with serve_postgresql(server, postgres, tmp_path / "log", signals="no") as served:
        await served.get_token()
        async with served.send("GET", "/plain"):
            await served.wait("plain")
            served.process.terminate()
            assert await asyncio.to_thread(served.process.wait, SOON) is not None
            await served.wait()


async def test_on_mariadb_too(mariadb, tmp_path: Path) -> None:
    """By KILL QUERY over a second connection."""
    url = mariadb.create_user(mariadb.create_database(), "select")
    user = url.removeprefix("mysql://").partition(":")[0]
    listed = "select info from information_schema.processlist where user = %s and info like '%%sleep(600)%%'"

    def running() -> set[str]:
        return {row[0].split("'")[1] for row in mariadb.execute(listed, (user,))}

    with serve("uvicorn", tmp_path / "log", running, SOURCE_URL=url, SOURCE_KIND="mariadb", SIGNALS="no") as served:
        await served.get_token()
        async with served.send("GET", "/plain"):
            await served.wait("plain")
        await served.wait()
