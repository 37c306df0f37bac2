from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterator
from typing import Final

_NO_ADDRESS: Final = "no address found for the host {}: check its name"
_REFUSED: Final = "connection refused by {}: nothing listens on that port"
_SILENT: Final = "no answer from {}"
_NO_ROUTE: Final = "no route to {}"
CLOSED: Final = "{} closed the connection: if it does so each time, check which service listens on that port"
OTHER_PROTOCOL: Final = "{} answers in another protocol: check the port, and which service listens there"
WRONG_LOGIN: Final = "the user or the password is wrong"

_AT: Final = r'at "([^"]*)"(?: \([^)]*\))?, port (\d+) failed: .*'
# libpq has no SQLSTATE for connection errors, and PgBouncer's messages differ from PostgreSQL's. The values of a
# pattern's groups (hosts, ports and paths) are put into the reason.
_POSTGRESQL: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"failed to resolve host '([^']*)'", _NO_ADDRESS),
        (_AT + "Connection refused", _REFUSED),
        (_AT + "(?:timeout expired|Connection timed out)", _SILENT),
        (_AT + "(?:No route to host|Network is unreachable)", _NO_ROUTE),
        (_AT + "server closed the connection", CLOSED),
        (_AT + "(?:received invalid response|expected authentication request)", OTHER_PROTOCOL),
        (r'on socket "([^"]*)" failed: (?:No such file|Connection refused)', "no server listens at the socket {}"),
        (
            "root certificate file",
            "TLS: no CA file can be read: add sslrootcert=/path/to/ca.pem, or sslrootcert=system for a public CA",
        ),
        ("certificate verify failed", "TLS: the server's certificate is not signed by the given CA"),
        ("server certificate for", "TLS: the server's certificate is for another host"),
        ("server does not support SSL", "TLS: the server has no TLS, and the URL requires it"),
        ("too many connections for role", "the role has reached its limit of connections"),
        ("too many connections for database", "the database has reached its limit of connections"),
        ("too many clients already|remaining connection slots", "the server has reached max_connections"),
        ("no more connections allowed", "the pooler has reached max_client_conn"),
        ("no password supplied", "the server wants a password, and the URL has none"),
        ("password authentication failed|SASL authentication failed", WRONG_LOGIN),
        ("no pg_hba.conf entry", "pg_hba.conf of the server has no entry for this host, user, database and encryption"),
        (r'role "[^"]*" (?:does not exist|is not permitted)|no such user', "the user is refused"),
        (r'database "[^"]*" does not exist|no such database', "there is no such database"),
        ("system is (?:starting up|shutting down|in recovery mode)", "the server is starting or stopping"),
        (
            "cannot connect to server|server login (?:failed|has been failing)",
            "the pooler cannot log in to the server behind it",
        ),
        (
            "statement pooling mode",
            "the pooler has pool_mode = statement, which allows no transactions: use transaction or session",
        ),
        (
            "PQexec disallowed",
            "the pooler refuses the simple query protocol, which transactions need: turn disable_pqexec off",
        ),
    )
)


def postgres_problem(error: BaseException) -> str | None:
    """Explain an error of libpq, or return None if it is unknown. The explanation may name host and port, but not
    the user or password."""
    text = str(error)
    for pattern, reason in _POSTGRESQL:
        found = pattern.search(text)
        if found is not None:
            return reason.format(":".join(found.groups()))
    return None


def network_problem(error: BaseException, server: str = "its server") -> str | None:
    """Explain the first network error among an error and its causes, or return None if no network error is among
    them. ``server``: the server's name in the explanation, such as ``db.internal:3306``."""
    for each in causes(error):
        if isinstance(each, socket.gaierror):
            host = server.rpartition(":")[0].rpartition(" ")[2]  # `cache.internal` of `Redis cache.internal:6379`
            return _NO_ADDRESS.format(host or f"of {server}")
        if isinstance(each, ConnectionRefusedError):
            return _REFUSED.format(server)
        if isinstance(each, TimeoutError):
            return _SILENT.format(server)
        if isinstance(each, OSError) and each.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
            return _NO_ROUTE.format(server)
        if isinstance(each, ConnectionError):
            return CLOSED.format(server)
    return None


def connection_problem(error: BaseException, server: str) -> str:
    """Explain a driver's error without quoting it. If the error is unknown, return the name of its class."""
    if type(error).__name__ == "AuthenticationError":  # of redis-py (may be missing); also if no password is given
        return f"{WRONG_LOGIN} or missing"
    known = postgres_problem(error) or network_problem(error, server)
    if known is None and type(error).__module__.startswith("redis."):
        known = _REDIS.get(type(error).__name__, "").format(server)
    return known or type(error).__name__


_REDIS: Final = {"ConnectionError": CLOSED, "InvalidResponse": OTHER_PROTOCOL}


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    seen: list[BaseException] = [error]
    for each in seen:
        yield each
        named = (getattr(each, name, None) for name in ("reason", "original_exception"))
        further = (each.__cause__, each.__context__, *named, *each.args)
        seen += [one for one in further if isinstance(one, BaseException) and one not in seen]
