"""Answer: what the page is told of a response, as values of JSON."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

from tenantry_site.relay.exchange import UpstreamResponse

_DROPPED: Final = frozenset(
    {
        "set-cookie", "set-cookie2", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "alt-svc", "clear-site-data",
        "strict-transport-security", "public-key-pins",
    }
)  # fmt: skip
"""Cookies, the connection's own headers, and what speaks to the browser about the origin."""

_CHARSETS: Final = {
    "": "utf-8",
    "utf-8": "utf-8",
    "us-ascii": "utf-8",
    "iso-8859-1": "cp1252",
    "windows-1252": "cp1252",
}
"""No other is decoded: some codecs of Python are slow on hostile input."""


def answer(response: UpstreamResponse, milliseconds: int) -> dict[str, Any]:
    """``{status, headers, body, encoding, milliseconds, truncated}``; ``encoding`` is ``text`` or ``base64``.

    A header that came several times is joined with commas (RFC 9110 section 5.3). What ``Connection`` names is the
    connection's own (section 7.6.1). Nothing is decompressed.
    """
    headers: dict[str, str] = {}
    dropped = _DROPPED | {
        word.strip()
        for name, value in response.headers
        if name.lower() == "connection"
        for word in value.lower().split(",")
    }
    for name, value in response.headers:
        plain = name.lower()
        if plain not in dropped:
            headers[plain] = f"{headers[plain]}, {value}" if plain in headers else value
    text = _text(response, headers)
    return {
        "status": response.status,
        "headers": headers,
        "body": b64encode(response.body).decode("ascii") if text is None else text,
        "encoding": "base64" if text is None else "text",
        "milliseconds": milliseconds,
        "truncated": response.truncated,
    }


def _text(response: UpstreamResponse, headers: dict[str, str]) -> str | None:
    """The body as text, or None: compressed, in a charset that is not read here, or not text at all."""
    codec = _CHARSETS.get(_charset(headers.get("content-type", "")))
    if codec is None or headers.get("content-encoding", "identity").lower() != "identity" or b"\0" in response.body:
        return None
    for cut in range(4 if response.truncated else 1):  # the limit may fall within a character
        try:
            return response.body[: len(response.body) - cut].decode(codec)
        except UnicodeDecodeError:
            continue
    return None


def _charset(content_type: str) -> str:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return ""
