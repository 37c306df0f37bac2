"""A product that embeds dashboards, in a process of its own: two sites, by their ports.

The dashboards are at 127.0.0.1 and the product at localhost, which are two origins to a browser. There are ``GROUPS``
user groups, and each has rows of its own.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from benchmarks.harness.population import KEYS
from benchmarks.harness.servers import ROOT
from engines.ports import free_port
from tenantry import DataSources, Embedding, Resolver, mount_dashboards
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.datasources import Limits, ResultCache, Sharing
from tenantry.groups import Environment, GroupDraft, SourceDraft, Tag
from tenantry.provisioning import Provisioner

GROUPS: Final = 100
SIZES: Final = (100, 3_200)
"""Points of a chart over time."""
DOWNLOAD_ROWS: Final = 900_000
"""Rows of 230 characters: 200 MB."""
ROUTES: Final = 12


_PATIENCE: Final = 120.0


class Sites(NamedTuple):
    """Their origins."""

    dashboards: str
    host: str


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Sites]:
    """Both sites; ``folder`` becomes theirs. ``--cached``: answers of queries are kept for an hour.
    ``--may-open``: a function decides which dashboards a group may open, and lets all of them."""
    ports = (free_port(), free_port())
    command = [sys.executable, "-m", "benchmarks.harness.product_app", str(folder), *map(str, ports), *options]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        _wait(process, ports[0])
        yield Sites(f"http://127.0.0.1:{ports[0]}", f"http://localhost:{ports[1]}")
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError("the product did not start")


def group_name(number: int) -> str:
    """The id of a group, from 0: it stands in each of its rows."""
    return f"customer-{number:03}"


# --- the dashboards ---------------------------------------------------------------------------------------------------


def write_dashboards(folder: Path) -> None:
    """``charts-100`` and ``charts-3200`` of twelve charts, ``viewers`` of twelve small panels, and ``download``."""
    for size in SIZES:
        (folder / f"charts-{size}.yaml").write_text(json.dumps(_twelve_charts(size)))
    every = "select tenant, route, count(*) as flights, avg(level) as level from measures where tenant = {{ tenant }}"
    panels: list[dict[str, Any]] = [
        {"table": {"sql": f"{every} and hour >= {number} group by tenant, route order by route"}}
        for number in range(12)
    ]
    _write(folder, "viewers", panels)
    rows = (
        "with recursive numbers(n) as (select 1 union all select n + 1 from numbers "
        f"where n < {DOWNLOAD_ROWS}) select n, '{'x' * 230}' as words from numbers"
    )
    _write(folder, "download", [{"table": {"sql": rows}, "title": "Rows", "page": 10, "sort": "n"}])


def _write(folder: Path, name: str, panels: list[dict[str, Any]]) -> None:
    rows = [panels[at : at + 3] for at in range(0, len(panels), 3)]
    (folder / f"{name}.yaml").write_text(json.dumps({"title": name, "rows": rows}))


def _twelve_charts(size: int) -> dict[str, Any]:
    """Every kind of chart. Those over time or a number have ``size`` points, the others a mark for each category."""
    points = {"sql": f"select moment, n, level, level * 0.7 as other from measures where n < {size} order by n"}
    routes = {"sql": "select route, count(*) as flights from measures group by route order by route"}
    hours = {"sql": "select weekday, hour, avg(level) as level from measures group by weekday, hour"}
    days = {"sql": "select day, kind, sum(level) as level from measures where n < 3200 group by day, kind order by day"}
    over_time = {"by": "moment", "query": points}
    controls = {
        "period": {"range": "last-30-days", "presets": ["last-30-days", "this-year"]},
        "route": {"choices": [f"route {number}" for number in range(ROUTES)], "many": True},
        "name": {"text": ""},
    }
    return {
        "title": f"Twelve charts of {size} points",
        "controls": controls,
        "rows": [
            [
                {"line": "level", **over_time},
                {"line": ["level", "other"], **over_time},
                {"line": "other", "reference": 500, **over_time},
            ],
            [
                {"area": "level", **over_time},
                {"area": ["level", "other"], "stack": "sum", **over_time},
                {"scatter": "level", "by": "n", "query": points},
            ],
            [
                {"bar": "level", "by": "day", "color": "kind", "stack": "sum", "query": days},
                {"bar": "level", "by": "day", "color": "kind", "query": days},
                {"bar": "flights", "by": "route", "horizontal": True, "query": routes},
            ],
            [
                {"donut": "flights", "by": "route", "query": routes},
                {"heatmap": "level", "by": "hour", "rows": "weekday", "query": hours},
                {"scatter": "other", "by": "n", "query": points},
            ],
        ],
    }


def fill(path: Path) -> str:
    """A file of SQLite with the rows of every group; its URL."""
    start = datetime(2026, 1, 1)  # noqa: DTZ001  # a moment on no clock
    with closing(sqlite3.connect(path)) as lite, lite:
        lite.execute(
            "create table measures (tenant text, n integer, moment text, day text, hour integer, weekday integer, "
            "route text, kind text, level real)"
        )
        for n in range(max(SIZES)):
            moment = start + timedelta(hours=n)
            lite.execute(
                "insert into measures values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    group_name(n % GROUPS),
                    n,
                    moment.isoformat(" "),
                    f"2026-{moment.month:02}-01",
                    moment.hour,
                    moment.weekday(),
                    f"route {n // GROUPS % ROUTES}",
                    "abc"[n % 3],
                    n * 7919 % 10007 / 10,
                ),
            )
        lite.execute("create index measures_tenant on measures (tenant)")
    return f"sqlite:///{path}"


# --- the two sites ----------------------------------------------------------------------------------------------------

_HOST: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Product</title>
<link rel="icon" href="data:,"><script type="module" src="{dashboards}/dashboards/-/embed.js"></script><body></body>"""


class _Product:
    """What embeds: its page, and the token of a group as its own server gives it."""

    def __init__(self, store: SQLStore, environment: Environment, dashboards: str) -> None:
        self._store, self._environment, self._dashboards = store, environment, dashboards
        self._provisioner = Provisioner(store, KEYS)
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/token/{group}", self._token),
                Route("/rotate/{group}", self._rotate, methods=["POST"]),
            ]
        )

    def _page(self, request: Request) -> Response:
        return HTMLResponse(_HOST.format(dashboards=self._dashboards))

    async def _live(self, request: Request) -> str:
        name = request.path_params["group"]
        return (await self._provisioner.get_or_create(self._environment, GroupDraft(name, name))).token

    async def _token(self, request: Request) -> Response:
        return PlainTextResponse(await self._live(request), headers={"Cache-Control": "no-store"})

    async def _rotate(self, request: Request) -> Response:
        await self._provisioner.rotate(self._environment, await self._live(request))
        return PlainTextResponse("")


async def _serve(folder: Path, ports: tuple[int, int], cached: bool, may_open: bool) -> None:
    store_url = f"sqlite:///{folder / 'tenantry.db'}"
    migrate(store_url)
    store = SQLStore(store_url, deadline=60)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    dashboards, host = f"http://127.0.0.1:{ports[0]}", f"http://localhost:{ports[1]}"
    await store.environments.set_embedding_hosts(environment, [host])
    url = fill(folder / "rows.db")
    await store.sources.create(environment, "ds_rows", SourceDraft("rows", url))
    provisioner = Provisioner(store, KEYS)
    for number in range(GROUPS):
        draft = GroupDraft(group_name(number), group_name(number), {"tenant": group_name(number)}, {"main": "ds_rows"})
        await provisioner.get_or_create(environment, draft)
    (folder / "dashboards").mkdir()
    write_dashboards(folder / "dashboards")
    cache = ResultCache(seconds=3_600) if cached else None
    mounted = Starlette()
    limits = Limits(timeout=60, connect_timeout=60, sharing=Sharing(max_waiting=10_000))
    async with DataSources(store, cache=cache, limits=limits) as sources:
        resolver = Resolver(store, keys=KEYS)
        options: dict[str, Any] = {"may_open": lambda group, name: True} if may_open else {}
        embedding = Embedding(store, KEYS)
        mount_dashboards(mounted, folder / "dashboards", resolver, sources, embedding=embedding, **options)
        apps = {ports[0]: mounted, ports[1]: _Product(store, environment, dashboards).app}

        async def by_port(scope: Any, receive: Any, send: Any) -> None:
            await apps[scope["server"][1]](scope, receive, send)

        listeners = [socket.create_server(("127.0.0.1", port)) for port in ports]
        server = uvicorn.Server(uvicorn.Config(by_port, log_level="error", access_log=False, lifespan="off"))
        await server.serve(sockets=listeners)
    await store.aclose()


if __name__ == "__main__":
    _flags = (f"--{name}" in sys.argv for name in ("cached", "may-open"))
    asyncio.run(_serve(Path(sys.argv[1]), (int(sys.argv[2]), int(sys.argv[3])), *_flags))
