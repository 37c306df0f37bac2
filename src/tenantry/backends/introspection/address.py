"""The address of an introspection endpoint. A token goes there, so it is checked before anything is sent."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

_EXAMPLE = "such as https://tenantry.example.com/oauth/introspect"


def checked_address(url: str, *, allow_http: bool) -> str:
    """``url`` itself, if tokens may be sent there: https, or http to this very host, or http to any if ``allow_http``.

    Raises ValueError, which never repeats the URL: it may hold a password.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, 0
    if not host or port == 0 or parts.scheme not in ("http", "https") or parts.path in ("", "/"):
        raise ValueError(f"url must be the whole address of an introspection endpoint, {_EXAMPLE}")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError(f"url must have no user, query or fragment: {_EXAMPLE}; the API token goes into api_token")
    if parts.scheme == "http" and not allow_http and not _is_this_host(host):
        raise ValueError(
            f"url must be https, {_EXAMPLE}: http shows tokens to the network (allow_http=True permits it)"
        )
    return url


def _is_this_host(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
