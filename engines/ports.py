"""Ports for servers that have to be told one before they start, or that keep theirs through restarts."""

from __future__ import annotations

import random
import socket

_PORTS = range(12_000, 22_000)
"""Below what systems hand out by themselves (from 32,768 on Linux): no connection of another process takes the port
between our look and the server's start, or while the server is restarted. And 10,000 more, which a cluster node of
Valkey takes as well, is still below."""


def free_port() -> int:
    """A port that nobody listens on now. Two who ask get the same one with a chance of one in thousands."""
    dice = random.SystemRandom()
    while True:
        port = dice.choice(_PORTS)
        with socket.socket() as probe, socket.socket() as second:
            try:
                probe.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
        return port
