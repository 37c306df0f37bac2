"""Span: an OpenTelemetry span, of no cost worth naming and no effect until the host program sets up an SDK.

The message of an exception may quote a token or a value, so neither it nor the traceback is recorded: an error is named
by its code.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from tenantry.errors import TenantryError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextvars import Token

    from opentelemetry.util.types import AttributeValue

TRACER = trace.get_tracer("tenantry")


def set_attribute(name: str, value: AttributeValue) -> None:
    """Adds an attribute to the current span."""
    trace.get_current_span().set_attribute(name, value)


class Span:
    """``with Span("tenantry.look", {…}) as span:``, a child of the current span, or of that of ``parent``, a
    context that came from elsewhere."""

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
        """Adds an attribute that was not known at the beginning."""
        self._span.set_attribute(name, value)

    def update_name(self, name: str) -> None:
        """Its name was not known at the beginning."""
        self._span.update_name(name)

    def set_error(self, kind: str) -> None:
        """The traced work has failed; ``kind`` is the code or the class of the error."""
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and self._span.is_recording():
            self._set_exception(kind, error)
        self._span.end()
        if self._token is not None:
            context.detach(self._token)

    def _set_exception(self, kind: type[BaseException], error: BaseException | None) -> None:
        if not isinstance(error, TenantryError):
            self.set_error(kind.__qualname__)
        elif error.status >= 500 or self._kind is SpanKind.CLIENT:
            self.set_error(error.code)
        else:  # a refused caller is no failure of ours
            self._span.set_attribute("error.type", error.code)
