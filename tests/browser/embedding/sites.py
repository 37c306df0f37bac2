"""Three sites on loopback: the dashboards, a product that embeds them, and one that may not.

Their origins differ in host and port, so that they are different sites to a browser.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Final
from unittest.mock import Mock

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from tenantry import DataSources, Resolver, UserGroup, UserGroupMiddleware, mount_dashboards, user_group
from tenantry.dashboards.access import Access
from tenantry.dashboards.embedding.allowed_hosts import AllowedHosts, EmbeddingCheck
from tenantry.dashboards.embedding.frame_ancestors import frame_ancestors_policy
from tenantry.dashboards.embedding.routes import Embedding, code_routes
from tenantry.dashboards.endpoint import error_handler
from tenantry.errors import TenantryError
from tenantry.groups import GroupChanges, GroupDraft, Issued, SourceDraft, Tag
from tenantry.middleware import header
from tenantry.testing import MemoryStore, make_token
from tenantry.tokens import KeyRing
from tests.dashboards import mounts
from tests.dashboards.served import flights_database

HERE: Final = Path(__file__).parent
SOURCES: Final = Path(__file__).parents[3] / "frontend" / "src" / "dashboards" / "embed"
STRICT: Final = (
    "default-src 'self'; connect-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
GROUPS: Final = ("acme", "bolt", "corp")
ADDRESSES: Final = ("127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.3")

_FRAME: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Dashboard</title>
<meta name="tenantry-hosts" content="{hosts}"><meta name="tenantry-mount" content="/dashboards">
<script type="module" src="/dashboards/-/assets/dashboard.js"></script>
<div id="dashboard" data-name="sales/regions"><output></output><p>text</p>
{buttons}</div></html>"""
_BUTTONS: Final = "".join(
    f'<button data-name="{each}">{each}</button>' for each in ("load", "six", "stream", "tall", "filter")
)
_HOST: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Product</title>
<meta name="groups" content="{groups}"><script type="module" src="{dashboards}/-/embed.js"></script>
<script type="module" src="/host.js"></script>
<body data-dashboards="{dashboards}" data-name="{name}" data-same="{same}">{more}</body></html>"""


@dataclass
class Sites:
    """The three sites, the groups and what the dashboards' server has seen."""

    keys: KeyRing
    folder: Path | None = None
    """Of real dashboards; None: the small page of these tests stands for one."""
    store: MemoryStore = field(default_factory=MemoryStore)
    mounting: mounts.Mounting = mounts.BARE
    """How the app of real dashboards mounts them."""
    dashboards: str = ""
    own_host: str = ""
    """The same dashboards under another host name, as of one customer alone."""
    host: str = ""
    evil: str = ""
    requests: list[str] = field(default_factory=list)
    """The lines of what reached the dashboards' server: method, address, headers but for the token's."""
    served: list[tuple[str, str]] = field(default_factory=list)
    """The group of each answer, and the origin that embeds it."""
    tokens: set[str] = field(default_factory=set)
    """Every token that was ever live."""
    made_pass: Callable[[str], str] | None = None
    """Makes what the product gives its page of a token; None: it gives the token."""
    hosts_of_groups: dict[str, list[str]] = field(default_factory=dict)
    sources: DataSources | None = None
    """Of real dashboards."""
    loop: asyncio.AbstractEventLoop | None = None
    """Of the server."""
    _issued: dict[str, Issued] = field(default_factory=dict)

    @property
    def mount(self) -> str:
        """The address below which the dashboards are."""
        return f"{self.dashboards}{self.mounting.prefix}/dashboards"

    async def prepare(self) -> None:
        """The groups, and the product as their environment's host."""
        production = await self.store.environments.create("production", Tag.CUSTOMER)
        await self.store.environments.set_embedding_hosts(production, [self.host])
        for name in GROUPS:
            draft = GroupDraft(name, name.title(), {"carrier": "HA"}, {"main": "ds_1"})
            await self.store.groups.get_or_create(production, draft, make_token(key_id="k1"))
        if self.folder is not None:
            url = flights_database(self.folder / "flights.db")
            await self.store.sources.create(production, "ds_1", SourceDraft("flights", url))

    async def token(self, group: str) -> str:
        """The group's live token, as the product's own server asks for it."""
        production = await self.store.environments.get("production")
        assert production is not None
        issued = await self.store.groups.get(production, group)
        assert issued is not None
        token = self.keys.mint(issued.token)
        self.tokens.add(token)
        return token

    async def rotate(self, group: str) -> None:
        """The token of before is dead when this returns."""
        production = await self.store.environments.get("production")
        assert production is not None
        issued = await self.store.groups.get(production, group)
        assert issued is not None
        await self.store.groups.rotate(production, issued.token, key_id="k1", nonce=make_token().nonce)

    async def end(self, group: str) -> None:
        """The end date of the group has passed when this returns."""
        production = await self.store.environments.get("production")
        assert production is not None
        await self.store.groups.update(production, group, GroupChanges(expires_at=datetime.now(UTC)))

    async def double(self) -> None:
        """Each flight of real dashboards was there twice, and the server has been told, when this returns."""
        production = await self.store.environments.get("production")
        assert production is not None
        assert self.folder is not None
        assert self.sources is not None
        assert self.loop is not None
        with closing(sqlite3.connect(self.folder / "flights.db")) as connection:
            connection.execute("insert into flights select * from flights")
            connection.commit()
        told = self.sources.changed(production, "flights")
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(told, self.loop))

    def app(self) -> ASGIApp:
        """All of them, by the port that was asked: so they share one event loop and one store."""
        dashboards = _dashboards(self) if self.folder is None else _mounted(self, self.folder)
        apps = {self.dashboards: dashboards, self.own_host: dashboards}
        apps |= {self.host: _product(self), self.evil: _evil(self)}
        by_port = {int(origin.rpartition(":")[2]): app for origin, app in apps.items()}

        async def route(scope: Any, receive: Any, send: Any) -> None:
            await by_port[scope["server"][1]](scope, receive, send)

        return route


def _dashboards(sites: Sites) -> Starlette:
    resolver = Resolver(sites.store, keys=sites.keys)

    def hosts_of_group(group: UserGroup) -> list[str]:
        return sites.hosts_of_groups.get(group.provided_id, [sites.host])

    embedding = Embedding(sites.store, sites.keys, hosts_of_group)
    hosts = AllowedHosts(sites.store.environments, None, group_hosts=hosts_of_group, staleness=0)
    guards = [
        Middleware(UserGroupMiddleware, resolver=resolver, carriers=header(), required=True, audience="dashboard"),
        Middleware(EmbeddingCheck, hosts=hosts),
    ]

    async def frame(request: Request) -> Response:
        allowed = await hosts.of_frame()
        html = _FRAME.format(hosts=escape(" ".join(allowed)), buttons=_BUTTONS)
        policy = f"{STRICT}; {frame_ancestors_policy(allowed)}"
        return HTMLResponse(html, headers={"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"})

    async def panels(request: Request) -> Response:
        group = user_group(request)
        body = await request.body()
        sites.served.append((group.provided_id, request.headers.get("x-embedding-origin", "")))
        return JSONResponse({"group": group.provided_id, "filters": json.loads(body)["filters"]})

    async def stream(request: Request) -> Response:
        user_group(request)

        async def lines() -> AsyncIterator[bytes]:
            while True:
                yield b'{"live":true}\n'
                await asyncio.sleep(0.05)

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def asset(request: Request) -> Response:
        name = request.path_params["file"]
        path = HERE / "dashboard.js" if name == "dashboard.js" else SOURCES / name
        return FileResponse(path, media_type="text/javascript")

    async def element(request: Request) -> Response:
        cors = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
        return FileResponse(SOURCES / "element.js", media_type="text/javascript", headers=cors)

    routes = [
        Route("/-/embed.js", element),
        Route("/-/assets/{file}", asset),
        *code_routes(embedding, Mock(spec=Access), guards),  # whatever the name
        Route("/{name:path}/-/panels", panels, methods=["POST"], middleware=guards),
        Route("/{name:path}/-/stream", stream, methods=["POST"], middleware=guards),
        Route("/{name:path}", frame),
    ]
    mounted = Starlette(routes=routes, exception_handlers={TenantryError: error_handler})
    return Starlette(routes=[Mount("/dashboards", mounted)], middleware=[Middleware(_Noted, sites=sites)])


def _mounted(sites: Sites, folder: Path) -> ASGIApp:
    resolver, sites.sources = Resolver(sites.store, keys=sites.keys), DataSources(sites.store)
    options: dict[str, Any] = {"embedding": Embedding(sites.store, sites.keys)}
    app = sites.mounting.build(
        resolver, lambda inner: mount_dashboards(inner, folder, resolver, sites.sources, **options)
    )
    return _Noted(app, sites)


class _Noted:
    """Notes each request as an access log would, and every header but the one that carries the token."""

    def __init__(self, app: ASGIApp, sites: Sites) -> None:
        self.app = app
        self._sites = sites

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {
                name.decode(): value.decode("latin-1")
                for name, value in scope["headers"]
                if name != b"x-user-group-token"
            }
            address = f"{scope['path']}?{scope['query_string'].decode()}"
            self._sites.requests.append(f"{scope['method']} {address} {headers}")
        await self.app(scope, receive, send)


def _product(sites: Sites) -> Starlette:
    """What embeds. ``/?groups=acme bolt`` has an element for each, with the dashboard ``name``; ``more`` is HTML beside
    them."""
    policy = f"{STRICT.replace(chr(59), f'; script-src {chr(39)}self{chr(39)} {sites.dashboards};', 1)}; frame-src *"

    async def page(request: Request) -> Response:
        query = request.query_params
        html = _HOST.format(
            groups=escape(query.get("groups", "")),
            dashboards=sites.mount,
            name=escape(query.get("name", "sales/regions")),
            same=escape(query.get("same", "")),
            more=query.get("more", ""),
        )
        headers = {"Content-Security-Policy": policy}
        if query.get("isolated"):
            headers["Cross-Origin-Embedder-Policy"] = "require-corp"
        return HTMLResponse(html, headers=headers)

    async def script(request: Request) -> Response:
        return FileResponse(HERE / "host.js", media_type="text/javascript")

    async def token(request: Request) -> Response:
        live = await sites.token(request.path_params["group"])
        given = live if sites.made_pass is None else sites.made_pass(live)
        return PlainTextResponse(given, headers={"Cache-Control": "no-store"})

    return Starlette(routes=[Route("/", page), Route("/host.js", script), Route("/token/{group}", token)])


def _evil(sites: Sites) -> Starlette:
    """A site that nobody allowed: a page of it holds whatever HTML the test wants, without any policy."""

    async def page(request: Request) -> Response:
        return HTMLResponse(f"<!doctype html><title>evil</title>{request.query_params.get('html', '')}")

    return Starlette(routes=[Route("/", page)])


@contextmanager
def serving(keys: KeyRing, folder: Path | None = None, mounting: mounts.Mounting = mounts.BARE) -> Iterator[Sites]:
    """The sites behind a real server, in a thread with an event loop of its own."""
    sites = Sites(keys, folder, mounting=mounting)
    listeners = [socket.create_server((address, 0)) for address in ADDRESSES]
    ports = [listener.getsockname()[1] for listener in listeners]
    sites.dashboards = f"http://127.0.0.1:{ports[0]}"
    sites.host = f"http://localhost:{ports[1]}"
    sites.evil = f"http://127.0.0.2:{ports[2]}"
    sites.own_host = f"http://127.0.0.3:{ports[3]}"
    started, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        sites.loop = asyncio.get_running_loop()
        await sites.prepare()
        server = uvicorn.Server(uvicorn.Config(sites.app(), log_config=None, lifespan="off"))
        task = asyncio.create_task(server.serve(sockets=listeners))
        started.set()
        while not stop.is_set():
            await asyncio.sleep(0.05)
        server.should_exit = server.force_exit = True
        while not task.done():  # from Python 3.12 on a server waits for its connections: pages keep streams open
            for connection in [*server.server_state.connections]:
                connection.transport.abort()
            await asyncio.sleep(0.05)
        await task
        if sites.sources is not None:
            await sites.sources.aclose()

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # streams that the end of the test breaks
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert started.wait(120)
        yield sites
    finally:
        stop.set()
        thread.join(120)
        for listener in listeners:
            listener.close()
