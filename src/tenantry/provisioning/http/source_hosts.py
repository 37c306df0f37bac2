"""Checks the URL of a data source that is registered over HTTP."""
# Without this check, a caller could make the server connect to any host, open files of the server, or send a file or
# environment variable (``file:…``, ``env:…``) as a password to the caller's host.

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tenantry.errors import InvalidSource

_PATTERN: Final = re.compile(r"(\*|(?:\*\.)?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
_HOST: Final = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]+")  # one host: no list of hosts, no path of a socket
_DATABASE: Final = re.compile(r"[\w.$-]+")  # no connection string, which would name another host
_ENGINES: Final = frozenset({"postgresql", "postgres", "redshift", "mysql", "mariadb", "clickhouse"})
_OPTIONS: Final = frozenset({"application_name", "charset", "secure", "sslmode", "ssl_mode", "verify"})
"""Options that name no host, no file and no secret."""

_REFERENCE: Final = "over HTTP the password of a data source cannot be a reference: send the password itself"


class SourceHosts:
    """The ``source_hosts`` of ``create_api``. ``*.example.com`` allows every subdomain. Raises ValueError for an
    invalid entry."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._allowed: list[tuple[str, int | None]] = []
        for each in hosts:
            found = _PATTERN.fullmatch(each)
            if found is None:
                raise ValueError(f"{each!r} is not a host: write db.example.com, db.example.com:5432 or *.example.com")
            self._allowed.append((found[1].strip("[]").lower(), int(found[2]) if found[2] else None))

    def check(self, url: str, password: str | None) -> None:
        """Raises InvalidSource if the URL or the password is not allowed. The message quotes only names of engines and
        options. An empty ``url`` is not checked."""
        from tenantry.database import is_reference
        from tenantry.datasources import parse_url

        if is_reference(password):
            raise InvalidSource(_REFERENCE, field="/password")
        if not url:
            return
        parsed = parse_url(url)
        if parsed.get_backend_name() not in _ENGINES:
            engines = ", ".join(sorted(_ENGINES))
            raise _refused(f"a data source that is registered over HTTP must use one of these engines: {engines}")
        if is_reference(parsed.password):
            raise _refused(_REFERENCE)
        if parsed.query.keys() - _OPTIONS:
            options = ", ".join(sorted({*_OPTIONS, "tenantry_timezone"}))
            raise _refused(f"over HTTP, the URL of a data source may have only these options: {options}")
        host = (parsed.host or "").lower()
        if not _HOST.fullmatch(host) or not _DATABASE.fullmatch(parsed.database or ""):
            raise _refused(
                "the URL must name one host (an ASCII name or an IP address) and one database, whose name has only "
                "letters, digits and . _ - $"
            )
        if not any(_matches(name, host) and port in (None, parsed.port) for name, port in self._allowed):
            raise _refused(
                "the service does not allow this host and port: its operator can allow them with the setting "
                "api_source_hosts, or register the data source with tenantry data-source create"
            )


def _matches(name: str, host: str) -> bool:
    return name in ("*", host) or (name.startswith("*.") and host.endswith(name[1:]))


def _refused(message: str) -> InvalidSource:
    return InvalidSource(message, field="/url")
