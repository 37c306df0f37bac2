"""The demo on a store in memory: real tokens, real resolver, real data sources, no command line."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from tenantry.backends.memory import MemoryStore
from tenantry.datasources import DataSources
from tenantry.demo.app import demo_app
from tenantry.demo.sources import AIRLINES, prepare
from tenantry.groups import Environment, GroupDraft, Tag
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.tokens import KeyRing, SigningKey, draft_token


@dataclass
class Stage:
    """The app with a token for each airline."""

    app: Starlette
    environment: Environment
    provisioner: Provisioner
    keys: KeyRing
    resolver: Resolver
    sources: DataSources
    tokens: dict[str, str]

    async def add(self, name: str, properties: dict[str, Any], mapping: dict[str, str]) -> str:
        """One more group; its token."""
        made = await self.provisioner.get_or_create(self.environment, GroupDraft(name, name, properties, mapping))
        return made.token

    def unknown_token(self) -> str:
        """Signed by us, and of no group."""
        return self.keys.mint(draft_token(Tag.TESTING, self.keys.active_id, secrets.token_bytes))


@asynccontextmanager
async def staged(folder: Path) -> AsyncIterator[Stage]:
    """The demo with its data in ``folder``."""
    store = MemoryStore()
    keys = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    environment = await store.create_environment("demo", Tag.TESTING)
    for name, url in (await prepare(folder)).items():
        await store.create_data_source(environment, source_id=f"ds_{name}", provided_id=name, url=url)
    await store.create_data_source(
        environment, source_id="ds_gone", provided_id="gone", url=f"sqlite:///{folder}/gone.sqlite"
    )
    provisioner = Provisioner(store, keys)
    made = {each.carrier: await provisioner.get_or_create(environment, each.draft()) for each in AIRLINES}
    sources = DataSources(store)
    resolver = Resolver(store, keys=keys)
    app = demo_app(resolver, sources)
    tokens = {carrier: each.token for carrier, each in made.items()}
    try:
        yield Stage(app, environment, provisioner, keys, resolver, sources, tokens)
    finally:
        await sources.aclose()
