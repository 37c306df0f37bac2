"""RedisBackend on a real Valkey: what it answers, what it writes, and that it cannot be lied to by order or by hand."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from engines.valkey import Valkey
from tenantry.aio.publish_queue import Message
from tenantry.backends.redis.entry import DIGITS, key_of, stamp
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.errors import InvalidSettings
from tenantry.groups import GroupChanges, LookupResult, Token
from tenantry.testing import MemoryStore, make_token
from tests.backends.redis.conftest import PATIENCE, Counted, create, rotate, until, written


async def test_the_second_read_asks_nobody_else(backend: RedisBackend, origin: Counted, store: MemoryStore) -> None:
    """An entry that one host wrote answers all; one backend's look is another's hit."""
    issued = await create(store, properties={"region": "eu"}, mapping={"main": "ds_1"})
    first = await backend.read_at_snapshot(issued.token, fresh=False)
    await written(backend)
    for _ in range(3):
        assert await backend.read_at_snapshot(issued.token, fresh=False) == first == LookupResult(issued.group, 0)
    assert origin.reads == 1
    assert (backend.counters.hits, backend.counters.misses) == (3, 1)


async def test_fresh_asks_the_origin_and_writes_through(
    backend: RedisBackend, origin: Counted, store: MemoryStore
) -> None:
    """``find`` asks it too: whoever does not look at generations is never answered from a cache."""
    issued = await create(store)
    for reads in (1, 2):
        await backend.read_at_snapshot(issued.token, fresh=True)
        assert origin.reads == reads
    await written(backend)
    environment = issued.group.environment
    await store.groups.update(environment, "acme", GroupChanges(name="New"))
    assert (
        await backend.read_at_snapshot(issued.token, fresh=False)
    ).group == issued.group  # and is judged by its generation
    assert (await backend.read_at_snapshot(issued.token, fresh=True)).group != issued.group
    found = await backend.find(issued.token)
    assert found is not None
    assert found.name == "New"


async def test_only_the_live_token_is_answered(backend: RedisBackend, origin: Counted, store: MemoryStore) -> None:
    """Another token of the group asks the origin, and does not throw the entry out."""
    issued = await create(store)
    await backend.read_at_snapshot(issued.token, fresh=False)
    await written(backend)
    assert (await backend.read_at_snapshot(make_token(issued.group), fresh=False)).group is None
    assert origin.reads == 2
    assert (await backend.read_at_snapshot(issued.token, fresh=False)).group == issued.group
    assert origin.reads == 2


async def test_grace_and_absence_are_not_written(backend: RedisBackend, store: MemoryStore, valkey: Valkey) -> None:
    """A token in its grace ends by the store's clock alone."""
    first = await create(store)
    await rotate(store, first, grace_seconds=600)
    await backend.changes(None)
    assert (await backend.read_at_snapshot(first.token, fresh=False)).seconds is not None
    assert (await backend.read_at_snapshot(make_token(), fresh=False)).group is None
    await written(backend)
    assert valkey.stored() == []


async def test_an_answer_that_ends_is_not_written(store: MemoryStore, valkey: Valkey) -> None:
    """An origin may say how long its answer is good for. Red when ``seconds`` is not used."""

    class Ending(Counted):
        async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
            return replace(await super().read_at_snapshot(token, fresh=fresh), seconds=30.0)

    issued = await create(store)
    backend = RedisBackend(Ending(store), valkey.url)
    await backend.changes(None)
    assert (await backend.read_at_snapshot(issued.token, fresh=False)).group == issued.group
    await written(backend)
    assert valkey.stored() == []
    await backend.aclose()


async def test_a_tombstone_ends_an_entry(
    backend: RedisBackend, origin: Counted, store: MemoryStore, valkey: Valkey
) -> None:
    """A store that the backend is subscribed to: its rotation turns the entry into a tombstone, and no late fill of an
    earlier generation brings it back. Red when a tombstone is a DEL, or when the script does not compare.
    """
    store.subscribe(backend)
    first = await create(store)
    await backend.read_at_snapshot(first.token, fresh=False)
    await written(backend)
    late = valkey.execute("GET", valkey.stored()[0]).encode()
    second = await rotate(store, first)
    await written(backend)
    (key,) = valkey.stored()
    assert valkey.execute("GET", key) == stamp(1).decode()
    backend._queue.put(Message(first.token.handle, 0, late[DIGITS:]))
    await written(backend)
    assert valkey.execute("GET", key) == stamp(1).decode()
    await backend.changes(None)
    assert (await backend.read_at_snapshot(second.token, fresh=False)).group == second.group
    await written(backend)
    backend.changed(first.token.handle, 1)  # late as well, and of the generation that was read
    await written(backend)
    reads = origin.reads
    assert (await backend.read_at_snapshot(second.token, fresh=False)).group == second.group
    assert origin.reads == reads


async def test_every_key_ends(backend: RedisBackend, store: MemoryStore, valkey: Valkey) -> None:
    """Entries and tombstones have a lifetime: what nobody asks for leaves."""
    issued = await create(store)
    await backend.read_at_snapshot(issued.token, fresh=False)
    backend.changed(bytes(8), 3)
    await written(backend)
    assert len(valkey.stored()) == 2
    assert all(3_500 < valkey.execute("TTL", key) <= 3_600 for key in valkey.stored())


async def test_a_poisoned_entry_is_refused(
    backend: RedisBackend, origin: Counted, store: MemoryStore, valkey: Valkey, caplog: pytest.LogCaptureFixture
) -> None:
    """Another group's entry under this group's key, another store's, junk, a wrong kind of key: the origin is asked."""
    mine, other = await create(store), await create(store, "other")
    for issued in (mine, other):
        await backend.read_at_snapshot(issued.token, fresh=False)
    await written(backend)
    store_id = (await backend.changes(None)).store_id
    key = key_of(store_id, mine.token.handle)
    foreign = valkey.execute("GET", key_of(store_id, other.token.handle))
    renamed = valkey.execute("GET", key).replace(store_id, "0" * 32)
    for value in (foreign, renamed, "junk", "", stamp(0).decode() + "{}"):
        valkey.execute("SET", key, value)
        assert (await backend.read_at_snapshot(mine.token, fresh=False)).group == mine.group
        await written(backend)  # which repairs it
    valkey.execute("DEL", key)
    valkey.execute("SADD", key, "x")
    assert (await backend.read_at_snapshot(mine.token, fresh=False)).group == mine.group
    await written(backend)
    assert (backend.counters.hits, backend.counters.refused, backend.counters.errors) == (0, 5, 0)
    assert (backend.counters.lost_writes, len(backend._queue)) == (1, 0)  # it is not tried again for ever
    assert caplog.text.count("second-level cache is not valid") == 1


async def test_an_entry_that_is_ahead_is_not_taken(
    backend: RedisBackend, store: MemoryStore, origin: Counted, valkey: Valkey
) -> None:
    """A generation that this store has not listed: from before a backup was restored, for one. Red when taken."""
    issued = await create(store)
    await backend.read_at_snapshot(issued.token, fresh=False)
    await written(backend)
    (key,) = valkey.stored()
    valkey.execute("SET", key, stamp(1).decode() + valkey.execute("GET", key)[DIGITS:])
    await backend.read_at_snapshot(issued.token, fresh=False)
    assert (origin.reads, backend.counters.hits) == (2, 0)


async def test_nothing_is_looked_up_before_the_first_poll(origin: Counted, valkey: Valkey, store: MemoryStore) -> None:
    """Nobody could check a generation then."""
    issued = await create(store)
    backend = RedisBackend(origin, valkey.url)
    await backend.read_at_snapshot(issued.token, fresh=False)
    await backend.read_at_snapshot(issued.token, fresh=False)
    assert origin.reads == 2
    assert valkey.stored() == []
    await backend.aclose()


async def test_a_burst_is_few_commands(backend: RedisBackend, store: MemoryStore, valkey: Valkey) -> None:
    """300 reads of one tick, of 100 groups, are one MGET of the 100 keys. Red when each read is a command."""
    issued = [await create(store, str(number)) for number in range(100)]
    await asyncio.gather(*(backend.read_at_snapshot(each.token, fresh=False) for each in issued))
    await written(backend)
    valkey.execute("CONFIG", "RESETSTAT")
    reads = (backend.read_at_snapshot(each.token, fresh=False) for each in issued * 3)
    assert [reading.group for reading in await asyncio.gather(*reads)] == [each.group for each in issued * 3]
    stats = valkey.execute("INFO", "COMMANDSTATS")
    assert stats["cmdstat_mget"]["calls"] == 1
    assert "cmdstat_get" not in stats


async def test_a_cancelled_read_harms_nobody(backend: RedisBackend, store: MemoryStore) -> None:
    """Those who wait for the same batch, and the same key, get their answers."""
    issued = [await create(store, str(number)) for number in range(3)]
    await asyncio.gather(*(backend.read_at_snapshot(each.token, fresh=False) for each in issued))
    await written(backend)
    tasks = [asyncio.create_task(backend.read_at_snapshot(each.token, fresh=False)) for each in issued * 2]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert [task.result().group for task in tasks[1:]] == [each.group for each in (issued * 2)[1:]]


@pytest.mark.usefixtures("patient")
def test_a_writer_without_a_loop_still_notifies(origin: Counted, valkey: Valkey, store: MemoryStore) -> None:
    """A thread without an event loop writes; ``aclose`` sends what it left, though this process never polled.

    Red when ``changed`` needs a running loop, or when ``aclose`` does not flush: no rotation by command line
    arrived.
    """
    issued = asyncio.run(create(store))
    asyncio.run(rotate(store, issued))
    backend = RedisBackend(origin, valkey.url)
    for generation in (3, 1, 2):
        thread = threading.Thread(target=backend.changed, args=(issued.token.handle, generation))
        thread.start()
        thread.join()
    asyncio.run(backend.aclose())
    (key,) = valkey.stored()
    assert valkey.execute("GET", key) == stamp(3).decode()


@pytest.mark.usefixtures("patient")
def test_it_outlives_its_loops(origin: Counted, valkey: Valkey, store: MemoryStore) -> None:
    """Three loops in turn, none with a farewell: each closes its own connections as it ends."""
    issued = asyncio.run(create(store))
    backend = RedisBackend(origin, valkey.url, budget=PATIENCE)

    async def work() -> None:
        await backend.changes(None)
        await backend.read_at_snapshot(issued.token, fresh=False)
        await written(backend)

    for _ in range(3):
        asyncio.run(work())
    gc.collect()  # what was not closed would warn now, and a warning is an error here
    assert (origin.reads, backend.counters.hits) == (1, 2)
    assert len(backend._connections._values) == 1
    asyncio.run(until(lambda: valkey.execute("CLIENT", "LIST", "TYPE", "NORMAL").count(" addr=") == 1))


async def test_what_waits_is_bounded(origin: Counted, store: MemoryStore) -> None:
    """Tombstones for a server that is away: the newest of each handle, and no more than the capacity of the queue."""
    backend = RedisBackend(origin, "redis://127.0.0.1:1")
    backend._queue._capacity = 10
    for number in range(50):
        for generation in (2, 1):
            backend.changed(number.to_bytes(8, "big"), generation)
    assert [message.generation for message in backend._queue._messages.values()] == [2] * 10
    assert backend._queue.dropped == 40
    await backend.aclose()
    assert len(backend._queue) == 0


def _log_of(valkey: Valkey) -> bytes:
    """The files of the server's log, read again when it renames one meanwhile."""
    while True:
        with suppress(FileNotFoundError):
            return b"".join(path.read_bytes() for path in (valkey.folder / "appendonlydir").iterdir())


@pytest.mark.usefixtures("patient")
async def test_no_secret_on_the_wire(store: MemoryStore, origin: Counted, valkey: Valkey, tmp_path: Path) -> None:
    """Everything that the server holds and was sent, by its own append-only file: no nonce, in no spelling."""
    valkey.execute("CONFIG", "SET", "appendonly", "yes")
    backend = RedisBackend(origin, valkey.url, budget=PATIENCE)
    await backend.changes(None)
    store.subscribe(backend)
    issued = await create(store)
    second = await rotate(store, issued)
    await backend.changes(None)
    await backend.read_at_snapshot(second.token, fresh=False)
    await backend.read_at_snapshot(second.token, fresh=False)
    await written(backend)
    await backend.aclose()
    log = _log_of(valkey)
    valkey.execute("CONFIG", "SET", "appendonly", "no")
    assert second.token.handle.hex().encode() in log
    for nonce in (issued.token.nonce, second.token.nonce):
        assert nonce not in log
        assert nonce.hex().encode() not in log.lower()


def test_what_it_is_given_is_checked(origin: Counted) -> None:
    """At once, without I/O; ``repr`` shows no password."""
    with pytest.raises(InvalidSettings):
        RedisBackend(origin, "http://host")
    for wrong in ({"budget": 0}, {"lifetime": 0}):
        with pytest.raises(InvalidSettings, match="greater than 0"):
            RedisBackend(origin, "redis://host", **wrong)
    shown = repr(RedisBackend(origin, "redis://:s3cret@host"))
    assert shown == "<RedisBackend: Redis host:6379 before Counted>"


async def test_an_entry_is_plain_json(backend: RedisBackend, store: MemoryStore, valkey: Valkey) -> None:
    """An operator can read it."""
    issued = await create(store, properties={"region": "Orléans"})
    await backend.read_at_snapshot(issued.token, fresh=False)
    await written(backend)
    entry = json.loads(valkey.execute("GET", valkey.stored()[0])[DIGITS:])
    assert (entry["provided_id"], entry["properties"]) == ("acme", {"region": "Orléans"})
    logging.getLogger("tenantry").debug("read")
