"""Clients that hold a server's connections for as long as it lets them: the three modes of slowhttptest by hand, and
requests for a websocket.

Each holds many connections. ``step()`` is one round of all of them: a byte or two sent, or read, on each. What the
server did about it is in ``answers`` and ``gone``.
"""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Self

from engines.debian_packages import environment, require

SMALL_WINDOW = 1_024
"""Bytes of the receive buffer of a client that does not read."""


class SlowClients:
    """``count`` connections to ``address`` on which ``opening`` was sent, and nothing more until ``step``."""

    opening = b""

    def __init__(self, address: tuple[str, int], count: int) -> None:
        self.address = address
        self.connections: list[socket.socket] = []
        self.answers: Counter[int] = Counter()
        """Statuses that came before the end of a connection."""
        self.gone = 0
        """Connections that the server has ended."""
        for _ in range(count):
            self.connect()

    def connect(self) -> None:
        """Opens one more connection."""
        connection = socket.socket()
        self.configure(connection)
        connection.settimeout(30)
        connection.connect(self.address)
        connection.sendall(self.opening)
        connection.setblocking(False)
        self.connections.append(connection)

    def configure(self, connection: socket.socket) -> None:
        """Before it connects."""

    def turn(self, connection: socket.socket) -> None:
        """What one of them does in a round. Raises OSError once the server has ended it."""
        raise NotImplementedError

    def step(self) -> None:
        """A turn of each connection; then reads what came."""
        for connection in list(self.connections):
            try:
                self.turn(connection)
                self._listen(connection)
            except BlockingIOError:
                continue
            except OSError:
                self._end(connection)

    def _listen(self, connection: socket.socket) -> None:
        received = connection.recv(65_536)
        status = re.match(rb"HTTP/1\.1 (\d+)", received)
        if status:
            self.answers[int(status[1])] += 1
        if not received:
            self._end(connection)

    def _end(self, connection: socket.socket) -> None:
        connection.close()
        self.connections.remove(connection)
        self.gone += 1

    def last(self, seconds: float) -> bool:
        """Goes on, a round each tenth of a second, for that long or until every connection was ended. Whether one was
        left."""
        ends = time.monotonic() + seconds
        while self.connections and time.monotonic() < ends:
            self.step()
            time.sleep(0.1)
        return bool(self.connections)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self.connections:
            connection.close()


class SlowHeaders(SlowClients):
    """Slowloris: the head of a request never ends."""

    opening = b"GET / HTTP/1.1\r\nHost: x\r\n"

    def turn(self, connection: socket.socket) -> None:
        connection.send(b"X-A: b\r\n")


class SilentClients(SlowClients):
    """Nothing is ever sent."""

    def turn(self, connection: socket.socket) -> None:
        pass


class SlowBody(SlowClients):
    """R-U-Dead-Yet: a body is announced, and comes a byte a round."""

    def __init__(self, address: tuple[str, int], count: int, path: str = "/echo", headers: bytes = b"") -> None:
        self.opening = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n".encode()
            + headers
            + b"\r\n{"
        )
        super().__init__(address, count)

    def turn(self, connection: socket.socket) -> None:
        connection.send(b" ")


class SlowReaders(SlowClients):
    """Slow read: much is asked for, through a small window, and a byte of it is read in a round."""

    def __init__(self, address: tuple[str, int], count: int, path: str = "/", times: int = 1) -> None:
        self.opening = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * times
        super().__init__(address, count)

    def configure(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)

    def turn(self, connection: socket.socket) -> None:
        pass

    def _listen(self, connection: socket.socket) -> None:
        error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            raise OSError(error, "reset")
        if connection.recv(1) == b"":
            raise ConnectionResetError


class Upgrades(SlowClients):
    """Each asks for a websocket with one whole request, and stays. ``head`` is one of HEADS, in which a server of
    websockets finds something wrong: some refuse it, and some neither refuse nor accept."""

    _KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    _UPGRADE = b" HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    HEADS = {
        "no key": b"GET /" + _UPGRADE + b"\r\n",
        "a body": b"GET /" + _UPGRADE + _KEY + b"Content-Length: 5\r\n\r\n",
        "a long path": b"GET /" + b"a" * 9_000 + _UPGRADE + _KEY + b"\r\n",
    }

    def __init__(self, address: tuple[str, int], count: int, head: str = "no key") -> None:
        self.opening = self.HEADS[head]
        super().__init__(address, count)

    def turn(self, connection: socket.socket) -> None:
        pass

    def _listen(self, connection: socket.socket) -> None:
        """It never looks: to see the server's side closed, and to close its own, would be to let go."""


class Slowhttptest:
    """The program slowhttptest, as one who tries the server from outside would run it. Skips where it cannot be had."""

    MODES = {"headers": "-H", "body": "-B", "read": "-X"}

    def __init__(self) -> None:
        self._root = require("slowhttptest")

    def run(self, mode: str, url: str, *options: str, seconds: int) -> str:
        """Runs it to its end, ``seconds`` at most; what it printed."""
        command = [str(self._program), self.MODES[mode], "-u", url, "-l", str(seconds), *options]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment(self._root), timeout=seconds + 60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)

    @property
    def _program(self) -> Path:
        return self._root / "usr/bin/slowhttptest"
