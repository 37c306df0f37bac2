"""Sends one HTTP/1.1 request over a stream, reads the response within limits, and converts it to JSON for the page."""

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
"""Maximum size in bytes of the head of a response, and of a chunk header."""

_CHUNK: Final = 64 * 1024

_EVENTS: Final = 64
"""After this many parsing events, the event loop may run other tasks: a response may have many tiny chunks."""

_BODIED = frozenset({"POST", "PUT", "PATCH"})
"""Methods that send ``Content-Length: 0`` for an empty body (RFC 9110, section 8.6)."""


@dataclass(frozen=True, slots=True)
class UpstreamResponse:
    """The response of the API. ``truncated``: the body exceeded the limit and was cut."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool


async def send_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: RelayRequest, *, limit: int
) -> UpstreamResponse:
    """Send a request and read the response, with at most ``limit`` bytes of its body. Redirects are not followed.
    Raises RelayError."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
    try:
        # The writer's buffer holds the whole request. Do not drain the buffer: a server may answer before it has read
        # the whole request.
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
        if count % _EVENTS == 0:  # parsing data that has already been read awaits nothing else
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
"""Response headers that are not passed on: cookies, hop-by-hop headers, and headers that would change how a
browser treats the origin."""

_CHARSETS: Final = {
    "": "utf-8",
    "utf-8": "utf-8",
    "us-ascii": "utf-8",
    "iso-8859-1": "cp1252",
    "windows-1252": "cp1252",
}
"""Charset -> Python codec. Bodies in other charsets are not decoded, because some codecs are slow on hostile input."""


def response_as_json(response: UpstreamResponse, milliseconds: int) -> dict[str, Any]:
    """``{status, headers, body, encoding, milliseconds, truncated}``, where ``encoding`` is ``text`` or ``base64``.

    Repeated headers are joined with commas (RFC 9110, section 5.3). Headers that ``Connection`` names are dropped
    (section 7.6.1). The body is not decompressed.
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
    """The body as text; None if it is compressed, in an unsupported charset, or not text."""
    codec = _CHARSETS.get(_charset(headers.get("content-type", "")))
    if codec is None or headers.get("content-encoding", "identity").lower() != "identity" or b"\0" in response.body:
        return None
    for cut in range(4 if response.truncated else 1):  # the limit may have cut a character
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
