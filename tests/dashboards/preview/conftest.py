"""An app with previews, on a store in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from tenantry import DataSources, Resolver, mount_dashboards
from tenantry.api import create_api
from tenantry.dashboards.embedding.routes import Embedding
from tenantry.groups import Environment, GroupDraft, Scope, Tag
from tenantry.provisioning import issue_api_token
from tenantry.testing import FrozenClock, MemoryStore, make_token
from tests.dashboards.served import Reader, flights_database, reading, write_files
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
    "dashboards/other.yaml": "title: Other\nrows: [{table: {sql: select 1 as a}, show_query: true}]\n",
}
PREVIEW, REDEEM, PANELS = "/dashboards/-/preview", "/dashboards/-/redeem", "/dashboards/sales/flights/-/panels"
WANTED = {"user_group_id": "acme", "dashboard": "sales/flights"}


class Previewed:
    """An app with dashboards and ``/api/user`` on a store in memory; acme is a group of production."""

    def __init__(self, app: Starlette, sources: DataSources, store: MemoryStore, clock: FrozenClock) -> None:
        self.app = app
        self.sources = sources
        self.store = store
        self.clock = clock
        self.client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://dash.test")
        self.environment = Environment(0, "", Tag.CUSTOMER)
        self.secret = ""

    async def api_token(self, *scopes: Scope, environment: Environment | None = None) -> str:
        secret, _ = await issue_api_token(self.store, environment or self.environment, label="support", scopes=scopes)
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
        return reading(self.app, path, {}, {"X-User-Group-Token": session})

    async def panels(self, session: str, path: str = PANELS, **body: Any) -> httpx2.Response:
        return await self.client.post(path, json=body, headers={"X-User-Group-Token": session})


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Previewed]:
    clock = FrozenClock()
    store = MemoryStore(clock=clock)
    served = Starlette(routes=[*create_api(store, KEYS)])
    write_files(tmp_path, FILES)
    resolver = Resolver(store, keys=KEYS)
    async with DataSources(store, timeout=600.0) as sources:
        embedding = Embedding(store, KEYS, time_of_day=clock)
        mount_dashboards(served, tmp_path / "dashboards", resolver, sources, embedding=embedding)
        made = Previewed(served, sources, store, clock)
        made.environment = await store.create_environment("production", Tag.CUSTOMER)
        url = flights_database(tmp_path / "flights.db", days=3)
        await store.create_data_source(made.environment, source_id="ds_1", provided_id="warehouse", url=url)
        draft = GroupDraft("acme", "Acme Ltd", {"carrier": "HA"}, {"main": "ds_1"})
        await store.get_or_create(made.environment, draft, make_token(key_id=KEYS.active_id))
        made.secret = await made.api_token(Scope.PREVIEW)
        async with made.client:
            yield made
    await resolver.aclose()
