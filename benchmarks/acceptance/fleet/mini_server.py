"""The least HTTP/1.1 server there can be: GET without a body, pipelined, answered in order, for an ASGI app.

A fleet is asked tens of thousands of questions in a minute on two cores; this asks the app and little else. Some are
asked through uvicorn besides.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Message, Scope


async def serve(app: ASGIApp, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, until it ends."""
    with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            answer = _Answer()
            await app(_scope(head), _nothing, answer.send)
            writer.write(answer.bytes())
            await writer.drain()
    writer.close()


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


class _Answer:
    """What the app sends, kept whole."""

    def __init__(self) -> None:
        self._start: Message = {"status": 500, "headers": []}
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._body += message.get("body", b"")

    def bytes(self) -> bytes:
        headers = [header for header in self._start["headers"] if header[0].lower() != b"content-length"]
        lines = [b"HTTP/1.1 %d -" % self._start["status"], b"content-length: %d" % len(self._body)]
        lines += [b"%b: %b" % header for header in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self._body


def _scope(head: bytes) -> Scope:
    first, *lines = head[:-4].split(b"\r\n")
    method, path, _ = first.decode("ascii").split(" ")
    headers: list[Any] = []
    for line in lines:
        name, _, value = line.partition(b":")
        headers.append((name.lower(), value.strip()))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("ascii"),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": None,
        "server": None,
    }
