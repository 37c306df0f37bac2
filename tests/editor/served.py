"""An app with the SQL editor: two airlines of a store in memory, a SQLite database of flights, a folder of files."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request

from tenantry.backends.memory import MemoryStore
from tenantry.clock import utc_now
from tenantry.datasources import DataSources, DriverFactory, Limits
from tenantry.editor import EditorAuthor, mount_editor
from tenantry.groups import GroupDraft, SourceDraft, Tag
from tenantry.ports import Clock
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.tokens import KeyRing, SigningKey
from tests.dashboards.served import CARRIERS, Reader, flights_database, reading, write_files

ENVIRONMENT = "production"
FILES = {
    "queries/by_day.sql": "select day, count(*) as flights from flights\n"
    "where carrier = {{ user_group.properties.carrier }} group by day order by day\n",
    "dashboards/flights.yaml": "title: Flights\nrows:\n  - {line: flights, by: day, query: by_day}\n",
    "tables.yaml": 'tables:\n  flights: {carrier: "{{ user_group.properties.carrier }}"}\n',
}


@dataclass
class EditorSite:
    """A served editor. ``author``: who sends the next request; None: nobody."""

    folder: Path
    store: MemoryStore
    sources: DataSources
    app: Starlette
    client: httpx2.AsyncClient
    resolver: Resolver
    tokens: dict[str, str]
    """The token of each group, by the id that its provider chose."""
    author: EditorAuthor | None = field(default_factory=lambda: EditorAuthor("ann"))
    session: str = ""
    """The cookie of a session, for ``reading``."""

    async def post(self, path: str, /, **body: Any) -> httpx2.Response:
        """Sends a request as the page does."""
        return await self.client.post(f"/editor/-/{path}", json=body, headers={"X-Tenantry-Editor": "1"})

    async def ask(self, path: str, /, **body: Any) -> Any:
        """The JSON of an answer of 200."""
        answer = await self.post(path, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def lines(self, path: str, /, **body: Any) -> list[dict[str, Any]]:
        """The lines of an answer of 200."""
        answer = await self.post(path, **body)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in answer.text.splitlines()]

    def reading(self, path: str, /, **body: Any) -> AbstractAsyncContextManager[Reader]:
        """Sends a request, and reads its lines as they come. After the block the author has left."""
        return reading(self.app, f"/editor/-/{path}", body, {"X-Tenantry-Editor": "1", "Cookie": self.session})


@asynccontextmanager
async def served_editor(
    folder: Path,
    files: Mapping[str, str] = FILES,
    *,
    tables: Mapping[str, Any] | None = None,
    clock: Clock = utc_now,
    url: str | None = None,
    engines: Mapping[str, DriverFactory] | None = None,
    **options: Any,
) -> AsyncIterator[EditorSite]:
    """``tables``: the declaration of guarded tables of the data source; ``url``: of a data source without flights;
    ``engines``: those of the host program; the other ``options`` go to mount_editor."""
    write_files(folder, files)
    store, keys = MemoryStore(clock=clock), KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    environment = await store.environments.create(ENVIRONMENT, Tag.CUSTOMER)
    url = url or flights_database(folder / "flights.db")
    await store.sources.create(environment, "ds_flights", SourceDraft("warehouse", url, tables=tables))
    tokens: dict[str, str] = {}
    for carrier in CARRIERS:
        draft = GroupDraft(carrier.lower(), f"Airline {carrier}", {"carrier": carrier}, {"main": "warehouse"})
        tokens[draft.provided_id] = (await Provisioner(store, keys).get_or_create(environment, draft)).token
    app = Starlette()
    async with DataSources(store, keys=keys, engines=engines, limits=Limits(connect_timeout=60.0)) as sources:
        made: list[EditorSite] = []

        async def authors(request: Request) -> EditorAuthor | None:
            return made[0].author

        resolver = Resolver(store, keys=keys)
        mount_editor(app, folder / "dashboards", resolver, sources, **{"authors": authors, **options})
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            made.append(EditorSite(folder, store, sources, app, client, resolver, tokens))
            yield made[0]


@asynccontextmanager
async def reachable(site: EditorSite) -> AsyncIterator[str]:
    """The site behind a real server, by the address of its editor."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(site.app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/editor"
    finally:
        server.should_exit = True
        await task
        listener.close()
