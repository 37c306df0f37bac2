"""Dashboards of a folder for a group of their own, on a DuckDB file."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import uvicorn
from starlette.applications import Starlette

from tenantry import DataSources, mount_dashboards
from tenantry.cli.dashboards_serve import sample_group
from tenantry.resolver import Resolver


@dataclass(frozen=True)
class Sample:
    """``url``: of the mount, to which a dashboard's name is added."""

    url: str
    headers: dict[str, str]


@asynccontextmanager
async def sample(
    folder: Path, *tables: str, option: str = "", url: str = "", **properties: Any
) -> AsyncIterator[Sample]:
    """``tables``: statements that fill the DuckDB file; ``option``: of its URL. ``url``: of another database instead.
    ``properties``: further ones of the group."""
    database = folder.parent / "sample.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("set timezone = 'UTC'")
        for each in tables:
            connection.execute(each)
    address = url or f"duckdb:///{database}{option}"
    store, keys, find = sample_group(folder, {"tenant": "acme", **properties}, address)()
    resolver = Resolver(store, keys=keys)
    async with DataSources(store, keys=keys) as sources:
        app = Starlette()
        mount_dashboards(app, folder, resolver, sources)
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/dashboards"
            yield Sample(url, {"X-User-Group-Token": (await find()).token})
        finally:
            server.should_exit = True
            await running
            listener.close()
    await resolver.aclose()
