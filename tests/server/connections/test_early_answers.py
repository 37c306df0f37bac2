"""A server that answers before it has read the body: the answer arrives, and the connection is never reset."""

from __future__ import annotations

import socket
import time

import pytest

from tests.server.connections.conftest import Running, Start, read_all, read_until

TIMES = 30


@pytest.fixture
def long_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    """For clients that a busy machine holds up in the middle of a body."""
    monkeypatch.setattr("tenantry.server.connections.connection.DRAIN_SECONDS", 120.0)


def _ask(server: Running, body: int, *, pause: float = 0.0, parts: int = 1, chunked: bool = False) -> bytes:
    """Sends the head, then the body in parts, and reads only when all was sent, as many clients do."""
    part = b"x" * (body // parts)
    length, sent = b"Content-Length: %d" % body, part
    if chunked:
        length, sent = b"Transfer-Encoding: chunked", b"%x\r\n%s\r\n" % (len(part), part)
    with socket.create_connection(server.address, timeout=60) as connection:
        connection.sendall(b"POST /refuse HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n" % length)
        for _ in range(parts):
            time.sleep(pause)
            connection.sendall(sent)
        return read_all(connection)


@pytest.mark.parametrize("body", [1_000, 60_000, 600_000])
def test_the_answer_arrives_while_the_body_is_sent(start: Start, long_drain: None, body: int) -> None:
    """Red under uvicorn alone, which closes at once: bytes that come then reset the connection (checked by letting
    ``ClientConnection.close`` close)."""
    server = start()
    for _ in range(TIMES):
        answer = _ask(server, body, pause=0.005)
        assert answer.startswith(b"HTTP/1.1 413")
        assert answer.endswith(b"x" * 1_000)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_in_many_parts(start: Start, long_drain: None, chunked: bool) -> None:
    """Each part of it arrives after the answer was given. Red when ``Request.has_unread_body`` is False, and when a
    body without a length counts as none."""
    server = start()
    for _ in range(3):
        assert _ask(server, 4_000, pause=0.01, parts=40, chunked=chunked).endswith(b"x" * 1_000)


@pytest.mark.parametrize(("part", "pause"), [(1, 0.02), (100_000, 0.0)])
def test_nobody_may_send_for_ever(start: Start, part: int, pause: float) -> None:
    """What nobody wants is read for two seconds and a mebibyte at most. Red without either bound."""
    server = start()
    begun = time.monotonic()
    with socket.create_connection(server.address, timeout=60) as connection:
        connection.sendall(b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n")
        try:
            while time.monotonic() - begun < 45:
                connection.sendall(b"x" * part)
                time.sleep(pause)
        except OSError:
            pass
    assert time.monotonic() - begun < 45


def test_a_connection_that_goes_on(start: Start) -> None:
    """An early answer without an end of the connection: the rest of the body is no next request."""
    server = start()
    with socket.create_connection(server.address, timeout=60) as connection:
        connection.sendall(b"POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        read_until(connection, b"Not Found")
        connection.sendall(b"x" * 1_000 + b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_all(connection).endswith(b"hello")


def test_a_connection_that_goes_on_after_its_app_waited_for_the_client(start: Start) -> None:
    """The app reads ``http.disconnect`` after its answer, which is no end of the body. Red when it counts as one: the
    rest of the body is then too large for a head."""
    server = start()
    with socket.create_connection(server.address, timeout=60) as connection:
        connection.sendall(b"POST /waits HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n")
        read_until(connection, b"waits")
        for _ in range(3):
            time.sleep(0.05)  # each part is a packet of its own: one packet always fits
            connection.sendall(b"x" * 100_000)
        time.sleep(0.05)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_all(connection).endswith(b"hello")
