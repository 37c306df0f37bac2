"""A suspended group over HTTP: PATCH suspends and resumes it; nobody gets its token in between."""

from __future__ import annotations

from typing import Any

import pytest

from tests.provisioning.http.conftest import JSON_TYPE, Service
from tests.provisioning.http.test_table import ACME, code_of


async def suspended(service: Service) -> dict[str, Any]:
    """The group acme, which is suspended now."""
    made: dict[str, Any] = (await service.ask("GET", ACME)).json()["user_group"]
    answer = await service.ask("PATCH", {**ACME, "suspended": True})
    assert (answer.status_code, answer.json()["user_group"]["suspended"]) == (200, True)
    return made


async def test_get_or_create_does_not_undo_it(service: Service) -> None:
    """By each method, and with an Idempotency-Key: 403, and no token in the answer. Red when the Provisioner returns
    the group that it found."""
    made = await suspended(service)
    answers = [await service.ask(method, ACME) for method in ("GET", "QUERY", "POST")]
    answers.append(await service.ask("POST", ACME, Idempotency_Key="a"))
    answers.append(await service.send("GET", b'{"user_group_id":"acme"}', JSON_TYPE, path="/api/user?dry_run=true"))
    for answer in answers:
        assert code_of(answer) == (403, "group_suspended")
        assert made["token"] not in answer.text


async def test_rotation_does_not_undo_it(service: Service) -> None:
    """The host cannot rotate it; the token is the same after the resumption. Red when ``rotate`` asks the store only to
    rotate."""
    made = await suspended(service)
    for path in ("/api/user", "/api/user/rotate", "/api/user?dry_run=true"):
        body = f'{{"current_token":"{made["token"]}"}}'.encode()
        assert code_of(await service.send("POST", body, JSON_TYPE, path=path)) == (403, "group_suspended")
    resumed = await service.ask("PATCH", {**ACME, "suspended": False})
    assert (resumed.json()["user_group"]["suspended"], resumed.json()["user_group"]["token"]) == (False, made["token"])
    assert (await service.ask("GET", ACME)).json()["user_group"] == made


async def test_a_repeated_request_does_not_undo_it(service: Service) -> None:
    """With the Idempotency-Key of before: 403 while it is suspended, and the token again afterwards. Red when the
    stored response says whether the group is suspended."""
    made: dict[str, Any] = (await service.ask("POST", ACME, Idempotency_Key="a")).json()["user_group"]
    rotation = {"current_token": made["token"]}
    rotated = (await service.ask("POST", rotation, Idempotency_Key="b")).json()["user_group"]
    await service.ask("PATCH", {**ACME, "suspended": True})
    for body, key in ((rotation, "b"), (ACME, "c")):
        answer = await service.ask("POST", body, Idempotency_Key=key)
        assert code_of(answer) == (403, "group_suspended")
        assert rotated["token"] not in answer.text
    await service.ask("PATCH", {**ACME, "suspended": False})
    for body, key in ((rotation, "b"), (ACME, "c")):
        answer = await service.ask("POST", body, Idempotency_Key=key)
        assert (answer.status_code, answer.json()["user_group"]["token"]) == (200, rotated["token"])


async def test_another_environment_learns_nothing(service: Service) -> None:
    """Its rotation is 404 as for each token that is not its own. Red when the environment is not compared."""
    made = await suspended(service)
    answer = await service.ask("POST", {"current_token": made["token"]}, caller=service.tester)
    assert code_of(answer) == (404, "unknown_token")


async def test_it_is_changed_and_deleted_as_ever(service: Service) -> None:
    await suspended(service)
    assert (await service.ask("PUT", {**ACME, "name": "New"})).status_code == 200
    patched = await service.ask("PATCH", {**ACME, "properties": {"a": 1}})
    assert patched.json()["user_group"]["suspended"] is True
    page = await service.send("GET", b"", {}, path="/api/users")
    assert [group["suspended"] for group in page.json()["user_groups"]] == [True]
    gone = await service.send("DELETE", b"", {}, path="/api/user?user_group_id=acme")
    assert gone.json()["user_group"]["suspended"] is True
    assert (await service.ask("GET", ACME)).json()["new_user_group"] is True


@pytest.mark.parametrize("value", [None, 1, "true", {}])
async def test_what_is_no_flag(service: Service, value: Any) -> None:
    await service.ask("GET", ACME)
    answer = await service.ask("PATCH", {**ACME, "suspended": value})
    assert (*code_of(answer), answer.json()["error"]["field"]) == (422, "invalid_body", "/suspended")
    assert answer.json()["error"]["message"] == "this must be true or false"
