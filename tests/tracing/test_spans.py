"""What spans show, and what they never do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tenantry import tracing
from tenantry.backends.memory.store import MemoryStore
from tenantry.datasources import DataSources
from tenantry.errors import QueryFailed, StoreUnavailable, UnknownGroup
from tenantry.groups import GroupDraft, SourceDraft, Tag, Token, UserGroup
from tenantry.provisioning import Provisioner, issue_api_token
from tenantry.resolver import Resolver
from tenantry.server.app import compose
from tenantry.testing import make_group, make_token
from tenantry.tokens import KeyRing, SigningKey
from tenantry.tracing import Span

KEYS = KeyRing([SigningKey("k1", b"k1" * 16)])
CANARY = "canary-value"


def test_a_span_is_the_child_of_the_one_around_it(exported: InMemorySpanExporter) -> None:
    """So a trace of the host program goes on in ours. Red when the span is not made current."""
    with Span("outer"), Span("inner"):
        pass
    inner, outer = exported.get_finished_spans()
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id


def test_an_error_is_named_by_its_code(exported: InMemorySpanExporter) -> None:
    """Neither its message nor its traceback is recorded. Red when the SDK records the exception."""
    for error, code, status in (
        (UnknownGroup(CANARY), "unknown_group", StatusCode.UNSET),
        (StoreUnavailable(CANARY), "store_unavailable", StatusCode.ERROR),
        (KeyError(CANARY), "KeyError", StatusCode.ERROR),
    ):
        with pytest.raises(type(error)), Span("work"):
            raise error
        (span,) = exported.get_finished_spans()
        exported.clear()
        assert span.attributes == {"error.type": code}
        assert (span.status.status_code, span.status.description) == (status, None)
        assert not span.events


def test_without_an_sdk_nothing_happens() -> None:
    """The context of the host is left alone."""
    with Span("work", {"a": 1}) as work:
        work.set_attribute("b", 2)
    assert tracing.TRACER is not None


async def test_a_request_to_the_api(exported: InMemorySpanExporter) -> None:
    """Operation, environment, outcome and request id; no token, no id of a caller, no property."""
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store.api_tokens, production)
    headers = {"Authorization": f"Token {secret}", "X-Request-Id": "r-1"}
    app = compose(store, KEYS)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://api.test") as client:
        body = {"user_group_id": CANARY, "properties": {CANARY: CANARY}}
        made = await client.request("GET", "/api/user", json=body, headers=headers)
        token = made.json()["user_group"]["token"]
        for _ in range(2):
            await client.post("/api/user", json={"current_token": token}, headers=headers)
    made_span, rotated, refused = exported.get_finished_spans()
    assert (made_span.name, made_span.kind) == ("GET /api/user", SpanKind.SERVER)
    assert made_span.attributes == {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "http.route": "/api/user",
        "network.protocol.version": "1.1",
        "server.address": "api.test",
        "url.path": "/api/user",
        "url.scheme": "http",
        "tenantry.request_id": "r-1",
        "tenantry.environment": "production",
        "tenantry.operation": "get_or_create",
        "tenantry.outcome": "ok",
    }
    assert rotated.attributes is not None
    assert rotated.attributes["tenantry.operation"] == "rotate"
    assert refused.attributes is not None
    assert refused.attributes["tenantry.outcome"] == "token_already_rotated"
    assert refused.attributes["http.response.status_code"] == 409
    assert refused.status.status_code is StatusCode.UNSET
    _no_secret(exported, token, secret)


class OneGroup:
    """A backend with one method."""

    def __init__(self, group: UserGroup, live: Token) -> None:
        self.group, self.live = group, live

    async def find(self, token: Token) -> UserGroup | None:
        if token.handle != self.live.handle:
            raise OSError(CANARY)
        return self.group if token == self.live else None


async def test_a_resolver_traces_its_reads_only(exported: InMemorySpanExporter) -> None:
    """A miss is a span, a hit is none, and a failure shows its code. Red when the span is around the hit too."""
    group = make_group(properties={"secret": CANARY})
    live, foreign = make_token(group), make_token(make_group(provided_id="other", handle=b"\7" * 8))
    token, unknown = KEYS.mint(live), KEYS.mint(foreign)
    resolver = Resolver(OneGroup(group, live), keys=KEYS)
    await resolver.resolve(token)
    await resolver.resolve(token)
    with pytest.raises(StoreUnavailable):
        await resolver.resolve(unknown)
    found, failed = exported.get_finished_spans()
    assert found.name == failed.name == "tenantry.look"
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "OSError"
    await resolver.aclose()
    _no_secret(exported, token, unknown, live.handle.hex())


async def test_a_query(exported: InMemorySpanExporter, tmp_path: Path) -> None:
    """Source, dialect and number of rows; neither SQL nor values nor the URL. Red when the statement is recorded."""
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    (tmp_path / f"{CANARY}.db").touch()
    url = f"sqlite:///{tmp_path / CANARY}.db"
    await store.sources.create(production, "ds_1", SourceDraft("warehouse", url))
    draft = GroupDraft("acme", "Acme", {"secret": CANARY}, {"main": "warehouse"})
    group = (await Provisioner(store, KEYS).get_or_create(production, draft)).group
    async with DataSources(store) as sources:
        assert await sources.fetch(group, "main", "select {{ secret }} as it") == [{"it": CANARY}]
        with pytest.raises(QueryFailed):
            await sources.fetch(group, "main", "select {{ secret }} as v from nowhere")
    good, bad = exported.get_finished_spans()
    assert (good.name, good.kind) == ("SELECT ds_1", SpanKind.CLIENT)
    attributes = dict(good.attributes or {})
    assert 0 <= attributes.pop("tenantry.queue_seconds") < 60
    assert attributes == {
        "db.operation.name": "SELECT",
        "db.query.summary": "SELECT",
        "db.response.returned_rows": 1,
        "db.system.name": "sqlite",
        "tenantry.cache_hit": False,
        "tenantry.data_source": "ds_1",
        "tenantry.template": "sql-427d1c17b98b",
    }
    assert bad.status.status_code is StatusCode.ERROR
    assert bad.attributes is not None
    assert bad.attributes["error.type"] == "query_failed"
    _no_secret(exported)


def test_the_door_loads_no_telemetry() -> None:
    """``import tenantry`` waits for none of it. Red when the package imports its modules at once."""
    code = "import sys, tenantry; print([name for name in sys.modules if name.startswith('opentelemetry')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _no_secret(exported: InMemorySpanExporter, *secrets: str) -> None:
    recorded = "".join(span.to_json() for span in exported.get_finished_spans())
    for canary in (CANARY, "ugtc_", "ugkc_", *secrets):
        assert canary not in recorded
