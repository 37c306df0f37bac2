"""One load per token, whoever waits, whoever leaves, and whatever is written meanwhile."""

from __future__ import annotations

import asyncio
import gc

import pytest

from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.resolver import Resolver
from tenantry.resolver.loading import WAKEN_AT_ONCE
from tenantry.testing import make_group
from tests.resolver.fake import KEYS, PATIENT, FakeBackend, loads, unknown_token


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def resolver(backend: FakeBackend) -> Resolver:
    return Resolver(backend, keys=KEYS, staleness=PATIENT, patience=PATIENT)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_thousand_misses_cost_one_read(resolver: Resolver, backend: FakeBackend) -> None:
    """1,000 requests with one token at once: one read, 1,000 answers. Red when flights are not joined."""
    group, token = backend.issue()
    backend.gate = asyncio.Event()
    waiting = [asyncio.create_task(resolver.resolve(token)) for _ in range(1_000)]
    await settle()
    backend.gate.set()
    assert all(answer is group for answer in await asyncio.gather(*waiting))
    assert backend.reads == 1
    assert (resolver.counters.misses, resolver.counters.joined) == (1_000, 999)
    assert loads(resolver) == []
    assert resolver._cache._pending == {}


async def test_many_waiters_are_woken_a_few_at_a_time(resolver: Resolver, backend: FakeBackend) -> None:
    """Ten thousand live sockets of one group may wait for one load. Red when all are woken in one go."""
    _, token = backend.issue()
    backend.gate = asyncio.Event()
    iterations, woken = 0, list[int]()

    async def wait() -> None:
        await resolver.resolve(token)
        woken.append(iterations)

    waiting = [asyncio.create_task(wait()) for _ in range(5 * WAKEN_AT_ONCE)]
    await settle()
    backend.gate.set()
    while not all(task.done() for task in waiting):
        await asyncio.sleep(0)
        iterations += 1
    assert max(woken.count(number) for number in woken) <= WAKEN_AT_ONCE


async def test_a_refusal_is_shared_too(resolver: Resolver, backend: FakeBackend) -> None:
    """1,000 requests with one unknown token: one read, 1,000 refusals."""
    token = unknown_token()
    backend.gate = asyncio.Event()
    waiting = [asyncio.create_task(resolver.resolve(token)) for _ in range(1_000)]
    await settle()
    backend.gate.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(answer, InvalidToken) for answer in answers)
    assert backend.reads == 1


async def test_a_failure_is_shared_and_not_remembered(resolver: Resolver, backend: FakeBackend) -> None:
    """Everybody who waits gets the error; the next one asks again."""
    group, token = backend.issue()
    backend.gate = asyncio.Event()
    backend.error = OSError("down")
    waiting = [asyncio.create_task(resolver.resolve(token)) for _ in range(10)]
    await settle()
    backend.gate.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(answer, StoreUnavailable) for answer in answers)
    backend.error = None
    assert await resolver.resolve(token) is group


async def test_a_load_that_is_stopped_before_it_begins(resolver: Resolver, backend: FakeBackend) -> None:
    """Who waits gets StoreUnavailable, and the next one a load of his own. Red when only a load that has begun takes
    itself out of the list of loads: both would wait for ever."""
    group, token = backend.issue()
    waiting = asyncio.create_task(resolver.resolve(token))
    await asyncio.sleep(0)
    await resolver.aclose()
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(waiting, 120)
    assert await asyncio.wait_for(resolver.resolve(token), 120) is group


async def test_a_load_that_another_program_stops_before_it_begins(resolver: Resolver, backend: FakeBackend) -> None:
    """The next one gets a load of his own. Red when a load that is done can be joined."""
    group, token = backend.issue()
    waiting = asyncio.create_task(resolver.resolve(token))
    await asyncio.sleep(0)
    [load] = [task for task in asyncio.all_tasks() if task.get_name() == "tenantry.resolve"]
    load.cancel()
    waiting.cancel()
    await asyncio.sleep(0)
    assert await asyncio.wait_for(resolver.resolve(token), 120) is group


async def test_a_cancelled_leader_harms_nobody(resolver: Resolver, backend: FakeBackend) -> None:
    """The first of eleven is cancelled: the ten others are answered, by the same read. Red when the leader awaits the
    backend itself."""
    group, token = backend.issue()
    backend.gate = asyncio.Event()
    leader = asyncio.create_task(resolver.resolve(token))
    await settle()
    followers = [asyncio.create_task(resolver.resolve(token)) for _ in range(10)]
    await settle()
    leader.cancel()
    await settle()
    backend.gate.set()
    assert await asyncio.gather(*followers) == [group] * 10
    with pytest.raises(asyncio.CancelledError):
        await leader
    assert backend.reads == 1


async def test_a_load_that_all_have_left_still_fills_the_cache(resolver: Resolver, backend: FakeBackend) -> None:
    """Nobody waits any more, and nothing is left over."""
    group, token = backend.issue()
    backend.gate = asyncio.Event()
    only = asyncio.create_task(resolver.resolve(token))
    await settle()
    only.cancel()
    await settle()
    backend.gate.set()
    await settle()
    assert resolver.peek(token) is group
    assert loads(resolver) == []


async def test_a_load_that_a_write_overtook_is_never_stored(resolver: Resolver, backend: FakeBackend) -> None:
    """A read before the write, answered after it: who waited gets it, the cache does not. Red when the cache stores
    void loads (control: then peek gives the old group)."""
    old, token = backend.issue(properties={"region": "eu"})
    backend.gate = asyncio.Event()
    early = asyncio.create_task(resolver.resolve(token))
    await settle()
    new = make_group(handle=old.handle, revision=2, properties={"region": "us"})
    backend.write(new)
    late = asyncio.create_task(resolver.resolve(token))
    await settle()
    backend.gate.set()
    assert await early is old
    assert await late is new  # asked after the write, so it did not join the flight from before it
    assert backend.reads == 2
    assert resolver.peek(token) is new


async def test_a_process_without_slots_shares_no_read_that_has_begun(resolver: Resolver, backend: FakeBackend) -> None:
    """A process that has just started notices no write on its host before its first poll. Who asks after one must not
    be answered by a read from before it. Red when the versions of a table that was not opened yet count as
    unchanged."""
    old, token = backend.issue(token_version=1)
    backend.gate, backend.poll_gate = asyncio.Event(), asyncio.Event()
    early = asyncio.create_task(resolver.resolve(token))
    while not backend.reads:  # it waits a little for the poll
        await asyncio.sleep(0.01)
    backend.write(make_group(handle=old.handle, token_version=2, revision=2))
    late = asyncio.create_task(resolver.resolve(token))
    await settle()
    backend.gate.set()
    assert await early is old
    with pytest.raises(InvalidToken):
        await late
    backend.poll_gate.set()


async def test_requests_during_a_write_share_a_read_and_store_nothing(resolver: Resolver, backend: FakeBackend) -> None:
    """While a write is under way many misses are still one read; its answer is not stored. Red if an odd version counts
    as any other."""
    group, token = backend.issue()
    backend.table.before(group.handle)
    backend.gate = asyncio.Event()
    waiting = [asyncio.create_task(resolver.resolve(token)) for _ in range(50)]
    await settle()
    backend.gate.set()
    await asyncio.gather(*waiting)
    assert backend.reads == 1
    assert resolver.peek(token) is None
    backend.table.after(group.handle)
    await resolver.resolve(token)
    assert resolver.peek(token) is group


async def test_a_backend_that_never_answers_is_unavailable(backend: FakeBackend) -> None:
    """``patience`` ends the load."""
    resolver = Resolver(backend, keys=KEYS, patience=0.01)
    _, token = backend.issue()
    backend.gate = asyncio.Event()
    with pytest.raises(StoreUnavailable):
        await resolver.resolve(token)
    assert loads(resolver) == []


async def test_a_backend_that_cancels_itself_hangs_nobody(resolver: Resolver, backend: FakeBackend) -> None:
    """A CancelledError from inside a driver is StoreUnavailable for who waits, not their own cancellation."""
    _, token = backend.issue()
    backend.error = asyncio.CancelledError()
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(resolver.resolve(token), 120)


async def test_aclose_ends_what_is_under_way(resolver: Resolver, backend: FakeBackend) -> None:
    """Who waits gets StoreUnavailable; no task is left; the resolver can be used again."""
    group, token = backend.issue()
    backend.gate = asyncio.Event()
    waiting = asyncio.create_task(resolver.resolve(token))
    await settle()
    await resolver.aclose()
    with pytest.raises(StoreUnavailable):
        await waiting
    assert "tenantry.resolve" not in {task.get_name() for task in asyncio.all_tasks()}
    backend.gate = None
    assert await resolver.resolve(token) is group


def test_one_event_loop_after_another(backend: FakeBackend) -> None:
    """Loops that come and go, also one that dies with a load under way, leave nothing behind."""
    resolver = Resolver(backend, keys=KEYS, staleness=PATIENT, patience=PATIENT)
    group, token = backend.issue()

    async def abandon() -> None:
        backend.gate = asyncio.Event()
        waiting = asyncio.create_task(resolver.resolve(token))
        await settle()
        waiting.cancel()

    asyncio.run(abandon())
    backend.gate = None
    for _ in range(3):
        resolver.flush()
        assert asyncio.run(resolver.resolve(token)) is group
    assert loads(resolver) == []
    assert resolver._cache._pending == {}


def test_what_must_stop_the_loop_stops_it(backend: FakeBackend) -> None:
    """KeyboardInterrupt in a backend is not turned into an answer."""
    resolver = Resolver(backend, keys=KEYS, staleness=PATIENT, patience=PATIENT)
    _, token = backend.issue()
    backend.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(resolver.resolve(token))
    assert loads(resolver) == []
    backend.error = None
    gc.collect()  # asyncio logs the task's exception when the task goes: here, where the log is caught
