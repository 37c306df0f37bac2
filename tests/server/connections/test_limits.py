"""How many connections there may be: who is closed for whom, and what the log says."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from ipaddress import ip_network

import pytest

from engines.slow_clients import SilentClients, SlowBody, SlowClients, SlowHeaders, Upgrades
from tenantry.server.connections import ConnectionLimits
from tenantry.server.connections.limits import Limit, LimitWarnings
from tests.server.connections.conftest import LARGE, Running, Start, read_all, read_until

HELLO = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_who_reads_stays(start: Start) -> None:
    """Two long answers that are read all the while, and a connection without a request: that one is closed for each new
    caller, and the answers arrive whole. Red when whoever has not read all yet counts as slow (checked by a rank of 1
    for it)."""
    server = start(max_connections=3)
    received: list[int] = []
    begun = [threading.Event() for _ in range(2)]
    readers = [threading.Thread(target=lambda each=each: received.append(_read_large(server, each))) for each in begun]
    for reader in readers:
        reader.start()
    assert all(each.wait(60) for each in begun)  # before that it is a connection without a request
    while any(reader.is_alive() for reader in readers):
        with SilentClients(server.address, 1):
            time.sleep(0.3)
            server.ask()
    assert len(received) == 2
    assert min(received) > LARGE


def _read_large(server: Running, begun: threading.Event) -> int:
    """About 25 MB/s, so that something always waits to be sent."""
    received = 0
    with socket.create_connection(server.address, timeout=60) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        while chunk := connection.recv(262_144):
            received += len(chunk)
            begun.set()
            time.sleep(0.01)
    return received


@pytest.mark.parametrize(
    "kind",
    [
        SilentClients,
        SlowHeaders,
        SlowBody,
        *(pytest.param(partial(Upgrades, head=head), id=f"an upgrade with {head}") for head in Upgrades.HEADS),
    ],
)
def test_half_open_connections_shut_nobody_out(
    start: Start,
    kind: Callable[[tuple[str, int], int], SlowClients],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five times as many as there may be, none of which ends by itself: ten honest callers are answered, and the log
    says once why the others were not.

    Red when the new one is always refused (checked by letting ``_least_valuable`` find none). For upgrades,
    each of which is answered and then stays, also when uvicorn hands them over to a protocol of websockets that no
    limit watches.
    """
    monkeypatch.setattr(
        "tenantry.server.connections.limits.WARNING_SECONDS", 3_600.0
    )  # all of this may take longer than 30
    server = start(max_connections=20, header_seconds=600, grace_seconds=600)
    with kind(server.address, 100) as clients:
        clients.last(1.5)
        for _ in range(10):
            assert server.ask().endswith(b"hello")
        assert len(server.factory.open) <= 20
    warnings = [each.getMessage() for each in caplog.records if each.name == "tenantry.connections"]
    assert len(warnings) == 1
    assert "20 connections are open, and --max-connections allows no more" in warnings[0]


def test_an_upgrade_is_a_request_like_any_other(start: Start) -> None:
    """It is answered, and its connection takes a next request. Red when uvicorn hands it over: 400."""
    server = start()
    with socket.create_connection(server.address, timeout=60) as connection:
        for _ in range(2):
            connection.sendall(Upgrades.HEADS["no key"])
            assert read_until(connection, b"hello").startswith(b"HTTP/1.1 200")


def test_idle_connections_go_before_new_ones_are_refused(start: Start) -> None:
    """A pool of kept connections is closed for callers who have something to ask."""
    server = start(max_connections=5)
    kept = [_served(server) for _ in range(5)]
    assert server.ask().endswith(b"hello")
    for connection in kept:
        connection.close()


def test_who_is_at_work_stays(start: Start) -> None:
    """Five requests under way are all there may be: the next callers get 503, every one of them, and are asked to come
    again; the five are answered. Red when a connection at work may be closed (checked by a rank of 3 for it), and when
    one that was refused counts as one that may go (every other caller was let in then, up to the last descriptor)."""
    server = start(max_connections=5)
    at_work = []
    for _ in range(5):
        connection = socket.create_connection(server.address, timeout=60)
        connection.sendall(b"GET /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        at_work.append(connection)
    _until_served(server, 5)
    refused = []
    for _ in range(12):  # all of them at once: more than may drain
        caller = socket.create_connection(server.address, timeout=60)
        refused.append(caller)
        answer = read_all(caller)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"\r\nretry-after: 1\r\n" in answer
        assert b'"too_many_connections"' in answer
        assert len(server.factory.open) == 5
    for caller in refused:
        caller.close()
    server.release.set()
    for connection in at_work:
        assert read_all(connection).endswith(b"done")
        connection.close()


def test_the_limit_of_one_address(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Who has his share closes his own for the next. Loopback has no such limit, so here it counts as another host."""
    monkeypatch.setattr(ConnectionLimits, "limited_address", lambda self, peer: "192.0.2.7")
    server = start(max_connections=100, max_per_address=5)
    with SlowHeaders(server.address, 30):
        assert server.ask().endswith(b"hello")
        assert len(server.factory.open) <= 5
    assert "5 connections from 192.0.2.7 are open" in caplog.text
    assert "--proxy-address" in caplog.text


def test_the_app_gets_the_address_of_the_client(start: Start) -> None:
    """Red when the transport that the app has does not ask the real one."""
    with socket.create_connection(start().address, timeout=60) as connection:
        connection.sendall(b"GET /client HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_all(connection).endswith(str(connection.getsockname()).encode())


def test_whose_connections_count() -> None:
    """Loopback, Unix sockets and stated proxies have no limit of their own; IPv6 counts by site."""
    limits = ConnectionLimits(max_connections=10, proxies=(ip_network("10.0.0.0/8"),))
    assert limits.per_address == 5
    for peer, counted in (
        (("127.0.0.1", 1), None),
        (("::1", 1, 0, 0), None),
        (("::ffff:127.0.0.1", 1, 0, 0), None),
        ("", None),
        (None, None),
        (("10.9.9.9", 1), None),
        (("192.0.2.7", 1), "192.0.2.7"),
        (("::ffff:192.0.2.7", 1, 0, 0), "192.0.2.7"),
        (("2001:db8:1:2:3::4", 1, 0, 0), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 1, 0, 2), "fe80::/64"),
    ):
        assert limits.limited_address(peer) == counted
    assert ConnectionLimits(max_per_address=0).limited_address(("192.0.2.7", 1)) is None


def test_a_warning_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    """One in thirty seconds for each limit, which counts what happened since. Red without the clock."""
    now = [0.0]
    warnings = LimitWarnings(clock=lambda: now[0])
    with caplog.at_level(logging.WARNING):
        for _ in range(100):
            warnings.limit_met(Limit.ALL, 5)
        now[0] = 31.0
        warnings.limit_met(Limit.ALL, 5)
    first, second = caplog.messages
    assert "1 were closed or refused" in first
    assert "100 were closed or refused" in second


def _served(server: Running) -> socket.socket:
    connection = socket.create_connection(server.address, timeout=60)
    connection.sendall(HELLO)
    read_until(connection, b"hello")
    return connection


def _until_served(server: Running, count: int) -> None:
    """Waits until that many requests are at work."""
    from tenantry.server.connections.connection import State

    ends = time.monotonic() + 60
    while sum(each.state is State.ACTIVE for each in list(server.factory.open)) < count:
        assert time.monotonic() < ends
        time.sleep(0.01)
