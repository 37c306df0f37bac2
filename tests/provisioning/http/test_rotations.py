"""``POST /api/users/rotate``: new tokens for many groups."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest

from tenantry.errors import StoreUnavailable
from tenantry.groups import Environment, GroupChanges, GroupDraft, GroupWrite, Scope
from tenantry.provisioning import Provisioner
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_caller, make_keys, make_service
from tests.provisioning.http.test_bulk import lines_of

PATH = "/api/users/rotate"


async def rotate(service: Service, query: str = "", caller: str | None = None, **body: Any) -> httpx2.Response:
    return await service.send("POST", json.dumps(body).encode(), JSON_TYPE, path=PATH + query, caller=caller)


async def create(service: Service, *names: str, key: str = "k1") -> list[str]:
    """Their tokens."""
    provisioner = Provisioner(service.store, make_keys(key))
    return [(await provisioner.get_or_create(service.production, GroupDraft(name, name))).token for name in names]


async def works(service: Service, token: str) -> bool:
    return await service.store.find(service.keys.read(token)) is not None


async def two_keys() -> Service:
    return await make_service(keys=make_keys("k1", "k2"))


async def test_all_groups_of_a_key() -> None:
    """Each gets a token of the active key, and no other group does. Red when the API token's environment is passed
    over, or the key."""
    service = await two_keys()
    old = await create(service, "acme", "globex")
    (new,) = await create(service, "new", key="k2")
    elsewhere = Provisioner(service.store, make_keys("k1"))
    other = await elsewhere.get_or_create(service.testing, GroupDraft("acme", "Acme"))
    answer = await rotate(service, signed_by="k1")
    assert answer.headers["content-type"] == "application/x-ndjson"
    *lines, last = lines_of(answer)
    assert last == {"success": 1, "summary": {"rotated": 2, "failed": 0}, "next": None}
    assert [line["user_group"]["provided_id"] for line in lines] == ["acme", "globex"]
    for line in lines:
        assert line["user_group"]["token"].startswith("ugtc_k2_")
        assert await works(service, line["user_group"]["token"])
    assert [await works(service, each) for each in (*old, new, other.token)] == [False, False, True, True]
    assert lines_of(await rotate(service, signed_by="k1")) == [last | {"summary": {"rotated": 0, "failed": 0}}]
    noted = [each for each in await service.store.audit.list() if each.action == "group.rotated"]
    assert {(each.author.request_id is not None, each.author.name[:9]) for each in noted} == {(True, "api token")}


async def test_a_suspended_group_keeps_its_token(service: Service) -> None:
    """Red without ``team_id``: a request could not be continued after the group's line."""
    old = await create(service, "acme", "suspended")
    await service.store.groups.update(service.production, "suspended", GroupChanges(suspended=True))
    *lines, last = lines_of(await rotate(service, all=True))
    assert [line["success"] for line in lines] == [1, 0]
    assert (lines[1]["user_group_id"], lines[1]["error"]["code"]) == ("suspended", "group_suspended")
    assert lines[1]["team_id"] == lines[0]["user_group"]["team_id"] + 1
    assert last["summary"] == {"rotated": 1, "failed": 1}
    await service.store.groups.update(service.production, "suspended", GroupChanges(suspended=False))
    assert [await works(service, each) for each in old] == [False, True]


async def test_parts_follow_each_other(service: Service) -> None:
    """Red when ``next`` names the group before, or a group after it: one would be rotated twice, or never."""
    await create(service, *"abcde")
    rotated, after, requests = [], 0, 0
    while after is not None:
        *lines, last = lines_of(await rotate(service, all=True, after=after, limit=2))
        rotated += [line["user_group"]["provided_id"] for line in lines]
        after, requests = last["next"], requests + 1
    assert (rotated, requests) == ([*"abcde"], 3)


async def test_a_store_that_goes_away_is_told_in_the_last_line(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the groups that were rotated before, and where to continue."""
    monkeypatch.setattr("tenantry.provisioning.http.rotations.MAX_ROTATED_TOGETHER", 2)
    await create(service, *"abc")
    write_many, calls = service.store.groups.write_many, []

    async def fails_later(environment: Environment, writes: Sequence[GroupWrite], **rest: Any) -> Any:
        calls.append(writes)
        if len(calls) > 1:
            raise StoreUnavailable("the store is away")
        return await write_many(environment, writes, **rest)

    monkeypatch.setattr(service.store.groups, "write_many", fails_later)
    *lines, last = lines_of(await rotate(service, all=True))
    assert len(lines) == 2
    assert (last["success"], last["error"]["code"]) == (0, "store_unavailable")
    assert (last["summary"], last["next"]) == ({"rotated": 2, "failed": 0}, lines[-1]["user_group"]["team_id"])


async def test_a_dry_run_rotates_nothing(service: Service) -> None:
    (old,) = await create(service, "acme")
    answer = await rotate(service, "?dry_run=true", all=True)
    assert answer.headers["dry-run"] == "true"
    line, last = lines_of(answer)
    assert (line["user_group"]["token"], last["summary"]["rotated"]) == ("", 1)
    assert await works(service, old)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "ambiguous_request"),
        ({"all": False}, 422, "ambiguous_request"),
        ({"all": True, "signed_by": "k0"}, 422, "ambiguous_request"),
        ({"signed_by": "k1"}, 422, "invalid_body"),
        ({"signed_by": "K9"}, 422, "invalid_body"),
        ({"all": 1}, 422, "invalid_body"),
        ({"all": True, "limit": 0}, 422, "invalid_body"),
        ({"all": True, "after": -1}, 422, "invalid_body"),
        ({"all": True, "key": "k1"}, 422, "invalid_body"),
    ],
)
async def test_what_is_refused(service: Service, body: dict[str, Any], status: int, code: str) -> None:
    (old,) = await create(service, "acme")
    answer = await rotate(service, **body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert await works(service, old)


async def test_it_needs_the_scope_that_writes(service: Service) -> None:
    """Red when the scope is looked at after the first groups, or not at all."""
    (old,) = await create(service, "acme")
    reader = await make_caller(service.store, service.production, Scope.PROVISION_READ)
    assert (await rotate(service, caller=reader, all=True)).status_code == 403
    assert (await rotate(service, caller="nobody", all=True)).status_code == 401
    headers = {**JSON_TYPE, "Idempotency-Key": "x"}
    assert (await service.send("POST", b'{"all": true}', headers, path=PATH)).status_code == 400
    assert await works(service, old)
