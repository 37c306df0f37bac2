"""Promise 2: a worker of another host stops within the staleness bound, whatever is broken: a second here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.acceptance.checks.cross_host import BROKEN, bus_broken, sockets, store_dead, two_hosts
from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.faults.proxy import Mode
from benchmarks.acceptance.faults.valkey import ValkeyServer
from benchmarks.acceptance.fleet.cross_host import follow

pytestmark = pytest.mark.slow

STALENESS = 1.0
Engines = tuple[PostgresServer, ValkeyServer]


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    with PostgresServer() as postgres, ValkeyServer() as valkey:
        yield postgres, valkey


@pytest.mark.parametrize("bus", ["valkey", "postgres"])
def test_with_the_bus_up(engines: Engines, bus: str) -> None:
    """Refused within the staleness bound, and no live token is refused meanwhile."""
    with two_hosts(*engines, bus, staleness=STALENESS) as hosts:
        found = follow(hosts.operator, hosts.there.workers, rounds=20, groups=1, bound=STALENESS)
    assert (found.beyond(STALENESS), found.wrong, found.unanswered) == (0, 0, 0), found.seconds
    assert len(found.seconds) == 20


@pytest.mark.parametrize("name", BROKEN)
def test_with_the_bus_broken(engines: Engines, name: str) -> None:
    """The polls alone keep the bound: the bus makes it faster and never true."""
    found = bus_broken(*engines, name, staleness=STALENESS, rounds=1, groups=5)
    assert (found.beyond(STALENESS), found.wrong) == (0, 0), found.seconds


@pytest.mark.parametrize(("mode", "bus"), [(Mode.BLACK_HOLE, "none"), (Mode.HALF_OPEN, "valkey"), (Mode.RESET, "none")])
def test_with_the_store_dead(engines: Engines, mode: Mode, bus: str) -> None:
    """Beyond the staleness bound it is 503. Red when the lease does not end: see the control."""
    found = store_dead(*engines, mode, staleness=STALENESS, groups=3, bus=bus)
    assert (found.beyond(STALENESS), found.wrong) == (0, 0), found.seconds
    assert found.unanswered


@pytest.mark.parametrize("dead", [False, True])
def test_live_websockets(engines: Engines, dead: bool) -> None:
    """They end on another host too: 4401, and 1013 when the store does not answer. How soon is the scorecard's
    business."""
    ends = {code for code, _ in sockets(*engines, staleness=STALENESS, groups=3, dead=dead)}
    assert ends == ({1013} if dead else {4401})


def test_control_without_the_lease(engines: Engines) -> None:
    """With a clock that does not advance no lease ends, and the same check finds tokens accepted beyond it.

    Up to ten attempts: on a busy machine the store may be dead before the worker has cached anything.
    """
    without = (store_dead(*engines, Mode.BLACK_HOLE, staleness=STALENESS, groups=1, without="lease") for _ in range(10))
    assert any(found.beyond(STALENESS) for found in without)
