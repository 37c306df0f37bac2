"""The semantic conventions of OpenTelemetry for HTTP and databases, and a trace that goes on from caller to server."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tenantry.backends.introspection import IntrospectionBackend
from tenantry.backends.memory.store import MemoryStore
from tenantry.client import AsyncClient
from tenantry.errors import ApiUnreachable, StoreUnavailable, TenantryError
from tenantry.groups import Scope, Tag
from tenantry.provisioning import issue_api_token
from tenantry.server.app import compose
from tenantry.tokens import KeyRing, SigningKey
from tenantry.tracing import HttpClientSpan, Span, operation_of

KEYS = KeyRing([SigningKey("k1", b"k1" * 16)])
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
CANARY = "canary-value"


@pytest.fixture
def server() -> httpx2.ASGITransport:
    return httpx2.ASGITransport(compose(MemoryStore(), KEYS))


async def _get(server: httpx2.AsyncBaseTransport, path: str, method: str = "GET", **headers: str) -> int:
    async with httpx2.AsyncClient(transport=server, base_url="http://api.test") as client:
        return (await client.request(method, path, headers=headers)).status_code


def _one(exported: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exported.get_finished_spans()
    return span


async def test_a_callers_trace_goes_on(exported: InMemorySpanExporter, server: httpx2.ASGITransport) -> None:
    """W3C Trace Context. Red when the header is not read (checked by ``_incoming`` giving None)."""
    await _get(server, "/healthz", traceparent=TRACEPARENT)
    span = _one(exported)
    assert span.kind is SpanKind.SERVER
    assert format(span.context.trace_id, "032x") == TRACE
    assert span.parent is not None
    assert (format(span.parent.span_id, "016x"), span.parent.is_remote) == (PARENT, True)


@pytest.mark.parametrize("header", ["", "nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "ugtc_k1_" + "x" * 80])
async def test_a_broken_header_begins_a_trace(
    exported: InMemorySpanExporter, server: httpx2.ASGITransport, header: str
) -> None:
    await _get(server, "/healthz", traceparent=header)
    assert _one(exported).parent is None


async def test_inside_a_hosts_span(exported: InMemorySpanExporter, server: httpx2.ASGITransport) -> None:
    """The host's own instrumentation has made the span of the server: ours is a part of it, and not a second one."""
    with Span("host"):
        await _get(server, "/healthz", traceparent=TRACEPARENT)
    ours, host = exported.get_finished_spans()
    assert ours.kind is SpanKind.INTERNAL
    assert ours.parent is not None
    assert ours.parent.span_id == host.context.span_id


@pytest.mark.parametrize(
    ("method", "path", "name", "status"),
    [
        ("GET", "/readyz", "GET /readyz", 200),
        ("POST", "/healthz", "POST /healthz", 405),
        ("BREW", "/api/user", "HTTP /api/user", 405),
        ("GET", f"/api/user?token={CANARY}", "GET /api/user", 401),
        ("GET", "/api/user/", "GET /api/user/", 401),
    ],
)
async def test_every_address_has_a_span(
    exported: InMemorySpanExporter, server: httpx2.ASGITransport, method: str, path: str, name: str, status: int
) -> None:
    """Named by method and route; a query string is never recorded; a caller's mistake is no error of the server."""
    assert await _get(server, path, method, Authorization="Token " + CANARY) == status
    span = _one(exported)
    assert span.name == name
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == status
    assert span.status.status_code is StatusCode.UNSET
    assert "error.type" not in span.attributes
    assert CANARY not in span.to_json()


async def test_a_failure_of_the_server(exported: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()

    async def ready() -> None:
        raise StoreUnavailable(CANARY)

    monkeypatch.setattr(store, "ready", ready)
    assert await _get(httpx2.ASGITransport(compose(store, KEYS)), "/readyz") == 503
    span = _one(exported)
    assert span.attributes is not None
    assert span.attributes["error.type"] == "store_unavailable"
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert CANARY not in span.to_json()


async def test_client_and_server_are_one_trace(exported: InMemorySpanExporter) -> None:
    """The API client sends its span along. Red when nothing is injected (checked by ``carry`` giving the headers)."""
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store.api_tokens, production)
    async with AsyncClient("http://api.test", secret, transport=httpx2.ASGITransport(compose(store, KEYS))) as client:
        made = await client.get_or_create("acme", properties={"secret": CANARY})
    # One process: the server found the client's span current. Between two it comes by the header.
    server, ours = exported.get_finished_spans()
    assert (ours.kind, ours.name) == (SpanKind.CLIENT, "GET /api/user")
    assert ours.attributes == {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "server.address": "api.test",
        "server.port": 80,
        "url.full": "http://api.test:80/api/user",
        "url.template": "/api/user",
    }
    assert server.context.trace_id == ours.context.trace_id
    for hidden in (CANARY, secret, made.token):
        assert hidden not in server.to_json() + ours.to_json()


async def test_what_a_client_sends_along(exported: InMemorySpanExporter) -> None:
    """``traceparent``, of each attempt its own; the second one is counted; a status above 400 is an error."""
    seen: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers["traceparent"])
        if len(seen) == 1:
            raise httpx2.ConnectError(CANARY)
        body = {"success": 0, "error": {"code": "unauthorized", "message": CANARY}}
        return httpx2.Response(401, content=json.dumps(body).encode())

    async with AsyncClient(
        "https://user:pass-word@api.test", "secret", transport=httpx2.MockTransport(answer)
    ) as client:
        with pytest.raises(TenantryError):
            await client.get_or_create("acme")
    first, second = exported.get_finished_spans()
    assert [each.split("-")[2] for each in seen] == [format(each.context.span_id, "016x") for each in (first, second)]
    assert first.attributes is not None
    assert second.attributes is not None
    assert first.attributes["error.type"] == "ConnectError"
    assert second.attributes["http.request.resend_count"] == 1
    assert second.attributes["error.type"] == "401"
    assert second.attributes["url.full"] == "https://api.test:443/api/user"
    assert first.status.status_code is second.status.status_code is StatusCode.ERROR
    for hidden in (CANARY, "pass-word", "secret"):
        assert hidden not in first.to_json() + second.to_json()


async def test_a_client_who_gets_no_answer(exported: InMemorySpanExporter) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout(CANARY)

    async with AsyncClient("http://api.test", "s", attempts=1, transport=httpx2.MockTransport(answer)) as client:
        with pytest.raises(ApiUnreachable):
            await client.get_or_create("acme")
    assert _one(exported).status.status_code is StatusCode.ERROR


async def test_introspection_carries_the_trace(exported: InMemorySpanExporter) -> None:
    """Between two processes: the header that the backend sends is that of its span."""
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store.api_tokens, production, scopes=[Scope.INTROSPECT])
    app, sent = compose(store, KEYS), []

    async def recorded(scope: Any, receive: Any, send: Any) -> None:
        sent.append(dict(scope["headers"])[b"traceparent"].decode())
        await app(scope, receive, send)

    from tenantry.testing import make_group, make_token

    backend = IntrospectionBackend(
        "https://api.test/oauth/introspect", api_token=secret, keys=KEYS, transport=httpx2.ASGITransport(recorded)
    )
    assert await backend.find(make_token(make_group())) is None
    await backend.aclose()
    server, ours = exported.get_finished_spans()
    assert (ours.kind, ours.name) == (SpanKind.CLIENT, "POST /oauth/introspect")
    assert sent[0].split("-")[1:3] == [f"{ours.context.trace_id:032x}", f"{ours.context.span_id:016x}"]
    assert secret not in server.to_json() + ours.to_json()


def test_an_ipv6_server(exported: InMemorySpanExporter) -> None:
    with HttpClientSpan("POST", "http://[::1]:8000/oauth/introspect?a=b"):
        pass
    attributes = _one(exported).attributes
    assert attributes is not None
    assert (attributes["server.address"], attributes["server.port"]) == ("::1", 8000)
    assert attributes["url.full"] == "http://[::1]:8000/oauth/introspect"


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("select 1", "SELECT"),
        ("  -- a comment\n/* and\nmore */ With x as (select 1) select * from x", "WITH"),
        ("(select 1) union (select 2)", "SELECT"),
        ("from orders", "FROM"),
        ("-- nothing", None),
        ("", None),
        (f"{CANARY} from x", None),
    ],
)
def test_the_first_keyword_of_a_query(text: str, operation: str | None) -> None:
    """And no other: what is no keyword of SQL might be anything."""
    assert operation_of(text) == operation
