"""An app whose dashboards are previewed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as ASGIScope

from tenantry import DataSources, Resolver, mount_dashboards, user_group
from tenantry.clock import utc_now
from tenantry.dashboards.embedding.routes import Embedding
from tenantry.groups import Environment, GroupDraft, Scope, SourceDraft, Tag
from tenantry.provisioning import issue_api_token
from tenantry.provisioning.http import create_api
from tenantry.testing import FrozenClock, MemoryStore, make_token
from tests.dashboards import mounts
from tests.dashboards.served import Reader, flights_database, reading, write_files
from tests.datasources.settings import data_sources
from tests.resolver.fake import KEYS

FILES = {
    "dashboards/sales/flights.yaml": """
title: Departures of {{ carrier }}
rows: [{table: {sql: "select count(*) as n from flights where carrier = {{ carrier }}"}}]
""",
    "dashboards/slow.yaml": """
title: Slow
rows: [{table: {sql: "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as a from n"}}]
""",
    "dashboards/many.yaml": """
title: Many
rows:
  - - {table: {sql: "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000) select i from n"}}
""",
    "dashboards/mine.yaml": """
title: Mine
rows: [{table: {sql: "select {{ viewer.id }} as who, count(*) as n from flights where route = {{ viewer.route }}"}}]
""",
    "dashboards/other.yaml": "title: Other\nrows: [{table: {sql: select 1 as a}, show_query: true}]\n",
}
PREVIEW, REDEEM, PANELS = "/dashboards/-/preview", "/dashboards/-/redeem", "/dashboards/sales/flights/-/panels"
WANTED = {"user_group_id": "acme", "dashboard": "sales/flights"}


class Previewed:
    """An app with dashboards and ``/api/user`` on a store in memory; acme is a group of production."""

    def __init__(
        self, app: ASGIApp, sources: DataSources, store: MemoryStore, clock: FrozenClock, seen: list[str]
    ) -> None:
        self.app = app
        self.sources = sources
        self.seen = seen
        self.store = store
        self.clock = clock
        self.prefix = mounts.current.prefix
        transport = httpx2.ASGITransport(app)
        self.client = httpx2.AsyncClient(transport=transport, base_url=f"http://dash.test{self.prefix}")
        self.environment = Environment(0, "", Tag.CUSTOMER)
        self.secret = ""

    async def api_token(self, *scopes: Scope, environment: Environment | None = None) -> str:
        secret, _ = await issue_api_token(
            self.store.api_tokens, environment or self.environment, label="support", scopes=scopes
        )
        return secret

    async def ask(self, body: Any = WANTED, secret: str | None = None) -> httpx2.Response:
        headers = {"Authorization": f"Token {self.secret if secret is None else secret}", "X-Request-Id": "r-7"}
        return await self.client.post(PREVIEW, json=body, headers=headers)

    async def address(self) -> str:
        answer = await self.ask()
        assert answer.status_code == 200, answer.text
        return str(answer.json()["address"])

    async def redeem(self, address: str) -> httpx2.Response:
        return await self.client.post(REDEEM, json={"code": address.partition("#code=")[2]})

    async def session(self) -> str:
        return str((await self.redeem(await self.address())).json()["token"])

    def reading(self, session: str, path: str) -> AbstractAsyncContextManager[Reader]:
        """Asks for panels with a session, and reads the answer as it comes."""
        return reading(self.app, f"{self.prefix}{path}", {}, {"X-User-Group-Token": session})

    async def panels(self, session: str, path: str = PANELS, **body: Any) -> httpx2.Response:
        return await self.client.post(path, json=body, headers={"X-User-Group-Token": session})


class Seen:
    """A middleware of the host program, which notes all that it can read of a request."""

    def __init__(self, app: ASGIApp, seen: list[str]) -> None:
        self.app = app
        self.seen = seen

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        self.seen.append(repr(scope))
        await self.app(scope, receive, send)


async def own(request: Request) -> Response:
    """A view of the host program, for groups."""
    return PlainTextResponse(user_group(request).provided_id)


async def public(request: Request) -> Response:
    """A view of the host program, for everybody."""
    return PlainTextResponse("Welcome")


async def feed(request: Request) -> Response:
    """One that streams until its client has left."""

    async def parts() -> AsyncIterator[bytes]:
        while True:
            yield b"more\n"
            await asyncio.sleep(0.01)

    return StreamingResponse(parts())


async def broken(request: Request) -> Response:
    """One with a mistake."""
    raise RuntimeError("a mistake of the view")


VIEWS = [Route("/own", own), Route("/public", public), Route("/feed", feed), Route("/broken", broken)]


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Previewed]:
    clock = FrozenClock(utc_now())  # queries end by the machine's clock
    store = MemoryStore(clock=clock)
    write_files(tmp_path, FILES)
    resolver = Resolver(store, keys=KEYS)
    async with data_sources(store, timeout=600.0) as sources:
        embedding = Embedding(store, KEYS, time_of_day=clock)

        def mount_on(app: Any) -> None:
            app.router.routes.extend([*create_api(store, KEYS), *VIEWS])
            app.add_middleware(Seen, seen)
            mount_dashboards(app, tmp_path / "dashboards", resolver, sources, embedding=embedding)

        seen: list[str] = []
        made = Previewed(mounts.current.build(resolver, mount_on), sources, store, clock, seen)
        made.environment = await store.environments.create("production", Tag.CUSTOMER)
        url = flights_database(tmp_path / "flights.db", days=3)
        await store.sources.create(made.environment, "ds_1", SourceDraft("warehouse", url))
        draft = GroupDraft("acme", "Acme Ltd", {"carrier": "HA"}, {"main": "ds_1"})
        await store.groups.get_or_create(made.environment, draft, make_token(key_id=KEYS.active_id))
        made.secret = await made.api_token(Scope.PREVIEW)
        async with made.client:
            yield made
    await resolver.aclose()
