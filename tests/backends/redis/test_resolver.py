"""The real resolver on two hosts: each with slots of its own, one second-level cache, one store of record."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from engines.valkey import Valkey
from tenantry import Resolver
from tenantry.backends.buses import RedisBus
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.cache.slots import PrivateSlots
from tenantry.errors import InvalidToken, UserGroupExpired
from tenantry.groups import GroupChanges, Issued, UserGroup
from tenantry.testing import MemoryStore
from tenantry.tokens import KeyRing, SigningKey
from tests.backends.redis.conftest import PATIENCE, Counted, create, rotate, until, written

KEYS = KeyRing([SigningKey("k1", os.urandom(32))])


class Host(Counted):
    """The store as another host sees it: the writer's slots are not here."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self._slots = PrivateSlots()

    @property
    def slots(self) -> PrivateSlots:
        return self._slots


class Two:
    """Two hosts' resolvers, and what is behind them."""

    def __init__(self, store: MemoryStore, url: str, staleness: float, *, with_bus: bool) -> None:
        self.store = store
        self.hosts = [Host(store) for _ in range(2)]
        self.backends = [RedisBackend(host, url, budget=PATIENCE) for host in self.hosts]
        self.buses = [RedisBus(url) for _ in range(3)]
        self.resolvers = [
            Resolver(backend, keys=KEYS, staleness=staleness, patience=30, buses=[bus] if with_bus else [])
            for backend, bus in zip(self.backends, self.buses, strict=False)
        ]
        for resolver in self.resolvers:
            resolver._patience = PATIENCE  # it is at most the staleness bound, which is short here

    async def aclose(self) -> None:
        for each in (*self.resolvers, *self.backends, *self.buses):
            await each.aclose()


@pytest.fixture
async def two(store: MemoryStore, valkey: Valkey, request: pytest.FixtureRequest, patient: None) -> AsyncIterator[Two]:
    staleness, with_bus = request.param
    both = Two(store, valkey.url, staleness, with_bus=with_bus)
    yield both
    await both.aclose()


async def poll(resolver: Resolver) -> None:
    assert resolver._poller is not None
    await resolver._poller.poll()


async def _is_dead(resolver: Resolver, issued: Issued) -> bool:
    try:
        await resolver.resolve(KEYS.mint(issued.token))
    except InvalidToken:
        return True
    return False


async def _resolve(resolver: Resolver, issued: Issued) -> UserGroup:
    return await resolver.resolve(KEYS.mint(issued.token))


@pytest.mark.parametrize("two", [(600.0, False)], indirect=True)
async def test_one_host_reads_for_both(two: Two) -> None:
    """What one host read of the store, the other finds in the second-level cache, from its second poll on."""
    issued = [await create(two.store, str(number)) for number in range(20)]
    other = await create(two.store, "other")
    for resolver, host in zip(two.resolvers, two.hosts, strict=True):
        await _resolve(resolver, other)
        await poll(resolver)
        host.reads = 0
    for resolver, backend in zip(two.resolvers, two.backends, strict=True):
        groups = await asyncio.gather(*(_resolve(resolver, each) for each in issued))
        assert [group.provided_id for group in groups] == [each.group.provided_id for each in issued]
        await written(backend)
    assert [host.reads for host in two.hosts] == [20, 0]
    assert two.backends[1].counters.hits >= 20


@pytest.mark.parametrize("two", [(600.0, False)], indirect=True)
async def test_the_end_of_a_group_is_read_once_for_both(two: Two) -> None:
    """An entry has the end date, and each host compares it with its own clock: the second refuses the token without a
    read of the store. Red when the entry lacks it (the token is good there)."""
    ended, other = await create(two.store, "ended"), await create(two.store, "other")
    await two.store.groups.update(ended.group.environment, "ended", GroupChanges(expires_at=datetime.now(UTC)))
    for resolver, host in zip(two.resolvers, two.hosts, strict=True):
        await _resolve(resolver, other)
        await poll(resolver)
        host.reads = 0
    for resolver, backend in zip(two.resolvers, two.backends, strict=True):
        with pytest.raises(UserGroupExpired):
            await _resolve(resolver, ended)
        await written(backend)
    assert [host.reads for host in two.hosts] == [1, 0]


@pytest.mark.parametrize("two", [(600.0, True)], indirect=True)
async def test_the_bus_notifies_other_hosts_at_once(two: Two) -> None:
    """X is ten minutes here, and a poll comes every two: only the bus can end the old token within seconds.

    The second-level cache still holds the old entry, for nobody has written to it: its generation is what keeps it out.
    """
    first = await create(two.store)
    for resolver in two.resolvers:
        await _resolve(resolver, first)
    await written(two.backends[0])
    await until(lambda: all(resolver.counters.flushed for resolver in two.resolvers))  # the buses listen
    for resolver in two.resolvers:
        await _resolve(resolver, first)
    two.store.subscribe(two.buses[2])
    second = await rotate(two.store, first)
    for resolver in two.resolvers:
        await until(lambda resolver=resolver: _is_dead(resolver, first))
        assert (await _resolve(resolver, second)).token_version == 2


@pytest.mark.parametrize("two", [(1.0, False)], indirect=True)
async def test_no_dump_and_no_silence_outlives_x(two: Two, valkey: Valkey) -> None:
    """Nobody is notified; after each rotation Valkey is restored from the dump of before it, flushed or killed. The
    new token works at once on both hosts; X later the old one works nowhere.

    Red when the backend claims the newest generation for what it found (and with a resolver that does not check it).
    """
    issued = await create(two.store)
    for fault in ("restore", "flush", "restore", "kill", "restore"):
        for resolver, backend in zip(two.resolvers, two.backends, strict=True):
            await _resolve(resolver, issued)
            await written(backend)
        dump = valkey.dump()
        old, issued = issued, await rotate(two.store, issued)
        if fault == "restore":
            valkey.restore(dump)
        elif fault == "flush":
            valkey.flush()
        else:
            valkey.kill()
        for resolver in two.resolvers:
            assert (await _resolve(resolver, issued)).token_version == issued.group.token_version
        await asyncio.sleep(1.0)
        if fault == "restore":
            for backend in two.backends:
                await written(backend)
            valkey.restore(dump)  # what the new token's look has written is gone again
        for resolver in two.resolvers:
            resolver.flush()  # so that the old token is looked up, and not only known to be older
        assert [await _is_dead(resolver, old) for resolver in two.resolvers] == [True, True]
        valkey.start()
    assert all(backend.counters.hits > 0 for backend in two.backends)  # the dumps were read, and judged
