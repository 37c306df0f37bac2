"""A sample product that embeds dashboards for three airlines. Each airline sees only its flights."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.responses import RedirectResponse
from starlette.routing import Route

from tenantry.backends.sql import SQLStore
from tenantry.dashboards import ReloadingFolder, mount_dashboards
from tenantry.dashboards.embedding import Embedding
from tenantry.database.migrations import migrate
from tenantry.datasources import DataSources
from tenantry.demo.files import copy_files
from tenantry.demo.handbook import handbook, hosts, origins
from tenantry.demo.product import Product
from tenantry.demo.sources import AIRLINES, SHOWN, prepare
from tenantry.editor import EditorAuthor, EditorSessions, mount_editor
from tenantry.errors import UnknownGroup
from tenantry.groups import SETTABLE_FIELDS, Author, Environment, GroupChanges, SourceDraft, Tag
from tenantry.provisioning import Provisioner, issue_api_token
from tenantry.resolver import Resolver
from tenantry.server import compose
from tenantry.sql.guarding import read_tables_file
from tenantry.testing import Call, send_request
from tenantry.tokens.keys import SigningKeys, create_key_file

DASHBOARDS: Final = Path(__file__).parent / "dashboards"  # their queries are in the sibling folder ``queries``
TABLES: Final = DASHBOARDS.with_name("tables.yaml")
LABEL: Final = "tenantry demo"
_AUTHOR: Final = Author(LABEL)


@dataclass(frozen=True, slots=True)
class Demo:
    app: Starlette
    """Serves the dashboards."""
    product: Starlette
    """Serves the page that embeds the dashboards."""
    text: str = field(repr=False)
    """The message for the terminal. It lists the pages to open in a browser."""
    calls: list[Call] = field(repr=False)

    async def open_pages(self) -> None:
        for call in self.calls:
            with suppress(Exception):  # visitors of the page see the error
                await send_request(self.app, call, None, {}, seconds=60)


def prepare_demo(folder: Path, url: str, product_url: str) -> Demo:
    folder.mkdir(parents=True, exist_ok=True)
    key_file, database = folder / "tenantry.keys", f"sqlite:///{folder.resolve() / 'tenantry.db'}"
    if not key_file.exists():
        create_key_file(key_file)
    migrate(database)
    keys = SigningKeys.from_file(key_file)
    environment, tokens, api_token, code = asyncio.run(_provision(database, keys, folder, origins(product_url)))
    store = SQLStore(database, keys=keys)
    sources, docs = DataSources(store, keys=keys), handbook(url)
    home = Route("/", lambda request: RedirectResponse(product_url))
    app = compose(store, keys, routes=[home, *docs], closing=[sources.aclose])
    # The resolver reads a group again after every write on this host, so a suspension takes effect at once.
    resolver, dashboards = Resolver(store, keys=keys), copy_files(folder)
    files = ReloadingFolder(dashboards, keep_valid=True)
    mount_dashboards(app, files, resolver, sources, embedding=Embedding(store, keys))
    mount_editor(app, dashboards, resolver, sources)
    product = Product(Provisioner(store, keys), environment, {**tokens}, urlsplit(url).port or 80)
    documentation = f"{url}/docs/" if docs else "not installed (pip install 'tenantry[site]')"
    text = DASHBOARDS.with_name("terminal.txt").read_text(encoding="utf-8").rstrip()
    text = text.format(
        tenantry=command_here(),
        url=url,
        product_url=product_url,
        api_token=api_token,
        documentation=documentation,
        code=code,
        database=shlex.quote(f"sqlite:///{folder / 'tenantry.db'}"),
        keys=shlex.quote(str(key_file)),
        files=dashboards.parent.resolve(),
    )
    carried = [{"X-User-Group-Token": tokens[each]} for each in SHOWN]
    calls = [Call("/docs/"), *(Call("/dashboards/overview/-/panels", "POST", headers, b"{}") for headers in carried)]
    return Demo(app, product.app(hosts(product_url)), text, calls)


def command_here() -> str:
    """Return ``tenantry``, or the program's path if it is not on PATH."""
    program = Path(sys.argv[0])
    if shutil.which("tenantry") or program.name != "tenantry":
        return "tenantry"
    return shlex.quote(os.path.relpath(program))  # after `make demo`, which activates no environment


async def _provision(
    database: str, keys: SigningKeys, folder: Path, embedding: list[str]
) -> tuple[Environment, dict[str, str], str, str]:
    store = SQLStore(database, keys=keys)
    try:
        known = await store.environments.get("demo")
        environment = known or await store.environments.create("demo", Tag.CUSTOMER, author=_AUTHOR)
        await store.environments.set_embedding_hosts(environment, embedding, author=_AUTHOR)
        declared = read_tables_file(TABLES).as_json()
        for name, url in prepare(folder).items():
            source = await store.sources.get(environment, name)
            if source is None or source.url != url or source.declaration != declared:
                if source is not None:
                    await store.sources.delete(environment, name, author=_AUTHOR)
                new = f"ds_{secrets.token_hex(8)}"
                await store.sources.create(environment, new, SourceDraft(name, url, tables=declared), author=_AUTHOR)
        provisioner, tokens = Provisioner(store, keys), {}
        for carrier, draft in AIRLINES.items():
            # The folder may contain suspended groups, and groups with the values of an older version.
            now = GroupChanges(**{name: getattr(draft, name) for name in SETTABLE_FIELDS})
            with suppress(UnknownGroup):
                await provisioner.update(environment, carrier, now, author=_AUTHOR)
            signed_up = await provisioner.get_or_create(environment, draft, author=_AUTHOR)
            tokens[carrier] = signed_up.token  # the product stores the tokens
        for old in await store.api_tokens.list(environment):  # each start replaces the demo's API token
            if old.label == LABEL and old.revoked_at is None:
                await store.api_tokens.revoke(environment, old.id, author=_AUTHOR)
        api_token, _ = await issue_api_token(store.api_tokens, environment, label=LABEL, author=_AUTHOR)
        code = await EditorSessions(store).issue(EditorAuthor("analyst"), _AUTHOR)
        return environment, tokens, api_token, code
    finally:
        await store.aclose()
