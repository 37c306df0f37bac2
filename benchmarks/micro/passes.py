"""A pass compared with the token that signed it: a hit, a miss, a forgery; and what many viewers of a group cost."""

from __future__ import annotations

import asyncio
import gc
import secrets
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import jwt

from benchmarks.harness.measure import Cell, compare, repeat
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.middleware import bare, scope_of
from benchmarks.micro.middleware import cell as through
from tenantry import Resolver, UserGroupMiddleware
from tenantry.errors import InvalidToken
from tenantry.groups import Token, UserGroup
from tenantry.testing import make_group
from tenantry.tokens import KeyRing, SigningKey
from tenantry.tokens.minting import mint_pass

KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
STALENESS = 3_600.0
ROUNDS = 9
BATCH = 100
"""Hits in one call of a cell, so that the call is not what is measured."""
VIEWERS = 10_000
DISTINCT = 1_000_000
CAPACITY = 20_000
VIEWER = {"region": "eu", "team": "blue"}
FULL_VIEWER = {f"name_{number}": f"value {number}" for number in range(60)}
"""Nearly as many attributes as a pass may have (64)."""
FULL_VIEWERS = 1_000


class OneGroup:
    """Finds the group of one token, and counts the reads."""

    def __init__(self) -> None:
        self.reads = 0
        self.group = make_group(properties={"region": "eu", "plan": "pro"})
        tag, version = self.group.environment.tag, self.group.token_version
        self.token = Token(tag, "k1", self.group.handle, version, secrets.token_bytes(16))

    async def find(self, token: Token) -> UserGroup | None:
        self.reads += 1
        return self.group if token.handle == self.group.handle else None


def _hits(resolver: Resolver, raw: bytes) -> Cell:
    async def cell(times: int) -> None:
        peek = resolver.peek
        for _ in range(times):
            for _ in range(BATCH):
                if peek(raw) is None:
                    raise AssertionError("it is no hit")

    return cell


def _refusals(resolver: Resolver, raw: bytes) -> Cell:
    async def cell(times: int) -> None:
        for _ in range(times):
            try:
                await resolver.resolve(raw)
            except InvalidToken:
                continue
            raise AssertionError("a forgery was accepted")

    return cell


def _first_uses(resolver: Resolver, made: Callable[[], bytes]) -> Cell:
    async def cell(times: int) -> None:
        for _ in range(times):
            await resolver.resolve(made())

    return cell


async def _compare(result: Table) -> None:
    backend = OneGroup()
    resolver = Resolver(backend, keys=KEYS, staleness=STALENESS)
    token = KEYS.mint(backend.token)
    raw, ada = token.encode(), mint_pass(token, "ada", VIEWER, seconds=86_400).encode()
    other = KeyRing([SigningKey("k1", secrets.token_bytes(32))]).mint(backend.token)
    forged, forged_pass = other.encode(), mint_pass(other, "ada", VIEWER).encode()
    bearer = ada.split(b".", 1)[1].decode()
    await resolver.resolve(ada)
    waiting = iter([mint_pass(token, f"v{number}", VIEWER).encode() for number in range(60_000)])
    app = UserGroupMiddleware(bare, resolver=resolver)
    figures = await compare(
        {
            "token: hit in the resolver": _hits(resolver, raw),
            "pass: hit in the resolver": _hits(resolver, ada),
            "token: a request by header": through(app, scope_of(raw)),
            "pass: a request by header": through(app, scope_of(ada)),
            "token: a request by cookie": through(app, _by_cookie(raw)),
            "pass: a request by cookie": through(app, _by_cookie(ada)),
            "token: forged": _refusals(resolver, forged),
            "pass: forged": _refusals(resolver, forged_pass),
            "pass: forged, of 3,000 characters": _refusals(
                resolver, mint_pass(other, "ada", {"a": "x" * 2_050}).encode()
            ),
            "pass: first use": _first_uses(resolver, lambda: next(waiting)),
            "PyJWT: decode alone": repeat(lambda: jwt.decode(bearer, token, algorithms=["HS256"])),
            "pass: made offline": repeat(lambda: mint_pass(token, "ada", VIEWER)),
        },
        rounds=ROUNDS,
    )
    for name in figures.rounds:
        size = BATCH if name.endswith("in the resolver") else 1
        result.add(name, f"{figures.median(name) / size:,.0f} ns")
    request = figures.ratio("pass: a request by header", "token: a request by header")
    refusal = figures.ratio("pass: forged", "token: forged")
    result.add("reads of the store for all of these", str(backend.reads))
    result.aims += [
        Aim("request with a cached pass, × with a cached token", request, 1.1),
        Aim("forged pass, × forged token", refusal, 2.0),
        Aim("reads for all forgeries", backend.reads - 1, 0),
    ]


def _by_cookie(raw: bytes) -> Callable[[], Any]:
    make = scope_of(raw, cookie=b"USER_GROUP_TOKEN=" + raw)

    def scope() -> Any:
        made = make()
        made["headers"] = [pair for pair in made["headers"] if pair[0] != b"x-user-group-token"]
        return made

    return scope


async def _many_viewers(result: Table) -> None:
    reads, size = await _memory_of(VIEWERS, VIEWER)
    _, full = await _memory_of(FULL_VIEWERS, FULL_VIEWER)
    result.add(f"reads for {VIEWERS:,} viewers of one group", str(reads))
    result.add("memory of a cached pass with two attributes", f"{size:,.0f} B")
    result.add("memory of a cached pass with 60 attributes", f"{full:,.0f} B")
    result.aims += [
        Aim(f"reads for {VIEWERS:,} viewers of one group", reads, 1),
        Aim("bytes of a cached pass with two attributes", size, 2_048),
    ]


async def _memory_of(viewers: int, attributes: dict[str, str]) -> tuple[int, float]:
    """Reads of the store, and bytes for each pass. All passes come at once, before anything is cached."""
    backend = OneGroup()
    resolver = Resolver(backend, keys=KEYS, staleness=STALENESS)
    token = KEYS.mint(backend.token)
    passes = [mint_pass(token, f"v{number}", attributes).encode() for number in range(viewers)]
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    await asyncio.gather(*map(resolver.resolve, passes))
    gc.collect()
    kept = (tracemalloc.get_traced_memory()[0] - before) / viewers
    tracemalloc.stop()
    return backend.reads, kept + sum(map(len, passes)) / viewers + 33  # the bytes of the passes were there before


async def _distinct(result: Table) -> None:
    """More passes than the cache takes. A turn of the loop is one resolution; those in which the garbage collector ran
    are told apart."""
    backend = OneGroup()
    resolver = Resolver(backend, keys=KEYS, staleness=STALENESS, pass_capacity=CAPACITY)
    token = KEYS.mint(backend.token)
    collected: list[int] = []
    gc.callbacks.append(lambda phase, _: collected.append(1) if phase == "stop" else None)
    longest, longest_with = 0.0, 0.0
    try:
        for number in range(DISTINCT):
            raw = mint_pass(token, f"v{number}", VIEWER).encode()
            runs, begun = len(collected), time.thread_time()
            await resolver.resolve(raw)
            took = time.thread_time() - begun
            if len(collected) == runs:
                longest = max(longest, took)
            else:
                longest_with = max(longest_with, took)
    finally:
        gc.callbacks.pop()
    result.add(f"cached after {DISTINCT:,} distinct passes", f"{resolver.cached_passes:,}")
    result.add("longest turn of these", f"{longest * 1e3:.2f} ms")
    result.add("longest turn with a garbage collection", f"{longest_with * 1e3:.1f} ms")
    result.aims += [
        Aim(f"cached after {DISTINCT:,} distinct passes", resolver.cached_passes, CAPACITY),
        Aim("longest turn, ms", longest * 1e3, 1.0),
    ]


def table() -> Table:
    """Runs it."""
    result = Table("Passes", ["what", "figure"])
    asyncio.run(_compare(result))
    asyncio.run(_many_viewers(result))
    asyncio.run(_distinct(result))
    return result
