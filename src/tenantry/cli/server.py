"""Running an ASGI app with uvicorn: logs on stderr without any token, and an announcement when it really listens."""

from __future__ import annotations

import copy
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn

from tenantry.errors import InvalidSettings

DRAIN_SECONDS = 10


def run(app: Any, listener: socket.socket, *, announce: Callable[[str], None]) -> None:
    """Serves until SIGINT or SIGTERM, then lets requests under way finish, and closes ``listener``."""
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    config = uvicorn.Config(
        app, log_config=_log_config(), log_level="warning", timeout_graceful_shutdown=DRAIN_SECONDS, ws="auto"
    )
    server = _Server(config, lambda: announce(url))
    # uvicorn drains on a signal and then raises it again; being asked to stop is no failure.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with listener, suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """Says when it listens, which uvicorn itself does only in its log."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._on_ready()


def listen(host: str, port: int) -> socket.socket:
    """Takes the address, before a command changes anything on disk for it. Raises InvalidSettings (port)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InvalidSettings(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port (0 takes a free one)"
        ) from None
    return listener


def _log_config() -> dict[str, Any]:
    """uvicorn's own, with every line on stderr and through the filter that masks tokens."""
    config: dict[str, Any] = copy.deepcopy(uvicorn.config.LOGGING_CONFIG)
    config["filters"] = {"redact": {"()": "tenantry.middleware.RedactTokens"}}
    for handler in config["handlers"].values():
        handler["stream"] = "ext://sys.stderr"
        handler["filters"] = ["redact"]
    return config
