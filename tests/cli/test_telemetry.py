"""``tenantry serve`` and the standard environment variables of OpenTelemetry, with a small receiver of OTLP."""

from __future__ import annotations

import gzip
import signal
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tenantry.server.telemetry import export_requested, exported_spans
from tests.cli.conftest import Terminal
from tests.cli.serving import client, serving

pytestmark = pytest.mark.slow

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
VARIABLES = [
    "OTEL_SDK_DISABLED",
    "OTEL_TRACES_EXPORTER",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
]


class Collector:
    """What was exported to it."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.services: set[str] = set()
        self.text = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                outer.take(self.path, body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def take(self, path: str, body: bytes) -> None:
        assert path == "/v1/traces"
        request = ExportTraceServiceRequest.FromString(body)
        self.text += str(request)
        for each in request.resource_spans:
            self.services |= {one.value.string_value for one in each.resource.attributes if one.key == "service.name"}
            self.spans += [span for scope in each.scope_spans for span in scope.spans]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("workers", "variables", "service"),
    [
        (1, {"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=x"}, "tenantry"),
        (2, {"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=x,service.name=mine"}, "mine"),
    ],
)
def test_serve_exports_its_spans(
    ready: Terminal, folder: Path, collector: Collector, workers: int, variables: dict[str, str], service: str
) -> None:
    """Each process its own, and what is left at the end: the server is stopped long before a batch would be sent. With
    the name that the environment gives: red when our own is always taken."""
    secret = ready("api-token", "create").out.strip()
    variables = {**variables, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    with serving(folder, "--workers", str(workers), variables=variables) as server:
        with client(server, secret) as caller:
            headers = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
            answer = caller.request("POST", "/api/user", json={"user_group_id": "acme"}, headers=headers)
            token = answer.json()["user_group"]["token"]
        log = server.ended(signal.SIGINT)
    ends = time.monotonic() + 60
    while not collector.spans and time.monotonic() < ends:
        time.sleep(0.05)
    (span,) = collector.spans
    assert (span.name, span.kind) == ("POST /api/user", Span.SPAN_KIND_SERVER)
    assert span.trace_id.hex() == TRACE
    assert collector.services == {service}
    for hidden in (secret, token):
        assert hidden not in collector.text + log


def test_a_collector_that_is_not_there_harms_nobody(ready: Terminal, folder: Path) -> None:
    """Requests are answered as ever, and the server ends."""
    secret = ready("api-token", "create").out.strip()
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SERVICE_NAME": "mine"}
    with serving(folder, variables=variables) as server:
        with client(server, secret) as caller:
            assert caller.request("POST", "/api/user", json={"user_group_id": "acme"}).status_code == 200
        server.ended(signal.SIGINT)


def test_without_the_extra_the_log_says_what_to_install(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    environment.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    reports: list[str] = []
    with exported_spans(reports.append):
        pass
    assert len(reports) == 1
    assert "pip install 'tenantry[otel]'" in reports[0]
    environment.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with exported_spans(reports.append):
        pass
    assert "the environment's protocol 'grpc' is not supported" in reports[1]


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, False),
    ],
)
def test_when_it_is_asked_for(environment: pytest.MonkeyPatch, variables: dict[str, str], asked: bool) -> None:
    """By the variables that the OpenTelemetry specification names."""
    for name, value in variables.items():
        environment.setenv(name, value)
    assert export_requested() is asked
