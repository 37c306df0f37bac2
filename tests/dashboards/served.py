"""Dashboards that are served as a host program does: files, a SQLite database, groups with tokens, an app."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
from starlette.types import ASGIApp

from tenantry import DataSources, mount_dashboards
from tenantry.groups import Issued, UserGroup
from tenantry.resolver import Resolver
from tenantry.testing import make_token
from tests.dashboards import mounts
from tests.datasources.conftest import Directory
from tests.datasources.settings import data_sources
from tests.resolver.fake import KEYS, FakeBackend

SOON = 60.0
"""Seconds within which something happens on a busy machine."""
CARRIERS = ("HA", "UA")


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def flights_database(path: Path, days: int = 60) -> str:
    """``flights(day, carrier, route, delay)``: for each carrier one flight a day on each of two routes, to today."""
    connection = sqlite3.connect(path)
    connection.execute("create table flights (day text, carrier text, route text, delay integer)")
    connection.executemany(
        "insert into flights values (date('now', ?), ?, ?, ?)",
        [
            (f"-{back} days", carrier, route, back % 7)
            for back in range(days)
            for carrier in CARRIERS
            for route in ("A-B", "A-C")
        ],
    )
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


@dataclass
class Site:
    """A served folder. ``prefix``: the path before /dashboards. ``tokens``: of each carrier's group."""

    app: ASGIApp
    prefix: str
    sources: DataSources
    resolver: Resolver
    backend: FakeBackend
    directory: Directory
    client: httpx2.AsyncClient
    tokens: dict[str, bytes] = field(default_factory=dict)

    def headers(self, carrier: str = "HA") -> dict[str, str]:
        return {"X-User-Group-Token": self.tokens[carrier].decode()}

    def rotate(self, carrier: str) -> None:
        """The carrier's group has another token from now on."""
        for handle, group in self.backend.groups.items():
            if group.provided_id == carrier.lower():
                self.backend.groups[handle] = replace_version(group)

    def issued(self, handle: bytes) -> Issued | None:
        """A group, as stores give it."""
        group = self.backend.groups.get(handle)
        return None if group is None else Issued(group, make_token(group))

    async def post(self, path: str, body: Any, carrier: str = "HA") -> httpx2.Response:
        return await self.client.post(f"/dashboards/{path}", json=body, headers=self.headers(carrier))

    async def follow(self, address: str) -> httpx2.Response:
        """What an address gives that the server named."""
        return await self.client.get(f"http://testserver{address}")

    async def lines(self, name: str, carrier: str = "HA", **body: Any) -> list[dict[str, Any]]:
        """The lines of an answer for panels, but the last."""
        answer = await self.post(f"{name}/-/panels", body, carrier)
        assert answer.status_code == 200, answer.text
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert lines.pop() == {"end": True}
        return lines

    async def panels(self, name: str, carrier: str = "HA", **body: Any) -> dict[str, dict[str, Any]]:
        """The lines of the panels by their ids."""
        return {line["panel"]: line for line in await self.lines(name, carrier, **body) if "panel" in line}

    def reading(self, path: str, body: Any, carrier: str = "HA") -> AbstractAsyncContextManager[Reader]:
        """Sends a request, and reads its answer as it comes. After the block the viewer has left."""
        return reading(self.app, f"{self.prefix}/dashboards/{path}", body, self.headers(carrier))


@asynccontextmanager
async def reading(
    app: ASGIApp, path: str, body: Any, headers: Mapping[str, str], method: str = "POST"
) -> AsyncIterator[Reader]:
    """Sends a request, and reads its answer as it comes. After the block the viewer has left."""
    reader = Reader(json.dumps(body).encode())
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("testserver", 80),
    }
    task = asyncio.ensure_future(app(scope, reader.receive, reader.send))
    try:
        yield reader
    finally:
        reader.left.set()
        async with asyncio.timeout(SOON):
            await task


class Reader:
    """The viewer of one request, by the messages of ASGI."""

    def __init__(self, body: bytes) -> None:
        self.left = asyncio.Event()
        self._body: bytes | None = body
        self._messages: asyncio.Queue[Any] = asyncio.Queue()

    async def receive(self) -> dict[str, Any]:
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self._messages.put_nowait(message)

    async def line(self) -> dict[str, Any]:
        """The next line."""
        while True:
            async with asyncio.timeout(SOON):
                message = await self._messages.get()
            if message["type"] == "http.response.start":
                assert message["status"] == 200
            elif message["body"].strip():  # blank lines keep a connection open
                found: dict[str, Any] = json.loads(message["body"])
                return found


def replace_version(group: UserGroup) -> UserGroup:
    return replace(group, token_version=group.token_version + 1, revision=group.revision + 1)


@asynccontextmanager
async def serve(folder: Path, files: Mapping[str, str], **options: Any) -> AsyncIterator[Site]:
    """An app with the dashboards of ``files``, in the mount of the test. ``properties``: further ones of each group;
    ``limits``: of its DataSources; ``store``: a class of a store for single-use codes, else there is none; the rest is
    for mount_dashboards."""
    properties, limits = options.pop("properties", {}), options.pop("limits", {})
    store = options.pop("store", None)
    write_files(folder, files)
    directory = Directory()
    directory.add(1, flights_database(folder / "flights.db"))
    backend = FakeBackend()
    resolver = Resolver(backend, keys=KEYS)
    tokens = {
        carrier: backend.issue(
            provided_id=carrier.lower(), properties={"carrier": carrier, **properties}, mapping={"main": "ds_1"}
        )[1]
        for carrier in CARRIERS
    }
    stored = None if store is None else store()
    async with data_sources(directory if stored is None else stored, **limits) as sources:
        prefix = mounts.current.prefix
        app = mounts.current.build(
            resolver, lambda inner: mount_dashboards(inner, folder / "dashboards", resolver, sources, **options)
        )
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://testserver{prefix}") as client:
            site = Site(app, prefix, sources, resolver, backend, directory, client, tokens)
            if stored is not None:
                stored.site = site
            yield site
    await resolver.aclose()
