"""Spans of requests that come in and go out, by the semantic conventions for HTTP (stable since 1.23).

``url.query`` is left out, although the conventions want it: a query string may hold a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from tenantry.spans.span import Span

if TYPE_CHECKING:
    from opentelemetry.util.types import AttributeValue

_METHODS: Final = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
_CARRIERS: Final = frozenset({b"traceparent", b"b3", b"x-b3-traceid", b"uber-trace-id", b"x-amzn-trace-id"})
"""Headers in which a trace may come, by the propagators that exist."""


class HttpServerSpan(Span):
    """Around the answer to one request of an ASGI ``scope``, to one of our own addresses: its path is no secret.

    It goes on with the trace that the caller's headers name (W3C ``traceparent``, or what OTEL_PROPAGATORS says). Where
    a span is current already, made by the host program's own instrumentation, that one is the server's, and this one is
    a part of it.
    """

    __slots__ = ()

    def __init__(self, scope: Mapping[str, Any], attributes: Mapping[str, AttributeValue]) -> None:
        route = scope["path"].removeprefix(scope.get("root_path", ""))
        method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
        told: dict[str, AttributeValue] = {
            "http.request.method": method,
            "http.route": route,
            "url.path": route,
            "url.scheme": scope.get("scheme", "http"),
            "network.protocol.version": scope.get("http_version", "1.1"),
            **attributes,
        }
        address, port = scope.get("server") or (None, None)
        if address is not None:
            told["server.address"] = address
        if port is not None:  # there is none of a Unix socket
            told["server.port"] = port
        inside = trace.get_current_span().get_span_context().is_valid
        super().__init__(
            f"{'HTTP' if method == '_OTHER' else method} {route}",
            told,
            kind=SpanKind.INTERNAL if inside else SpanKind.SERVER,
            parent=None if inside else _incoming(scope["headers"]),
        )

    def answered(self, status: int, code: str) -> None:
        """``code`` is ``ok`` or that of the error. Only what is 500 and above is a failure of a server."""
        self.note("http.response.status_code", status)
        self.note("tenantry.outcome", code)
        if status >= 500:
            self.failed(code)


class HttpClientSpan(Span):
    """Around one request that we send to ``url``; ``attempt`` counts from 0."""

    __slots__ = ()

    def __init__(self, method: str, url: str, attempt: int = 0) -> None:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        shown = f"[{host}]" if ":" in host else host
        told: dict[str, AttributeValue] = {
            "http.request.method": method,
            "server.address": host,
            "server.port": port,
            "url.full": f"{parts.scheme}://{shown}:{port}{parts.path}",  # no user, no password, no query
            "url.template": parts.path,
        }
        if attempt:
            told["http.request.resend_count"] = attempt
        super().__init__(f"{method} {parts.path}", told, kind=SpanKind.CLIENT)

    def carry(self, headers: Mapping[str, str] | None = None) -> dict[str, str]:
        """These headers and those that let the server go on with this trace."""
        carrier = dict(headers or {})
        propagate.inject(carrier)
        return carrier

    def answered(self, status: int) -> None:
        """For a client, what is 400 and above is a failure."""
        self.note("http.response.status_code", status)
        if status >= 400:
            self.failed(str(status))


def _incoming(headers: Iterable[tuple[bytes, bytes]]) -> Context | None:
    """The context of the caller's trace; None if none came."""
    if not any(name in _CARRIERS for name, _ in headers):
        return None
    carrier: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        carrier[key] = f"{carrier[key]},{text}" if key in carrier else text
    return propagate.extract(carrier)
