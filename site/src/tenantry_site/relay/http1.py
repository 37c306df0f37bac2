"""One HTTP/1.1 request and its response over a stream, within limits, and the response as the page gets it."""

from __future__ import annotations

import asyncio
import itertools
from base64 import b64encode
from dataclasses import dataclass
from typing import Any, Final

import h11

from tenantry_site.relay.errors import RelayError
from tenantry_site.relay.request import RelayRequest

MAX_HEAD: Final = 32 * 1024
"""Bytes of a response's head, and of a chunk's."""

_CHUNK: Final = 64 * 1024

_EVENTS: Final = 64
"""Parts of a response after which the others of the event loop have their turn: a part may be a chunk of one byte."""

_BODIED = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose empty body is announced too (RFC 9110 section 8.6)."""


@dataclass(frozen=True, slots=True)
class UpstreamResponse:
    """What came back; ``truncated``: there was more than the limit, and the rest was not taken."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool


async def send_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: RelayRequest, *, limit: int
) -> UpstreamResponse:
    """Sends the request and takes at most ``limit`` bytes of a body. Follows no redirect. Raises RelayError."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
    try:
        # Everything that is sent fits into the writer's memory. Nobody waits for it to leave: a server that answers
        # without reading is understood.
        headers = [("Host", request.url.authority), ("Connection", "close"), ("Accept-Encoding", "identity")]
        names = {name.lower() for name, _ in request.headers}
        if "user-agent" not in names:
            headers.append(("User-Agent", "tenantry-relay"))
        if request.body is not None or request.method in _BODIED:
            headers.append(("Content-Length", str(len(request.body or b""))))
        head = h11.Request(
            method=request.method,
            target=request.url.path,
            headers=[(name.encode("ascii"), value.encode("latin-1")) for name, value in (*headers, *request.headers)],
        )
        for event in [head, *([h11.Data(data=request.body)] if request.body else []), h11.EndOfMessage()]:
            writer.write(connection.send(event) or b"")
        return await _receive(connection, reader, limit)
    except (h11.RemoteProtocolError, asyncio.IncompleteReadError):
        raise RelayError("bad_response", f"{request.url.authority} did not send a complete HTTP response.") from None
    except OSError:
        raise RelayError("unreachable", f"{request.url.authority} closed the connection early.") from None


async def _receive(connection: h11.Connection, reader: asyncio.StreamReader, limit: int) -> UpstreamResponse:
    head: h11.Response | None = None
    body = bytearray()
    for count in itertools.count(1):
        if len(body) > limit:
            break
        if count % _EVENTS == 0:  # what was read already is taken apart without a pause of its own
            await asyncio.sleep(0)
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif not isinstance(event, h11.InformationalResponse):
            break
    if head is None:
        raise h11.RemoteProtocolError("no response before the end")
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers.raw_items())
    return UpstreamResponse(head.status_code, headers, bytes(body[:limit]), truncated=len(body) > limit)


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


def response_as_json(response: UpstreamResponse, milliseconds: int) -> dict[str, Any]:
    """``{status, headers, body, encoding, milliseconds, truncated}``; ``encoding`` is ``text`` or ``base64``.

    A header that came several times is joined with commas (RFC 9110 section 5.3). What ``Connection`` names is the
    connection's own (section 7.6.1). Nothing is decompressed.
    """
    headers: dict[str, str] = {}
    dropped = _DROPPED | {
        option.strip()
        for name, value in response.headers
        if name.lower() == "connection"
        for option in value.lower().split(",")
    }
    for name, value in response.headers:
        plain = name.lower()
        if plain not in dropped:
            headers[plain] = f"{headers[plain]}, {value}" if plain in headers else value
    text = _body_text(response, headers)
    return {
        "status": response.status,
        "headers": headers,
        "body": b64encode(response.body).decode("ascii") if text is None else text,
        "encoding": "base64" if text is None else "text",
        "milliseconds": milliseconds,
        "truncated": response.truncated,
    }


def _body_text(response: UpstreamResponse, headers: dict[str, str]) -> str | None:
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
