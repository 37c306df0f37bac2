from __future__ import annotations

import copy
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click
import uvicorn

from tenantry.middleware import JsonLines

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

Reporter: TypeAlias = Callable[[str], None]
"""Writes one message about the server itself, such as the restart of a worker."""

# --- the log ----------------------------------------------------------------------------------------------------------


def log_config(log_format: str) -> dict[str, Any]:
    """Return uvicorn's logging configuration. ``log_format`` is ``text`` or ``json``; with ``json``, requests are
    logged too."""
    config: dict[str, Any] = copy.deepcopy(uvicorn.config.LOGGING_CONFIG)
    config["filters"] = {"redact": {"()": "tenantry.middleware.RedactTokens"}}
    for handler in config["handlers"].values():
        handler["stream"] = "ext://sys.stderr"
        handler["filters"] = ["redact"]
    config["loggers"]["uvicorn.error"]["filters"] = [_not_about_upgrades]
    config["loggers"]["tenantry"] = {"handlers": ["default"], "level": "WARNING", "propagate": False}
    if log_format == "json":
        config["loggers"]["tenantry.access"] = {"level": "INFO"}
        for name in config["formatters"]:
            config["formatters"][name] = {"()": "tenantry.middleware.JsonLines"}
    return config


_ABOUT_UPGRADES: Final = ("Unsupported upgrade request", "No supported WebSocket library detected")


def _not_about_upgrades(record: logging.LogRecord) -> bool:
    # uvicorn logs two lines for each upgrade request, so any client could fill the disk.
    return not record.getMessage().startswith(_ABOUT_UPGRADES)


def make_reporter(log_format: str) -> Reporter:
    if log_format != "json":
        return partial(click.echo, err=True)
    lines = JsonLines()

    def report(text: str) -> None:
        click.echo(lines.format(logging.LogRecord("tenantry.serve", logging.INFO, "", 0, text, None, None)), err=True)

    return report


# --- spans ------------------------------------------------------------------------------------------------------------

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EXPORTERS: Final = "OTEL_TRACES_EXPORTER"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL: Final = "http/protobuf"
_SERVICE_NAME: Final = "tenantry"


def export_requested() -> bool:
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporters = {name.strip() for name in os.environ.get(_EXPORTERS, "").split(",")} - {""}
    if exporters:
        return "otlp" in exporters
    return any(os.environ.get(name, "").strip() for name in _ENDPOINTS)


@contextmanager
def exported_spans(report: Reporter) -> Iterator[None]:
    """If environment variables request it, export this process's spans by OTLP over HTTP while the block runs. If the
    extra ``otel`` is missing, only call ``report`` with the reason."""
    if not export_requested():
        yield
        return
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), _PROTOCOL)
    if protocol != _PROTOCOL:
        report(f"Traces are sent as {_PROTOCOL}: the environment's protocol {protocol!r} is not supported.")
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        report("The environment asks for traces (OTEL_…), but none are sent: pip install 'tenantry[otel]'")
        yield
        return
    provider = TracerProvider(resource=_named(Resource.create()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()


def _named(resource: Resource) -> Resource:
    if not str(resource.attributes["service.name"]).startswith("unknown_service"):
        return resource
    return resource.merge(type(resource)({"service.name": _SERVICE_NAME}))
