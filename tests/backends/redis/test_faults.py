"""Valkey is never believed: whatever befalls it, no worker accepts what was rotated away, and every group resolves."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator

import pytest

from engines.line import line_to
from engines.valkey import Valkey
from tenantry.aio.backoff import FAILURES
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.groups import GroupChanges, Issued, Token
from tenantry.testing import MemoryStore
from tests.backends.redis.conftest import PATIENCE, Counted, Worker, create, rotate, until, written


class Fleet:
    """Two hosts before one store of record, and everything that was rotated away so far."""

    def __init__(self, store: MemoryStore, backends: list[RedisBackend]) -> None:
        self.store = store
        self.backends = backends
        self.workers = [Worker(backend) for backend in backends]
        self.dead: list[Token] = []
        self.live: list[Issued] = []

    async def warm(self) -> None:
        for worker in self.workers:
            for issued in self.live:
                assert await worker.resolve(issued.token) is not None
        for backend in self.backends:
            await written(backend)

    async def rotate_all(self) -> None:
        self.dead += [issued.token for issued in self.live]
        self.live = [await rotate(self.store, issued) for issued in self.live]

    async def check(self) -> None:
        """0 stale accepts, and no group is lost or shown as it was before. The dead come first, while what would
        take them is still there."""
        for worker in self.workers:
            for token in self.dead:
                assert await worker.resolve(token) is None
            for issued in self.live:
                assert await worker.resolve(issued.token) == issued.group


@pytest.fixture
def budget() -> float:
    """Of a look at the server: a busy machine is no fault. Short where a test freezes the server."""
    return PATIENCE


freezing = pytest.mark.parametrize("budget", [0.25])


@pytest.fixture
async def fleet(
    store: MemoryStore, origin: Counted, valkey: Valkey, budget: float, patient: None
) -> AsyncIterator[Fleet]:
    backends = [RedisBackend(origin, valkey.url, budget=budget) for _ in range(2)]
    fleet = Fleet(store, backends)
    fleet.live = [await create(store, str(number)) for number in range(10)]
    await fleet.warm()
    yield fleet
    valkey.thaw()
    for backend in backends:
        await backend.aclose()


async def test_an_old_dump_brings_nobody_back(fleet: Fleet, valkey: Valkey) -> None:
    """The dump of before a rotation is restored after it: the entries of the old tokens are there again.

    Red when the generation of an entry is not judged (or not kept with it): all 10 old tokens came back.
    """
    old = valkey.dump()
    await fleet.rotate_all()
    await fleet.warm()
    valkey.restore(old)
    assert len(valkey.stored()) == 10
    await fleet.check()
    await fleet.check()
    assert sum(backend.counters.hits for backend in fleet.backends) > 0


async def test_a_killed_server_costs_nothing_but_reads(
    fleet: Fleet, valkey: Valkey, caplog: pytest.LogCaptureFixture
) -> None:
    """Killed, then away, then back and empty: right answers throughout. Each host logs one outage and one return."""
    valkey.kill()
    await fleet.rotate_all()
    await fleet.check()
    assert all(backend._breaker.is_open for backend in fleet.backends)
    assert all(backend.counters.skipped > 0 for backend in fleet.backends)
    valkey.start()
    await fleet.rotate_all()

    async def back() -> bool:
        await fleet.check()
        return not any(backend._breaker.is_open for backend in fleet.backends)

    await until(back)
    assert caplog.text.count("does not answer") == caplog.text.count("answers again") == 2
    hits = sum(backend.counters.hits for backend in fleet.backends)
    await fleet.warm()
    await fleet.check()
    assert sum(backend.counters.hits for backend in fleet.backends) > hits


@freezing
async def test_a_frozen_server_costs_the_budget_and_then_nothing(fleet: Fleet, valkey: Valkey, origin: Counted) -> None:
    """A look waits for the budget and asks the origin; after some it waits no more. Thawed, nothing late is believed.

    Red without the budget (the look hangs), and without the breaker (every look waits).
    """
    before = [backend.counters.errors for backend in fleet.backends]
    valkey.freeze()
    await fleet.rotate_all()
    async with asyncio.timeout(120):
        await fleet.check()
    for backend, errors in zip(fleet.backends, before, strict=True):
        assert backend.counters.errors - errors <= 2 * FAILURES
        assert backend.counters.skipped > 0
    valkey.thaw()
    await fleet.check()


async def test_a_flushed_server_is_filled_again(fleet: Fleet, valkey: Valkey) -> None:
    """FLUSHALL takes the tombstones away too, and the script with SCRIPT FLUSH."""
    fleet.store.subscribe(fleet.backends[0])
    await fleet.rotate_all()
    await written(fleet.backends[0])
    valkey.flush()
    valkey.execute("SCRIPT", "FLUSH")
    await fleet.check()
    await fleet.warm()
    assert len(valkey.stored()) == 10


async def test_a_delayed_writer_undoes_nothing(
    fleet: Fleet, store: MemoryStore, origin: Counted, valkey: Valkey
) -> None:
    """A host whose line is held up reads a group, and its entry arrives after the group was rotated and announced.

    Red when the script sets without comparing: the old entry then replaced the tombstone (and only the generation in
    it kept the old token out).
    """
    fleet.store.subscribe(fleet.backends[0])
    async with line_to(valkey.url) as (line, url):
        slow = RedisBackend(origin, url, budget=PATIENCE)
        await slow.changes(None)
        issued = await create(store, "slow")
        await slow.read_at_snapshot(issued.token, fresh=False)
        await written(slow)
        (key,) = [key for key in valkey.stored() if issued.token.handle.hex() in key]
        valkey.execute("DEL", key)
        line.hold()
        await slow.read_at_snapshot(issued.token, fresh=True)  # its entry of this generation is on the line now
        await until(lambda: line.held > 0)
        fleet.live.append(issued)
        await fleet.rotate_all()
        await written(fleet.backends[0])
        tombstone = valkey.execute("GET", key)
        line.release()
        await written(slow)
        assert valkey.execute("GET", key) == tombstone
        await fleet.check()
        await slow.aclose()


async def test_a_clock_that_jumped_changes_nothing(fleet: Fleet, valkey: Valkey) -> None:
    """Lifetimes run by the server's clock, truth by generations: keys that never end, and an entry put back by hand."""
    old = {key: valkey.execute("GET", key) for key in valkey.stored()}
    await fleet.rotate_all()
    for key, value in old.items():
        valkey.execute("SET", key, value)  # as if its lifetime had been a year
    await fleet.check()
    assert all(backend.counters.hits > 0 for backend in fleet.backends)


@freezing
async def test_random_faults(fleet: Fleet, valkey: Valkey) -> None:
    """Rotations and updates between random faults, every old token tried on both hosts after each step."""
    fleet.store.subscribe(fleet.backends[0])
    dumps = [valkey.dump()]
    seed = secrets.randbits(32)
    chance = random.Random(seed)
    for step in range(25):
        what = chance.choice(["dump", "restore", "flush", "kill", "freeze", "rotate", "update", "rotate", "nothing"])
        match what:
            case "dump":
                dumps.append(valkey.dump())
            case "restore":
                valkey.restore(chance.choice(dumps))
            case "flush":
                valkey.flush()
            case "kill":
                valkey.kill()
            case "freeze":
                valkey.freeze()
            case "rotate":
                index = chance.randrange(len(fleet.live))
                fleet.dead.append(fleet.live[index].token)
                fleet.live[index] = await rotate(fleet.store, fleet.live[index])
            case "update":
                index = chance.randrange(len(fleet.live))
                issued = fleet.live[index]
                name = GroupChanges(name=f"step {step}")
                fleet.live[index] = await fleet.store.groups.update(
                    issued.group.environment, issued.group.provided_id, name
                )
        try:
            await fleet.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, step {step}: {what}") from error
        valkey.thaw()
        valkey.start()
