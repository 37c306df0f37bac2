"""PostgresBus on a real PostgreSQL: notified by the write's own transaction; lost, frozen or silent: a flush."""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import signal
from typing import Any

import pytest

from engines.line import line_to
from engines.postgres import Postgres
from engines.valkey import Valkey
from tenantry.backends.buses import PostgresBus, RedisBus
from tenantry.backends.buses.subscription import EVICTIONS, PROBE
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.errors import InvalidSettings
from tenantry.groups import CHANNEL, GroupChanges, GroupDraft, GroupUpdate, Tag, write_notice
from tenantry.testing import make_token
from tests.backends.buses.conftest import following, until, until_heard

HANDLE = bytes(range(8))


@pytest.fixture
def url(postgres: Postgres) -> str:
    """An empty database."""
    return postgres.create_database()


def _notify(postgres: Postgres, url: str, generation: int = 9) -> None:
    postgres.execute(f"select pg_notify('{CHANNEL}', '{write_notice('-', generation, HANDLE)}')", url=url)


def _pid(postgres: Postgres, url: str) -> int:
    """The server process of the listening connection."""
    query = "select pid from pg_stat_activity where datname = current_database() and query like 'listen %'"
    return int(postgres.execute(query, url=url).splitlines()[0])


@pytest.mark.usefixtures("patient")
async def test_a_write_is_announced_by_both_buses(url: str, valkey: Valkey) -> None:
    """A store in PostgreSQL notifies in the write's own transaction, and notifies Redis too if that bus is subscribed.
    The notices hold a generation and a handle: no token, nonce or property."""
    migrate(url)
    store = SQLStore(url, deadline=20)
    redis_bus = RedisBus(valkey.url)
    store.subscribe(redis_bus)
    notices: list[str] = []
    async with following(PostgresBus(url), redis_bus) as listeners, _listening(url, notices):
        environment = await store.environments.create("production", Tag.CUSTOMER)
        issued = await store.groups.get_or_create(
            environment, GroupDraft("acme", "A", {"canary": "s3cret"}), make_token()
        )
        second = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
        await until(lambda: all(listener.evicted for listener in listeners))  # of one handle the newest is sent
        await store.groups.delete(environment, "acme")
        handle = issued.token.handle
        await until(lambda: all(len(listener.evicted) == 2 for listener in listeners) and len(notices) == 2)
        assert [[each for each, _ in listener.evicted] for listener in listeners] == [[handle, handle]] * 2
        assert listeners[0].evicted == listeners[1].evicted
    await redis_bus.aclose()
    await store.aclose()
    for secret in ("s3cret", "acme", issued.token.nonce.hex(), second.token.nonce.hex()):
        assert secret not in "".join(notices)


async def test_a_batch_is_announced_as_its_writes_are(url: str) -> None:
    """A notice has the store's id, the generation and the handle. Red when a batch writes another column as the id."""
    migrate(url)
    store = SQLStore(url, deadline=20)
    notices: list[str] = []
    async with _listening(url, notices):
        environment = await store.environments.create("production", Tag.CUSTOMER)
        made = [await store.groups.get_or_create(environment, GroupDraft(id_, "A"), make_token()) for id_ in "ab"]
        one = await store.groups.update(environment, "a", GroupChanges(name="B"))
        updates = [GroupUpdate(each.group, GroupChanges(name="C")) for each in (one, made[1])]
        await store.groups.write_many(environment, updates)
        await until(lambda: len(notices) == 3)
        changes = await store.changes(None)
    await store.aclose()
    assert notices == [write_notice(changes.store_id, each.generation, each.handle) for each in changes.changes]


class _listening:  # noqa: N801 - reads as a verb
    """Another connection that listens, as anybody with a password may."""

    def __init__(self, url: str, notices: list[str]) -> None:
        self._url, self._notices = url, notices

    async def __aenter__(self) -> None:
        import asyncpg

        self._connection = await asyncpg.connect(self._url)
        await self._connection.add_listener(CHANNEL, self._add)

    def _add(self, *notification: Any) -> None:
        if not notification[3].startswith(PROBE):  # a bus sends them while nothing is written
            self._notices.append(notification[3])

    async def __aexit__(self, *exc: object) -> None:
        self._connection.terminate()


@pytest.mark.usefixtures("patient")
async def test_a_cut_connection_is_made_again(url: str, postgres: Postgres, caplog: pytest.LogCaptureFixture) -> None:
    """The server ends it (as at a restart): a flush, a new one, another flush, and what is sent then arrives."""
    bus = PostgresBus(url)
    async with following(bus) as (listener,):
        postgres.execute(f"select pg_terminate_backend({_pid(postgres, url)})", url=url)
        _notify(postgres, url)  # to nobody
        await until(lambda: listener.flushes == 3)
        assert listener.evicted == []
        _notify(postgres, url)
        await until(lambda: listener.evicted == [(HANDLE, 9)])
    assert caplog.text.count("is lost") == caplog.text.count("delivers again") == 1
    gc.collect()


async def test_a_frozen_listener_is_noticed(url: str, postgres: Postgres) -> None:
    """Its server process is stopped: the connection shows no error, ``is_closed()`` stays False, nothing comes.

    Red without the heartbeat: no flush ever.
    """
    bus = PostgresBus(url)
    async with following(bus) as (listener,):
        pid = _pid(postgres, url)
        try:
            os.kill(pid, signal.SIGSTOP)
            await until(lambda: listener.flushes >= 3)
            await until_heard(listener, lambda: _notify(postgres, url))
        finally:
            os.kill(pid, signal.SIGCONT)


async def test_a_black_hole_is_noticed(url: str) -> None:
    """And left behind within the same time when connections cannot be made either."""
    async with line_to(url) as (line, through):
        bus = PostgresBus(through)
        async with following(bus) as (listener,):
            before, losses = listener.flushes, bus.counters.losses
            line.hold()
            await until(lambda: listener.flushes > before)
            await until(lambda: bus.counters.losses >= losses + 2)
            before = listener.flushes
            line.release()
            await until(lambda: listener.flushes > before)
        gc.collect()


async def test_silence_alone_is_no_loss(url: str, postgres: Postgres) -> None:
    """It stays one connection, without a flush."""
    for _ in range(5):  # a machine that stands still for seconds is a loss
        bus = PostgresBus(url)
        async with following(bus) as (listener,):
            pid = _pid(postgres, url)
            await asyncio.sleep(4)
            if bus.counters.losses:
                continue
            assert _pid(postgres, url) == pid
            assert listener.flushes == 1
            return
    raise AssertionError("it was lost each time")


@pytest.mark.usefixtures("patient")
async def test_a_flood_of_forgeries_is_bounded(url: str, postgres: Postgres) -> None:
    """1,000 evictions a second, and one flush for the rest."""
    bus = PostgresBus(url)
    async with following(bus) as (listener,):
        started = asyncio.get_running_loop().time()
        flood = f"select pg_notify('{CHANNEL}', '- 1 ' || lpad(to_hex(i), 16, '0')) from generate_series(1, 20000) i"
        postgres.execute(f"select count(*) from ({flood}) as each", url=url)
        postgres.execute(f"select pg_notify('{CHANNEL}', 'junk')", url=url)
        await until(lambda: bus.counters.heard + bus.counters.held_back == 20_000 and listener.flushes >= 2)
        seconds = asyncio.get_running_loop().time() - started
        assert len(listener.evicted) <= EVICTIONS * (int(seconds) + 1)
        assert listener.flushes <= int(seconds) + 2  # the first, and one a second
        await until(lambda: bus.counters.ignored == 1)


def test_what_it_is_given_is_checked() -> None:
    """At once; ``repr`` shows no password."""
    for url in ("sqlite:///x.db", "redis://host", "nonsense"):
        with pytest.raises(InvalidSettings):
            PostgresBus(url)
    assert repr(PostgresBus("postgresql://me:s3cret@host/db")) == "<PostgresBus: PostgreSQL database db at host>"
