"""Address and TLS options in a MySQL or MariaDB URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.engine import URL

from tenantry.datasources.engines import tls

_OPTIONS: Final = frozenset({*tls.OPTIONS, "unix_socket", "pipelining"})
_NO_TLS: Final = 2026  # the client's CR_SSL_CONNECTION_ERROR
_TLS_WANTED: Final = 3159  # the server's ER_SECURE_TRANSPORT_REQUIRED


class ServerAddress:
    """Keyword arguments of ``pymysql.connect``. Raises InvalidSource for unknown or contradictory options."""

    def __init__(self, url: URL) -> None:
        options = tls.read_options(url, "MySQL", _OPTIONS, ignored=frozenset({"charset"}))
        tls.check_choice(options, "pipelining", ("on", "off"), "MySQL")
        self.pipelining: bool = options.get("pipelining", "on") == "on"
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
        """Blocks while it reads certificates. Raises InvalidSource for an unreadable file."""
        if self._plain:
            return {**self._login, "ssl_disabled": True}
        return {**self._login, "ssl": self._context.get()}

    def goes_on_without_tls(self, number: int | None) -> bool:
        """Whether to reconnect without TLS: the server has none and the URL does not require it."""
        if self._mode is not None or number != _NO_TLS:
            return False
        self._plain = True
        return True


def connection_hint(error: BaseException, number: int | None) -> str:
    reason = tls.certificate_hint(getattr(error, "original_exception", None))
    if reason is None and number == _NO_TLS:
        reason = "the server has no TLS: set it up there, or add ssl_mode=disabled on a private network"
    elif reason is None and number == _TLS_WANTED:
        reason = "the server requires TLS: write ssl_mode=required or verify"
    return f" ({number})" if reason is None else f" ({number}): {reason}"


def _mode(host: str | None, options: Mapping[str, str]) -> str | None:
    mode = tls.asked_mode(options)
    if mode is not None:
        return mode
    if any(name in options for name in tls.FILES):
        return "required"
    if "unix_socket" in options:
        return "disabled"
    return None if tls.is_loopback(host) else "required"
