"""100,000 groups in one ``POST /api/users/bulk``, compared with one request per group, and with the
commands that write a file of them into the store themselves.

One server, one connection, and a client that reads the report when it has sent everything, as most HTTP clients do. A
command is a process of its own, from its start to its end, and writes new groups into an empty environment.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.harness import engines
from benchmarks.harness.servers import Server
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.api import IMPORTS, served
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import Tag
from tenantry.provisioning import issue_api_token
from tenantry.tokens.keys import create_key_file

LINES = 100_000
ALONE = 500
SECONDS = 60
ROTATED = 10_000


@dataclass(frozen=True)
class Spent:
    """What one bulk or command took: seconds by the clock, and of the processor, by the server or the command."""

    seconds: float
    processor: float


def table() -> Table:
    """Runs it, on SQLite, and on PostgreSQL if there is one."""
    result = Table(
        f"{LINES:,} groups over HTTP, one uvicorn worker (h11 and asyncio), one connection; and by command",
        ["store", "what", "groups/s", "seconds", "CPU µs per group"],
    )
    Path(".bench").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bulk-", dir=".bench") as name:
        folder = Path(name).resolve()
        create_key_file(folder / "tenantry.keys")
        _measure(result, folder, "SQLite", f"sqlite:///{folder / 'tenantry.db'}")
        try:
            with engines.postgres() as postgres:
                _measure(result, folder, "PostgreSQL", postgres)
        except engines.EngineMissing as missing:
            result.add("PostgreSQL", f"skipped: {missing}", *[""] * 3)
    return result


def _measure(result: Table, folder: Path, store: str, url: str) -> None:
    migrate(url)
    token = asyncio.run(_api_token(url))
    with _serving(folder, served(url)) as server:
        alone = _one_by_one(server, token)
        _add(result, store, "one POST per group", alone, ALONE)
        created = _bulk(server, token, _body(folder, "free"), "created")
        _add(result, store, "bulk, new groups", created, LINES)
        result.aims.append(Aim(f"seconds for {LINES:,} new groups, {store}", created.seconds, SECONDS))
        unchanged = _bulk(server, token, _body(folder, "free"), "unchanged")
        _add(result, store, "bulk, unchanged groups", unchanged, LINES)
        _add(
            result,
            store,
            "bulk, one changed property per group",
            _bulk(server, token, _body(folder, "pro"), "updated"),
            LINES,
        )
    for command in ("import", "sync"):
        spent = _command(folder, url, command)
        _add(result, store, f"`tenantry group {command}`, new groups", spent, LINES)
        result.aims.append(Aim(f"seconds for {LINES:,} groups by group {command}, {store}", spent.seconds, SECONDS))
    spent = _rotated(folder, url)
    _add(result, store, "`tenantry group rotate --all`", spent, LINES)
    each = spent.seconds / LINES
    result.aims.append(Aim(f"seconds for {ROTATED:,} groups by group rotate --all, {store}", ROTATED * each, SECONDS))


def _add(result: Table, store: str, what: str, spent: Spent, number: int) -> None:
    rate, each = number / spent.seconds, spent.processor / number * 1e6
    result.add(store, what, f"{rate:,.0f}", f"{spent.seconds * LINES / number:.1f}", f"{each:,.0f}")


@contextmanager
def _serving(folder: Path, app: str) -> Iterator[Server]:
    server = Server(folder, IMPORTS, app)
    try:
        yield server
    finally:
        server.stop()


async def _api_token(url: str) -> str:
    store = SQLStore(url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store.api_tokens, production, label="bench")
    await store.aclose()
    return secret


def _group(number: int, plan: str) -> bytes:
    group = {
        "user_group_id": f"customer-{number}",
        "name": f"Customer {number} Ltd",
        "properties": {"region": "eu", "plan": plan, "seats": number % 50},
    }
    return json.dumps(group).encode()


def _body(folder: Path, plan: str) -> Path:
    file = folder / f"{plan}.ndjson"
    with file.open("wb") as lines:
        for number in range(LINES):
            lines.write(_group(number, plan) + b"\n")
    return file


def _bulk(server: Server, token: str, body: Path, expected: str) -> Spent:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=600)
    headers = {
        "Authorization": f"Token {token}",
        "Content-Type": "application/x-ndjson",
        "Content-Length": str(body.stat().st_size),
    }
    before, started = server.processor(), time.perf_counter()
    with body.open("rb") as file:
        connection.request("POST", "/api/users/bulk", file, headers)
    last = b""
    for line in connection.getresponse():
        last = line
    seconds = time.perf_counter() - started
    connection.close()
    summary = json.loads(last)["summary"]
    if summary[expected] != LINES:
        raise RuntimeError(f"the bulk has not done what was asked: {summary}")
    return Spent(seconds, server.processor() - before)


def _command(folder: Path, url: str, command: str) -> Spent:
    """``group import`` or ``group sync`` of all groups, into an environment that has none."""
    body = _body(folder, "free")
    tenantry = [sys.executable, "-m", "tenantry"]
    store = ["--database", url]
    made = [*tenantry, "environment", "create", command, "--tag", "Customer", *store]
    subprocess.run(made, check=True, cwd=folder, capture_output=True)
    return _spent(
        folder, [*tenantry, "group", command, str(body), "--environment", command, *store], f"{LINES} created"
    )


def _rotated(folder: Path, url: str) -> Spent:
    """``group rotate --all`` of the groups that ``group import`` has made, with their new tokens in a file."""
    tokens = folder / "tokens.ndjson"
    tokens.unlink(missing_ok=True)
    words = ["--all", "--yes", "--environment", "import", "--tokens-to", str(tokens), "--database", url]
    return _spent(folder, [sys.executable, "-m", "tenantry", "group", "rotate", *words], f"{LINES:,} rotated")


def _spent(folder: Path, command: list[str], expected: str) -> Spent:
    before, started = _processor_of_children(), time.perf_counter()
    done = subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - started
    if not done.stderr.startswith(expected):
        raise RuntimeError(f"{' '.join(command[2:5])} has not done what was asked: {done.stderr}")
    return Spent(seconds, _processor_of_children() - before)


def _processor_of_children() -> float:
    """Seconds of all that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _one_by_one(server: Server, token: str) -> Spent:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=600)
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    before, started = server.processor(), time.perf_counter()
    for number in range(ALONE):
        connection.request("POST", "/api/user", _group(-1 - number, "free"), headers)
        connection.getresponse().read()
    seconds = time.perf_counter() - started
    connection.close()
    return Spent(seconds, server.processor() - before)
