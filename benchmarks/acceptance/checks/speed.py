"""S15 a cache hit, S17 durable rotations, S18 a herd: figures of this machine at this hour."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.acceptance.check import Check, Effort, Measured, quantile, spread
from tenantry import Resolver, UserGroupMiddleware
from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import Changes, GroupDraft, Issued, LookupResult, Tag, Token, UserGroup
from tenantry.ports import Slots
from tenantry.testing import make_token
from tenantry.tokens import KeyRing, SigningKey

_KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])


async def _bare(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _times(app: ASGIApp, token: bytes, number: int) -> list[float]:
    """Seconds of each call."""
    found = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        return

    for _ in range(number):
        headers = [(b"host", b"x"), (b"accept", b"*/*"), (b"x-user-group-token", bytes(bytearray(token)))]
        scope: Scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "query_string": b""}
        began = time.perf_counter_ns()
        await app(scope, receive, send)
        found.append((time.perf_counter_ns() - began) / 1e9)
    return found


async def _hits(number: int) -> tuple[list[float], int]:
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    issued = await store.groups.get_or_create(
        environment, GroupDraft("acme", "Acme", {"a": 1}), make_token(key_id="k1")
    )
    resolver = Resolver(store, keys=_KEYS)
    token = _KEYS.mint(issued.token).encode()
    app = UserGroupMiddleware(_bare, resolver=resolver)
    await _times(app, token, 2_000)
    await _times(_bare, token, 2_000)
    hits = resolver.counters.hits
    bare = quantile(await _times(_bare, token, number), 0.5)
    found = [each - bare for each in await _times(app, token, number)]
    hits = resolver.counters.hits - hits
    await resolver.aclose()
    return found, hits


def hit(effort: Effort) -> Measured:
    """S15: what the middleware adds to the app, call by call."""
    number = effort.pick(200_000, 1_000_000)
    found, hits = asyncio.run(_hits(number))
    p50, p99 = quantile(found, 0.5), quantile(found, 0.99)
    figure = f"{spread(found)} of {hits:,} hits"
    ok = p50 <= 10e-6 and p99 <= 50e-6 and hits >= 0.99 * number
    return Measured(figure, ok, {"p50": p50, "p99": p99, "hits": hits})


async def _rotations(url: str, run: Path, seconds: float) -> float:
    store = SQLStore(url, deadline=60, run_dir=run)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    end = time.monotonic() + seconds

    async def one(name: str) -> int:
        issued: Issued = await store.groups.get_or_create(environment, GroupDraft(name, "G"), make_token())
        done = 0
        while time.monotonic() < end:
            issued = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
            done += 1
        return done

    began = time.monotonic()
    total = sum(await asyncio.gather(*(one(f"g{number}") for number in range(16))))
    taken = time.monotonic() - began
    await store.aclose()
    return total / taken


def rotations(effort: Effort) -> Measured:
    """S17: sixteen callers of one store in one process, each rotation on the disk before it returns."""
    with tempfile.TemporaryDirectory(prefix="tenantry-rotations-") as name:
        url = f"sqlite:///{name}/t.db"
        migrate(url)
        rate = asyncio.run(_rotations(url, Path(name), effort.pick(5, 20)))
    return Measured(f"{rate:,.0f}/s", rate >= 1_500, {"rate": rate})


class _Counted:
    """A store whose reads are counted and take a moment."""

    def __init__(self, store: SQLStore) -> None:
        self._store = store
        self.reads = 0

    async def find(self, token: Token) -> UserGroup | None:
        return (await self.read_at_snapshot(token, fresh=True)).group

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        self.reads += 1
        await asyncio.sleep(0.01)
        return await self._store.read_at_snapshot(token, fresh=fresh)

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        return await self._store.changes(since, lease=lease)

    @property
    def slots(self) -> Slots | None:
        return self._store.slots


async def _herd(url: str, run: Path, rounds: int) -> list[int]:
    store = SQLStore(url, run_dir=run)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    counted = _Counted(store)
    resolver = Resolver(counted, keys=_KEYS)
    found = []
    for number in range(rounds):
        issued = await store.groups.get_or_create(environment, GroupDraft(f"g{number}", "G"), make_token(key_id="k1"))
        token = _KEYS.mint(issued.token)
        before = counted.reads
        groups = await asyncio.gather(*(resolver.resolve(token) for _ in range(1_000)))
        found.append(counted.reads - before if {group.provided_id for group in groups} == {f"g{number}"} else -1)
    await resolver.aclose()
    await store.aclose()
    return found


def herd(effort: Effort) -> Measured:
    """S18: a thousand requests for one group that is not cached, at once."""
    with tempfile.TemporaryDirectory(prefix="tenantry-herd-") as name:
        url = f"sqlite:///{name}/t.db"
        migrate(url)
        found = asyncio.run(_herd(url, Path(name), effort.pick(20, 100)))
    most = max(found)
    return Measured(
        f"{most} read in each of {len(found)} herds" if set(found) == {1} else f"{found} reads",
        set(found) == {1},
        {"reads": found},
    )


CHECKS = (
    Check("S15", "Latency that the middleware adds to a cached request", "p50 ≤ 10 µs, p99 ≤ 50 µs", hit, (60, 180)),
    Check("S17", "Durable rotations on SQLite", "≥ 1,500/s", rotations, (30, 60)),
    Check("S18", "Reads for 1,000 simultaneous misses of one group", "1 for a process", herd, (60, 120)),
)
