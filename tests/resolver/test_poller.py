"""When polls come, on which loop, and what is left of them afterwards."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
import weakref

import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Tag
from tenantry.ports import EvictionListener
from tenantry.resolver import Resolver, monotonic_with_suspend
from tenantry.resolver import bus_subscriptions as subscriptions_module
from tenantry.resolver import poller as poller_module
from tests.resolver.fake import KEYS, PATIENT, FakeBackend, FindBackend


class FakeBus:
    """Answers what it was given, and fails on demand."""

    def __init__(self) -> None:
        self.listeners: list[EvictionListener] = []
        self.running = 0
        self.error: Exception | None = None

    async def follow(self, listener: EvictionListener) -> None:
        self.listeners.append(listener)
        self.running += 1
        try:
            if self.error is not None:
                raise self.error
            await asyncio.Event().wait()
        finally:
            self.running -= 1


async def until(condition: object) -> None:
    """Waits, generously, for what must come."""
    assert callable(condition)
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


def test_the_boot_clock_goes_on() -> None:
    """Seconds, never back."""
    first = monotonic_with_suspend()
    assert 0 <= monotonic_with_suspend() - first < 3_600


async def test_polls_follow_one_another_and_keep_the_lease(backend: FakeBackend) -> None:
    """Every fifth of the staleness bound, without a request. Red when _run sets no timer."""
    resolver = Resolver(backend, keys=KEYS, staleness=0.5)
    group, token = backend.issue()
    await resolver.resolve(token)
    await until(lambda: backend.polls >= 8)
    await resolver.aclose()
    polls = backend.polls
    assert resolver.peek(token) is None
    await asyncio.sleep(0.3)
    assert backend.polls == polls
    assert await resolver.resolve(token) is group  # and it can be used again
    assert backend.polls > polls
    await resolver.aclose()
    assert not {task.get_name() for task in asyncio.all_tasks()} & {"tenantry.poll", "tenantry.bus"}


async def test_an_idle_app_polls_no_more_until_its_next_request(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it follow buses. A hit counts as a request. Red when tick() does not look at what was used."""
    monkeypatch.setattr(poller_module, "IDLE", 0.3)
    bus = FakeBus()
    resolver = Resolver(backend, keys=KEYS, staleness=0.2, buses=[bus])
    group, token = backend.issue()
    await resolver.resolve(token)
    await until(lambda: bus.listeners and bus.running == 0)
    polls = backend.polls
    await asyncio.sleep(0.2)
    assert backend.polls == polls
    assert await resolver.resolve(token) is group
    await until(lambda: backend.polls > polls + 1 and len(bus.listeners) == 2)
    await resolver.aclose()
    assert bus.running == 0


async def test_the_lease_ends_with_the_polls(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next request polls again, and its stream stays open. Red when the lease outlives the polls: who
    watches a token takes a lease that nobody extends for an outage, and a page said that its token had ended."""
    monkeypatch.setattr(poller_module, "IDLE", 0.3)
    resolver = Resolver(backend, keys=KEYS, staleness=60)
    monkeypatch.setattr(resolver._poller, "_interval", 0.05)
    group, token = backend.issue()
    await resolver.resolve(token)
    assert resolver.lease_age is not None
    await until(lambda: resolver.lease_age is None)
    assert resolver.peek(token) is None
    assert await resolver.resolve(token) is group
    assert resolver.lease_age is not None
    await resolver.aclose()
    assert resolver.lease_age is None


async def test_an_app_that_only_queries_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job may hold a group and read data sources by it, and resolve no token. Red when only tokens count as use: the
    polls would end after each IDLE, and the buses be followed anew."""
    monkeypatch.setattr(poller_module, "IDLE", 2.0)
    store, bus = MemoryStore(), FakeBus()
    resolver = Resolver(store, keys=KEYS, staleness=0.5, buses=[bus])
    environment = await store.environments.create("production", Tag.CUSTOMER)
    lease = store.sources.source_cache
    assert lease is not None
    assert await lease.read_source(store.sources, environment, "none") is None
    await until(lambda: bus.listeners)
    for _ in range(10):  # where this process stood still for as long as IDLE, it was idle
        followed, begun = len(bus.listeners), time.monotonic()
        while time.monotonic() - begun < 3.5:
            assert await lease.read_source(store.sources, environment, "none") is None
            await asyncio.sleep(0.01)
        if len(bus.listeners) == followed:
            break
    assert len(bus.listeners) == followed
    await resolver.aclose()


def test_the_next_loop_takes_over(backend: FakeBackend) -> None:
    """A loop ends with its polls; the next one's first request begins them again, and nothing complains. Red when
    ensure_running() does not check whether its loop is running."""
    resolver = Resolver(backend, keys=KEYS, staleness=60)
    group, token = backend.issue()
    for polls in (1, 2, 3):
        resolver.flush()
        assert asyncio.run(resolver.resolve(token)) is group
        assert backend.polls == polls


def test_a_loop_that_is_closed_over_a_poll_is_collected(backend: FakeBackend, caplog: pytest.LogCaptureFixture) -> None:
    """Nor does it say that a task was destroyed. Red when the warning of the poll's task is not silenced."""
    resolver = Resolver(backend, keys=KEYS)
    _, token = backend.issue()
    backend.poll_gate = asyncio.Event()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(resolver.resolve(token))  # answered, while the poll is still out
    loop.close()
    backend.poll_gate = None
    asyncio.run(resolver.resolve(token))
    kept = weakref.ref(loop)
    del loop
    gc.collect()
    assert kept() is None
    assert "destroyed" not in caplog.text


def test_a_loop_that_is_closed_in_the_very_moment_of_a_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own thread, after another one has seen it open. Red when that fails the request of the other."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(asyncio.sleep(60))
    subscriptions_module.silence_destroy_warning(task)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    monkeypatch.setattr(loop, "is_closed", lambda: False)
    with pytest.raises(RuntimeError):
        loop.call_soon_threadsafe(print)
    poller_module._cancel(task)
    subscriptions_module._cancel(weakref.ref(loop), [task])


async def test_a_resolver_that_nobody_holds_goes(backend: FakeBackend) -> None:
    """Neither its timer nor its buses keep it; its buses end. Red when the timer holds the poller itself, or the bus
    the resolver."""
    bus = FakeBus()
    resolver = Resolver(backend, keys=KEYS, staleness=0.2, buses=[bus])
    _, token = backend.issue()
    await resolver.resolve(token)
    await until(lambda: bus.running == 1 and backend.polls > 1)
    gone = weakref.ref(resolver)
    del resolver

    def is_gone() -> bool:
        gc.collect()
        return gone() is None and bus.running == 0

    await until(is_gone)
    bus.listeners[0].evict(b"whatever", 1)  # to nobody
    bus.listeners[0].flush()


def test_loops_in_several_threads_share_one_poll(backend: FakeBackend) -> None:
    """Four loops at once: one polls, all have its lease. Red when wake() takes no turn."""
    resolver = Resolver(backend, keys=KEYS, staleness=60)
    group, token = backend.issue()
    ready, done = threading.Barrier(4), threading.Barrier(4)
    answers: list[object] = []

    async def serve() -> None:
        ready.wait(120)
        answers.append(await resolver.resolve(token))
        await asyncio.sleep(0.05)
        done.wait(120)

    threads = [threading.Thread(target=asyncio.run, args=(serve(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert answers == [group] * 4
    assert backend.polls == 1


async def test_a_bus_notifies_the_resolver(backend: FakeBackend) -> None:
    """Through a listener that does not keep it alive, also where the backend has only ``find``."""
    for kind in (backend, FindBackend()):
        bus = FakeBus()
        resolver = Resolver(kind, keys=KEYS, buses=[bus], staleness=PATIENT, patience=PATIENT)
        group, token = kind.issue()
        await resolver.resolve(token)
        await until(lambda bus=bus: bus.running == 1)
        assert resolver.peek(token) is group
        bus.listeners[0].evict(group.handle, 99)
        assert resolver.peek(token) is None
        await resolver.aclose()
        assert bus.running == 0


async def test_a_bus_that_crashes_is_followed_again(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its message stays out of the log; a bus that cannot be followed at all does not empty the cache. Red when
    ``_follow_forever`` ends with the first error."""
    monkeypatch.setattr(subscriptions_module, "LONGEST_PAUSE", 0.01)
    bus = FakeBus()
    bus.error = ConnectionError("redis://:hunter2@cache")
    resolver = Resolver(backend, keys=KEYS, buses=[bus], staleness=PATIENT, patience=PATIENT)
    group, token = backend.issue()
    with caplog.at_level(logging.ERROR):
        await resolver.resolve(token)
        await until(lambda: len(bus.listeners) >= 3)
    assert resolver.peek(token) is group
    assert "ConnectionError" in caplog.text
    assert "hunter2" not in caplog.text
    monkeypatch.setattr(subscriptions_module, "CONNECTED", 0.0)
    await until(lambda: resolver.peek(token) is None)
    bus.error = None
    await until(lambda: bus.running == 1)
    await resolver.aclose()


def test_a_loop_that_ends_under_its_buses_does_not_complain(
    backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    """asyncio.run cancels them; a loop that is simply closed says nothing either."""
    bus = FakeBus()
    resolver = Resolver(backend, keys=KEYS, buses=[bus])
    _, token = backend.issue()
    asyncio.run(resolver.resolve(token))
    loop = asyncio.new_event_loop()
    resolver.flush()
    loop.run_until_complete(resolver.resolve(token))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    del resolver, loop
    gc.collect()
    assert "destroyed" not in caplog.text
