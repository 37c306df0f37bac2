from __future__ import annotations

import asyncio
import errno
import gc
import multiprocessing
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.errors import InvalidSettings
from tenantry.server.connections import ConnectionFactory, ConnectionLimits, TrackRequests
from tenantry.server.telemetry import log_config

DRAIN_SECONDS = 10
"""Seconds that active requests may take to finish on shutdown."""

_TICK = 0.1
_NEW_CONNECTION_SECONDS = 0.5
"""On shutdown, clients of the last accepted connections have this many seconds to send a request."""

_BACKLOG = 2_048
"""Length of the kernel's queue of new connections."""
_ACCEPTED_AT_ONCE = 4
"""uvicorn's ``backlog``: asyncio accepts this many connections in one step. More could exhaust the file descriptors
before our limits apply."""


class Drain:
    """After a server is asked to stop, it still runs for ``seconds``, while ``/readyz`` answers 503. Calling the
    Drain returns whether the server was asked."""

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
) -> None:
    """Serve until SIGINT or SIGTERM, finish active requests and close ``listener``.

    After SIGTERM, the server accepts connections ``drain.seconds`` longer; SIGINT or a second signal ends this wait.
    ``prepare`` runs in the server's event loop before ``announce`` is called with the URL. The listeners in ``further``
    are served too, but the caller must close them."""
    connections: Any = ConnectionFactory(limits or ConnectionLimits())
    config = uvicorn.Config(
        TrackRequests(app),
        http=connections,
        interface="asgi3",  # TrackRequests has no `async def`, so uvicorn would take it for ASGI 2
        backlog=_ACCEPTED_AT_ONCE,
        log_config=log_config(log_format),
        log_level="warning",
        access_log=False,  # at this log level, access lines would be prepared but never written
        proxy_headers=False,  # no app here reads the client's address
        timeout_graceful_shutdown=DRAIN_SECONDS,
        ws="none",  # we have no websockets, and uvicorn keeps a refused websocket open until its client leaves
    )
    server = _Server(config, lambda: announce(url_of(listener)), prepare, drain or Drain())
    # When uvicorn has stopped, it raises SIGTERM again. Ignore it then: the process should exit with status 0.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with listener, suppress(KeyboardInterrupt):
            server.run(sockets=[listener, *further])
    finally:
        if "duckdb" in sys.modules:
            gc.unfreeze()  # at exit, DuckDB reports frozen objects as leaks


def by_port(app: ASGIApp, others: Mapping[socket.socket, ASGIApp]) -> ASGIApp:
    apps = {listener.getsockname()[1]: other for listener, other in others.items()}

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        port = (scope.get("server") or ("", None))[1]
        await apps.get(port, app)(scope, receive, send)

    return chosen


def url_of(listener: socket.socket) -> str:
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
            try:
                await self._prepare()
            except BaseException:
                await self.shutdown(sockets)  # otherwise the app's lifespan is cancelled, and uvicorn logs a traceback
                raise
        gc.collect()
        gc.freeze()  # these objects live until the end, so garbage collections need not check them
        if not self.should_exit:
            self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._drain.started = True
        self._signals.append(sig)
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():  # without the supervisor, nothing else stops this worker
            self.handle_exit(signal.SIGTERM, None)
        return await super().on_tick(counter)

    async def main_loop(self) -> None:
        await super().main_loop()
        if self._signals[-1:] != [signal.SIGTERM]:
            return
        # From now on each response announces that its connection closes, so that clients send no further request on it.
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
        # Accept the connections in the backlog first, because closing the listener would reset them.
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
        except OSError:  # the queue is empty, or the client has disconnected
            return
        connection.setblocking(False)
        yield connection


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket. Raises InvalidSettings if the host or port cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Nagle's algorithm delays responses by 40 ms. asyncio turns it off only for sockets with an explicit IPPROTO_TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        is_host = isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL
        fix = "--host must be an address of this machine" if is_host else "choose another --port (0 takes a free one)"
        raise InvalidSettings(f"cannot listen on {host}:{port}: {error.strerror or error}; {fix}") from None
    return listener


def listen_next(listener: socket.socket) -> socket.socket:
    """Bind the next port of the same host or, if that port is taken, any free port. Raises InvalidSettings if that
    fails too."""
    host, port = listener.getsockname()[:2]
    try:
        return listen(host, port + 1)
    except (InvalidSettings, OverflowError):  # taken, or above 65535
        return listen(host, 0)
