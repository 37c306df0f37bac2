"""``expires_at`` over HTTP: set by PATCH, shown by PATCH and lists, and unknown to SPEC's own operations."""

from __future__ import annotations

from typing import Any

import pytest

from tests.provisioning.http.conftest import JSON_TYPE, Service
from tests.provisioning.http.test_table import ACME, assert_always, code_of

ENDS = "2027-01-31T23:59:59Z"
SHOWN = "2027-01-31T23:59:59+00:00"
RULE = "this must be an RFC 3339 time with a zone, such as 2027-01-31T23:59:59Z"


async def shown(service: Service) -> Any:
    answer = await service.send("GET", b"", {}, path="/api/users?user_group_id=acme")
    return answer.json()["user_groups"][0]["expires_at"]


async def test_patch_sets_moves_and_clears_it(service: Service) -> None:
    """With and without other fields, in any zone, one of the past as well; the answer and the list show it in UTC. What
    does not name it leaves it. Red when it is left out of the changes."""
    made = (await service.ask("GET", ACME)).json()["user_group"]
    patched = await service.ask("PATCH", {**ACME, "expires_at": ENDS})
    assert_always(patched)
    assert patched.json() == {
        "success": 1,
        "user_group": {**made, "api_environment_tag": "Customer", "expires_at": SHOWN, "suspended": False},
    }
    renamed = await service.ask("PATCH", {**ACME, "name": "New", "properties": {"a": 1}})
    assert renamed.json()["user_group"]["expires_at"] == SHOWN == await shown(service)
    abroad = await service.ask("PATCH", {**ACME, "name": "Newer", "expires_at": "2001-01-01T02:00:00.25+02:00"})
    assert abroad.json()["user_group"]["expires_at"] == "2001-01-01T00:00:00.250000+00:00" == await shown(service)
    cleared = await service.ask("PATCH", {**ACME, "expires_at": None})
    assert cleared.json()["user_group"]["expires_at"] is None is await shown(service)


@pytest.mark.parametrize("value", ["", "2027-01-31", "2027-01-31T23:59:59", "2027-02-30T00:00:00Z", 1_800_000_000, {}])
async def test_what_is_no_end_date(service: Service, value: Any) -> None:
    """422 with the field, the rule and an example; nothing of the patch is done."""
    await service.ask("GET", ACME)
    answer = await service.ask("PATCH", {**ACME, "name": "New", "expires_at": value})
    assert code_of(answer) == (422, "invalid_body")
    assert (answer.json()["error"]["field"], answer.json()["error"]["message"]) == ("/expires_at", RULE)
    stored = await service.store.groups.get(service.production, "acme")
    assert stored is not None
    assert (stored.group.name, stored.group.expires_at) == ("acme", None)


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "QUERY"])
async def test_spec_does_not_know_it(service: Service, method: str) -> None:
    """SPEC's operations refuse the field and never show it. Red when Update has it."""
    await service.ask("GET", ACME)
    await service.ask("PATCH", {**ACME, "expires_at": ENDS})
    refused = await service.ask(method, {**ACME, "expires_at": ENDS})
    assert (*code_of(refused), refused.json()["error"]["field"]) == (422, "invalid_body", "/expires_at")
    answer = await service.ask(method, ACME)
    assert (answer.status_code, "expires_at" in answer.text) == (200, False)
    assert await shown(service) == SHOWN


async def test_a_group_that_has_ended_is_provisioned_as_ever(service: Service) -> None:
    """Get-or-create gives it with its token and makes no other; it is updated, rotated and deleted; none of it moves
    its end date."""
    made = (await service.ask("GET", ACME)).json()["user_group"]
    await service.ask("PATCH", {**ACME, "expires_at": "2001-01-01T00:00:00Z"})
    again = (await service.ask("GET", ACME)).json()
    assert (again["new_user_group"], again["user_group"]) == (False, made)
    assert (await service.ask("PUT", {**ACME, "name": "New"})).status_code == 200
    rotated = await service.ask("POST", {"current_token": made["token"]})
    assert rotated.json()["user_group"]["token"] != made["token"]
    assert await shown(service) == "2001-01-01T00:00:00+00:00"
    gone = await service.send("DELETE", b"", {}, path="/api/user?user_group_id=acme")
    assert gone.json()["user_group"]["expires_at"] == "2001-01-01T00:00:00+00:00"


async def test_a_dry_run_shows_the_date_and_keeps_none(service: Service) -> None:
    await service.ask("GET", ACME)
    body = b'{"user_group_id": "acme", "expires_at": "2027-01-31T23:59:59Z"}'
    tried = await service.send("PATCH", body, JSON_TYPE, path="/api/user?dry_run=true")
    assert tried.json()["user_group"]["expires_at"] == SHOWN
    assert await shown(service) is None
