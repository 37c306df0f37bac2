"""Promise 12: how long an open websocket outlives the rotation of its group."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, unix_connect

PATIENCE = 30.0
"""Seconds after which a socket that is still open has failed."""


class Live:
    """An open websocket of a dashboard, listening in a thread. ``code`` and ``at`` (monotonic) tell of its end."""

    def __init__(self, connection: ClientConnection) -> None:
        self.code: int | None = None
        self.at = 0.0
        self._connection = connection
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        try:
            self._connection.recv()
        except ConnectionClosed as error:
            self.at = time.monotonic()
            self.code = error.rcvd.code if error.rcvd else 0

    def wait(self) -> None:
        """Returns when it is closed, or when that takes too long."""
        self._thread.join(PATIENCE)


def connect(stack: ExitStack, path: Path, token: str) -> Live:
    """Opens one that closes with ``stack``, and waits until the app has accepted it."""
    opened = unix_connect(str(path), "ws://fleet/live", additional_headers={"X-User-Group-Token": token})
    connection = stack.enter_context(opened)
    connection.recv()
    return Live(connection)


def closing(path: Path, tokens: Sequence[str], end: Callable[[str], object]) -> list[tuple[int | None, float]]:
    """For a socket of each token: its close code (None: it is open yet), and the seconds from when ``end``, which
    rotates the token, had returned."""
    with ExitStack() as stack:
        sockets = [connect(stack, path, token) for token in tokens]
        returned = []
        for token in tokens:
            end(token)
            returned.append(time.monotonic())
        for socket in sockets:
            socket.wait()
        return [(each.code, max(0.0, each.at - since)) for each, since in zip(sockets, returned, strict=True)]
