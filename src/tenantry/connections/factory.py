"""ConnectionFactory: what uvicorn calls for each connection that it accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from tenantry.connections.connection import Connection
from tenantry.connections.counters import ConnectionCounters
from tenantry.connections.limits import ConnectionLimits
from tenantry.connections.open_connections import OpenConnections
from tenantry.connections.requests import CONNECTION


class ConnectionFactory:
    """``uvicorn.Config(TrackRequests(app), http=ConnectionFactory(limits), interface="asgi3")``.

    ``protocol`` is the server's own, by default what uvicorn itself would take: httptools where it is installed, else
    h11. Serves one event loop.
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        counters: ConnectionCounters | None = None,
        protocol: Callable[..., asyncio.Protocol] = AutoHTTPProtocol,
    ) -> None:
        self.open = OpenConnections(limits, counters or ConnectionCounters())
        self._protocol = protocol

    def __call__(
        self,
        config: Config,
        server_state: Any,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> Connection:
        # The state that a server passes on to each request is the one way to it that needs nothing of its insides.
        def make_protocol(connection: Connection) -> asyncio.Protocol:
            return self._protocol(config, server_state, {**app_state, CONNECTION: connection}, _loop)

        return Connection(self.open, make_protocol)
