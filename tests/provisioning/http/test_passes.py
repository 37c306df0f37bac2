"""``POST /api/user/passes``: a pass for one viewer, with an API token that reads no tokens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tenantry.clock import utc_now
from tenantry.groups import GroupChanges, Scope
from tenantry.tokens import read_pass
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_caller
from tests.provisioning.http.test_table import ACME, assert_always, code_of

PATH = "/api/user/passes"


async def ask(service: Service, body: Any, path: str = PATH, **headers: str) -> httpx2.Response:
    caller = await make_caller(service.store, service.production, Scope.PASSES)
    answer = await service.http.post(path, json=body, headers={"Authorization": f"Token {caller}", **headers})
    assert answer.headers["cache-control"] == "no-store"
    return answer


async def test_a_pass_is_made(service: Service) -> None:
    """With all that was sent, and signed by the group's token; 600 seconds are the default. Red when a field is not
    passed on."""
    token = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    before = datetime.now(UTC).replace(microsecond=0)
    body = {**ACME, "viewer_id": "ann", "viewer": {"region": "eu"}, "seconds": 60, "scope": "dashboard:a app"}
    answer = await ask(service, body)
    assert_always(answer)
    document = answer.json()
    assert document.keys() == {"success", "pass", "expires_at"}
    made = read_pass(service.keys, document["pass"].encode(), utc_now)
    assert (made.token.decode(), made.viewer.id, made.viewer.scope) == (token, "ann", ("dashboard:a", "app"))
    assert made.viewer.variables == {"region": "eu", "id": "ann"}
    assert made.viewer.expires_at == datetime.fromisoformat(document["expires_at"])
    assert timedelta(0) <= made.viewer.expires_at - before - timedelta(seconds=60) < timedelta(seconds=30)
    as_float = await ask(service, {**ACME, "seconds": 60.0})  # an integer in JSON Schema; schemathesis found the 422
    assert as_float.status_code == 200
    default = (await ask(service, ACME)).json()
    viewer = read_pass(service.keys, default["pass"].encode(), utc_now).viewer
    assert (viewer.id, viewer.scope, viewer.expires_at - viewer.issued_at) == (None, (), timedelta(seconds=600))


async def test_it_never_creates_a_group(service: Service) -> None:
    answer = await ask(service, {"user_group_id": "nobody"})
    assert (*code_of(answer), answer.json()["error"]["field"]) == (404, "unknown_group", "/user_group_id")
    assert await service.store.groups.get(service.production, "nobody") is None


async def test_a_suspended_group_gets_none(service: Service) -> None:
    await service.ask("GET", ACME)
    await service.store.groups.update(service.production, "acme", GroupChanges(suspended=True))
    assert code_of(await ask(service, ACME)) == (403, "group_suspended")


async def test_a_group_whose_end_date_has_passed_gets_none(service: Service) -> None:
    """Nor in a dry run, but after a later date. Red when only a suspension is refused: 200 with a dead pass."""
    await service.ask("GET", ACME)
    now = datetime.now(UTC)
    await service.store.groups.update(service.production, "acme", GroupChanges(expires_at=now))
    for path in (PATH, PATH + "?dry_run=true"):
        assert code_of(await ask(service, ACME, path)) == (403, "group_expired")
    await service.store.groups.update(service.production, "acme", GroupChanges(expires_at=now + timedelta(days=1)))
    assert (await ask(service, ACME)).status_code == 200


async def test_it_ends_with_the_group(service: Service) -> None:
    """The answer says the earlier end. Red when it says that of the pass."""
    await service.ask("GET", ACME)
    ends = datetime.now(UTC) + timedelta(seconds=100)
    await service.store.groups.update(service.production, "acme", GroupChanges(expires_at=ends))
    assert (await ask(service, ACME)).json()["expires_at"] == ends.isoformat()


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"viewer_id": ""}, "/viewer_id"),
        ({"viewer_id": "a" * 256}, "/viewer_id"),
        ({"viewer_id": "a\u202eb"}, "/viewer_id"),
        ({"viewer_id": 7}, "/viewer_id"),
        ({"viewer": []}, "/viewer"),
        ({"viewer": {"id": "ann"}}, "/viewer"),
        ({"viewer": {"a": {"b": {"c": {"d": {}}}}}}, "/viewer"),
        ({"viewer": {str(name): 1 for name in range(65)}}, "/viewer"),
        ({"viewer": {"a": "x" * 3000}}, "/viewer"),
        ({"seconds": 0}, "/seconds"),
        ({"seconds": 86_401}, "/seconds"),
        ({"seconds": 2**60}, "/seconds"),
        ({"seconds": 60.5}, "/seconds"),
        ({"seconds": True}, "/seconds"),
        ({"scope": ""}, "/scope"),
        ({"scope": "app  mcp"}, "/scope"),
        ({"scope": "Dashboard"}, "/scope"),
        ({"expires_at": "2031-01-31T00:00:00Z"}, "/expires_at"),
    ],
)
async def test_what_a_pass_cannot_have(service: Service, fields: dict[str, Any], pointer: str) -> None:
    """422 with the field of the body. Red when the error of the pass is 401 ``invalid_pass``."""
    await service.ask("GET", ACME)
    answer = await ask(service, {**ACME, **fields})
    assert (*code_of(answer), answer.json()["error"]["field"]) == (422, "invalid_body", pointer)


async def test_the_scope_reads_no_token(service: Service) -> None:
    """Another scope makes no pass, and this one does nothing else. Red when ``provision`` contains it."""
    await service.ask("GET", ACME)
    body = b'{"user_group_id": "acme"}'
    for caller in (service.caller, service.reader):
        answer = await service.send("POST", body, JSON_TYPE, path=PATH, caller=caller)
        assert code_of(answer) == (403, "missing_scope")
        assert "scope passes" in answer.json()["error"]["message"]
    passes = await make_caller(service.store, service.production, Scope.PASSES)
    for method in ("GET", "POST", "PUT", "PATCH", "QUERY"):
        assert code_of(await service.ask(method, ACME, caller=passes)) == (403, "missing_scope")


async def test_one_read_of_the_store(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API token and the group come together. Red when the Provisioner reads the group again."""
    await service.ask("GET", ACME)
    caller = await make_caller(service.store, service.production, Scope.PASSES)

    async def get(*_: Any, **__: Any) -> Any:
        raise AssertionError("a second read")

    monkeypatch.setattr(service.store.groups, "get", get)
    answer = await service.send("POST", b'{"user_group_id": "acme"}', JSON_TYPE, path=PATH, caller=caller)
    assert answer.status_code == 200


async def test_a_dry_run_refuses_a_pass_that_is_too_long(service: Service) -> None:
    """With the error of the real request. Red when the length is looked at only where a pass is signed."""
    await service.ask("GET", ACME)
    long = {**ACME, "viewer": {"region": "x" * 4_000}}
    for path in (PATH, PATH + "?dry_run=true"):
        answer = await ask(service, long, path)
        assert (*code_of(answer), answer.json()["error"]["field"]) == (422, "invalid_body", "/viewer")


async def test_a_dry_run_makes_none(service: Service) -> None:
    await service.ask("GET", ACME)
    answer = await ask(service, ACME, PATH + "?dry_run=true")
    assert (answer.status_code, answer.headers["dry-run"], answer.json()["pass"]) == (200, "true", "")
    assert code_of(await ask(service, {"user_group_id": "nobody"}, PATH + "?dry_run=true")) == (404, "unknown_group")
