"""End to end: a route that answers JSON over a real socket, bare and behind the middleware with a cached token."""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness.population import populate, raw
from benchmarks.harness.servers import Rate, Server, fast, request
from benchmarks.harness.table import Aim, Table

ROUNDS = 11
SECONDS = 0.7
GROUPS = 1_000

APP = """
import os
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

async def sales(request: Request) -> JSONResponse:
    return JSONResponse({"rows": [["2026-01", 120], ["2026-02", 140]], "currency": "EUR"})

def bare() -> Starlette:
    return Starlette(routes=[Route("/sales", sales)])

def behind(url: str) -> Starlette:
    from benchmarks.harness.population import KEYS
    from tenantry import Resolver, UserGroupMiddleware
    from tenantry.backends.sql import SQLStore
    app = bare()
    app.add_middleware(UserGroupMiddleware, resolver=Resolver(SQLStore(url), keys=KEYS))
    return app
"""

BARE, BEHIND = "bare Starlette route", "behind the middleware, token cached"


def table() -> Table:
    """Runs it: first the quick server that people deploy, if it is there; then the pure-Python one that
    ``tenantry[server]`` installs."""
    result = Table(
        "A JSON route over a socket, one uvicorn worker, 16 connections",
        ["server", "app", "answers/s", "× bare", "CPU µs", "p50 ms", "p99 ms"],
    )
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-") as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'tenantry.db'}"
        populate(url, GROUPS)
        (folder / "sales.py").write_text(APP)
        if fast():
            _compare(result, "httptools and uvloop", lambda app: Server(folder, "import sales", app, quick=True), url)
        else:
            result.add("httptools and uvloop", "skipped: not in .bench/site, where `make bench` puts them", *[""] * 5)
        _compare(result, "h11 and asyncio", lambda app: Server(folder, "import sales", app), url)
    return result


def _compare(result: Table, kind: str, start: Callable[[str], Server], url: str) -> None:
    asked = request("GET", "/sales", {"X-User-Group-Token": raw(GROUPS // 2).decode(), "Accept": "application/json"})
    servers = {BARE: start("sales.bare()"), BEHIND: start(f"sales.behind({url!r})")}
    try:
        rates = rounds(servers, dict.fromkeys(servers, asked), ROUNDS, SECONDS)
    finally:
        for server in servers.values():
            server.stop()
    for name, found in rates.items():
        result.add(kind, name, *figures(found, rates[BARE]))
    ratio = times(rates[BEHIND], rates[BARE])
    result.aims.append(Aim(f"behind the middleware, × bare, {kind}", ratio, 0.92, at_least=True))


def rounds(servers: dict[str, Server], asked: dict[str, bytes], number: int, seconds: float) -> dict[str, list[Rate]]:
    """All servers once a round, in shuffled order; a round before the first warms."""
    rates: dict[str, list[Rate]] = {name: [] for name in servers}
    order = list(servers)
    for turn in range(number + 1):
        random.shuffle(order)
        for name in order:
            rate = servers[name].load(asked[name], seconds)
            if turn:
                rates[name].append(rate)
    return rates


def times(rates: list[Rate], base: list[Rate]) -> float:
    """How many times the answers a second of ``base``, paired by round."""
    return statistics.median(a.answers / b.answers for a, b in zip(rates, base, strict=True))


def figures(rates: list[Rate], base: list[Rate]) -> tuple[str, ...]:
    """The cells of a row."""

    def middle(values: list[float]) -> float:
        return statistics.median(values)

    return (
        f"{middle([rate.answers for rate in rates]):,.0f}",
        f"{times(rates, base):.2f}",
        f"{middle([rate.processor for rate in rates]) * 1e6:,.0f}",
        f"{middle([rate.p50 for rate in rates]) * 1e3:.1f}",
        f"{middle([rate.p99 for rate in rates]) * 1e3:.1f}",
    )
