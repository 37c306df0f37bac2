"""OpenTelemetry spans that follow the semantic conventions (HTTP 1.23, databases 1.30). They contain no tokens, values
or SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from opentelemetry import context, propagate, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from tenantry.errors import TenantryError

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.util.types import AttributeValue

TRACER: Final[trace.Tracer] = trace.get_tracer("tenantry")


def set_attribute(name: str, value: AttributeValue) -> None:
    trace.get_current_span().set_attribute(name, value)


class Span:
    """A context manager for a span. Its parent is the remote span ``parent`` or, without one, the current span."""

    __slots__ = ("_attributes", "_kind", "_name", "_parent", "_span", "_token")

    def __init__(
        self,
        name: str,
        attributes: Mapping[str, AttributeValue] | None = None,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        parent: context.Context | None = None,
    ) -> None:
        self._name = name
        self._attributes = attributes
        self._kind = kind
        self._parent = parent
        self._token: Token[context.Context] | None = None

    def __enter__(self) -> Self:
        self._span = TRACER.start_span(
            self._name,
            context=self._parent,
            kind=self._kind,
            attributes=self._attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        if self._span.is_recording() or self._parent is not None:
            self._token = context.attach(trace.set_span_in_context(self._span, self._parent))
        return self

    def set_attribute(self, name: str, value: AttributeValue) -> None:
        self._span.set_attribute(name, value)

    def update_name(self, name: str) -> None:
        self._span.update_name(name)

    def set_error(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and self._span.is_recording():
            if not isinstance(error, TenantryError):
                self.set_error(kind.__qualname__)
            elif error.status >= 500 or self._kind is SpanKind.CLIENT:
                self.set_error(error.code)
            else:  # below 500 the caller is at fault, so the span has not failed
                self._span.set_attribute("error.type", error.code)
        self._span.end()
        if self._token is not None:
            self._leave()

    def _leave(self) -> None:
        if self._token is not None:
            context.detach(self._token)


# --- by the conventions -----------------------------------------------------------------------------------------------

_METHODS: Final = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
_TRACE_HEADERS: Final = frozenset({b"traceparent", b"b3", b"x-b3-traceid", b"uber-trace-id", b"x-amzn-trace-id"})
"""Request headers from which the known propagators read a trace."""

_FIRST_KEYWORD: Final = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/|\()*([A-Za-z]+)", re.DOTALL)
_READ_OPERATIONS: Final = frozenset({
    "DESCRIBE", "EXPLAIN", "FROM", "PRAGMA", "SELECT", "SHOW", "TABLE", "VALUES", "WITH",
})  # fmt: skip
_SYSTEMS: Final = {"mssql": "microsoft.sql_server", "oracle": "oracle.db"}
"""Dialect -> its name in OpenTelemetry's conventions, where the two differ."""


class HttpServerSpan(Span):
    __slots__ = ()

    def __init__(self, scope: Mapping[str, Any], attributes: Mapping[str, AttributeValue]) -> None:
        route = scope["path"].removeprefix(scope.get("root_path", ""))
        method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
        given: dict[str, AttributeValue] = {
            "http.request.method": method,
            "http.route": route,
            "url.path": route,
            "url.scheme": scope.get("scheme", "http"),
            "network.protocol.version": scope.get("http_version", "1.1"),
            **attributes,
        }
        address, port = scope.get("server") or (None, None)
        if address is not None:
            given["server.address"] = address
        if port is not None:  # a Unix socket has none
            given["server.port"] = port
        is_nested = trace.get_current_span().get_span_context().is_valid
        super().__init__(
            f"{'HTTP' if method == '_OTHER' else method} {route}",
            given,
            kind=SpanKind.INTERNAL if is_nested else SpanKind.SERVER,
            parent=None if is_nested else _incoming(scope["headers"]),
        )

    def set_response(self, status: int, code: str) -> None:
        """Record the response's status, and ``code``: ``ok`` or an error code. A status of 500 or more marks the
        span as failed."""
        self.set_attribute("http.response.status_code", status)
        self.set_attribute("tenantry.outcome", code)
        if status >= 500:
            self.set_error(code)


class HttpClientSpan(Span):
    """The span of an outgoing request. ``attempt`` is 0 for the first try."""

    __slots__ = ()

    def __init__(self, method: str, url: str, attempt: int = 0) -> None:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        shown = f"[{host}]" if ":" in host else host
        attributes: dict[str, AttributeValue] = {
            "http.request.method": method,
            "server.address": host,
            "server.port": port,
            "url.full": f"{parts.scheme}://{shown}:{port}{parts.path}",  # no user, no password, no query
            "url.template": parts.path,
        }
        if attempt:
            attributes["http.request.resend_count"] = attempt
        super().__init__(f"{method} {parts.path}", attributes, kind=SpanKind.CLIENT)

    def inject(self, headers: Mapping[str, str] | None = None) -> dict[str, str]:
        carrier = dict(headers or {})
        propagate.inject(carrier)
        return carrier

    def set_response(self, status: int) -> None:
        """Record the response's status. A status of 400 or more marks the span as failed."""
        self.set_attribute("http.response.status_code", status)
        if status >= 400:
            self.set_error(str(status))


def query_attributes(dialect: str, sql: str) -> dict[str, str]:
    attributes = {"db.system.name": _SYSTEMS.get(dialect, dialect)}
    operation = operation_of(sql)
    if operation is not None:
        attributes |= {"db.operation.name": operation, "db.query.summary": operation}
    return attributes


def operation_of(text: str) -> str | None:
    first = _FIRST_KEYWORD.match(text)
    keyword = "" if first is None else first[1].upper()
    return keyword if keyword in _READ_OPERATIONS else None


def _incoming(headers: Iterable[tuple[bytes, bytes]]) -> context.Context | None:
    if not any(name in _TRACE_HEADERS for name, _ in headers):
        return None
    carrier: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        carrier[key] = f"{carrier[key]},{text}" if key in carrier else text
    return propagate.extract(carrier)


__all__ = ["HttpClientSpan", "HttpServerSpan", "Span", "operation_of", "query_attributes", "set_attribute"]
