"""The app whose answers are asked for and never read: dashboards of large panels for five groups, and ``/api/user``.

``uvicorn --factory benchmarks.acceptance.attacks.unread_app:create``, with the folder that ``prepare`` has filled in
ATTACKED_FOLDER.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.applications import Starlette

from tenantry import DataSources, Embedding, Resolver, mount_dashboards
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.datasources import Limits
from tenantry.groups import GroupDraft, SourceDraft, Tag
from tenantry.provisioning import Provisioner, issue_api_token
from tenantry.provisioning.http import create_api
from tenantry.tokens import KeyRing, SigningKey

GROUPS: Final = ("attacker", "second", "third", "fourth", "victim")
LARGE: Final = 5_900_000
"""Bytes of the rows of a large panel, about."""
_KEYS: Final = KeyRing([SigningKey("k1", b"for attacks on this machine only"[:32])])
_ROWS: Final = 10_000
_TABLE: Final = "select n, label from wide where n > {{ params.above }} order by n"
_PANELS: Final = [
    [{"bar": "n", "by": "label", "query": {"sql": _TABLE}}, {"table": {"sql": "select count(*) as n from wide"}}],
    [{"table": {"sql": "select n, label from wide"}, "page": 10}],
    [{"line": "n", "by": "n", "query": {"sql": "select n, label from wide order by n"}}],
]


@dataclass(frozen=True)
class Secrets:
    """``tokens``: of each group; ``api_token``: of a caller who may provision groups."""

    tokens: dict[str, str]
    api_token: str


def prepare(folder: Path) -> Secrets:
    """Fills the folder: the store, the source, the dashboard ``wide``."""
    with closing(sqlite3.connect(folder / "rows.db")) as database, database:
        database.execute("create table wide (n integer, label text)")
        width = LARGE // _ROWS - 10
        database.executemany("insert into wide values (?, ?)", ((n, f"{n:0{width}}") for n in range(_ROWS)))
    (folder / "dashboards").mkdir()
    controls = {"above": {"number": -1}}
    content = {"title": "Wide", "controls": controls, "rows": _PANELS}
    (folder / "dashboards" / "wide.yaml").write_text(json.dumps(content))
    migrate(_store_url(folder))
    return asyncio.run(_fill(folder))


async def _fill(folder: Path) -> Secrets:
    store = SQLStore(_store_url(folder))
    environment = await store.environments.create("production", Tag.CUSTOMER)
    url = f"sqlite:///{folder / 'rows.db'}"
    await store.sources.create(environment, "ds_rows", SourceDraft("rows", url))
    provisioner = Provisioner(store, _KEYS)
    drafts = [GroupDraft(name, name, {}, {"main": "ds_rows"}) for name in GROUPS]
    tokens = {each.provided_id: (await provisioner.get_or_create(environment, each)).token for each in drafts}
    secret, _ = await issue_api_token(store.api_tokens, environment, label="attacked")
    await store.aclose()
    return Secrets(tokens, secret)


def _store_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'tenantry.db'}"


def create() -> Starlette:
    """The app."""
    folder = Path(os.environ["ATTACKED_FOLDER"])
    store = SQLStore(_store_url(folder))
    app = Starlette(routes=[*create_api(store, _KEYS)])
    resolver = Resolver(store, keys=_KEYS)
    sources = DataSources(store, limits=Limits(connect_timeout=60))
    mount_dashboards(app, folder / "dashboards", resolver, sources, embedding=Embedding(store, _KEYS))
    return app
