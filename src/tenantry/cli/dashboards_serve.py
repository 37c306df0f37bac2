from __future__ import annotations

import asyncio
import atexit
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.cli.dashboards_check import DashboardCheck
from tenantry.cli.options import (
    choose_environment,
    get_group,
)
from tenantry.cli.output import print_note
from tenantry.cli.sql_check import print_findings
from tenantry.dashboards import DashboardFolder, ReloadingFolder, mount_dashboards
from tenantry.dashboards.checks import schemas_of
from tenantry.datasources import DataSources, find_tables, stop_on_signals
from tenantry.errors import InvalidQueries, InvalidSource, TenantryError
from tenantry.groups import GroupDraft, Issued, SourceDraft, Tag, UserGroup
from tenantry.middleware import TOKEN_HEADER
from tenantry.ports import Store
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.server import Settings, listen, run
from tenantry.sql.checks import Located
from tenantry.tokens import KeyRing, SigningKey
from tenantry.tokens.keys import SigningKeys

HOST: Final = "127.0.0.1"
_HEADER = TOKEN_HEADER.lower().encode("ascii")
_PATH = "/dashboards"

_EMPTY: Final = """\
No dashboard of {folder} can be shown. `tenantry dashboards new NAME` writes an example into the folder dashboards.
When {folder} has a file NAME.yaml, open {address}/NAME; Ctrl-C stops the server."""

FindGroup: TypeAlias = Callable[[], Awaitable[Issued[str]]]
OpenStore: TypeAlias = Callable[[], tuple[Store, KeyRing, FindGroup]]
"""A function that opens a store. It returns the store, the keys, and an async function that returns the chosen group.
The async function must run in the server's event loop."""


def stored_group(chosen: Settings, environment: str | None, provided_id: str) -> OpenStore:
    def open_store() -> tuple[Store, KeyRing, FindGroup]:
        from tenantry.backends.sql import SQLStore  # imports SQLAlchemy, which the sample does not need

        keys = SigningKeys.from_file(chosen.keys)
        store = SQLStore(chosen.database, usage_seconds=None, keys=keys)  # do not count the author's views

        async def find() -> Issued[str]:
            found = await get_group(store, await choose_environment(store, environment), provided_id)
            return Issued(found.group, keys.mint(found.token))

        return store, keys, find

    return open_store


def sample_group(folder: Path, properties: Mapping[str, Any], source: str | None) -> OpenStore:
    """Return a function that makes a store in memory with a sample group. ``source``: URL of the group's data source;
    default: an empty database."""

    def open_store() -> tuple[Store, KeyRing, FindGroup]:
        from tenantry.backends.memory import MemoryStore

        store, keys = MemoryStore(), KeyRing([SigningKey("k1", secrets.token_bytes(32))])
        url = source or _empty_source()
        tables = None if source is None else _tables(folder)

        async def create() -> Issued[str]:
            environment = await store.environments.create("sample", Tag.TESTING)
            await store.sources.create(environment, "ds_sample", SourceDraft("sample", url, tables=tables))
            mapping = dict.fromkeys(_schemas(folder), "sample")
            draft = GroupDraft("sample", "Sample", properties, mapping)
            return await Provisioner(store, keys).get_or_create(environment, draft)

        return store, keys, create

    return open_store


def _tables(folder: Path) -> dict[str, Any] | None:
    from tenantry.sql.guarding import read_tables_file  # slow to import

    path = find_tables(folder)
    if path is None:
        return None
    tables = read_tables_file(path)
    if not tables.entries:
        raise InvalidSource(f"{path} lists no tables: list those that queries may read, or remove the file")
    return tables.as_json()


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
    return {"main"}.union(*map(schemas_of, saved))


def serve_folder(folder: Path, open_store: OpenStore, port: int) -> None:
    """Serve the dashboards until Ctrl-C. Raises the errors of ``open_store``, and InvalidSettings if another program
    uses the port."""
    with listen(HOST, port) as listener:
        store, keys, find = open_store()
        resolver, sources = Resolver(store, keys=keys), DataSources(store, keys=keys)
        app, dashboards = Starlette(lifespan=closing(sources, resolver, store)), ReloadingFolder(folder)
        app.add_route("/", lambda _: _home(dashboards))
        mount_dashboards(app, dashboards, resolver, sources, path=_PATH)
        advice = _Advice(dashboards, store, sources, lambda: resolver.resolve(viewer.token))
        viewer = _OneViewer(advice)

        async def prepare() -> None:
            viewer.token = (await find()).token.encode()
            advice.look()

        def announce(url: str) -> None:
            lines = [f"  {url}{_PATH}/{name}" for name in _names(dashboards)]
            empty = _EMPTY.format(folder=folder, address=f"{url}{_PATH}")
            print_note("\n".join(["Open one of these; Ctrl-C stops it:", "", *lines]) if lines else empty)

        run(only_local(viewer.wrap(app)), listener, announce=announce, prepare=prepare)


def closing(
    sources: DataSources, resolver: Resolver, store: Store
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return a lifespan. At SIGINT and SIGTERM, it interrupts the running queries. When the app stops, it closes the
    three arguments."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for close in (store.aclose, resolver.aclose, sources.aclose):  # added last, run first
                stack.push_async_callback(close)
            async with stop_on_signals(sources):
                yield

    return lifespan


def only_local(app: ASGIApp) -> ASGIApp:
    """Refuse requests whose Host header is not 127.0.0.1 or localhost."""
    # This prevents DNS rebinding.
    return TrustedHostMiddleware(app, allowed_hosts=[HOST, "localhost"])


def _names(dashboards: ReloadingFolder) -> list[str]:
    try:
        return sorted(dashboards)
    except InvalidQueries as error:  # the page shows the error too
        print_note(error.message)
        return []


def _home(dashboards: ReloadingFolder) -> Response:
    for name in _names(dashboards):
        return RedirectResponse(f"{_PATH}/{name}")
    return PlainTextResponse("No dashboard can be shown: see the terminal.\n", 404)


class _OneViewer:
    def __init__(self, advice: _Advice) -> None:
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


class _Advice:
    """Checks a folder's queries against a group's data source, and prints the mistakes."""

    def __init__(
        self,
        dashboards: ReloadingFolder,
        store: Store,
        sources: DataSources,
        group: Callable[[], Awaitable[UserGroup]],
    ) -> None:
        self._dashboards = dashboards
        self._store = store
        self._sources = sources
        self._group = group
        self._revision = ""
        self._task: asyncio.Task[None] | None = None
        self._printed: tuple[Located, ...] = ()

    def look(self) -> None:
        revision = self._dashboards.revision
        if revision != self._revision and (self._task is None or self._task.done()):
            self._revision = revision
            self._task = asyncio.create_task(self._check())

    async def _check(self) -> None:
        check = DashboardCheck(self._dashboards.path)
        try:
            await check.explain(self._store, await self._group(), self._sources)
        except TenantryError as error:
            print_note(f"the queries were not checked: {error.message}")
            return
        found = check.of_queries()
        if found != self._printed:
            print_findings(found, err=True)
            if not found:
                print_note("the mistakes above are corrected")
            self._printed = found
