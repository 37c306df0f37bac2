"""What else a fleet promises, on real processes: grace, live websockets, and a reply that was lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from benchmarks.acceptance.fleet.host import Caller, Dashboards, Host
from benchmarks.acceptance.fleet.live import connect
from benchmarks.acceptance.fleet.operator import Operator
from benchmarks.acceptance.fleet.site import Site

pytestmark = pytest.mark.slow

STALENESS = 1.0


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="module")
def host(site: Site) -> Host:
    host = site.host(dashboards=Dashboards(site.database, workers=2, staleness=STALENESS))
    host.serve(site.database)
    return host


@pytest.fixture(scope="module")
def operator(site: Site, host: Host) -> Operator:
    return site.operator(host)


def statuses(host: Host, token: str) -> set[int]:
    return {worker.show(token).status for worker in host.workers}


def test_grace_of_one_call(host: Host, operator: Operator) -> None:
    """The old token works on every worker until its grace ends, and then on none; the new one from the first moment.

    Red when an answer under grace is kept for as long as any other.
    """
    for _ in range(5):  # on a busy machine the grace may end before all have been asked
        old = operator.create()
        begun = time.monotonic()
        new = operator.rotate(old, grace=2)
        rotated = time.monotonic()
        found = statuses(host, old)
        if time.monotonic() < begun + 2:
            break
    assert found == {200}
    assert statuses(host, new) == {200}
    while 200 in statuses(host, old):
        assert time.monotonic() < rotated + 30
    assert time.monotonic() - rotated >= 1
    assert statuses(host, old) == {401}


def test_a_second_rotation_ends_the_grace(host: Host, operator: Operator) -> None:
    """Of two rotations with grace only the last old token is good, at once and everywhere."""
    first = operator.create()
    second = operator.rotate(first, grace=600)
    third = operator.rotate(second, grace=600)
    assert [statuses(host, token) for token in (first, second, third)] == [{401}, {200}, {200}]
    operator.rotate(third, grace=0)
    assert [statuses(host, token) for token in (first, second, third)] == [{401}] * 3


def test_grace_of_the_environment(host: Host, operator: Operator) -> None:
    """A rotation over HTTP that names no grace takes the environment's; a grace that runs stays when that changes."""
    old = operator.create()
    operator.do(operator.store.environments.set_grace(operator.environment, 600))
    try:
        assert host.server is not None
        with Caller(host.server.port, operator.secret) as caller:
            new = caller.rotate(old).json()["user_group"]["token"]
            assert (statuses(host, old), statuses(host, new)) == ({200}, {200})
            operator.do(operator.store.environments.set_grace(operator.environment, 0))
            assert statuses(host, old) == {200}
            last = caller.rotate(new).json()["user_group"]["token"]
        assert [statuses(host, token) for token in (old, new, last)] == [{401}, {401}, {200}]
    finally:
        operator.do(operator.store.environments.set_grace(operator.environment, 0))


def test_live_websockets_close(host: Host, operator: Operator) -> None:
    """Every open socket of a rotated group is closed with 4401, on each worker; those of others stay.

    Red when an open websocket is never looked at again. How soon is the scorecard's business (S2).
    """
    token, other = operator.create(), operator.create()
    with ExitStack() as stack:
        sockets = [connect(stack, host.front(number), token) for number in (0, 1) * 5]
        stays = connect(stack, host.front(0), other)
        operator.rotate(token)
        for socket in sockets:
            socket.wait()
        assert [socket.code for socket in sockets] == [4401] * 10
        time.sleep(STALENESS)
        assert stays.code is None


def test_a_lost_reply_is_had_again_after_a_restart(host: Host, operator: Operator) -> None:
    """The same Idempotency-Key gives the same token, made again, from a server that was killed meanwhile; and once the
    group was rotated again the old answer is not given any more. Red when keys are kept in memory."""
    old = operator.create()
    assert host.server is not None
    with Caller(host.server.port, operator.secret) as caller:
        first = caller.rotate(old, "key-1")
        token = first.json()["user_group"]["token"]
    host.server.kill()
    host.server.start()
    with Caller(host.server.port, operator.secret) as caller:
        again = caller.rotate(old, "key-1")
        assert again.json()["user_group"]["token"] == token
        assert again.headers["idempotency-replayed"] == "true"
        assert statuses(host, token) == {200}
        caller.rotate(token, "key-2")
        assert caller.rotate(old, "key-1").status == 409
        assert statuses(host, token) == {401}
