"""``POST /api/user/viewers/revoke``: one viewer of a group is cut off."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tenantry.groups import MAX_REVOKED_VIEWERS, GroupChanges, Scope
from tests.provisioning.http import test_passes as passes
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_caller
from tests.provisioning.http.test_table import ACME, assert_always, code_of

PATH = "/api/user/viewers/revoke"
ANN = {**ACME, "viewer_id": "ann"}


async def ask(service: Service, body: Any, path: str = PATH) -> httpx2.Response:
    return await service.http.post(path, json=body, headers={"Authorization": f"Token {service.caller}"})


async def is_active(service: Service, made: str) -> bool:
    caller = await make_caller(service.store, service.production, Scope.INTROSPECT)
    headers = {"Authorization": f"Token {caller}"}
    answer = await service.http.post("/oauth/introspect", data={"token": made}, headers=headers)
    return bool(answer.json()["active"])


async def test_a_viewer_is_cut_off(service: Service) -> None:
    """From one answer to the next, and introspection too; a pass from the same service is accepted at once. Red when
    that pass is of the second in which the viewer was revoked."""
    await service.ask("GET", ACME)
    old, other = [(await passes.ask(service, {**ACME, "viewer_id": name})).json()["pass"] for name in ("ann", "bob")]
    answer = await ask(service, ANN)
    assert_always(answer)
    document = answer.json()
    assert document.keys() == {"success", "revoked_before"}
    since = datetime.fromisoformat(document["revoked_before"]) - datetime.now(UTC)
    assert timedelta(seconds=-30) < since <= timedelta(seconds=1)
    assert [await is_active(service, each) for each in (old, other)] == [False, True]
    new = (await passes.ask(service, ANN)).json()["pass"]
    assert await is_active(service, new)
    assert not await is_active(service, old)
    (noted,) = [each for each in await service.store.audit.list() if each.action == "group.updated"]
    assert (noted.subject, noted.details) == ("acme", {"fields": "revoked_viewers", "viewer": "ann"})
    assert noted.author.name.startswith("api token ")


@pytest.mark.parametrize(
    ("viewer_id", "status"),
    [
        (" ann ", 200),
        ("Ünü 名", 200),
        ("a" * 255, 200),
        ("a" * 256, 422),
        ("", 422),
        ("a\tb", 422),
        ("a\u202eb", 422),
        ("a\ud800", 422),
        ("ugtc_k1_" + "A" * 40, 422),
        ("%75gvc_k1_" + "A" * 40, 422),
    ],
)
async def test_each_viewer_whom_a_pass_can_name_can_be_revoked(service: Service, viewer_id: str, status: int) -> None:
    """Red when passes accept an id that cannot be stored, such as a token that was given by mistake."""
    await service.ask("GET", ACME)
    body = json.dumps({**ACME, "viewer_id": viewer_id})  # in ASCII, so that a lone surrogate arrives
    for_passes = await make_caller(service.store, service.production, Scope.PASSES)
    for path, caller in ((passes.PATH, for_passes), (PATH, service.caller)):
        headers = {"Authorization": f"Token {caller}"} | JSON_TYPE
        answer = await service.http.post(path, content=body, headers=headers)
        assert answer.status_code == status, path
        assert status == 200 or answer.json()["error"]["field"] == "/viewer_id"


async def test_a_suspended_group_too(service: Service) -> None:
    """No answer shows a token. Red when the group's token is signed first."""
    await service.ask("GET", ACME)
    await service.store.groups.update(service.production, "acme", GroupChanges(suspended=True))
    answer = await ask(service, ANN)
    assert answer.status_code == 200
    assert "ugt" not in answer.text


async def test_the_maximum(service: Service) -> None:
    await service.ask("GET", ACME)
    later = int(datetime.now(UTC).timestamp())
    revoked = {f"v{number}": later for number in range(MAX_REVOKED_VIEWERS)}
    await service.store.groups.update(service.production, "acme", GroupChanges(revoked_viewers=revoked))
    assert code_of(await ask(service, ANN)) == (409, "too_many_revoked_viewers")


@pytest.mark.parametrize(
    ("body", "status", "code", "pointer"),
    [
        ({**ANN, "user_group_id": "nobody"}, 404, "unknown_group", "/user_group_id"),
        (ACME, 422, "invalid_body", "/viewer_id"),
        ({**ANN, "viewer_id": None}, 422, "invalid_body", "/viewer_id"),
        ({**ANN, "viewer_id": "a" * 256}, 422, "invalid_body", "/viewer_id"),
        ({**ANN, "viewer_id": "a\u202eb"}, 422, "invalid_body", "/viewer_id"),
        ({**ANN, "seconds": 1}, 422, "invalid_body", "/seconds"),
    ],
)
async def test_what_is_refused(service: Service, body: Any, status: int, code: str, pointer: str) -> None:
    await service.ask("GET", ACME)
    answer = await ask(service, body)
    assert (*code_of(answer), answer.json()["error"]["field"]) == (status, code, pointer)


async def test_the_scope(service: Service) -> None:
    """Who may make passes may not end them. Red with another scope."""
    await service.ask("GET", ACME)
    body = b'{"user_group_id": "acme", "viewer_id": "ann"}'
    for caller in (await make_caller(service.store, service.production, Scope.PASSES), service.reader):
        answer = await service.send("POST", body, JSON_TYPE, path=PATH, caller=caller)
        assert code_of(answer) == (403, "missing_scope")
        assert "scope provision:write" in answer.json()["error"]["message"]


async def test_a_dry_run_revokes_nobody(service: Service) -> None:
    await service.ask("GET", ACME)
    answer = await ask(service, ANN, PATH + "?dry_run=true")
    assert (answer.status_code, answer.headers["dry-run"]) == (200, "true")
    found = await service.store.groups.get(service.production, "acme")
    assert found is not None
    assert (found.group.revoked_viewers, found.group.revision) == (None, 1)
