"""RedisBus on a real Valkey: notified at once; lost, frozen, silent or flooded: a flush, and it goes on."""

from __future__ import annotations

import asyncio
import gc
import secrets
import threading

import pytest

from engines.line import line_to
from engines.valkey import Valkey
from tenantry.backends.buses import RedisBus
from tenantry.backends.buses.subscription import EVICTIONS, PROBE
from tenantry.errors import InvalidSettings
from tenantry.groups import GroupDraft, Tag, write_notice
from tenantry.testing import MemoryStore, make_token
from tests.backends.buses.conftest import following, until, until_heard

HANDLE = bytes(range(8))


@pytest.mark.usefixtures("patient")
async def test_a_write_is_announced(valkey: Valkey) -> None:
    """A store that the bus is subscribed to notifies all who follow, itself too. Nothing but notices is sent: no token,
    nonce or property."""
    bus = RedisBus(valkey.url)
    store = MemoryStore()
    store.subscribe(bus)
    async with following(bus, RedisBus(valkey.url)) as listeners, Monitor(valkey) as monitor:
        environment = await store.environments.create("production", Tag.CUSTOMER)
        issued = await store.groups.get_or_create(
            environment, GroupDraft("acme", "A", {"canary": "s3cret"}), make_token()
        )
        handle = issued.token.handle
        await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
        await until(lambda: all(listener.evicted for listener in listeners))
        await store.groups.delete(environment, "acme")
        await until(lambda: all(len(listener.evicted) == 2 for listener in listeners))
        assert [listener.evicted for listener in listeners] == [[(handle, 1), (handle, 2)]] * 2
        await bus.aclose()
        await until(lambda: len(monitor.published()) == 2)
    assert monitor.published() == [f'"PUBLISH" "tenantry" "{write_notice("-", each, handle)}"' for each in (1, 2)]
    assert "s3cret" not in monitor.text
    assert "acme" not in monitor.text


class Monitor:
    """MONITOR: all that the server is sent while it is open."""

    def __init__(self, valkey: Valkey) -> None:
        self._port = valkey.port
        self.text = ""

    def published(self) -> list[str]:
        """But for what a bus sends to itself while nothing is written."""
        lines = [line for line in self.text.splitlines() if '"PUBLISH"' in line and f'"{PROBE}' not in line]
        return [line.partition("] ")[2] for line in lines]

    async def __aenter__(self) -> Monitor:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(b"MONITOR\r\n")
        assert await self._reader.readline() == b"+OK\r\n"
        self._task = asyncio.create_task(self._read())
        return self

    async def _read(self) -> None:
        while line := await self._reader.readline():
            self.text += line.decode()

    async def __aexit__(self, *exc: object) -> None:
        self._task.cancel()
        self._writer.close()
        await self._writer.wait_closed()


@pytest.mark.usefixtures("patient")
async def test_only_the_newest_of_a_handle_is_sent(valkey: Valkey) -> None:
    """A group that is written to a hundred times in one tick is one message."""
    bus = RedisBus(valkey.url)
    async with following(bus) as (listener,):
        for generation in (*range(1, 101), 50):
            bus.changed(HANDLE, generation)
        await until(lambda: listener.evicted)
        await bus.aclose()
        assert listener.evicted == [(HANDLE, 100)]


@pytest.mark.usefixtures("patient")
async def test_channels_are_apart(valkey: Valkey) -> None:
    """Two stores on one server may have a channel each."""
    one, other = RedisBus(valkey.url, channel="one"), RedisBus(valkey.url, channel="other")
    async with following(one, other) as listeners:
        one.changed(HANDLE, 1)
        await until(lambda: listeners[0].evicted)
        other.changed(HANDLE, 2)
        await until(lambda: listeners[1].evicted)
    assert [listener.evicted for listener in listeners] == [[(HANDLE, 1)], [(HANDLE, 2)]]
    await one.aclose()
    await other.aclose()


@pytest.mark.usefixtures("patient")
async def test_a_restarted_server_is_followed_again(valkey: Valkey, caplog: pytest.LogCaptureFixture) -> None:
    """Killed: a flush. Back: another one, for what was sent meanwhile is lost; then it receives. One outage, two lines.

    Red when nothing flushes: what was cached before the loss stays until a poll.
    """
    bus = RedisBus(valkey.url)
    async with following(bus) as (listener,):
        valkey.kill()
        await until(lambda: listener.flushes == 2)
        bus.changed(HANDLE, 7)  # is queued, and sent when the server is back
        valkey.start()
        await until(lambda: listener.flushes == 3)
        bus.changed(HANDLE, 8)
        await until(lambda: (HANDLE, 8) in listener.evicted)
        assert listener.flushes == 3
    assert caplog.text.count("is lost") == caplog.text.count("delivers again") == 1
    await bus.aclose()


@pytest.mark.usefixtures("patient")
async def test_a_message_that_is_lost_is_made_up_for(valkey: Valkey) -> None:
    """A reader whose connection is cut misses a message and gets no error from the server; it flushes on return."""
    bus = RedisBus(valkey.url)
    async with following(bus) as (listener,):
        valkey.execute("CLIENT", "KILL", "TYPE", "PUBSUB")
        valkey.execute("PUBLISH", "tenantry", write_notice("-", 9, HANDLE))  # to nobody
        await until(lambda: listener.flushes == 3)
        assert listener.evicted == []
        assert bus.counters.losses >= 1


async def test_a_frozen_server_is_noticed(valkey: Valkey) -> None:
    """It holds the connection and sends nothing. Red without the heartbeat: no flush ever."""
    bus = RedisBus(valkey.url)
    async with following(bus) as (listener,):
        before = listener.flushes
        valkey.freeze()
        await until(lambda: listener.flushes > before)
        before = listener.flushes
        valkey.thaw()
        await until(lambda: listener.flushes > before)
        await until_heard(listener, lambda: valkey.execute("PUBLISH", "tenantry", write_notice("-", 9, HANDLE)))


async def test_a_black_hole_is_noticed(valkey: Valkey) -> None:
    """A line that swallows everything shows no error at all."""
    async with line_to(valkey.url) as (line, url):
        bus = RedisBus(url)
        async with following(bus) as (listener,):
            before = listener.flushes
            line.hold()
            await until(lambda: listener.flushes > before)
            before = listener.flushes
            line.release()
            await until(lambda: listener.flushes > before)


async def test_silence_alone_is_no_loss(valkey: Valkey) -> None:
    """A server that has nothing to tell answers the heartbeat: it stays one connection, without a flush.

    Red when silence is measured without asking (checked: neither a PING nor a probe).
    """
    for _ in range(5):  # a machine that stands still for seconds is a loss
        bus = RedisBus(valkey.url)
        async with following(bus) as (listener,):
            first = valkey.execute("CLIENT", "LIST", "TYPE", "PUBSUB").split()[0]
            await asyncio.sleep(4)
            if bus.counters.losses:
                continue
            assert valkey.execute("CLIENT", "LIST", "TYPE", "PUBSUB").split()[0] == first
            assert listener.flushes == 1
            return
    raise AssertionError("it was lost each time")


@pytest.mark.usefixtures("patient")
async def test_a_flood_of_forgeries_is_bounded(valkey: Valkey) -> None:
    """Whoever may publish can make a worker evict 1,000 handles a second and flush once: never more, and the line
    stays up. Junk costs nothing but its count."""
    bus = RedisBus(valkey.url)
    junk = ["x", "- 1 00", "", "s3cret" * 100]
    async with following(bus) as (listener,):
        publish = "for i = 1, 20000 do redis.call('PUBLISH', 'tenantry', '- 1 ' .. string.format('%016x', i)) end"
        for each in junk:
            valkey.execute("PUBLISH", "tenantry", each)
        started = asyncio.get_running_loop().time()
        valkey.execute("EVAL", publish, 0)
        await until(lambda: bus.counters.heard + bus.counters.held_back == 20_000)
        await until(lambda: listener.flushes >= 2)
        seconds = asyncio.get_running_loop().time() - started
        assert len(listener.evicted) <= EVICTIONS * (int(seconds) + 1)
        assert listener.flushes <= int(seconds) + 2  # the first, and one a second
        assert (bus.counters.ignored, bus.counters.losses) == (len(junk), 0)


async def test_a_server_that_is_away_at_first(valkey: Valkey) -> None:
    """A worker may start before its Redis."""
    bus = RedisBus(valkey.url)
    valkey.kill()
    task = asyncio.create_task(_first_flush(bus))
    await until(lambda: bus.counters.losses >= 2)
    valkey.start()
    await asyncio.wait_for(task, 120)


async def _first_flush(bus: RedisBus) -> None:
    async with following(bus):
        pass


@pytest.mark.usefixtures("patient")
def test_a_writer_without_a_loop_still_notifies(valkey: Valkey) -> None:
    """A thread without an event loop writes; ``aclose`` publishes what it left. No connection is left behind."""
    bus = RedisBus(valkey.url)

    async def receive() -> None:
        async with following(RedisBus(valkey.url)) as (listener,):
            thread = threading.Thread(target=bus.changed, args=(HANDLE, 3))
            thread.start()
            thread.join()
            await bus.aclose()
            await until(lambda: listener.evicted == [(HANDLE, 3)])

    asyncio.run(receive())
    asyncio.run(receive())
    gc.collect()


async def test_a_dead_server_keeps_nobody(valkey: Valkey) -> None:
    """``changed`` neither waits nor raises, and ``aclose`` gives up."""
    bus = RedisBus("redis://127.0.0.1:1")
    for number in range(100):
        bus.changed(number.to_bytes(8, "big"), 1)
    await asyncio.wait_for(bus.aclose(), 120)
    assert len(bus._queue) == 0
    assert bus._queue.dropped == 100


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("kind", ["sentinel", "cluster"])
async def test_sentinel_and_cluster(kind: str, request: pytest.FixtureRequest) -> None:
    """A message of one node arrives on the other; a Sentinel names the server."""
    if kind == "cluster":
        nodes: list[Valkey] = request.getfixturevalue("cluster")
        buses = [RedisBus(f"redis+cluster://127.0.0.1:{node.port}") for node in nodes]
    else:
        sentinel: Valkey = request.getfixturevalue("sentinel")
        buses = [RedisBus(f"redis+sentinel://127.0.0.1:1,127.0.0.1:{sentinel.port}/main") for _ in range(2)]
    async with following(*buses) as listeners:
        buses[0].changed(HANDLE, 4)
        buses[1].changed(HANDLE, 5)
        await until(lambda: all(sorted(listener.evicted) == [(HANDLE, 4), (HANDLE, 5)] for listener in listeners))
    for bus in buses:
        await bus.aclose()


def test_what_it_is_given_is_checked() -> None:
    """At once; ``repr`` shows no password."""
    for url, channel in (("http://host", "x"), ("redis://host", ""), ("redis://host", "a b"), ("redis://host", "x\n")):
        with pytest.raises(InvalidSettings):
            RedisBus(url, channel=channel)
    assert repr(RedisBus("redis://:s3cret@host")) == "<RedisBus: Redis host:6379>"
