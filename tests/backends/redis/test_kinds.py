"""Every way to reach a server, on real ones: TCP, a socket, a password, Sentinel, Cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from engines.valkey import Valkey
from tenantry.backends.buses import RedisBus
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.testing import MemoryStore
from tests.backends.redis.conftest import PATIENCE, Counted, create, rotate, written

pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def urls(request: pytest.FixtureRequest) -> str:
    """The URL of one kind of server."""
    match request.param:
        case "socket":
            return f"unix://{request.getfixturevalue('valkey').socket}?db=3"
        case "database":
            return str(request.getfixturevalue("valkey").url).replace("/0", "/5")
        case "sentinel":
            return f"redis+sentinel://127.0.0.1:1,127.0.0.1:{request.getfixturevalue('sentinel').port}/main/2"
        case "cluster":
            nodes = request.getfixturevalue("cluster")
            return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)
    raise AssertionError(request.param)


@pytest.mark.parametrize("urls", ["socket", "database", "sentinel", "cluster"], indirect=True)
async def test_each_kind_caches_and_buries(urls: str, store: MemoryStore, origin: Counted) -> None:
    """100 groups: written by one backend, hit by another, buried by tombstones."""
    writer, reader = (RedisBackend(origin, urls, budget=PATIENCE) for _ in range(2))
    issued = [await create(store, str(number)) for number in range(100)]
    for backend in (writer, reader):
        await backend.changes(None)
    await asyncio.gather(*(writer.read_at_snapshot(each.token, fresh=False) for each in issued))
    await written(writer)
    assert (origin.reads, writer.counters.lost_writes) == (100, 0)
    readings = await asyncio.gather(*(reader.read_at_snapshot(each.token, fresh=False) for each in issued))
    assert [reading.group for reading in readings] == [each.group for each in issued]
    assert (reader.counters.hits, origin.reads) == (100, 100)
    store.subscribe(writer)
    await rotate(store, issued[0])
    await written(writer)
    assert (await reader.read_at_snapshot(issued[0].token, fresh=False)).group is None
    assert reader.counters.hits == 100
    await writer.aclose()
    await reader.aclose()


async def test_a_cluster_holds_its_keys_on_all_nodes(
    cluster: list[Valkey], store: MemoryStore, origin: Counted
) -> None:
    """By a user with the rights that the docs name. Red when the hash tag is the store's: one node held everything."""
    for node in cluster:
        _admit(node, "in a cluster `")
    backend = RedisBackend(origin, f"redis+cluster://me:s3cret@127.0.0.1:{cluster[0].port}", budget=PATIENCE)
    await backend.changes(None)
    for number in range(40):
        await backend.read_at_snapshot((await create(store, str(number))).token, fresh=False)
    await written(backend)
    await backend.aclose()
    sizes = [len(node.stored()) for node in cluster]
    assert sum(sizes) == 40
    assert min(sizes) > 0


def _admit(server: Valkey, *also: str) -> None:
    """Makes the user ``me``, who may do what docs/fleet.md lists and nothing more."""
    page = (Path(__file__).parents[3] / "docs" / "fleet.md").read_text("utf-8")
    rights = [page.partition(before)[2].partition("`")[0].split() for before in ("Its user needs `", *also)]
    assert all(rights)
    server.execute("ACL", "SETUSER", "me", "on", ">s3cret", "~tenantry:*", "&tenantry", "-@all", *chain(*rights))


@pytest.mark.parametrize("password", ["s3cret", "wrong"])
async def test_a_password(
    password: str,
    make_valkey: Callable[..., Valkey],
    store: MemoryStore,
    origin: Counted,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The right one is used, with the rights that the docs name. A wrong one costs reads of the origin, and is not in
    the log."""
    server = make_valkey()
    _admit(server)
    backend = RedisBackend(origin, f"redis://me:{password}@127.0.0.1:{server.port}", budget=PATIENCE)
    await backend.changes(None)
    issued = await create(store)
    for _ in range(8):
        assert (await backend.read_at_snapshot(issued.token, fresh=False)).group == issued.group
        if password == "s3cret":
            await written(backend)
    bus = RedisBus(f"redis://me:{password}@127.0.0.1:{server.port}")
    bus.changed(bytes(8), 1)
    await bus.aclose()
    assert bus._queue.dropped == (password == "wrong")
    assert (backend.counters.hits, backend.counters.skipped > 0) == ((7, False) if password == "s3cret" else (0, True))
    await backend.aclose()
    assert password not in caplog.text


async def test_a_sentinel_names_the_new_primary(
    sentinel: Valkey, valkey: Valkey, make_valkey: Callable[..., Valkey], store: MemoryStore, origin: Counted
) -> None:
    """After a failover the next connection goes to the server that the Sentinel names then."""
    other = make_valkey()
    backend = RedisBackend(origin, f"redis+sentinel://127.0.0.1:{sentinel.port}/main", budget=PATIENCE)
    await backend.changes(None)
    issued = await create(store)
    await backend.read_at_snapshot(issued.token, fresh=False)
    await written(backend)
    assert len(valkey.stored()) == 1
    sentinel.execute("SENTINEL REMOVE", "main")
    sentinel.execute("SENTINEL MONITOR", "main", "127.0.0.1", other.port, "1")
    valkey.kill()
    for _ in range(3):
        assert (await backend.read_at_snapshot(issued.token, fresh=False)).group == issued.group
    await written(backend)
    assert len(other.stored()) == 1
    await backend.aclose()
