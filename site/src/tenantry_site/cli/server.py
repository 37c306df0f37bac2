from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from tenantry_site.diagnostic import SiteError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

SHUTDOWN_SECONDS = 10
"""Seconds that requests in progress may take to finish when the server stops."""


def serve(app: ASGIApp, listener: socket.socket, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; call ``announce`` with the address once listening."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # the client's address is not used
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    # uvicorn raises the signal again after it has stopped. This handler ignores it, so that the exit code is 0.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with listener, suppress(KeyboardInterrupt):
        _Server(config, lambda: announce(url_of(listener))).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._on_ready()


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address. Raises SiteError if the address is in use or does not belong to this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only on sockets with an explicit IPPROTO_TCP; without TCP_NODELAY, responses wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SiteError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port (0 takes a free one)"
        ) from None
    return listener
