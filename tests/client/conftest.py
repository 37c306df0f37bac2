"""A real server: uvicorn on a free port, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import uvicorn
from starlette.applications import Starlette

from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Scope, Tag
from tenantry.provisioning import issue_api_token
from tenantry.provisioning.http import create_api, not_found
from tenantry.tokens import KeyRing, SigningKey


@dataclass
class Live:
    """Where it listens, and who may call."""

    url: str
    address: tuple[str, int]
    caller: str
    reader: str


async def _caller(store: MemoryStore, *scopes: Scope) -> str:
    environment = await store.environments.get("production")
    environment = environment or await store.environments.create("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store.api_tokens, environment, scopes=scopes)
    return secret


def new_app(body_seconds: float) -> tuple[Starlette, str, str]:
    """The app, a caller who may provision, and one who may not."""
    store = MemoryStore()
    caller = asyncio.run(_caller(store, Scope.PROVISION))
    reader = asyncio.run(_caller(store, Scope.INTROSPECT, Scope.PASSES, Scope.SOURCES))
    keys = KeyRing([SigningKey("k1", b"1" * 32)])
    api = create_api(store, keys, body_seconds=body_seconds, source_hosts=["db.example.com"])
    return Starlette(routes=[*api], exception_handlers={404: not_found}), caller, reader


@pytest.fixture(scope="session")
def live() -> Iterator[Live]:
    """Its callers may be held up between the head and the body of a request: a busy machine does that to them."""
    with serving(body_seconds=120) as served:
        yield served


@contextmanager
def serving(body_seconds: float) -> Iterator[Live]:
    """A server that waits so long for a body."""
    app, caller, reader = new_app(body_seconds)
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Live(f"http://{host}:{port}", (host, port), caller, reader)
        finally:
            server.should_exit = True
            thread.join(120)
