"""Spans of OpenTelemetry: no cost worth naming, and no effect, until the host program sets up an SDK.

A span holds names, codes and numbers only. What an exception says may quote a token or a value, so neither its message
nor its traceback goes in: an error is named by its code.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from opentelemetry import context, trace
from opentelemetry.trace import Status, StatusCode

from tenantry.errors import TenantryError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextvars import Token

    from opentelemetry.util.types import AttributeValue

TRACER = trace.get_tracer("tenantry")


class Span:
    """``with Span("tenantry.look", {…}) as span:``, a child of the span that is current where it begins."""

    __slots__ = ("_attributes", "_name", "_span", "_token")

    def __init__(self, name: str, attributes: Mapping[str, AttributeValue] | None = None) -> None:
        self._name = name
        self._attributes = attributes
        self._token: Token[context.Context] | None = None

    def __enter__(self) -> Self:
        self._span = TRACER.start_span(
            self._name, attributes=self._attributes, record_exception=False, set_status_on_exception=False
        )
        if self._span.is_recording():
            self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def note(self, name: str, value: AttributeValue) -> None:
        """Adds an attribute that was not known at the beginning."""
        self._span.set_attribute(name, value)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and self._span.is_recording():
            self._fail(kind, error)
        self._span.end()
        if self._token is not None:
            context.detach(self._token)

    def _fail(self, kind: type[BaseException], error: BaseException | None) -> None:
        if isinstance(error, TenantryError):
            self._span.set_attribute("error.type", error.code)
            if error.status < 500:  # that a caller was refused is no fault of ours
                return
        else:
            self._span.set_attribute("error.type", kind.__qualname__)
        self._span.set_status(Status(StatusCode.ERROR))
