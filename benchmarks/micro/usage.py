"""What counting costs: a cache hit, compared with the same code without counting; a query; and the store."""

from __future__ import annotations

import ast
import asyncio
import inspect
import secrets
import tempfile
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness.measure import WALL, Cell, compare, repeat, repeat_async, run
from benchmarks.harness.table import Aim, Table
from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import GroupDraft, HourlyUsage, Tag, Usage, UsageBatch, UsageKey
from tenantry.resolver import Resolver, resolver
from tenantry.tokens import KeyRing, SigningKey, draft_token
from tenantry.usage import UsageRecorder
from tenantry.usage.recorder import BATCH_ROWS

KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
STALENESS = 600.0
BATCH = 100
"""Hits in one call of a cell, so that the call is not what is measured."""


def _without_counting() -> Callable[[Resolver, bytes], Any]:
    """``Resolver.peek`` without the statement that counts: compiled from its own source, so that all else is alike."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(Resolver.peek))).body
    assert isinstance(function, ast.FunctionDef)
    kept = [each for each in function.body if "count_hit" not in ast.unparse(each)]
    assert len(kept) == len(function.body) - 1, "Resolver.peek counts in another way now"
    function.body = kept
    names: dict[str, Any] = dict(vars(resolver))
    exec(compile("from __future__ import annotations\n" + ast.unparse(function), "peek", "exec"), names)
    peek: Callable[[Resolver, bytes], Any] = names["peek"]
    return peek


def _hits(peek: Callable[[bytes], Any], raw: bytes) -> Cell:
    async def cell(times: int) -> None:
        for _ in range(times):
            for _ in range(BATCH):
                if peek(raw) is None:
                    raise AssertionError("it is no hit")

    return cell


async def _warm() -> tuple[Resolver, bytes]:
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    token = draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)
    await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), token)
    warm, raw = Resolver(store, keys=KEYS, staleness=STALENESS), KEYS.mint(token).encode()
    await warm.resolve(raw)
    return warm, raw


def _batches(url: str) -> Cell:
    """Batches of as many rows as one has at most, which are there from the second time on."""
    store, number = SQLStore(url), iter(range(1, 1 << 30))
    hour = datetime(2026, 11, 1, tzinfo=UTC)
    rows = [
        HourlyUsage(hour, UsageKey("production", f"group-{at}", "ds_1"), Usage(1, 2, 0.3)) for at in range(BATCH_ROWS)
    ]

    async def add() -> None:
        await store.usage.add(UsageBatch(b"w" * 16, next(number), rows))

    return repeat_async(add)


def table() -> Table:
    """Runs it."""
    warm, raw = asyncio.run(_warm())
    plain = _without_counting().__get__(warm)
    hit, uncounted = "a hit, counted", "a hit, not counted"
    figures = run({hit: _hits(warm.peek, raw), uncounted: _hits(plain, raw)})
    result = Table("Usage by group", ["what", "ns", "× uncounted hit"])
    for name in (uncounted, hit):
        result.add(name, f"{figures.median(name) / BATCH:,.0f}", f"{figures.ratio(name, uncounted):.2f}")
    recorder = UsageRecorder(MemoryStore().usage, STALENESS)
    nothing, query = "nothing", "counting a query"
    added = run({
        nothing: repeat(lambda: None),
        query: repeat(lambda: recorder.add("production", "acme", source="ds_1", queries=1, rows=10)),
    })  # fmt: skip
    result.add(query, f"{added.net(query, nothing):,.0f}", "")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        migrate(url)
        batch = f"writing {BATCH_ROWS} rows to SQLite"
        sent = asyncio.run(compare({batch: _batches(url)}, rounds=7, clock=WALL))
        result.add(batch, f"{sent.median(batch):,.0f}", "")
    result.aims = [Aim("counting a hit, ns", figures.net(hit, uncounted) / BATCH, 30)]
    return result
