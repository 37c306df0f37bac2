"""The endpoint over ASGI and behind a real uvicorn, and tokens to ask it about."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
import uvicorn

from tenantry.groups import Environment, GroupDraft, Issued, Scope
from tenantry.testing import make_token
from tests.provisioning.http.conftest import Service, make_caller, make_service

PATH = "/oauth/introspect"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    """``reader`` may introspect the production environment, ``caller`` may not."""
    made = await make_service()
    async with made.http:
        yield made


async def make_issued(service: Service, environment: Environment | None = None, **fields: Any) -> tuple[Issued, str]:
    """A new group ``acme`` and its token."""
    owner = environment or service.production
    draft = GroupDraft(**{"provided_id": "acme", "name": "Acme", "properties": {"region": "eu"}, **fields})
    issued = await service.store.groups.get_or_create(owner, draft, make_token(tag=owner.tag))
    return issued, service.keys.mint(issued.token)


async def rotate(service: Service, issued: Issued, **options: Any) -> tuple[Issued, str]:
    """The group under its next token, and that token."""
    nonce = make_token().nonce
    made = await service.store.groups.rotate(
        issued.group.environment, issued.token, key_id="k1", nonce=nonce, **options
    )
    return made, service.keys.mint(made.token)


async def ask(service: Service, body: bytes | str | dict[str, str], **headers: str) -> httpx2.Response:
    """POST as the reader; ``body`` is a token, or the fields or bytes of a form."""
    fields = {"token": body} if isinstance(body, str) else body
    content = fields if isinstance(fields, bytes) else urlencode(fields).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    given = {"Authorization": f"Token {service.reader}", **FORM, **named}
    return await service.http.post(PATH, content=content, headers=given)


async def reader_of(service: Service, environment: Environment) -> str:
    """An API token that may introspect this environment."""
    return await make_caller(service.store, environment, Scope.INTROSPECT)


@asynccontextmanager
async def listening(app: Any, port: int = 0, *, certificate: Path | None = None) -> AsyncIterator[str]:
    """A real server of this app; the URL of its endpoint. ``certificate``: a file with a key and its certificate."""
    config = uvicorn.Config(
        app, log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1, ssl_certfile=certificate
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        running = asyncio.create_task(server.serve([listener]))
        while not server.started:
            assert not running.done()
            await asyncio.sleep(0.01)
        try:
            yield f"{'http' if certificate is None else 'https'}://127.0.0.1:{listener.getsockname()[1]}{PATH}"
        finally:
            server.should_exit = True
            await running
