"""The URL of a MySQL or MariaDB source: where its server is, and how its connections are encrypted.

``ssl_mode`` says what is asked of the server, and what asks for nothing gets less only on the machine itself:

- ``verify``: TLS, with a certificate for this host that one of ``ssl_ca`` signed (without it, one that the system
  trusts). It is what a URL with ``ssl_ca`` and no mode means.
- ``required``: TLS with whoever answers. It is what any other URL means that leads to another machine.
- ``disabled``: none. It is what a URL with ``unix_socket`` means.

A loopback address without a mode has TLS where the server has it.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, Final

from sqlalchemy.engine import URL

from tenantry.errors import InvalidSource

MODES: Final = ("disabled", "required", "verify")
_FILES: Final = ("ssl_ca", "ssl_cert", "ssl_key")
_OPTIONS: Final = frozenset({*_FILES, "ssl_mode", "unix_socket", "pipelining"})
_OTHER_HOST: Final = frozenset({62, 64})  # OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and …_IP_ADDRESS_MISMATCH
_NO_TLS: Final = 2026  # the client's CR_SSL_CONNECTION_ERROR
_TLS_WANTED: Final = 3159  # the server's ER_SECURE_TRANSPORT_REQUIRED


class ServerAddress:
    """Where the server is, who logs in, and how: as keyword arguments of ``pymysql.connect``.

    Raises InvalidSource for an option of the URL that is not known, or that contradicts another.
    """

    def __init__(self, url: URL) -> None:
        options = _read_options(url)
        self.pipelining = options.get("pipelining", "on") == "on"
        self._mode = _mode(url.host, options)
        self._files = {name: options[name] for name in _FILES if name in options}
        self._context: ssl.SSLContext | None = None
        self._lock = Lock()
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
        with self._lock:
            if self._context is None:  # one for the source: to make one for each connection takes longer than a query
                self._context = self._make_context()
        return {**self._login, "ssl": self._context}

    def goes_on_without_tls(self, number: int | None) -> bool:
        """After an error while connecting: whether the server has no TLS, and nobody asked for it."""
        if self._mode is not None or number != _NO_TLS:
            return False
        self._plain = True
        return True

    def _make_context(self) -> ssl.SSLContext:
        context = None
        with suppress(OSError, ValueError):  # ssl.SSLError is an OSError: its text quotes the path
            context = self._read_files()
        if context is None:
            raise InvalidSource(
                f"the files of {', '.join(self._files) or 'the certificates that this system trusts'} cannot be read: "
                "they hold certificates and keys in PEM, and must be there for every process that uses the source",
                field="/url",
            )
        return context

    def _read_files(self) -> ssl.SSLContext:
        if self._mode == "verify":
            context = ssl.create_default_context(cafile=self._files.get("ssl_ca"))
            # Python 3.13 also asks for extensions that the certificates lack which MySQL makes for itself.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        else:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if "ssl_cert" in self._files:
            context.load_cert_chain(self._files["ssl_cert"], self._files.get("ssl_key"), password=_no_password)
        return context


def connection_hint(error: BaseException, number: int | None) -> str:
    """What may be said of an error while connecting: its number, and for TLS what is wrong, in our own words."""
    original = getattr(error, "original_exception", None)
    if isinstance(original, ssl.SSLCertVerificationError):
        if original.verify_code in _OTHER_HOST:
            reason = "the certificate of the server is for another host than the URL's"
        else:
            reason = "the certificate of the server is not signed by one that ssl_ca or this system trusts, or expired"
    elif number == _NO_TLS:
        reason = "the server has no TLS: set it up there, or add ssl_mode=disabled on a network that nobody else is on"
    elif number == _TLS_WANTED:
        reason = "the server takes no connection without TLS: ssl_mode=required or verify"
    else:
        return f" ({number})"
    return f" ({number}): {reason}"


def _no_password() -> str:
    """For a key that is encrypted: without this OpenSSL asks for its password at the terminal."""
    return ""


def _read_options(url: URL) -> dict[str, str]:
    given = {name: value for name, value in url.query.items() if name != "charset"}
    unknown = sorted(set(given) - _OPTIONS)
    if unknown:
        raise _refused(
            f"the MySQL URL has unknown options: {', '.join(unknown)}; known are {', '.join(sorted(_OPTIONS))}"
        )
    options = {name: value for name, value in given.items() if isinstance(value, str)}
    if len(options) < len(given):
        raise _refused("the MySQL URL has an option twice")
    for name, known in (("ssl_mode", MODES), ("pipelining", ("on", "off"))):
        if options.get(name, known[0]) not in known:
            raise _refused(f"{name} of a MySQL URL is one of {', '.join(known)}")
    return options


def _mode(host: str | None, options: Mapping[str, str]) -> str | None:
    """One of MODES; None takes TLS where it is, and goes without it where it is not."""
    files = [name for name in _FILES if name in options]
    mode = options.get("ssl_mode")
    if mode == "disabled" and files:
        raise _refused(f"ssl_mode=disabled contradicts {', '.join(files)}: leave one of them out")
    if mode == "required" and "ssl_ca" in files:
        raise _refused("ssl_mode=required checks no certificate: write ssl_mode=verify, or no ssl_ca")
    if "ssl_key" in files and "ssl_cert" not in files:
        raise _refused("ssl_key is the key of ssl_cert: give that too")
    if mode is not None:
        return mode
    if "ssl_ca" in files:
        return "verify"
    if files:
        return "required"
    if "unix_socket" in options:
        return "disabled"
    return None if _is_loopback(host) else "required"


def _is_loopback(host: str | None) -> bool:
    if host in {None, "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _refused(message: str) -> InvalidSource:
    return InvalidSource(message, field="/url")
