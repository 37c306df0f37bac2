"""S19: memory stays where it is, whatever is asked."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import secrets
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.host import Caller, Dashboards
from benchmarks.acceptance.fleet.site import Site
from tenantry import Resolver
from tenantry.errors import InvalidToken
from tenantry.groups import Tag, Token, UserGroup
from tenantry.testing import make_group
from tenantry.tokens import KeyRing, SigningKey, draft_token

_CAPACITY = 20_000


class _Everybody:
    """Finds a group for every second token, and nobody for the others."""

    def __init__(self) -> None:
        self._group = make_group()

    async def find(self, token: Token) -> UserGroup | None:
        return replace(self._group, handle=token.handle, token_version=token.version) if token.handle[-1] & 1 else None


def _resident(process: int | str = "self") -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def _growth(number: int) -> int:
    """How much larger this process is after so many distinct tokens than when its cache had just become full."""
    keys = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    resolver = Resolver(_Everybody(), keys=keys, capacity=_CAPACITY)

    async def ask(count: int) -> None:
        for _ in range(count):
            token = keys.mint(draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes))
            try:
                await resolver.resolve(token)
            except InvalidToken:
                continue

    await ask(_CAPACITY * 4)
    gc.collect()
    before = _resident()
    await ask(number)
    gc.collect()
    after = _resident()
    await resolver.aclose()
    return after - before


def _soak(effort: Effort, seconds: float) -> dict[str, float]:
    """Growth in bytes of a worker and of the server over the last third of a soak: rotations, new groups, refusals."""
    dice = effort.dice()
    with Site() as site:
        host = site.host()
        operator = site.operator(host)
        host.start(Dashboards(site.database, workers=1, staleness=1.0))
        server = host.serve(site.database)
        if server.child is None:
            raise RuntimeError("the server is not there")
        watched = {"dashboard": host.workers[0].process, "server": server.child.pid}
        tokens = [operator.create(f"soak-{number}") for number in range(50)]
        samples: dict[str, list[tuple[float, int]]] = {name: [] for name in watched}
        with Caller(server.port, operator.secret) as caller:
            began = time.monotonic()
            while (now := time.monotonic() - began) < seconds:
                for _ in range(50):
                    _one_step(dice, caller, tokens, host.workers[0].show)
                for name, process in watched.items():
                    samples[name].append((now, _resident(process)))
    return {name: _rise(points) for name, points in samples.items()}


def _one_step(dice: random.Random, caller: Caller, tokens: list[str], show: object) -> None:
    number = dice.randrange(len(tokens))
    old = tokens[number]
    answer = caller.rotate(old, secrets.token_hex(8)) if dice.random() < 0.2 else caller.get(f"soak-{number}")
    tokens[number] = answer.json()["user_group"]["token"]
    for token, status in ((tokens[number], 200), (old, 200 if old == tokens[number] else 401)):
        if show(token).status != status:  # type: ignore[operator]  # a worker's own
            raise AssertionError("a wrong answer during the soak")


def _rise(points: list[tuple[float, int]]) -> float:
    """By the line of least squares through the last third: its rise from end to end, in bytes."""
    late = points[len(points) * 2 // 3 :]  # pages and names are kept up to a bound that is reached by then
    mean_x = sum(x for x, _ in late) / len(late)
    mean_y = sum(y for _, y in late) / len(late)
    across = sum((x - mean_x) ** 2 for x, _ in late)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in late) / across if across else 0.0
    return slope * (late[-1][0] - late[0][0])


def memory(effort: Effort) -> Measured:
    """S19."""
    number = effort.pick(200_000, 1_000_000)
    growth = asyncio.run(_growth(number)) / 2**20
    effort.say(f"{growth:.1f} MiB after {number:,} tokens; now the soak")
    minutes = effort.pick(1, 10)
    rises = {name: rise / 2**20 for name, rise in _soak(effort, minutes * 60).items()}
    worst = max(rises.values())
    figure = f"{growth:+.1f} MiB after {number:,} tokens; soak of {minutes} min: {worst:+.2f} MiB in its last third"
    return Measured(figure, growth <= 5 and worst <= 1, {"growth_mib": growth, "soak_mib": rises})


_TARGET = "≤ 5 MiB; soak ≤ 1 MiB in its last third"
CHECKS = (Check("S19", "Memory after distinct tokens, and over a soak", _TARGET, memory, (180, 900)),)
