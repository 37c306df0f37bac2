"""Hundreds of websockets on a real uvicorn, with a real store that others write to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect

from engines.postgres import Postgres
from tenantry import Resolver, UserGroupMiddleware, user_group
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import Environment, GroupChanges, GroupDraft, Tag
from tenantry.provisioning import Provisioner
from tests.backends.store.proxy import proxied
from tests.resolver.fake import KEYS

pytestmark = pytest.mark.slow

STALENESS = 5.0
DEADLINE = 4.0
"""Of one read of the store. Both are long enough for a busy machine."""


async def talk(websocket: WebSocket) -> None:
    """Answers each message with the group's name, read anew."""
    await websocket.accept()
    try:
        while True:
            await websocket.send_text(f"{await websocket.receive_text()} {user_group(websocket).name}")
    except WebSocketDisconnect as gone:
        websocket.app.state.gone.append(gone.code)


@dataclass
class Stage:
    """A server on one store, and a provisioner on another of the same database: another process on the same host, or,
    where ``elsewhere``, on another host, which shares no run folder with it."""

    address: str
    provisioner: Provisioner
    environment: Environment
    app: Starlette

    async def token(self, name: str) -> str:
        made = await self.provisioner.get_or_create(self.environment, GroupDraft(name, name.title(), {"region": "eu"}))
        return made.token

    def open(self, token: str) -> connect:
        headers = {"X-User-Group-Token": token}
        return connect(
            f"ws://{self.address}/", additional_headers=headers, proxy=None, open_timeout=120, ping_interval=None
        )


@asynccontextmanager
async def staged(
    url: str, folder: Path, *, through: str | None = None, elsewhere: bool = False
) -> AsyncIterator[Stage]:
    writing = SQLStore(url, run_dir=folder / ("elsewhere" if elsewhere else "run"))
    environment = await writing.environments.create("production", Tag.CUSTOMER)
    reading = SQLStore(through or url, run_dir=folder / "run", deadline=DEADLINE)
    resolver = Resolver(reading, keys=KEYS, staleness=STALENESS, patience=STALENESS)
    app = Starlette(routes=[WebSocketRoute("/", talk)])
    app.state.gone = []
    config = uvicorn.Config(
        UserGroupMiddleware(app, resolver=resolver), port=0, log_config=None, ws="websockets-sansio", lifespan="off"
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        assert not running.done()
        await asyncio.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    try:
        yield Stage(f"{host}:{port}", Provisioner(writing, KEYS), environment, app)
    finally:
        server.should_exit = True
        await running
        await resolver.aclose()
        await reading.aclose()
        await writing.aclose()


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    return url


async def _closed(sockets: list[ClientConnection]) -> set[tuple[int | None, str | None]]:
    """Waits until all are closed, for as long as a busy machine may need; how they were closed."""
    async with asyncio.timeout(120):
        await asyncio.gather(*(socket.wait_closed() for socket in sockets))
    return {(socket.close_code, socket.close_reason) for socket in sockets}


async def _ask(socket: ClientConnection) -> str:
    await socket.send("I am")
    return str(await socket.recv())


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same host", "another host"])
async def test_two_hundred_sockets_of_a_rotated_group_close(url: str, tmp_path: Path, elsewhere: bool) -> None:
    """4401 for all of the group, its old token opens no more, others talk on.

    Red when the middleware checks the handshake only.
    """
    async with staged(url, tmp_path, elsewhere=elsewhere) as stage, AsyncExitStack() as stack:
        acme, globex = await stage.token("acme"), await stage.token("globex")
        dying = [await stack.enter_async_context(stage.open(acme)) for _ in range(200)]
        living = [await stack.enter_async_context(stage.open(globex)) for _ in range(20)]
        assert {await _ask(socket) for socket in dying} == {"I am Acme"}
        rotated = await stage.provisioner.rotate(stage.environment, acme)
        assert await _closed(dying) == {(4401, "invalid_token")}
        assert {await _ask(socket) for socket in living} == {"I am Globex"}
        async with stage.open(rotated.token) as socket:
            assert await _ask(socket) == "I am Acme"
        async with asyncio.timeout(120):
            while len(stage.app.state.gone) < 201:
                await asyncio.sleep(0.01)
        assert stage.app.state.gone.count(4401) == 200


async def test_sockets_of_a_deleted_group_close(url: str, tmp_path: Path) -> None:
    async with staged(url, tmp_path) as stage, stage.open(await stage.token("acme")) as socket:
        assert await _ask(socket) == "I am Acme"
        await stage.provisioner.delete(stage.environment, "acme")
        assert await _closed([socket]) == {(4401, "invalid_token")}


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same host", "another host"])
async def test_an_update_reaches_an_open_socket(url: str, tmp_path: Path, elsewhere: bool) -> None:
    """Red when the scope keeps the record of the handshake."""
    opened = staged(url, tmp_path, elsewhere=elsewhere)
    async with opened as stage, stage.open(await stage.token("acme")) as socket, asyncio.timeout(120):
        assert await _ask(socket) == "I am Acme"
        await stage.provisioner.update(stage.environment, "acme", GroupChanges(name="Acme Ltd"))
        while await _ask(socket) != "I am Acme Ltd":
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["silent", "cut"])
async def test_sockets_close_when_the_store_is_lost(postgres: Postgres, tmp_path: Path, how: str) -> None:
    """A database behind a line that falls silent, or is cut: 1013, and the rotation made meanwhile shows nothing.

    Red when a check that fails means: go on.
    """
    url = postgres.create_database()
    migrate(url)
    async with AsyncExitStack() as stack:
        proxy, through = await stack.enter_async_context(proxied(url))
        stage = await stack.enter_async_context(staged(url, tmp_path, through=through, elsewhere=True))
        acme = await stage.token("acme")
        sockets = [await stack.enter_async_context(stage.open(acme)) for _ in range(20)]
        assert {await _ask(socket) for socket in sockets} == {"I am Acme"}
        if how == "silent":
            proxy.silent = True
        else:
            proxy.cut_before = b"\x00"  # every message of the protocol has one
        await stage.provisioner.rotate(stage.environment, acme)
        assert await _closed(sockets) == {(1013, "store_unavailable")}
