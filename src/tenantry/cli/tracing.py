"""Exporting the spans of ``tenantry serve``, where the standard environment variables of OpenTelemetry ask for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EXPORTERS: Final = "OTEL_TRACES_EXPORTER"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN: Final = "http/protobuf"
_SERVICE: Final = "tenantry"


def is_asked_for() -> bool:
    """Whether the environment names an OTLP endpoint or the exporter ``otlp``, and does not switch it off."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporters = {name.strip() for name in os.environ.get(_EXPORTERS, "").split(",")} - {""}
    if exporters:
        return "otlp" in exporters
    return any(os.environ.get(name, "").strip() for name in _ENDPOINTS)


@contextmanager
def exported_spans(tell: Callable[[str], None]) -> Iterator[None]:
    """Exports this process's spans by OTLP over HTTP until the end, which sends what is left. ``tell`` hears why it
    does not where it was asked for; the server serves all the same."""
    if not is_asked_for():
        yield
        return
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), _SPOKEN)
    if protocol != _SPOKEN:
        tell(f"Traces are sent as {_SPOKEN}; the protocol {protocol!r} that the environment asks for is not spoken.")
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        tell("The environment asks for traces (OTEL_…), and none are sent: pip install 'tenantry[otel]'")
        yield
        return
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {"service.name": _SERVICE}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
