"""The URL of a MySQL or MariaDB source: where its server is, and how its connections are encrypted.

``ssl_mode`` says what is asked of the server (``tls``). A URL that says nothing means ``verify`` with ``ssl_ca``,
``disabled`` with ``unix_socket``, and ``required`` where it leads to another machine. A loopback address without a mode
has TLS where the server has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.engine import URL

from tenantry.datasources.engines import tls

_OPTIONS: Final = frozenset({*tls.OPTIONS, "unix_socket", "pipelining"})
_NO_TLS: Final = 2026  # the client's CR_SSL_CONNECTION_ERROR
_TLS_WANTED: Final = 3159  # the server's ER_SECURE_TRANSPORT_REQUIRED


class ServerAddress:
    """Where the server is, who logs in, and how: as keyword arguments of ``pymysql.connect``.

    Raises InvalidSource for an option of the URL that is not known, or that contradicts another.
    """

    def __init__(self, url: URL) -> None:
        options = tls.read_options(url, "MySQL", _OPTIONS, ignored=frozenset({"charset"}))
        tls.check_choice(options, "pipelining", ("on", "off"), "MySQL")
        self.pipelining = options.get("pipelining", "on") == "on"
        self._mode = _mode(url.host, options)
        self._context = tls.TLSContext(self._mode, options)
        self._plain = self._mode == "disabled"
        self._login = {
            "host": url.host or "localhost",
            "port": url.port or 3306,
            "user": url.username,
            "password": url.password or "",
            "database": url.database,
            "unix_socket": options.get("unix_socket"),
        }

    def arguments(self) -> dict[str, Any]:
        """Raises InvalidSource for a file that cannot be read. For a thread: it may read all that the system trusts."""
        if self._plain:
            return {**self._login, "ssl_disabled": True}
        return {**self._login, "ssl": self._context.get()}

    def goes_on_without_tls(self, number: int | None) -> bool:
        """After an error while connecting: whether the server has no TLS, and nobody asked for it."""
        if self._mode is not None or number != _NO_TLS:
            return False
        self._plain = True
        return True


def connection_hint(error: BaseException, number: int | None) -> str:
    """What may be said of an error while connecting: its number, and for TLS what is wrong, in our own words."""
    reason = tls.certificate_hint(getattr(error, "original_exception", None))
    if reason is None and number == _NO_TLS:
        reason = "the server has no TLS: set it up there, or add ssl_mode=disabled on a network that nobody else is on"
    elif reason is None and number == _TLS_WANTED:
        reason = "the server takes no connection without TLS: ssl_mode=required or verify"
    return f" ({number})" if reason is None else f" ({number}): {reason}"


def _mode(host: str | None, options: Mapping[str, str]) -> str | None:
    """One of MODES; None takes TLS where it is, and goes without it where it is not."""
    mode = tls.asked_mode(options)
    if mode is not None:
        return mode
    if any(name in options for name in tls.FILES):
        return "required"
    if "unix_socket" in options:
        return "disabled"
    return None if tls.is_loopback(host) else "required"
