"""Line: one HTTP/1.1 connection kept open to one process, in plain blocking calls.

A test has to ask *this* worker, at once, and to know when the question was sent: no pool, no retry, no event loop.
"""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

Address = Path | int
"""A Unix socket, or a port of this machine."""

PATIENCE: Final = 30.0
"""Seconds after which a silent process is a failure of the test itself."""


class Lost(OSError):
    """The connection ended before the whole answer was there: nobody knows what became of the request."""


@dataclass(frozen=True)
class Answer:
    """``sent`` and ``came`` are times of the monotonic clock."""

    status: int
    headers: dict[str, str]
    body: bytes = field(repr=False)
    sent: float
    came: float

    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)

    @property
    def seconds(self) -> float:
        """From question to answer."""
        return self.came - self.sent


class Line:
    """A connection that is made at the first request, and again after each loss."""

    def __init__(self, address: Address, *, patience: float = PATIENCE) -> None:
        self.address = address
        self._patience = patience
        self._socket: socket.socket | None = None
        self._buffer = b""
        self._sent: list[float] = []

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets the connection go."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._buffer, self._sent = None, b"", []

    def ask(
        self, method: str = "GET", path: str = "/", headers: dict[str, str] | None = None, body: object = None
    ) -> Answer:
        """One request and its answer. Raises Lost, TimeoutError, ConnectionError."""
        self.send(request(method, path, headers, body))
        return self.receive()

    def send(self, text: bytes) -> None:
        """Sends requests; each wants its ``receive``."""
        try:
            connected = self._socket or self._connect()
            self._sent += [time.monotonic()] * text.count(b" HTTP/1.1\r\n")
            connected.sendall(text)
        except OSError:
            self.close()
            raise

    def receive(self) -> Answer:
        """The next answer."""
        try:
            return self._receive()
        except OSError:
            self.close()
            raise

    def _connect(self) -> socket.socket:
        self._buffer, self._sent = b"", []
        if isinstance(self.address, int):
            connected = socket.create_connection(("127.0.0.1", self.address), self._patience)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            connected = socket.socket(socket.AF_UNIX)
            connected.settimeout(self._patience)
            try:
                connected.connect(str(self.address))
            except BaseException:
                connected.close()
                raise
        self._socket = connected
        return connected

    def _receive(self) -> Answer:
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        head, _, rest = self._buffer.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        self._buffer = rest
        while len(self._buffer) < length:
            self._more()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        answer = Answer(int(first.split(" ", 2)[1]), headers, body, self._sent.pop(0), time.monotonic())
        if headers.get("connection") == "close":
            self.close()
        return answer

    def _more(self) -> None:
        if self._socket is None:
            raise Lost("there is no connection")
        data = self._socket.recv(65_536)
        if not data:
            raise Lost("the connection ended before its answer")
        self._buffer += data


def request(method: str, path: str, headers: dict[str, str] | None = None, body: object = None) -> bytes:
    """The bytes of one request, with ``body`` as JSON."""
    payload = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "host: fleet"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if payload:
        lines += ["content-type: application/json", f"content-length: {len(payload)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + payload


def status(address: Address, path: str = "/", headers: dict[str, str] | None = None) -> int:
    """The status of one GET on a connection of its own; 0 where nobody answers."""
    with suppress(OSError), Line(address, patience=10) as line:
        return line.ask("GET", path, headers).status
    return 0


def show(token: str) -> bytes:
    """The bytes of the request of one dashboard with this user group token."""
    return request("GET", "/", {"x-user-group-token": token})
