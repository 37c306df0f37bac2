"""Reads the URL of a Redis or Valkey server (``TENANTRY_REDIS``) and connects to it.

    redis://[user:password@]host[:6379][/0]          rediss:// for TLS
    unix://[user:password@]/path/to/socket[?db=0]
    redis+sentinel://[user:password@]host[:26379],host2[:26379]/service[/0]
    redis+cluster://[user:password@]host[:6379],host2[:6379]

``rediss+sentinel`` and ``rediss+cluster`` use TLS."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NoReturn, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from tenantry.errors import InvalidSettings

T = TypeVar("T")


class RedisKind(Enum):
    SINGLE = "redis"
    SOCKET = "unix"
    SENTINEL = "redis+sentinel"
    CLUSTER = "redis+cluster"


_SCHEMES = {
    "redis": (RedisKind.SINGLE, False),
    "rediss": (RedisKind.SINGLE, True),
    "unix": (RedisKind.SOCKET, False),
    "redis+sentinel": (RedisKind.SENTINEL, False),
    "rediss+sentinel": (RedisKind.SENTINEL, True),
    "redis+cluster": (RedisKind.CLUSTER, False),
    "rediss+cluster": (RedisKind.CLUSTER, True),
}
_TLS_OPTIONS = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
_SENTINEL_OPTIONS = frozenset({"sentinel_username", "sentinel_password"})
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_NUMBER = re.compile(r"[0-9]{1,5}")
_SERVICE = re.compile(r"[A-Za-z0-9._-]{1,128}")
_CONNECTIONS = 4
_CONNECT_SECONDS = 2.0
"""Connecting may take at most this many seconds. Also redis-py's limit for closing a connection."""
# An idle connection may be dead.
_TRIES = 1
"""How often a failed command is tried again on a new connection."""


@dataclass(frozen=True, slots=True)
class RedisServer:
    """The address of a Redis server, Sentinel group or cluster. ``repr`` shows neither secrets nor ``options``."""

    kind: RedisKind
    label: str
    """The name of the server in messages. It contains no secret."""
    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    service: str = ""
    database: int = 0
    tls: bool = False
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_redis_address(url: str) -> RedisServer:
    """Parse a URL. Raises InvalidSettings if it is invalid; the message does not quote the URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        _refuse("is not a URL, or its password needs %-escapes")
    if parts.scheme not in _SCHEMES or parts.fragment:
        _refuse("has an unknown scheme, or its password needs %-escapes")
    kind, tls = _SCHEMES[parts.scheme]
    before, _, netloc = parts.netloc.rpartition("@")
    if "@" in before:
        _refuse("has two @: write an @ in the password as %40")
    user, _, secret = before.partition(":")
    username, password = unquote(user) or None, unquote(secret) or None
    options = _options(parts, kind, tls)
    if kind is RedisKind.SOCKET:
        return _socket(parts, netloc, username, password, options)
    hosts = _hosts(netloc, 26379 if kind is RedisKind.SENTINEL else 6379)
    if len(hosts) > 1 and kind is RedisKind.SINGLE:
        _refuse("names several hosts: use redis+sentinel:// or redis+cluster://")
    service, database = _path(parts.path, kind)
    addresses = ", ".join(f"{host}:{port}" for host, port in hosts)
    names = {
        RedisKind.SINGLE: f"Redis {addresses}",
        RedisKind.SENTINEL: f"Redis {service} of the Sentinels {addresses}",
        RedisKind.CLUSTER: f"Redis Cluster {addresses}",
    }
    return RedisServer(kind, names[kind], hosts, "", service, database, tls, username, password, options)


def _refuse(why: str) -> NoReturn:
    raise InvalidSettings(
        f"the Redis URL {why}: use redis://host:6379/0, rediss://, unix:///path/to/socket, "
        "redis+sentinel://host:26379,host2:26379/service/0 or redis+cluster://host:6379,host2:6379"
    ) from None


def _options(parts: SplitResult, kind: RedisKind, tls: bool) -> dict[str, str]:
    known = (_TLS_OPTIONS if tls else frozenset()) | (_SENTINEL_OPTIONS if kind is RedisKind.SENTINEL else frozenset())
    if kind is RedisKind.SOCKET:
        known = frozenset({"db"})
    try:
        given = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
    except ValueError:
        _refuse("has something after its '?' that is not name=value")
    options = dict(given)
    if len(options) != len(given) or not options.keys() <= known:
        _refuse(f"has an unsupported option (options of this scheme: {', '.join(sorted(known)) or 'none'})")
    return options


def _socket(
    parts: SplitResult, netloc: str, username: str | None, password: str | None, options: dict[str, str]
) -> RedisServer:
    path = unquote(parts.path)
    if netloc or not path.strip("/") or "\0" in path:
        _refuse("lacks the path of a socket: write unix:///path, with three slashes")
    database = _database(options.pop("db", "0"))
    label = f"Redis at the socket {path}"
    return RedisServer(RedisKind.SOCKET, label, path=path, database=database, username=username, password=password)


def _hosts(netloc: str, default_port: int) -> tuple[tuple[str, int], ...]:
    hosts = []
    for each in netloc.split(","):
        found = _HOST.fullmatch(each)
        port = int((found and found["port"]) or default_port)
        if found is None or not 0 < port < 65_536:
            _refuse("has an invalid host or port")
        hosts.append((found["host"].strip("[]"), port))
    return tuple(hosts)


def _path(path: str, kind: RedisKind) -> tuple[str, int]:
    pieces = path.strip("/").split("/") if path.strip("/") else []
    service = ""
    if kind is RedisKind.SENTINEL:
        if not pieces or not _SERVICE.fullmatch(pieces[0]):
            _refuse("lacks the name of the Sentinels' service")
        service = pieces.pop(0)
    if len(pieces) > 1:
        _refuse("has a path that is not the number of a database")
    database = _database(pieces[0]) if pieces else 0
    if database and kind is RedisKind.CLUSTER:
        _refuse("names a database, but a cluster has only database 0")
    return service, database


def _database(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        _refuse("names a database that is not a number")
    return int(text)


def load_redis() -> Any:
    try:
        import redis.asyncio as module
    except ImportError as error:
        raise InvalidSettings("a Redis URL needs the driver: pip install 'tenantry[redis]'") from error
    return module


async def ask_server(answer: Awaitable[T], *, seconds: float) -> T:
    """Wait at most ``seconds`` for the server's answer and return it. Raises ConnectionError for every failure."""
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except Exception as error:
        raise ConnectionError(
            "the server did not answer, refused the login or the command, or is not a Redis server: check its log, and "
            "the host, port, TLS and password of the URL"
        ) from error


class RedisClient:
    """A redis-py client for one event loop. Commands sent through ``redis`` have no time limit, so callers must set
    one."""

    def __init__(self, server: RedisServer) -> None:
        self.server = server
        self.is_cluster: bool = server.kind is RedisKind.CLUSTER
        self._closing: list[Any] = []
        self.redis: Any = _MAKERS[server.kind](self, server)
        self._closing.append(self.redis)

    def reading_connection(self) -> Any:
        if self.is_cluster:  # every node of a cluster forwards every message
            host, port = random.choice(self.server.hosts)  # noqa: S311 - spreads the load; no secret
            kind = load_redis().SSLConnection if self.server.tls else load_redis().Connection
            return kind(host=host, port=port, **_common(self.server), **_tls(self.server))
        return self.redis.connection_pool.make_connection()

    async def aclose(self) -> None:
        for each in reversed(self._closing):
            with suppress(Exception):  # the server may be gone
                await each.aclose()

    def single(self, server: RedisServer) -> Any:
        redis = load_redis()
        address: dict[str, Any] = {}
        if server.kind is RedisKind.SOCKET:
            kind, address["path"] = redis.UnixDomainSocketConnection, server.path
        else:
            kind = redis.SSLConnection if server.tls else redis.Connection
            address["host"], address["port"] = server.hosts[0]
        pool = redis.ConnectionPool(
            connection_class=kind,
            max_connections=_CONNECTIONS,
            db=server.database,
            **address,
            **_common(server),
            **_tls(server),
        )
        return redis.Redis.from_pool(pool)

    def sentinel(self, server: RedisServer) -> Any:
        options = server.options
        own = {name.removeprefix("sentinel_"): value for name, value in options.items() if name.startswith("sentinel_")}
        # One short attempt for each Sentinel; after a failure, try the next Sentinel.
        briefly = {"socket_connect_timeout": 0.5, "socket_timeout": 0.5, "retry": _retry(0), "protocol": 2}
        manager = load_redis().Sentinel(server.hosts, sentinel_kwargs={**own, **briefly, **_tls(server, ssl=True)})
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
        return load_redis().RedisCluster(
            startup_nodes=nodes, max_connections=_CONNECTIONS, **_common(server), **_tls(server, ssl=True)
        )


_MAKERS: dict[RedisKind, Callable[[RedisClient, RedisServer], Any]] = {
    RedisKind.SINGLE: RedisClient.single,
    RedisKind.SOCKET: RedisClient.single,
    RedisKind.SENTINEL: RedisClient.sentinel,
    RedisKind.CLUSTER: RedisClient.cluster,
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
