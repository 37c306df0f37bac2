"""A store that is stuck: 503 for the request as a whole, however many calls of the store it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tenantry.groups import SourceDraft
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app
from tests.provisioning.http.test_table import ACME, assert_always, code_of

SECONDS = 0.05
ANEW = {**ACME, "user_group_id": "new"}


@pytest.fixture
async def hurried(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    """The same service with little patience."""
    app = make_app(service.store, service.keys, store_seconds=SECONDS)
    headers = {**JSON_TYPE, "Authorization": f"Token {service.caller}"}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://tenantry.test", headers=headers
    ) as http:
        yield http


async def hang(*given: Any, **named: Any) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("verb", "method", "body", "code"),
    [
        ("api_tokens.get_with_group", "GET", ACME, "store_unavailable"),
        ("api_tokens.get_with_group", "PUT", ACME, "store_unavailable"),
        ("api_tokens.get", "POST", {"current_token": None}, "store_unavailable"),
        ("sources.get", "GET", {**ACME, "mapping": {"main": "x"}}, "store_unavailable"),
        ("groups.get_or_create", "GET", ANEW, "outcome_unknown"),
        ("groups.get_or_create", "POST", ANEW, "outcome_unknown"),
        ("groups.update", "PUT", ACME, "outcome_unknown"),
        ("groups.rotate", "POST", {"current_token": None}, "outcome_unknown"),
    ],
)
async def test_a_call_that_never_ends(
    service: Service,
    hurried: httpx2.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    method: str,
    body: dict[str, Any],
    code: str,
) -> None:
    """503 with Retry-After; where a write was begun, the answer says that its outcome is unknown.

    Red without the patience: the test never ends.
    """
    token = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    part, method_name = verb.split(".")
    monkeypatch.setattr(getattr(service.store, part), method_name, hang)
    sent = {name: token if value is None else value for name, value in body.items()}
    answer = await hurried.request(method, "/api/user", json=sent)
    assert code_of(answer) == (503, code)
    assert answer.headers["retry-after"] == "1"
    assert_always(answer)


async def test_the_calls_of_one_request_share_the_time(
    service: Service, hurried: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred data sources, each looked up in time, are too slow together; nothing was written.

    Red when each call has the whole time: the answer is 200 after more than a second.
    """
    find = service.store.sources.get
    await service.store.sources.create(service.production, "ds_1", SourceDraft("x", "sqlite:///x.db"))
    names = iter(range(200))

    async def slow(environment: Any, reference: str) -> Any:
        next(names)
        await asyncio.sleep(SECONDS / 4)
        return await find(environment, "ds_1")

    monkeypatch.setattr(service.store.sources, "get", slow)
    mapping = {str(number): f"source-{number}" for number in range(100)}
    answer = await hurried.request("GET", "/api/user", json={**ACME, "mapping": mapping})
    assert code_of(answer) == (503, "store_unavailable")
    assert next(names) <= 5
    assert await service.store.groups.get(service.production, "acme") is None


async def test_a_slow_body_takes_nothing_of_the_stores_time(service: Service) -> None:
    """The client's time is not the store's. Red when the patience counts from the request's first byte."""
    parts = [b'{"user_group_id":', b'"acme"}']

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(SECONDS * 2)
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    headers = [(b"authorization", b"Token " + service.caller.encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "GET", "path": "/api/user", "root_path": "", "headers": headers}
    await make_app(service.store, service.keys, store_seconds=SECONDS)(scope, receive, send)
    assert messages[0]["status"] == 200


async def test_readiness_that_never_comes(
    service: Service, hurried: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 as well. Red when the store is asked without patience: the test never ends."""
    monkeypatch.setattr(service.store, "ready", hang)
    answer = await hurried.get("/readyz")
    assert code_of(answer) == (503, "store_unavailable")
