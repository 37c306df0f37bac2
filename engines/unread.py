"""Clients that ask and do not read: each sends one request, and takes nothing of its answer."""

from __future__ import annotations

import socket
from collections.abc import Callable

from engines.slow_clients import SMALL_WINDOW, SilentClients


class UnreadAnswers(SilentClients):
    """``count`` connections to ``address``, each with the request that ``make`` gives for its number, from 0."""

    def __init__(self, address: tuple[str, int], count: int, make: Callable[[int], bytes]) -> None:
        self._make = make
        super().__init__(address, count)

    def connect(self) -> None:
        """Opens one more connection."""
        self.opening = self._make(len(self.connections))
        super().connect()

    def configure(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)
