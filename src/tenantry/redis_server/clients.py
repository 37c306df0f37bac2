"""Connections to a Redis or Valkey, through redis-py. It is loaded when the first connection is made."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tenantry.errors import InvalidSettings
from tenantry.redis_server.address import Kind, RedisServer

_CONNECTIONS = 4
_CONNECT_SECONDS = 2.0  # also the most that a farewell takes
_TRIES = 1  # a connection that had died unseen is made anew once; whoever waits has a budget


def driver() -> Any:
    """redis.asyncio."""
    try:
        import redis.asyncio as module
    except ImportError as error:
        raise InvalidSettings("a Redis URL needs the driver: pip install 'tenantry[redis]'") from error
    return module


class Client:
    """A client of redis-py for one event loop. It makes no connection before its first command.

    ``redis`` is its Redis or RedisCluster object, whose timeouts are left to the caller.
    """

    def __init__(self, server: RedisServer) -> None:
        self.server = server
        self.is_cluster = server.kind is Kind.CLUSTER
        self._closing: list[Any] = []
        self.redis: Any = _MAKERS[server.kind](self, server)
        self._closing.append(self.redis)

    def reading_connection(self) -> Any:
        """A connection of its own, not yet connected, that speaks RESP2: one that subscribes."""
        if self.is_cluster:  # every node passes every message on
            host, port = random.choice(self.server.hosts)  # noqa: S311 - spreads the load; no secret
            kind = driver().SSLConnection if self.server.tls else driver().Connection
            return kind(host=host, port=port, **_common(self.server), **_tls(self.server))
        return self.redis.connection_pool.make_connection()

    async def aclose(self) -> None:
        for each in reversed(self._closing):
            with suppress(Exception):  # a farewell to a server that may be gone
                await each.aclose()

    def single(self, server: RedisServer) -> Any:
        redis = driver()
        place: dict[str, Any] = {}
        if server.kind is Kind.SOCKET:
            kind, place["path"] = redis.UnixDomainSocketConnection, server.path
        else:
            kind = redis.SSLConnection if server.tls else redis.Connection
            place["host"], place["port"] = server.hosts[0]
        pool = redis.ConnectionPool(
            connection_class=kind,
            max_connections=_CONNECTIONS,
            db=server.database,
            **place,
            **_common(server),
            **_tls(server),
        )
        return redis.Redis.from_pool(pool)

    def sentinel(self, server: RedisServer) -> Any:
        options = server.options
        own = {name.removeprefix("sentinel_"): value for name, value in options.items() if name.startswith("sentinel_")}
        # Asked once, and briefly, so that the next Sentinel gets its turn.
        briefly = {"socket_connect_timeout": 0.5, "socket_timeout": 0.5, "retry": _retry(0), "protocol": 2}
        manager = driver().Sentinel(server.hosts, sentinel_kwargs={**own, **briefly, **_tls(server, ssl=True)})
        self._closing.extend(manager.sentinels)
        return manager.master_for(
            server.service,
            db=server.database,
            max_connections=_CONNECTIONS,
            **_common(server),
            **_tls(server, ssl=True),
        )

    def cluster(self, server: RedisServer) -> Any:
        from redis.asyncio.cluster import ClusterNode

        nodes = [ClusterNode(host, port) for host, port in server.hosts]
        return driver().RedisCluster(
            startup_nodes=nodes, max_connections=_CONNECTIONS, **_common(server), **_tls(server, ssl=True)
        )


_MAKERS: dict[Kind, Callable[[Client, RedisServer], Any]] = {
    Kind.SINGLE: Client.single,
    Kind.SOCKET: Client.single,
    Kind.SENTINEL: Client.sentinel,
    Kind.CLUSTER: Client.cluster,
}


def _retry(times: int) -> Any:
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    return Retry(NoBackoff(), times)


def _common(server: RedisServer) -> dict[str, Any]:
    return {
        "username": server.username,
        "password": server.password,
        "protocol": 2,
        "socket_timeout": None,
        "socket_connect_timeout": _CONNECT_SECONDS,
        "client_name": "tenantry",
        "retry": _retry(_TRIES),
    }


def _tls(server: RedisServer, *, ssl: bool = False) -> dict[str, Any]:
    if not server.tls:
        return {}
    return {name: value for name, value in server.options.items() if name.startswith("ssl_")} | (
        {"ssl": True} if ssl else {}
    )
