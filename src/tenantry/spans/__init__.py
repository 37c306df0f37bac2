"""Spans of OpenTelemetry, by its semantic conventions for HTTP and databases. They hold names, codes and numbers only:
never a token, a value, a statement, a query string or an exception's message."""

from tenantry.spans.database import DatabaseSpan
from tenantry.spans.http import HttpClientSpan, HttpServerSpan
from tenantry.spans.span import Span, note

__all__ = ["DatabaseSpan", "HttpClientSpan", "HttpServerSpan", "Span", "note"]
