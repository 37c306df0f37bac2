"""The ASGI app of the relay, to which the playground's script posts requests.

Pages of other origins cannot use the relay. To send the relay's header or ``application/json``, a browser must first
ask for permission with a CORS preflight request, and the relay never grants it. As a second check, the relay examines
``Sec-Fetch-Site`` and ``Origin``.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Collection, Iterable
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry_site.relay import dial
from tenantry_site.relay.errors import RelayError
from tenantry_site.relay.http1 import response_as_json, send_request
from tenantry_site.relay.request import SCOPE_KEY, RelayRequest, check_names, parse_request, sendable
from tenantry_site.relay.url import PORTS, parse_url

MAX_REQUEST: Final = 512 * 1024
"""Maximum size in bytes of a request to the relay. If JSON escapes each character, a body of 64 KiB becomes six times
as long."""

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


class Relay:
    """An ASGI app that takes ``{method, url, headers, body}`` by POST, sends that request, and returns the response.

    The relay answers ``{status, headers, body, encoding, milliseconds, truncated}`` with status 200, or ``{"error":
    {"code", "message"}}`` with a code of ``CODES`` and that code's status.
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
        resolve: dial.Resolve = dial.resolve,
    ) -> None:
        """``origins`` (``https://api.example.com``, with the port unless it is the scheme's default) may be reached on
        the public internet; ``private`` origins may also be in private networks or on this machine.

        ``timeout``: seconds from reading the page's request to the end of the response. ``limit``: maximum number of
        bytes of a response's body; a longer body is cut. ``concurrency``: maximum number of requests at the same time.
        ``hosts``: the host names of the docs, without ports; if given, requests with another ``Host`` are refused
        (against DNS rebinding). ``headers``: names of request headers that may be sent in addition to Accept,
        Content-Type, Authorization and those that the pages declare. ``tls``: the certificates to trust; None: the
        system's certificates. ``resolve``: replaces the system's resolver.

        Raises ValueError if an origin is invalid, has a path, or is a metadata service. Also raises it if ``headers``
        has a name that the relay never sends, such as one that identifies a client or user.
        """
        self._private = frozenset(_origin(text) for text in private)
        self._origins = frozenset(_origin(text) for text in origins) | self._private
        self._timeout = timeout
        self._limit = limit
        self._free = concurrency
        self._hosts = frozenset(host.lower() for host in hosts)
        self._headers = tuple(headers)
        check_names(self._headers)
        self._tls = tls
        self._resolve = resolve

    @property
    def origins(self) -> frozenset[str]:
        """All origins that may be reached, including the private ones."""
        return self._origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        try:
            content, status = await self._respond(Request(scope, receive)), 200
        except RelayError as error:
            content, status = {"error": {"code": error.code, "message": error.message}}, error.status
        except ClientDisconnect:
            return
        headers = {**_HEADERS, "Allow": "POST"} if status == 405 else _HEADERS
        response = Response(json.dumps(content), status, headers, "application/json")
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> dict[str, Any]:
        check_origin(request, self._hosts)
        headers = sendable((*self._headers, *request.scope.get(SCOPE_KEY, ())))
        if self._free <= 0:
            raise RelayError("busy", "The relay is handling its maximum number of requests. Try again.")
        self._free -= 1
        try:
            async with asyncio.timeout(self._timeout):
                body = bytearray()
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > MAX_REQUEST:
                        message = f"The request to the relay is larger than {MAX_REQUEST // 1024} KiB."
                        raise RelayError("too_large", message)
                return await self._relay(parse_request(bytes(body), headers))
        except TimeoutError:
            message = f"The answer was not complete within {self._timeout:g} seconds."
            raise RelayError("timed_out", message) from None
        finally:
            self._free += 1

    async def _relay(self, message: RelayRequest) -> dict[str, Any]:
        started = time.perf_counter()
        url = message.url
        if url.origin not in self._origins:
            known = ", ".join(sorted(self._origins)) or "none"
            raise RelayError(
                "origin_not_allowed",
                f"The relay does not reach {url.origin}. It reaches: {known}. "
                "The docs' operator can add it to the relay's origins.",
            )
        private = url.origin in self._private
        hint = f"To allow it, add {url.origin} to the relay's private origins."
        addresses = await dial.checked_addresses(url, self._resolve, private=private, trust_literal=private, hint=hint)
        reader, writer = await dial.connect(addresses, url, self._tls)
        try:
            response = await send_request(reader, writer, message, limit=self._limit)
        finally:
            writer.transport.abort()
        return response_as_json(response, round((time.perf_counter() - started) * 1000))


def _origin(text: str) -> str:
    try:
        url = parse_url(text)
    except RelayError as error:
        raise ValueError(f"{text!r} is not an origin: {error.message}") from None
    if url.path != "/":
        raise ValueError(f"{text!r} is more than an origin: write {url.origin}")
    if url.host.rstrip(".") in dial.METADATA_NAMES:
        raise ValueError(f"{text!r} is a metadata service, which a relay must not reach")
    return url.origin


RELAY_HEADER: Final = "x-tenantry-relay"
"""Name of the header that the playground's script sends, with the value ``1``."""

_OWN_SITES = frozenset({"same-origin", "none"})


def check_origin(request: Request, hosts: Collection[str]) -> None:
    """Raise RelayError unless the request is a POST from a page of the relay's own origin.

    ``hosts``: the allowed host names of the docs; empty: any.
    """
    if request.method != "POST":
        raise RelayError("method_not_allowed", "The relay accepts only POST.")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RelayError("unsupported_media_type", "Send the header Content-Type: application/json.")
    if request.headers.getlist(RELAY_HEADER) != ["1"]:
        raise RelayError("foreign_request", "Send the header X-Tenantry-Relay: 1.")
    if not _OWN_SITES.issuperset(request.headers.getlist("sec-fetch-site")):
        raise RelayError("foreign_request", "The request comes from a page on another site.")
    named = request.headers.getlist("host")
    origins = request.headers.getlist("origin")
    if len(named) != 1 or len(origins) > 1:
        raise RelayError("foreign_request", "The request has no Host header, or several Host or Origin headers.")
    host = named[0].lower()
    name, colon, port = host.rpartition(":")  # an IPv6 address keeps its brackets
    if hosts and (name if colon and port.isdigit() else host) not in hosts:
        raise RelayError("foreign_request", "The Host of the request is not a configured host name of the docs.")
    if origins and not _same_origin(origins[0].lower(), host):
        raise RelayError("foreign_request", "The request comes from a page of another origin.")


def _same_origin(origin: str, host: str) -> bool:
    """Whether ``Origin`` and ``Host`` have the same name and port. Schemes are not compared: behind a proxy, the relay
    does not know its own scheme."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    standard = f":{PORTS.get(parts.scheme, '')}"
    return bool(parts.netloc) and parts.netloc.removesuffix(standard) == host.removesuffix(standard)
