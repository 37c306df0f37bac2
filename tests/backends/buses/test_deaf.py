"""A bus that is connected and gets nothing: found by its own message, and counted as a loss.

Red without the probe: each of these was RECEIVING, with healthy heartbeats and no loss.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from engines.pgbouncer import PgBouncer
from engines.postgres import Postgres
from engines.relay import Relay, relayed
from engines.valkey import Valkey
from tenantry.backends.buses import BusStatus, PostgresBus, RedisBus
from tenantry.backends.buses.subscription import BusCounters, Deaf, NotificationLimiter, probe
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import CHANNEL, write_notice
from tenantry.ports import Bus
from tests.backends.buses.conftest import RecordingListener, following, until
from tests.backends.store.acme import acme, rotate

pytestmark = pytest.mark.slow

HANDLE = bytes(range(8))


@pytest.fixture
def url(postgres: Postgres) -> str:
    """An empty database."""
    return postgres.create_database()


class _deaf:  # noqa: N801 - reads as an adjective
    """Follows a bus until it was found deaf twice, and checks what it says of itself."""

    def __init__(self, bus: PostgresBus | RedisBus) -> None:
        self.bus = bus
        self.listener = RecordingListener()

    async def __aenter__(self) -> RecordingListener:
        began = time.monotonic()
        self._task = asyncio.create_task(self.bus.follow(self.listener))
        await until(lambda: self.bus.counters.deaf)
        assert time.monotonic() - began < 60  # 3 s are promised; a busy machine adds its own
        await until(lambda: self.bus.counters.status is BusStatus.DEAF)
        await until(lambda: self.bus.counters.deaf >= 2)
        assert self.bus.counters.losses >= self.bus.counters.deaf  # a slow server may be lost as well
        assert self.listener.flushes == 0  # it was never relied on
        return self.listener

    async def __aexit__(self, *exc: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        assert self.bus.counters.status is BusStatus.IDLE


def _said_once(log: str) -> bool:
    """That the bus is deaf; again only where it was lost in another way since."""
    return 1 <= log.count("is deaf") <= 1 + log.count("is lost")


async def test_a_bus_behind_a_transaction_pooler_is_deaf(
    url: str, postgres: Postgres, transaction_pooler: PgBouncer, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says so once, with the way out."""
    async with _deaf(PostgresBus(transaction_pooler.url(url))) as listener:
        postgres.execute(f"select pg_notify('{CHANNEL}', '{write_notice('-', 9, HANDLE)}')", url=url)
        await asyncio.sleep(0.5)
        assert listener.evicted == []
    assert _said_once(caplog.text)
    assert "listen_url" in caplog.text


@pytest.mark.usefixtures("patient")
async def test_a_direct_address_cures_it(url: str, transaction_pooler: PgBouncer) -> None:
    """The store writes through the pooler, and the bus listens past it."""
    migrate(url)
    pooled = transaction_pooler.url(url)
    store = SQLStore(pooled, deadline=20)
    bus = PostgresBus(pooled, listen_url=url)
    async with following(bus) as (listener,):
        issued = await rotate(store, await acme(store))
        await until(lambda: listener.evicted)
        assert listener.evicted[0][0] == issued.token.handle
        assert bus.counters.status is BusStatus.RECEIVING
        assert bus.counters.ignored == 0
    await store.aclose()


@pytest.mark.usefixtures("patient")
async def test_a_session_pooler_passes_notifications(url: str, postgres: Postgres, session_pooler: PgBouncer) -> None:
    """There LISTEN has a server process of its own."""
    bus = PostgresBus(session_pooler.url(url))
    async with following(bus) as (listener,):
        postgres.execute(f"select pg_notify('{CHANNEL}', '{write_notice('-', 9, HANDLE)}')", url=url)
        await until(lambda: listener.evicted == [(HANDLE, 9)])
        assert bus.counters.losses == 0


async def test_a_bus_on_another_database_is_deaf(url: str, postgres: Postgres) -> None:
    """A wrong direct address is found in the same way."""
    async with _deaf(PostgresBus(url, listen_url=postgres.create_database())):
        pass


class _Spread(Relay):
    """A load balancer before two servers: every other connection goes to the second."""

    other = 0
    _count = 0

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._count += 1
        if self._count % 2 == 0:
            server[1].close()
            server = await asyncio.open_connection("127.0.0.1", self.other)
            self._writers.append(server[1])
        await asyncio.gather(_copy(client[0], server[1]), _copy(server[0], client[1]))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65_536):
        target.write(data)
        await target.drain()
    target.close()


async def test_a_redis_bus_of_two_servers_is_deaf(
    valkey: Valkey, make_valkey: Callable[..., Valkey], caplog: pytest.LogCaptureFixture
) -> None:
    """It subscribes on one server and publishes on the other; PING is answered all the time."""
    async with relayed(valkey.url, _Spread) as (relay, url):
        relay.other = make_valkey().port
        async with _deaf(RedisBus(url)):
            pass
    assert _said_once(caplog.text)


@pytest.mark.usefixtures("patient")
async def test_a_bus_that_may_not_publish_is_not_deaf(make_valkey: Callable[..., Valkey]) -> None:
    """A user with leave to subscribe alone hears what others publish."""
    server = make_valkey()
    server.execute("ACL", "SETUSER", "reader", "on", ">s3cret", "&*", "+subscribe", "+ping", "+client", "+hello")
    bus = RedisBus(server.url.replace("redis://", "redis://reader:s3cret@"))
    async with following(bus) as (listener,):
        server.execute("PUBLISH", CHANNEL, write_notice("-", 9, HANDLE))
        await until(lambda: listener.evicted == [(HANDLE, 9)])
        assert (bus.counters.losses, bus.counters.status) == (0, BusStatus.RECEIVING)


async def test_a_fleet_does_not_shout(make_valkey: Callable[..., Valkey]) -> None:
    """Thirty workers on one server send little more than one alone: whoever hears another's probe keeps his own.

    Red when each sends one a second: some 120 in these four seconds, after the 30 of the beginning.
    """
    server = make_valkey()
    buses: list[Bus] = [RedisBus(server.url) for _ in range(30)]
    async with following(*buses):
        for _ in range(10):  # after a moment in which this process stood still, all of them are late at once
            before = _published(server)
            await asyncio.sleep(4)
            sent = _published(server) - before
            assert sent >= 2
            if sent < 60:
                return
    raise AssertionError(f"{sent} in four seconds")


def _published(server: Valkey) -> int:
    return int(server.execute("INFO", "commandstats")["cmdstat_publish"]["calls"])


async def test_going_deaf_later_is_found_within_three_seconds() -> None:
    """Counted from the last message that came."""
    loop = asyncio.get_running_loop()
    limiter = NotificationLimiter(RecordingListener(), BusCounters(), loop)
    last = loop.time()
    sent = 0

    async def publish(text: str) -> None:
        nonlocal last, sent
        sent += 1
        if sent <= 2:
            last = loop.time()
            limiter.feed(text)

    begun: list[int] = []
    with pytest.raises(Deaf, match="why"):
        await probe(limiter, publish, lambda: begun.append(sent), cause="why")
    assert begun == [1]
    assert sent == 3
    assert loop.time() - last < 3 + 20  # a busy machine adds its own
    limiter.close()


async def test_a_probe_that_cannot_be_sent_is_no_deafness() -> None:
    """Then nothing is known of it: TimeoutError, which is a loss."""
    limiter = NotificationLimiter(RecordingListener(), BusCounters(), asyncio.get_running_loop())

    async def publish(text: str) -> None:
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await probe(limiter, publish, lambda: None, cause="why")
    limiter.close()
