"""A host program with one guarded source, and dashboards whose queries forget the tenant."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from starlette.applications import Starlette

from tenantry import DataSources, Resolver, UserGroup, mount_dashboards
from tenantry.dashboards.embedding.routes import Embedding
from tenantry.datasources import Limits, ResultCache
from tenantry.groups import GroupDraft, Scope, SourceDraft, Tag
from tenantry.provisioning import issue_api_token
from tenantry.testing import MemoryStore, make_token
from tests.dashboards.served import write_files
from tests.datasources.guarded.shop import DECLARATION, shop
from tests.resolver.fake import KEYS

FILES = {
    "dashboards/orders.yaml": """
title: Orders
controls:
  owner: {choices: {query: owners}, many: true}
rows:
  - - {table: orders, columns: [id, owner], sort: id, show_query: true}
    - {figure: total, query: total, sparkline: by_id}
    - {line: total, by: id, query: by_id}
""",
    "queries/owners.sql": "select distinct owner from orders order by owner",
    "queries/orders.sql": "select id, owner from orders [[ where owner in {{ params.owner }} ]]",
    "queries/total.sql": "select count(*) as total from orders [[ where owner in {{ params.owner }} ]]",
    "queries/by_id.sql": """select id, count(*) over () as total from orders
[[ where owner in {{ params.owner }} ]] order by id""",
    "tables.yaml": json.dumps(DECLARATION),
}


class House:
    """A store with one guarded source, two groups, and an app with dashboards."""

    def __init__(self, store: MemoryStore, sources: DataSources, client: httpx2.AsyncClient, folder: Path) -> None:
        self.store, self.sources, self.client, self.folder = store, sources, client, folder
        self.groups: dict[str, UserGroup] = {}
        self.tokens: dict[str, str] = {}
        self.api_token = ""

    async def post(self, name: str, path: str, body: Any, token: str = "") -> httpx2.Response:
        headers = {"X-User-Group-Token": token or self.tokens[name]}
        answer = await self.client.post(f"/dashboards/{path}", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer


@asynccontextmanager
async def open_house(tmp_path: Path) -> AsyncIterator[House]:
    write_files(tmp_path, FILES)
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    url = shop(tmp_path / "shop.db")
    await store.sources.create(environment, "ds_1", SourceDraft("warehouse", url, tables=DECLARATION))
    resolver, limits = Resolver(store, keys=KEYS), Limits(connect_timeout=60.0)
    async with DataSources(store, limits=limits, cache=ResultCache(seconds=600)) as sources:
        app = Starlette()
        mount_dashboards(app, tmp_path / "dashboards", resolver, sources, embedding=Embedding(store, KEYS))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://testserver") as client:
            made = House(store, sources, client, tmp_path)
            for name in ("acme", "globex"):
                token = make_token(key_id=KEYS.active_id)
                draft = GroupDraft(name, name, {}, {"main": "warehouse"})
                made.groups[name] = (await store.groups.get_or_create(environment, draft, token)).group
                made.tokens[name] = KEYS.mint(token)
            made.api_token, _ = await issue_api_token(store.api_tokens, environment, label="x", scopes=(Scope.PREVIEW,))
            yield made
    await resolver.aclose()
