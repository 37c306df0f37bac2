"""A store with one group and two data sources, of which anything can be taken away or changed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenantry import DataSources
from tenantry.datasources import StreamLimits
from tenantry.errors import QueryOutdated
from tenantry.groups import Environment, GroupChanges, GroupDraft, SourceDraft, SourceUpdate, Tag, UserGroup
from tenantry.ports import Store
from tenantry.testing import make_token
from tests.datasources.conftest import sqlite_file
from tests.datasources.streamed_rows import ENDLESS, ROWS

SOON = 120.0
"""Seconds within which something happens on a busy machine. What is ended would run for much longer."""
ROWS_WITHOUT_END = f"{ROWS['sqlite'].format(ENDLESS)} where {{{{ region }}}} = 'eu'"
NO_ROW = f"{ROWS['sqlite'].format(2_000_000_000)} where i < 0"
LIMITS = {
    "timeout": 600.0,
    "connect_timeout": SOON,
    "stream": StreamLimits(row_limit=ENDLESS, max_bytes=2**40, reader_timeout=600.0),
}


@dataclass
class Tenancy:
    """A store with one group, and two data sources in files."""

    store: Store
    environment: Environment
    group: UserGroup
    urls: tuple[str, str]

    async def register(self, number: int, url: str) -> None:
        await self.store.sources.create(self.environment, f"ds_{number}", SourceDraft(f"own_{number}", url))

    async def change(self, **changes: Any) -> None:
        await self.store.groups.update(self.environment, "acme", GroupChanges(**changes))

    async def rotate(self, grace_seconds: int) -> None:
        issued = await self.store.groups.get(self.environment, "acme")
        assert issued is not None
        token = make_token()
        await self.store.groups.rotate(
            self.environment, issued.token, key_id=token.key_id, nonce=token.nonce, grace_seconds=grace_seconds
        )

    async def move(self) -> None:
        """The source has another URL: it is deleted and registered again, under the name that the mapping has."""
        await self.store.sources.delete(self.environment, "own_1")
        await self.store.sources.create(self.environment, "ds_3", SourceDraft("own_1", self.urls[1]))

    async def guard(self, tables: dict[str, Any]) -> None:
        source = await self.store.sources.get(self.environment, "own_1")
        assert source is not None
        assert await self.store.sources.update(source, SourceUpdate(tables=tables)) is not None


async def make_tenancy(store: Store, folder: Path) -> Tenancy:
    """The group is acme, mapped to the first source."""
    urls = sqlite_file(folder / "one.db", "acme"), sqlite_file(folder / "two.db", "acme")
    environment = await store.environments.create("production", Tag.CUSTOMER)
    for number, url in enumerate(urls, 1):
        await store.sources.create(environment, f"ds_{number}", SourceDraft(f"own_{number}", url))
    draft = GroupDraft("acme", "Acme", {"region": "eu", "beta": 1}, {"main": "own_1"})
    group = (await store.groups.get_or_create(environment, draft, make_token())).group
    return Tenancy(store, environment, group, urls)


async def ended(sources: DataSources, outcome: str = QueryOutdated.code) -> None:
    """Returns when one execution has ended so; nobody need read it."""
    async with asyncio.timeout(SOON):
        while not any(each.executions[outcome] for each in sources.activity.sources.values()):
            await asyncio.sleep(0.02)
