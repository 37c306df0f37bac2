"""Relay: the ASGI app that the playground's script posts to."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Iterable
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry_site.relay import connecting
from tenantry_site.relay.answer import answer
from tenantry_site.relay.exchange import exchange
from tenantry_site.relay.message import Message, read_message
from tenantry_site.relay.networks import METADATA_NAMES
from tenantry_site.relay.refused import Refused
from tenantry_site.relay.request_headers import SCOPE_KEY, check_names, sendable
from tenantry_site.relay.sender import check_sender
from tenantry_site.relay.target import read_target

MAX_REQUEST: Final = 512 * 1024
"""Bytes of the JSON that the relay takes: 64 KiB of a body may be six times as long when every character is escaped."""

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


class Relay:
    """Takes ``{method, url, headers, body}`` by POST, sends it, and answers with what came back.

    The answer is ``{status, headers, body, encoding, milliseconds, truncated}`` with status 200, or
    ``{"error": {"code", "message"}}`` with a code of ``CODES`` and its status.
    """

    def __init__(
        self,
        origins: Iterable[str],
        private: Iterable[str] = (),
        *,
        timeout: float = 10.0,
        limit: int = 1024 * 1024,
        concurrency: int = 8,
        hosts: Iterable[str] = (),
        headers: Iterable[str] = (),
        tls: ssl.SSLContext | None = None,
        resolve: connecting.Resolve = connecting.resolve,
    ) -> None:
        """``origins`` (``https://api.example.com``, with the port if it is not the scheme's own) may be reached on the
        public internet; ``private`` ones also in private networks and on this machine.

        ``timeout``: seconds for everything, from the first byte of the page's request to the last of the response.
        ``limit``: bytes of a response's body. ``concurrency``: requests at once. ``hosts``: the names that the docs
        are served under, without a port; given, a request under another name is refused (DNS rebinding of the docs).
        ``headers``: the names of request headers that may be sent beside Accept, Content-Type, Authorization and those
        that the docs' pages declare; a name of a client's or a user's own header is a ValueError.
        ``tls``: the certificates to trust; None: the system's. ``resolve`` stands in for the system's resolver.

        Raises ValueError if an origin is more than an origin, cannot be read, or is a metadata service's name.
        """
        self._private = frozenset(_origin(text) for text in private)
        self._origins = frozenset(_origin(text) for text in origins) | self._private
        self._timeout = timeout
        self._limit = limit
        self._free = concurrency
        self._hosts = frozenset(host.lower() for host in hosts)
        self._headers = tuple(headers)
        check_names(self._headers)
        self._tls = tls or ssl.create_default_context()
        self._resolve = resolve

    @property
    def origins(self) -> frozenset[str]:
        """Every origin that may be reached, the private ones included."""
        return self._origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        try:
            content, status = await self._respond(Request(scope, receive)), 200
        except Refused as refused:
            content, status = {"error": {"code": refused.code, "message": refused.message}}, refused.status
        except ClientDisconnect:
            return
        headers = {**_HEADERS, "Allow": "POST"} if status == 405 else _HEADERS
        response = Response(json.dumps(content), status, headers, "application/json")
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> dict[str, Any]:
        check_sender(request, self._hosts)
        headers = sendable((*self._headers, *request.scope.get(SCOPE_KEY, ())))
        if self._free <= 0:
            raise Refused("busy", "As many requests as the relay takes at once are on their way. Try again.")
        self._free -= 1
        try:
            async with asyncio.timeout(self._timeout):
                return await self._relay(read_message(await _body(request), headers))
        except TimeoutError:
            message = f"The answer was not complete within {self._timeout:g} seconds."
            raise Refused("timed_out", message) from None
        finally:
            self._free += 1

    async def _relay(self, message: Message) -> dict[str, Any]:
        started = time.perf_counter()
        target = message.target
        if target.origin not in self._origins:
            known = ", ".join(sorted(self._origins)) or "none"
            raise Refused(
                "origin_not_allowed",
                f"The relay does not reach {target.origin}. It reaches: {known}. "
                "Who serves the docs can list it among the relay's origins.",
            )
        private = target.origin in self._private
        hint = f"If that is meant, list {target.origin} among the relay's private origins."
        addresses = await connecting.addresses_of(
            target, self._resolve, private=private, trust_literal=private, hint=hint
        )
        reader, writer = await connecting.connect(addresses, target, self._tls)
        try:
            response = await exchange(reader, writer, message, limit=self._limit)
        finally:
            writer.transport.abort()
        return answer(response, round((time.perf_counter() - started) * 1000))


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_REQUEST:
            raise Refused("too_large", f"The request to the relay is larger than {MAX_REQUEST // 1024} KiB.")
    return bytes(body)


def _origin(text: str) -> str:
    try:
        target = read_target(text)
    except Refused as refused:
        raise ValueError(f"{text!r} is not an origin: {refused.message}") from None
    if target.path != "/":
        raise ValueError(f"{text!r} is more than an origin: write {target.origin}")
    if target.host.rstrip(".") in METADATA_NAMES:
        raise ValueError(f"{text!r} is a metadata service, which no relay reaches")
    return target.origin
