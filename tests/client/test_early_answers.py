"""An answer that is given before the body was read arrives, whichever server the interface is mounted on."""

from __future__ import annotations

import socket
import time

import pytest

from tests.client.conftest import Live
from tests.client.test_live import head

TIMES = 40


def _ask(live: Live, request: bytes, body: bytes) -> bytes:
    """The body leaves a little after the head, and its sender listens when all is sent, as many clients do."""
    with socket.create_connection(live.address, timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(request)
        for part in (body[: len(body) // 2], body[len(body) // 2 :]):
            time.sleep(0.005)
            connection.sendall(part)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    return received


@pytest.mark.parametrize("size", [60, 60_000])
@pytest.mark.parametrize(
    ("status", "method", "path", "wrong"),
    [
        (405, "HEAD", "/api/user", b""),
        (405, "TRACE", "/api/user", b""),
        (401, "POST", "/api/user", b"Token "),
        (404, "POST", "/nothing/here", b""),
    ],
)
def test_an_early_answer_arrives(
    live: Live, monkeypatch: pytest.MonkeyPatch, status: int, method: str, path: str, wrong: bytes, size: int
) -> None:
    """Under plain uvicorn, which closes as soon as it has answered. Red when the body is left unread (checked by
    answering at once): some of the forty are reset."""
    monkeypatch.setattr(
        "tenantry.provisioning.http.request.DRAIN_SECONDS", 60.0
    )  # a busy machine may send the rest a second late
    request = head(live, f"Content-Length: {size}", "Connection: close", method=method).replace(
        b"/api/user", path.encode()
    )
    if wrong:
        request = request.replace(wrong, b"Wrong ")
    for _ in range(TIMES):
        assert _ask(live, request, b" " * size).startswith(b"HTTP/1.1 %d" % status)


def test_a_body_that_never_comes_costs_a_second(live: Live) -> None:
    """Who is refused anyway is answered soon, and the connection ends. Red when the whole body is waited for."""
    begun = time.monotonic()
    with socket.create_connection(live.address, timeout=30) as connection:
        connection.sendall(head(live, "Content-Length: 5000", method="TRACE") + b"x")
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    assert received.startswith(b"HTTP/1.1 405")
    assert b"\r\nconnection: close" in received
    assert time.monotonic() - begun < 20


def test_who_waits_to_be_asked_is_not(live: Live) -> None:
    """``Expect: 100-continue``: the answer comes at once, and no body is asked for. Red when it is drained."""
    with socket.create_connection(live.address, timeout=30) as connection:
        request = head(live, "Content-Length: 5000", "Expect: 100-continue", "Connection: close", method="TRACE")
        connection.sendall(request)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 405")
