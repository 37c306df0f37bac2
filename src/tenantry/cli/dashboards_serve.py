from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.cli.dashboards_advice import Advice
from tenantry.cli.options import (
    choose_environment,
    get_group,
)
from tenantry.cli.output import print_note
from tenantry.dashboards import DashboardFolder, ReloadingFolder, mount_dashboards
from tenantry.datasources import DataSources, find_tables
from tenantry.errors import InvalidQueries
from tenantry.groups import GroupDraft, Tag
from tenantry.middleware import TOKEN_HEADER
from tenantry.ports import Store
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.server import Settings, listen, run
from tenantry.tokens import KeyRing, SigningKey
from tenantry.tokens.keys import SigningKeys

_HOST = "127.0.0.1"
_HEADER = TOKEN_HEADER.lower().encode("ascii")
_PATH = "/dashboards"

MakeViewer: TypeAlias = Callable[[], tuple[Store, KeyRing, Callable[[], Awaitable[str]]]]
"""A function that opens a store. It returns the store, the keys, and an async function that returns the token of the
group to show. The async function must run in the server's event loop."""


def stored_viewer(chosen: Settings, environment: str | None, provided_id: str) -> MakeViewer:
    def make() -> tuple[Store, KeyRing, Callable[[], Awaitable[str]]]:
        from tenantry.backends.sql import SQLStore  # imports SQLAlchemy, which the sample does not need

        keys = SigningKeys.from_file(chosen.keys)
        store = SQLStore(chosen.database, usage_seconds=None, keys=keys)  # do not count the author's views

        async def token() -> str:
            target = await choose_environment(store, environment)
            return keys.mint((await get_group(store, target, provided_id)).token)

        return store, keys, token

    return make


def sample_viewer(folder: Path, properties: Mapping[str, Any], source: str | None) -> MakeViewer:
    """``source``: URL of the group's data source; default: an empty database."""

    def make() -> tuple[Store, KeyRing, Callable[[], Awaitable[str]]]:
        from tenantry.backends.memory import MemoryStore

        store, keys = MemoryStore(), KeyRing([SigningKey("k1", secrets.token_bytes(32))])
        url = source or _empty_source()

        async def token() -> str:
            environment = await store.environments.create("sample", Tag.TESTING)
            tables = None if source is None else _tables(folder)
            await store.sources.create(environment, source_id="ds_sample", provided_id="sample", url=url, tables=tables)
            mapping = dict.fromkeys(_schemas(folder), "sample")
            draft = GroupDraft("sample", "Sample", properties, mapping)
            made = await Provisioner(store, keys).get_or_create(environment, draft)
            return made.token

        return store, keys, token

    return make


def _tables(folder: Path) -> dict[str, Any] | None:
    from tenantry.sql.guarding import read_tables_file  # slow to import

    path = find_tables(folder)
    return None if path is None else read_tables_file(path).as_json()


def _empty_source() -> str:
    folder = tempfile.mkdtemp(prefix="tenantry-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / "empty.db"
    file.touch()
    return f"sqlite:///{file}"


def _schemas(folder: Path) -> set[str]:
    try:
        saved = DashboardFolder(folder).values()
    except InvalidQueries:
        return {"main"}
    return {"main"} | {panel.schema for each in saved for panel in each.dashboard.panels}


def serve_folder(folder: Path, make_viewer: MakeViewer, port: int) -> None:
    """Serve the dashboards until Ctrl-C. Raises the errors of ``make_viewer``, and InvalidSettings if another program
    uses the port."""
    with listen(_HOST, port) as listener:
        store, keys, token = make_viewer()
        app, dashboards = Starlette(), ReloadingFolder(folder)
        resolver, sources = Resolver(store, keys=keys), DataSources(store, keys=keys)
        mount_dashboards(app, dashboards, resolver, sources, path=_PATH)
        advice = Advice(dashboards, store, sources, lambda: resolver.resolve(viewer.token))
        viewer = _OneViewer(advice)

        async def prepare() -> None:
            viewer.token = (await token()).encode()
            advice.look()

        def announce(url: str) -> None:
            lines = [f"  {url}{_PATH}/{name}" for name in _names(dashboards)]
            print_note("\n".join(["Open one of these; Ctrl-C stops it:", "", *lines]))

        # Refuse other host names, which prevents DNS rebinding.
        trusted = TrustedHostMiddleware(viewer.wrap(app), allowed_hosts=[_HOST, "localhost"])
        run(trusted, listener, announce=announce, prepare=prepare)


def _names(dashboards: ReloadingFolder) -> list[str]:
    try:
        return sorted(dashboards)
    except InvalidQueries as error:  # the page shows the error too
        print_note(error.message)
        return []


class _OneViewer:
    def __init__(self, advice: Advice) -> None:
        self.token = b""
        self._advice = advice

    def wrap(self, app: ASGIApp) -> ASGIApp:
        async def with_token(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and self.token:
                headers = [pair for pair in scope["headers"] if pair[0] != _HEADER]
                scope = {**scope, "headers": [*headers, (_HEADER, self.token)]}
                self._advice.look()
            await app(scope, receive, send)

        return with_token
