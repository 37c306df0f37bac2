"""``tenantry serve``'s connections compared with bare uvicorn: the same apps under both, over a socket."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.harness.servers import Server, fast, request
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.api import IMPORTS, api_request, prepare, served
from benchmarks.micro.server import APP, figures, rounds, times
from tenantry.tokens.keys import create_key_file

ROUNDS = 11
SECONDS = 0.7
BARE, SERVED = "bare uvicorn", "as `tenantry serve`"


def table() -> Table:
    """Measures a JSON route and ``/api/user``, with each pair of HTTP protocol and event loop."""
    result = Table(
        "The connections of `tenantry serve`, one worker, 16 connections",
        ["server", "what", "how", "answers/s", "× bare", "CPU µs", "p50 ms", "p99 ms"],
    )
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-") as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'tenantry.db'}"
        create_key_file(folder / "tenantry.keys")
        (folder / "sales.py").write_text(APP)
        token = prepare(url)
        for quick in [True, False] if fast() else [False]:
            route = request("GET", "/sales", {"Accept": "application/json"})
            _compare(result, "a JSON route", folder, "import sales", "sales.bare()", route, quick=quick)
            _compare(
                result, "GET of /api/user, SQLite", folder, IMPORTS, served(url), api_request("GET", token), quick=quick
            )
    return result


def _compare(result: Table, what: str, folder: Path, imports: str, app: str, asked: bytes, *, quick: bool) -> None:
    kind = "httptools and uvloop" if quick else "h11 and asyncio"
    servers: dict[str, Server] = {}
    try:
        for name in (BARE, SERVED):
            servers[name] = Server(folder, imports, app, quick=quick, guarded=name == SERVED)
        rates = rounds(servers, dict.fromkeys(servers, asked), ROUNDS, SECONDS)
    finally:
        for server in servers.values():
            server.stop()
    for name, found in rates.items():
        result.add(kind, what, name, *figures(found, rates[BARE]))
    result.aims.append(Aim(f"{what}, × bare uvicorn, {kind}", times(rates[SERVED], rates[BARE]), 0.95, at_least=True))
