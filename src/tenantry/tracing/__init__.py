"""Tracing: OpenTelemetry spans by its semantic conventions for HTTP and databases. They hold names, codes and numbers
only: never a token, a value, a statement, a query string or an exception's message."""

from tenantry.tracing.conventions import DatabaseSpan, HttpClientSpan, HttpServerSpan
from tenantry.tracing.span import Span, set_attribute

__all__ = ["DatabaseSpan", "HttpClientSpan", "HttpServerSpan", "Span", "set_attribute"]
