"""Run an ASGI app with uvicorn and a graceful shutdown."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.errors import InvalidSettings
from tenantry.server.connections import ConnectionCounters, ConnectionFactory, ConnectionLimits, TrackRequests
from tenantry.server.telemetry import log_config

DRAIN_SECONDS = 10
"""The longest time to wait for active requests on shutdown."""

_TICK = 0.1
_NEW_CONNECTION_SECONDS = 0.5
"""Seconds to wait for a new connection's request on shutdown."""

_BACKLOG = 2_048
"""Connections that the system queues for acceptance."""
_ACCEPTED_AT_ONCE = 4
"""asyncio also accepts this many connections at once; more could exhaust file descriptors before a limit applies."""


class Drain:
    """Whether a stop was requested. For ``seconds`` after it, ``/readyz`` answers 503 while requests are served, so
    that load balancers can switch."""

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds
        self.started = False

    def __call__(self) -> bool:
        return self.started


def run(
    app: Any,
    listener: socket.socket,
    *,
    announce: Callable[[str], None],
    prepare: Callable[[], Awaitable[None]] | None = None,
    drain: Drain | None = None,
    log_format: str = "text",
    further: Sequence[socket.socket] = (),
    limits: ConnectionLimits | None = None,
    counters: ConnectionCounters | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, finish active requests and close ``listener``.

    After SIGTERM the seconds of ``drain`` pass before connections are refused; SIGINT or a second signal skips them.
    ``prepare`` runs in the server's loop, then ``announce`` gets the address. ``limits`` bound clients; ``counters``
    count closed connections. The caller closes ``further`` listeners.
    """
    connections: Any = ConnectionFactory(limits or ConnectionLimits(), counters)
    config = uvicorn.Config(
        TrackRequests(app),
        http=connections,
        interface="asgi3",  # uvicorn would take TrackRequests for ASGI 2: it has no `async def`
        backlog=_ACCEPTED_AT_ONCE,
        log_config=log_config(log_format),
        log_level="warning",
        access_log=False,  # made for each request, but not written at this level
        proxy_headers=False,  # nothing depends on the client's address
        timeout_graceful_shutdown=DRAIN_SECONDS,
        ws="none",  # our apps have none, and uvicorn would hold a refused one until its client leaves
    )
    server = _Server(config, lambda: announce(url_of(listener)), prepare, drain or Drain())
    # uvicorn raises the signal again after its drain; a requested stop is no failure.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with listener, suppress(KeyboardInterrupt):
            server.run(sockets=[listener, *further])
    finally:
        gc.unfreeze()  # otherwise extension modules report leaks at exit


def by_port(app: ASGIApp, others: Mapping[socket.socket, ASGIApp]) -> ASGIApp:
    """One app for several listeners: ``others`` have their own apps, ``app`` serves the rest."""
    apps = {listener.getsockname()[1]: other for listener, other in others.items()}

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        port = (scope.get("server") or ("", None))[1]
        await apps.get(port, app)(scope, receive, send)

    return chosen


def url_of(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        on_ready: Callable[[], None],
        prepare: Callable[[], Awaitable[None]] | None,
        drain: Drain,
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._prepare = prepare
        self._drain = drain
        self._signals: list[int] = []
        self._listeners: list[socket.socket] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._listeners = sockets or []
        await super().startup(sockets)
        for listener in self._listeners:
            listener.listen(_BACKLOG)
        if self._prepare is not None and not self.should_exit:
            await self._prepare()
        gc.collect()
        gc.freeze()  # these objects live until the end: exclude them from collections
        if not self.should_exit:
            self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._drain.started = True
        self._signals.append(sig)
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():  # no supervisor would stop or replace this worker
            self.handle_exit(signal.SIGTERM, None)
        return await super().on_tick(counter)

    async def main_loop(self) -> None:
        await super().main_loop()
        if self._signals[-1:] != [signal.SIGTERM]:
            return
        # From now on each response closes its connection, so that no request meets a closing one.
        self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._drain.seconds
        while len(self._signals) == 1 and loop.time() < ends:  # noqa: ASYNC110  # a signal handler sets no Event
            await asyncio.sleep(_TICK)
        await self._stop_listening()
        ends = loop.time() + _NEW_CONNECTION_SECONDS
        while self.server_state.connections and len(self._signals) == 1 and loop.time() < ends:  # noqa: ASYNC110
            await asyncio.sleep(_TICK)

    async def _stop_listening(self) -> None:
        # Accept the connections in the backlog first: closing the listener would reset them.
        loop = asyncio.get_running_loop()
        make: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        protocol = partial(make, config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        waiting = [each for listener in self._listeners for each in _accept_waiting(listener)]
        for server in self.servers:
            server.close()
        for connection in waiting:
            await loop.connect_accepted_socket(protocol, connection)


def _accept_waiting(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # none is left, or its client left
            return
        connection.setblocking(False)
        yield connection


def listen(host: str, port: int) -> socket.socket:
    """Bind the address. Raises InvalidSettings."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Explicit TCP: otherwise asyncio keeps Nagle's algorithm on, which delays responses by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InvalidSettings(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port (0 takes a free one)"
        ) from None
    return listener


def listen_beside(listener: socket.socket) -> socket.socket:
    """Bind the host's next port, or any free one. Raises InvalidSettings."""
    host, port = listener.getsockname()[:2]
    try:
        return listen(host, port + 1)
    except (InvalidSettings, OverflowError):  # taken, or above 65535
        return listen(host, 0)
