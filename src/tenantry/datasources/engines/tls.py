"""TLS options of a source URL: ``ssl_mode``, ``ssl_ca``, ``ssl_cert`` and ``ssl_key``.

The values of ``ssl_mode``:
- ``verify``: require a certificate for the URL's host, signed by ``ssl_ca`` or by a CA that the system trusts.
- ``required``: use TLS, but accept any certificate.
- ``disabled``: do not use TLS.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import Final

from sqlalchemy.engine import URL

from tenantry.errors import InvalidSource

MODES: Final = ("disabled", "required", "verify")
FILES: Final = ("ssl_ca", "ssl_cert", "ssl_key")
OPTIONS: Final = frozenset({*FILES, "ssl_mode"})
_OTHER_HOST: Final = frozenset({62, 64})  # OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and …_IP_ADDRESS_MISMATCH


class TLSContext:
    def __init__(self, mode: str | None, options: Mapping[str, str]) -> None:
        self._mode = mode
        self._files = {name: options[name] for name in FILES if name in options}
        self._context: ssl.SSLContext | None = None
        self._lock = Lock()

    def get(self) -> ssl.SSLContext:
        """Raises InvalidSource if the certificates or the key cannot be used."""
        with self._lock:
            if self._context is None:
                self._context = self._make()
        return self._context

    def _make(self) -> ssl.SSLContext:
        context = None
        with suppress(OSError, ValueError):  # suppressed: the message of ssl.SSLError, an OSError, quotes the path
            context = self._read_files()
        if context is None:
            raise refused(
                f"TLS cannot use {', '.join(self._files) or 'the certificates that this system trusts'}: use PEM files "
                "that have no passphrase and that every process that queries this data source can read; ssl_key must "
                "be the key of ssl_cert"
            )
        return context

    def _read_files(self) -> ssl.SSLContext:
        if self._mode == "verify":
            context = ssl.create_default_context(cafile=self._files.get("ssl_ca"))
            # Python 3.13 sets this flag, which requires extensions that certificates of private CAs often lack.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        else:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if "ssl_cert" in self._files:
            context.load_cert_chain(self._files["ssl_cert"], self._files.get("ssl_key"), password=_no_password)
        return context


def _no_password() -> str:  # Called for an encrypted key. Without it, OpenSSL would ask on the terminal.
    return ""


def read_options(
    url: URL,
    engine: str,
    known: frozenset[str],
    *,
    ignored: frozenset[str] = frozenset(),
    modes: tuple[str, ...] = MODES,
) -> dict[str, str]:
    """Return a URL's options, except ``ignored``. Raises InvalidSource for an option that is unknown or repeated, or an
    ``ssl_mode`` not in ``modes``."""
    given = {name: value for name, value in url.query.items() if name not in ignored}
    unknown = sorted(set(given) - known)
    if unknown:
        raise refused(
            f"the {engine} URL has unknown options: {', '.join(unknown)}; known options: {', '.join(sorted(known))}"
        )
    options = {name: value for name, value in given.items() if isinstance(value, str)}
    if len(options) < len(given):
        raise refused(f"the {engine} URL has an option more than once: write each option once")
    check_choice(options, "ssl_mode", modes, engine)
    return options


def check_choice(options: Mapping[str, str], name: str, known: tuple[str, ...], engine: str) -> None:
    if options.get(name, known[0]) not in known:
        raise refused(f"{name} of a {engine} URL must be one of {', '.join(known)}")


def asked_mode(options: Mapping[str, str]) -> str | None:
    """Return the ``ssl_mode`` that the options set or imply, or None. Raises InvalidSource if the options contradict
    each other."""
    files = [name for name in FILES if name in options]
    mode = options.get("ssl_mode")
    if mode == "disabled" and files:
        raise refused(f"ssl_mode=disabled contradicts {', '.join(files)}: remove ssl_mode, or the other options")
    if mode == "required" and "ssl_ca" in files:
        raise refused("ssl_mode=required checks no certificate: write ssl_mode=verify, or remove ssl_ca")
    if "ssl_key" in files and "ssl_cert" not in files:
        raise refused("ssl_key needs ssl_cert: add ssl_cert, or remove ssl_key")
    if mode is None and "ssl_ca" in files:
        return "verify"
    return mode


def certificate_hint(error: BaseException | None) -> str | None:
    """Describe the problem with the server's certificate. Return None for other errors."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return None
    if error.verify_code in _OTHER_HOST:
        return "the certificate of the server is for another host than the one in the URL"
    return "the certificate of the server has expired, or is not signed by a CA that ssl_ca or this system trusts"


def is_loopback(host: str | None) -> bool:
    """Whether ``host`` is None, ``localhost`` or a loopback address."""
    if host in {None, "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def refused(message: str) -> InvalidSource:
    return InvalidSource(message, field="/url")
