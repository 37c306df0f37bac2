"""Where a Redis or Valkey is: the URL of ``TENANTRY_REDIS``, read and checked. Pure: no I/O and no driver.

    redis://[user:password@]host[:6379][/0]          rediss:// is the same through TLS
    unix://[user:password@]/path/to/socket[?db=0]
    redis+sentinel://[user:password@]host[:26379],host2[:26379]/service[/0]
    redis+cluster://[user:password@]host[:6379],host2[:6379]

``rediss+sentinel`` and ``rediss+cluster`` are the same through TLS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from tenantry.errors import InvalidSettings


class Kind(Enum):
    """How the server is reached."""

    SINGLE = "redis"
    SOCKET = "unix"
    SENTINEL = "redis+sentinel"
    CLUSTER = "redis+cluster"


_SCHEMES = {
    "redis": (Kind.SINGLE, False),
    "rediss": (Kind.SINGLE, True),
    "unix": (Kind.SOCKET, False),
    "redis+sentinel": (Kind.SENTINEL, False),
    "rediss+sentinel": (Kind.SENTINEL, True),
    "redis+cluster": (Kind.CLUSTER, False),
    "rediss+cluster": (Kind.CLUSTER, True),
}
_TLS_OPTIONS = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
_SENTINEL_OPTIONS = frozenset({"sentinel_username", "sentinel_password"})
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_NUMBER = re.compile(r"[0-9]{1,5}")
_SERVICE = re.compile(r"[A-Za-z0-9._-]{1,128}")


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A server, or several that are one. ``username``, ``password`` and ``options`` are kept out of ``repr`` and of
    every message; ``label`` may be shown."""

    kind: Kind
    label: str
    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    service: str = ""
    database: int = 0
    tls: bool = False
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_redis_address(url: str) -> RedisServer:
    """Reads a URL of one of the kinds above.

    Raises InvalidSettings; no message holds a part of the URL, for any part of a wrong one may be the password.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        _refuse("is not a URL, or its password needs %-escapes")
    if parts.scheme not in _SCHEMES or parts.fragment:
        _refuse("is of no known kind, or its password needs %-escapes")
    kind, tls = _SCHEMES[parts.scheme]
    username, password, place = _credentials(parts)
    options = _options(parts, kind, tls)
    if kind is Kind.SOCKET:
        return _socket(parts, place, username, password, options)
    hosts = _hosts(place, 26379 if kind is Kind.SENTINEL else 6379)
    if len(hosts) > 1 and kind is Kind.SINGLE:
        _refuse("names several hosts: use redis+sentinel:// or redis+cluster://")
    service, database = _path(parts.path, kind)
    where = ", ".join(f"{host}:{port}" for host, port in hosts)
    names = {
        Kind.SINGLE: f"Redis {where}",
        Kind.SENTINEL: f"Redis {service} of the Sentinels {where}",
        Kind.CLUSTER: f"Redis Cluster {where}",
    }
    return RedisServer(kind, names[kind], hosts, "", service, database, tls, username, password, options)


def _refuse(why: str) -> NoReturn:
    raise InvalidSettings(
        f"the Redis URL {why}: use redis://host:6379/0, rediss://, unix:///path/to/socket, "
        "redis+sentinel://host:26379,host2:26379/service/0 or redis+cluster://host:6379,host2:6379"
    ) from None


def _credentials(parts: SplitResult) -> tuple[str | None, str | None, str]:
    before, _, place = parts.netloc.rpartition("@")
    if "@" in before:
        _refuse("has two @: write the one of the password as %40")
    username, _, password = before.partition(":")
    return unquote(username) or None, unquote(password) or None, place


def _options(parts: SplitResult, kind: Kind, tls: bool) -> dict[str, str]:
    known = (_TLS_OPTIONS if tls else frozenset()) | (_SENTINEL_OPTIONS if kind is Kind.SENTINEL else frozenset())
    if kind is Kind.SOCKET:
        known = frozenset({"db"})
    try:
        given = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
    except ValueError:
        _refuse("has something after its '?' that is not name=value")
    options = dict(given)
    if len(options) != len(given) or not options.keys() <= known:
        _refuse(f"has an option that this kind does not take (it takes: {', '.join(sorted(known)) or 'none'})")
    return options


def _socket(
    parts: SplitResult, place: str, username: str | None, password: str | None, options: dict[str, str]
) -> RedisServer:
    path = unquote(parts.path)
    if place or not path.strip("/") or "\0" in path:
        _refuse("names no path of a socket: write unix:///path, with three slashes")
    database = _database(options.pop("db", "0"))
    label = f"Redis at the socket {path}"
    return RedisServer(Kind.SOCKET, label, path=path, database=database, username=username, password=password)


def _hosts(place: str, default_port: int) -> tuple[tuple[str, int], ...]:
    hosts = []
    for each in place.split(","):
        found = _HOST.fullmatch(each)
        port = int((found and found["port"]) or default_port)
        if found is None or not 0 < port < 65_536:
            _refuse("has a host or a port that cannot be one")
        hosts.append((found["host"].strip("[]"), port))
    return tuple(hosts)


def _path(path: str, kind: Kind) -> tuple[str, int]:
    """The service of a Sentinel URL and the number of the database."""
    pieces = path.strip("/").split("/") if path.strip("/") else []
    service = ""
    if kind is Kind.SENTINEL:
        if not pieces or not _SERVICE.fullmatch(pieces[0]):
            _refuse("names no service for the Sentinels to find")
        service = pieces.pop(0)
    if len(pieces) > 1:
        _refuse("has a path that is not one number of a database")
    database = _database(pieces[0]) if pieces else 0
    if database and kind is Kind.CLUSTER:
        _refuse("names a database, and a cluster has only number 0")
    return service, database


def _database(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        _refuse("has a path that is not the number of a database")
    return int(text)
