"""GET and POST of /api/user per second over a real socket, compared with a bare Starlette route that echoes JSON."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from benchmarks.harness import engines
from benchmarks.harness.servers import Server, fast, request
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.server import figures, rounds, times
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import Tag
from tenantry.provisioning import issue_api_token
from tenantry.tokens.keys import create_key_file

ROUNDS = 7
SECONDS = 0.6
BODY = {"user_group_id": "acme", "name": "Acme", "properties": {"region": "eu", "seats": 5}}

ECHO = """
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

async def echo(request: Request) -> JSONResponse:
    return JSONResponse(await request.json())

app = Starlette(routes=[Route("/api/user", echo, methods=["GET", "POST"])])
"""

IMPORTS = "from tenantry.server.app import make_app\nfrom tenantry.server.settings import load_settings"


def served(url: str) -> str:
    """The code of the app of ``tenantry serve`` for the store at ``url``."""
    return f"make_app(load_settings(database={url!r}, keys='tenantry.keys'), lambda: False)"


def table() -> Table:
    """Runs it, on SQLite, and on PostgreSQL if there is one."""
    result = Table(
        "/api/user with the API token checked in the store, one uvicorn worker, 16 connections",
        ["server", "what", "answers/s", "× bare echo", "CPU µs", "p50 ms", "p99 ms"],
    )
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-") as name:
        folder = Path(name)
        create_key_file(folder / "tenantry.keys")
        (folder / "echo.py").write_text(ECHO)
        sqlite = f"sqlite:///{folder / 'tenantry.db'}"
        try:
            with engines.postgres() as postgres:
                _both(result, folder, {"SQLite": sqlite, "PostgreSQL": postgres})
        except engines.EngineMissing as missing:
            _both(result, folder, {"SQLite": sqlite})
            result.add("", f"PostgreSQL skipped: {missing}", *[""] * 5)
    return result


def _both(result: Table, folder: Path, urls: dict[str, str]) -> None:
    tokens = {store: prepare(url) for store, url in urls.items()}
    for quick in [True, False] if fast() else [False]:
        _compare(result, folder, urls, tokens, quick=quick)


def prepare(url: str) -> str:
    """Makes the tables at ``url`` and an environment; returns the secret of an API token of it."""
    migrate(url)
    return asyncio.run(_api_token(url))


async def _api_token(url: str) -> str:
    store = SQLStore(url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store.api_tokens, production, label="bench")
    await store.aclose()
    return secret


def _compare(result: Table, folder: Path, urls: dict[str, str], tokens: dict[str, str], *, quick: bool) -> None:
    kind = "httptools and uvloop" if quick else "h11 and asyncio"
    echo = Server(folder, "from echo import app", "app", quick=quick)
    stores: dict[str, Server] = {}
    try:
        for store, url in urls.items():
            stores[store] = Server(folder, IMPORTS, served(url), quick=quick)
        _measure(result, kind, echo, stores, tokens)
    finally:
        for server in [echo, *stores.values()]:
            server.stop()


def _measure(result: Table, kind: str, echo: Server, stores: dict[str, Server], tokens: dict[str, str]) -> None:
    servers: dict[str, Server] = {}
    asked: dict[str, bytes] = {}
    token = next(iter(tokens.values()))
    for method in ("GET", "POST"):
        servers[f"Starlette JSON echo, {method}"] = echo
        asked[f"Starlette JSON echo, {method}"] = api_request(method, token)
    for store, server in stores.items():
        for method, what in (("GET", "GET of an existing group"), ("POST", "POST, get or create")):
            servers[f"{what}, {store}"] = server
            asked[f"{what}, {store}"] = api_request(method, tokens[store])
    rates = rounds(servers, asked, ROUNDS, SECONDS)
    for name, found in rates.items():
        base = rates["Starlette JSON echo, POST" if "POST" in name else "Starlette JSON echo, GET"]
        result.add(kind, name, *figures(found, base))
        if name.startswith("GET of"):
            bound = 0.4 if "SQLite" in name else 0.25
            result.aims.append(Aim(f"{name}, × a bare echo, {kind}", times(found, base), bound, at_least=True))


def api_request(method: str, token: str) -> bytes:
    """The get-or-create of a group with this API token."""
    return request(method, "/api/user", {"Authorization": f"Token {token}"}, BODY)
