"""Exchange: one request and its response over a stream, within limits."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Final

import h11

from tenantry_site.relay.message import Message
from tenantry_site.relay.refused import Refused

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


async def exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: Message, *, limit: int
) -> UpstreamResponse:
    """Sends the message and takes at most ``limit`` bytes of a body. Follows no redirect. Raises Refused."""
    link = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
    try:
        # Everything that is sent fits into the writer's memory. Nobody waits for it to leave: a server that answers
        # without reading is heard.
        for event in _events(message):
            writer.write(link.send(event) or b"")
        return await _receive(link, reader, limit)
    except (h11.RemoteProtocolError, asyncio.IncompleteReadError):
        raise Refused(
            "bad_response", f"{message.target.authority} did not answer with a whole HTTP response."
        ) from None
    except OSError:
        raise Refused("unreachable", f"{message.target.authority} broke the connection off.") from None


def _events(message: Message) -> list[h11.Request | h11.Data | h11.EndOfMessage]:
    headers = [("Host", message.target.authority), ("Connection", "close"), ("Accept-Encoding", "identity")]
    names = {name.lower() for name, _ in message.headers}
    if "user-agent" not in names:
        headers.append(("User-Agent", "tenantry-relay"))
    if message.body is not None or message.method in _BODIED:
        headers.append(("Content-Length", str(len(message.body or b""))))
    request = h11.Request(
        method=message.method,
        target=message.target.path,
        headers=[(name.encode("ascii"), value.encode("latin-1")) for name, value in (*headers, *message.headers)],
    )
    return [request, *([h11.Data(data=message.body)] if message.body else []), h11.EndOfMessage()]


async def _receive(link: h11.Connection, reader: asyncio.StreamReader, limit: int) -> UpstreamResponse:
    head: h11.Response | None = None
    body = bytearray()
    for count in itertools.count(1):
        if len(body) > limit:
            break
        if count % _EVENTS == 0:  # what was read already is taken apart without a pause of its own
            await asyncio.sleep(0)
        event = link.next_event()
        if event is h11.NEED_DATA:
            link.receive_data(await reader.read(_CHUNK))
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
