"""``POST /api/user/rotate``: the rotation of SPEC section 4.3 at an address of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from tenantry.provisioning.http import RequestRecord
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app
from tests.provisioning.http.test_table import ACME, assert_always, code_of

ROTATE = "/api/user/rotate"


async def rotate(service: Service, body: Any, path: str = ROTATE, **headers: str) -> httpx2.Response:
    authorization = {"Authorization": f"Token {service.caller}"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await service.http.post(path, json=body, headers={**authorization, **named})


async def token_of(service: Service) -> str:
    token: str = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    return token


@pytest.mark.parametrize("path", [ROTATE, ROTATE + "/"])
async def test_it_answers_as_the_other_address(service: Service, path: str) -> None:
    """The fields of SPEC section 4.3, no more; the old token is dead, and both addresses answer so."""
    made = (await service.ask("GET", ACME)).json()["user_group"]
    old = made.pop("token")
    answer = await rotate(service, {"current_token": old}, path)
    assert_always(answer)
    new = answer.json()["user_group"]["token"]
    del made["properties"]
    assert answer.json() == {"success": 1, "user_group": {**made, "token": new, "api_environment_tag": "Customer"}}
    assert await token_of(service) == new
    for other in (ROTATE, "/api/user"):
        assert code_of(await rotate(service, {"current_token": old}, other)) == (409, "token_already_rotated")
    newest = (await rotate(service, {"current_token": new}, "/api/user")).json()
    assert {**newest, "user_group": {**newest["user_group"], "token": new}} == answer.json()


async def test_it_does_nothing_else(service: Service) -> None:
    """No group is made here, whatever the body: 422. Red when it reads bodies as ``POST /api/user`` does."""
    for body in (ACME, {}, {**ACME, "current_token": "x"}):
        assert code_of(await rotate(service, body)) == (422, "invalid_body")
    assert await service.store.groups.list(service.production) == []
    assert code_of(await rotate(service, {"current_token": "x"})) == (404, "unknown_token")


async def test_an_empty_body(service: Service) -> None:
    """400 that names the field of this address. Red with one message for all: it asked for ``user_group_id``."""
    for path, field in ((ROTATE, "current_token"), ("/api/user", "user_group_id")):
        answer = await service.send("POST", b"", JSON_TYPE, path=path)
        assert code_of(answer) == (400, "bad_json")
        message = answer.json()["error"]["message"]
        assert [name for name in ("current_token", "user_group_id") if name in message] == [field]


async def test_its_methods(service: Service) -> None:
    """POST and OPTIONS; HEAD and all others are 405, with Allow."""
    for path in (ROTATE, ROTATE + "/"):
        options = await service.http.options(path)
        assert (options.status_code, options.headers["allow"]) == (204, "POST, OPTIONS")
        for method in ("GET", "PUT", "QUERY", "DELETE", "HEAD"):
            answer = await service.send(method, b"{}", JSON_TYPE, path=path)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS")
    assert code_of(await service.http.get(ROTATE + "//")) == (404, "not_found")


async def test_one_key_happens_once_at_both_addresses(service: Service) -> None:
    """The same key and body is the same request, whichever address it is sent to.

    Red when the other address runs without its key: 409 token_already_rotated.
    """
    body = {"current_token": await token_of(service)}
    first = await rotate(service, body, Idempotency_Key="once")
    again = [await rotate(service, body, path, Idempotency_Key="once") for path in (ROTATE, "/api/user")]
    assert [each.content for each in again] == [first.content] * 2
    assert [each.headers["idempotency-replayed"] for each in again] == ["true"] * 2
    other = await rotate(service, {"current_token": "x"}, Idempotency_Key="once")
    assert code_of(other) == (422, "idempotency_key_reused")


async def test_a_key_in_flight_is_in_flight_at_both(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """409 with Retry-After. Red when each address counts by itself, and without ``retry_after`` of the error."""
    body = {"current_token": await token_of(service)}
    begun, go_on = asyncio.Event(), asyncio.Event()
    real = service.store.groups.rotate

    async def slow(*given: Any, **named: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await real(*given, **named)

    monkeypatch.setattr(service.store.groups, "rotate", slow)
    first = asyncio.create_task(rotate(service, body, Idempotency_Key="once"))
    async with asyncio.timeout(30):
        await begun.wait()
    for path in (ROTATE, "/api/user"):
        answer = await rotate(service, body, path, Idempotency_Key="once")
        assert code_of(answer) == (409, "idempotency_in_flight")
        assert answer.headers["retry-after"] == "1"
    go_on.set()
    assert (await first).status_code == 200


async def test_who_may_not(service: Service) -> None:
    """401 and 403 as everywhere; a token of another environment is unknown."""
    headers = {**JSON_TYPE, "Authorization": "Token x"}
    assert code_of(await service.http.post(ROTATE, content=b"{}", headers=headers)) == (401, "unauthorized")
    answer = await service.send("POST", b'{"current_token": "x"}', JSON_TYPE, caller=service.reader, path=ROTATE)
    assert code_of(answer) == (403, "missing_scope")
    foreign = (await service.ask("GET", ACME, caller=service.tester)).json()["user_group"]["token"]
    assert code_of(await rotate(service, {"current_token": foreign})) == (404, "unknown_token")


async def test_it_is_audited_and_counted(service: Service) -> None:
    """As a rotation, with its author and request."""
    served: list[RequestRecord] = []
    body = {"current_token": await token_of(service)}
    transport = httpx2.ASGITransport(make_app(service.store, service.keys, observer=served.append))
    headers = {"Authorization": f"Token {service.caller}", "X-Request-Id": "r-1"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://tenantry.test", headers=headers) as http:
        assert (await http.post(ROTATE, json=body)).status_code == 200
    assert [(each.operation, each.status, each.code) for each in served] == [("rotate", 200, "ok")]
    entry = (await service.store.audit.list())[-1]
    assert (entry.action, entry.author.request_id) == ("group.rotated", "r-1")
