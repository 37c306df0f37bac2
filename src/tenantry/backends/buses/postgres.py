from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tenantry.backends.buses.subscription import (
    SILENCE_SECONDS,
    BusCounters,
    BusStatus,
    NotificationLimiter,
    follow,
    probe,
)
from tenantry.database import PostgresServer, load_psycopg, read_address
from tenantry.errors import InvalidSettings
from tenantry.groups import CHANNEL
from tenantry.ports import EvictionListener

_CAUSE = (
    "if the address leads to a pooler in transaction mode, give the bus the direct address of the store's database"
    " (PostgresBus(url, listen_url=...); TENANTRY_LISTEN_DATABASE for `tenantry serve`)"
)


class PostgresBus:
    """Receives the NOTIFY messages that PostgreSQL sends after writes to a store. Also sends test messages, to check
    that messages arrive.

    - ``url``: the address of the database, for test messages.
    - ``listen_url``: the address for LISTEN, which needs a connection that stays open. It must lead to the same primary
      server and bypass any transaction pooler. None: use ``url``.

    While ``follow`` runs, the bus holds two connections. It does no I/O before ``follow``. Raises InvalidSettings."""

    def __init__(self, url: str, *, listen_url: str | None = None) -> None:
        load_psycopg()  # to report a missing package now
        self.counters: BusCounters = BusCounters()
        self._store = _server(url)
        self._server = self._store if listen_url is None else _server(listen_url)

    def __repr__(self) -> str:
        return f"<PostgresBus: {self._server.label}>"

    @property
    def status(self) -> BusStatus:
        return self.counters.status

    async def follow(self, listener: EvictionListener) -> None:
        await follow(self._listen, listener, self.counters, self._server.label)

    async def _listen(self, limiter: NotificationLimiter, on_delivery: Callable[[], None]) -> None:
        connection = await self._server.connect(seconds=SILENCE_SECONDS)
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                await connection.execute(f"listen {CHANNEL}")
            async with asyncio.TaskGroup() as group:
                group.create_task(_receive(connection, limiter))
                group.create_task(self._probe(limiter, on_delivery))
        finally:
            connection.terminate()

    async def _probe(self, limiter: NotificationLimiter, on_delivery: Callable[[], None]) -> None:
        # Probe on another connection. Behind a pooler, a connection receives its own probe together with the answer to
        # NOTIFY, even if it receives no notices from other clients.
        connection = await self._store.connect(seconds=SILENCE_SECONDS)
        try:
            await probe(
                limiter,
                lambda text: connection.execute("select pg_notify($1, $2)", (CHANNEL, text)),
                on_delivery,
                cause=_CAUSE,
            )
        finally:
            connection.terminate()


async def _receive(connection: Any, limiter: NotificationLimiter) -> None:
    loop, pgconn, readable = asyncio.get_running_loop(), connection.pgconn, asyncio.Event()
    socket = pgconn.socket
    loop.add_reader(socket, readable.set)
    try:
        while True:
            readable.clear()
            pgconn.consume_input()  # also read notices that came with the answer to LISTEN
            while (notification := pgconn.notifies()) is not None:
                limiter.feed(notification.extra)
            await readable.wait()
    finally:
        loop.remove_reader(socket)


def _server(url: str) -> PostgresServer:
    server = read_address(url)
    if not isinstance(server, PostgresServer):
        raise InvalidSettings("a PostgresBus needs the URL of a PostgreSQL database: postgresql://user@host/database")
    return server
