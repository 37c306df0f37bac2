"""The demo on a store in memory: real tokens, real resolver, real data sources, no command line."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from engines.locks import locked
from engines.shared import run_folder
from tenantry import mount_dashboards
from tenantry.backends.memory.store import MemoryStore
from tenantry.dashboards import ReloadingFolder
from tenantry.dashboards.embedding.routes import Embedding
from tenantry.datasources import DataSources
from tenantry.demo import TABLES
from tenantry.demo.files import copy_files
from tenantry.demo.handbook import hosts, origins
from tenantry.demo.product import Product
from tenantry.demo.sources import AIRLINES, prepare
from tenantry.editor import mount_editor
from tenantry.groups import Environment, GroupDraft, SourceDraft, Tag
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.sql.guarding import read_tables_file
from tenantry.tokens import KeyRing, SigningKey

URL, PRODUCT_URL = "http://127.0.0.1:8000", "http://127.0.0.1:8001"


@dataclass
class Stage:
    """Tenantry's app, the product's, and a token for each airline."""

    app: Starlette
    product: Starlette
    environment: Environment
    provisioner: Provisioner
    tokens: dict[str, str]
    store: MemoryStore

    async def add(self, name: str, properties: dict[str, Any], mapping: dict[str, str]) -> str:
        """One more group; its token."""
        made = await self.provisioner.get_or_create(self.environment, GroupDraft(name, name, properties, mapping))
        return made.token


def put_flights(folder: Path, factory: pytest.TempPathFactory) -> None:
    """The demo's data, which are made once for all processes of a run."""
    made = run_folder(factory) / "flights-of-the-demo"
    made.mkdir(exist_ok=True)
    with locked(made):
        prepare(made)
    shutil.copytree(made, folder, dirs_exist_ok=True)


@asynccontextmanager
async def staged(folder: Path, url: str = URL, product_url: str = PRODUCT_URL) -> AsyncIterator[Stage]:
    """The demo with its data in ``folder``. ``url`` and ``product_url``: where both apps are served."""
    store = MemoryStore()
    keys = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    environment = await store.environments.create("demo", Tag.TESTING)
    declared = read_tables_file(TABLES).as_json()
    for name, source in prepare(folder).items():
        await store.sources.create(environment, f"ds_{name}", SourceDraft(name, source, tables=declared))
    await store.sources.create(environment, "ds_gone", SourceDraft("gone", f"sqlite:///{folder}/gone.sqlite"))
    await store.environments.set_embedding_hosts(environment, origins(product_url))
    provisioner = Provisioner(store, keys)
    made = {carrier: await provisioner.get_or_create(environment, draft) for carrier, draft in AIRLINES.items()}
    tokens = {carrier: each.token for carrier, each in made.items()}
    app = Starlette()
    async with DataSources(store) as sources:
        resolver = Resolver(store, keys=keys, staleness=60.0)  # a busy machine may not poll for the default of 5 s
        dashboards = copy_files(folder)
        files = ReloadingFolder(dashboards, keep_valid=True)
        mount_dashboards(app, files, resolver, sources, embedding=Embedding(store, keys))
        mount_editor(app, dashboards, resolver, sources)
        product = Product(provisioner, environment, {**tokens}, int(url.rpartition(":")[2]))
        yield Stage(app, product.app(hosts(product_url)), environment, provisioner, tokens, store)
