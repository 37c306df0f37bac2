from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Any, Final

from uvicorn import Config
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from tenantry.errors import TooManyConnections
from tenantry.server.connections.connection import ClientConnection, State
from tenantry.server.connections.limits import ConnectionLimits, Limit, LimitWarnings
from tenantry.server.connections.requests import CONNECTION

_TICK: Final = 0.25
"""Seconds between checks of all connections."""
_SLOW_SECONDS: Final = 1.0
"""After this many seconds without enough progress, a connection is slow and is evicted before idle ones."""
_REFUSED: Final = 8
"""Maximum number of refused connections that stay open while their clients read the error. They do not count towards
the limits."""


class OpenConnections:
    """Admits connections up to the limits. At a limit, it looks through these kinds in order, and closes the oldest
    connection of the first kind that has any. If no kind has any, it refuses the new connection:
    1. draining, or too slow for a second or longer
    2. idle between requests
    3. waiting for its client to send, for less than a second
    4. waiting for its client to read, for less than a second"""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._warnings = LimitWarnings()
        self._all: dict[ClientConnection, None] = {}  # in order of arrival
        self._by_address: dict[str, dict[ClientConnection, None]] = {}
        self._refused: dict[ClientConnection, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[ClientConnection]:
        return iter(self._all)

    def admit(self, connection: ClientConnection) -> TooManyConnections | None:
        address = self.limits.limited_address(connection.transport.get_extra_info("peername"))
        same = {} if address is None else self._by_address.get(address, {})
        refused = None
        if address is not None and len(same) >= self.limits.per_address:
            refused = self._make_capacity(same, Limit.PER_ADDRESS, self.limits.per_address, address)
        if refused is None and len(self._all) >= self.limits.max_connections:
            refused = self._make_capacity(self._all, Limit.ALL, self.limits.max_connections, None)
        if refused is not None:  # not in _all, because the next connection would then evict it
            self._refused[connection] = None
            if len(self._refused) > _REFUSED:
                oldest = next(iter(self._refused))
                del self._refused[oldest]
                oldest.abort()
        else:
            self._all[connection] = None
            if address is not None:
                connection.address = address
                self._by_address.setdefault(address, {})[connection] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_TICK, self._check)
        return refused

    def discard(self, connection: ClientConnection) -> None:
        self._all.pop(connection, None)
        self._refused.pop(connection, None)
        if connection.address is not None:
            same = self._by_address.get(connection.address)
            if same is not None:
                same.pop(connection, None)
                if not same:
                    del self._by_address[connection.address]

    def _make_capacity(
        self, among: Iterable[ClientConnection], limit: Limit, most: int, address: str | None
    ) -> TooManyConnections | None:
        self._warnings.limit_met(limit, most, address)
        error = TooManyConnections("this server has as many connections as it can serve: try again")
        least = _least_valuable(among, monotonic(), self.limits.min_rate)
        if least is None:
            return error
        self.discard(least)  # do not count it any more: its socket closes only after the next connection is admitted
        least.evict(error)
        return None

    def _check(self) -> None:
        now = monotonic()
        for connection in [*self._all, *self._refused]:
            connection.check(now)
        left = self._all or self._refused
        self._timer = asyncio.get_running_loop().call_later(_TICK, self._check) if left else None


def _least_valuable(among: Iterable[ClientConnection], now: float, min_rate: int) -> ClientConnection | None:
    best: tuple[int, ClientConnection] | None = None
    for connection in among:
        rank = _rank(connection, now, min_rate)
        if rank == 1:
            return connection
        if rank and (best is None or rank < best[0]):
            best = rank, connection
    return None if best is None else best[1]


def _rank(connection: ClientConnection, now: float, min_rate: int) -> int:
    state, request = connection.state, connection.request
    if state is State.DRAINING:
        return 1
    if connection.has_unsent:
        slow = connection.is_slow_reader(now, _SLOW_SECONDS)
        return 4 if slow is None else int(slow)
    if state is State.IDLE:
        return 2
    if state is State.HEAD:
        return 1 if connection.since is not None and now - connection.since > _SLOW_SECONDS else 3
    if request is None or not request.waits:
        return 0
    return 1 if request.is_behind(now, min_rate, _SLOW_SECONDS) else 3


class ConnectionFactory:
    """Makes uvicorn's connections in one event loop, with limits and without websockets:
    ``uvicorn.Config(TrackRequests(app), http=ConnectionFactory(limits), interface="asgi3", ws="none")``.
    """

    def __init__(self, limits: ConnectionLimits, protocol: Callable[..., asyncio.Protocol] = AutoHTTPProtocol) -> None:
        self.open: OpenConnections = OpenConnections(limits)
        self._protocol = protocol

    def __call__(
        self,
        config: Config,
        server_state: Any,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> ClientConnection:
        # uvicorn copies app_state to the scope of each request: the only public way from a request to its connection.
        def make_protocol(connection: ClientConnection) -> asyncio.Protocol:
            return self._protocol(config, server_state, {**app_state, CONNECTION: connection}, _loop)

        return ClientConnection(self.open, make_protocol)
