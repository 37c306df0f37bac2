"""PATCH (merge patch, RFC 7396) and DELETE of ``/api/user``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tenantry.errors import GroupChanged
from tests.provisioning.http.conftest import JSON_TYPE, Service
from tests.provisioning.http.test_table import ACME, assert_always, code_of

PATCH = {"Content-Type": "application/merge-patch+json"}

# --- PATCH ---


async def test_patch_merges_what_is_given(service: Service) -> None:
    """Members that are not named stay, null removes, null for the whole clears; the answer is that of PUT, and the end
    date.

    Red when ``properties`` is replaced.
    """
    made = await service.ask("GET", {**ACME, "properties": {"a": 1, "b": {"c": 2, "d": 3}}, "mapping": {"m": "x"}},
                             caller=service.tester)  # fmt: skip
    group = {**made.json()["user_group"], "api_environment_tag": "Testing", "expires_at": None, "suspended": False}
    merged = await service.ask(
        "PATCH", {**ACME, "properties": {"b": {"d": None}, "e": []}, "mapping": {"m": None, "n": "y"}},
        caller=service.tester)  # fmt: skip
    assert_always(merged)
    assert merged.json() == {"success": 1, "user_group": {**group, "properties": {"a": 1, "b": {"c": 2}, "e": []}}}
    stored = await service.store.groups.get(service.testing, "acme")
    assert stored is not None
    assert stored.group.as_dict()["mapping"] == {"n": "y"}
    renamed = await service.ask("PATCH", {**ACME, "name": "B"}, caller=service.tester)
    assert renamed.json()["user_group"] == {**merged.json()["user_group"], "name": "B"}
    cleared = await service.ask("PATCH", {**ACME, "properties": None}, caller=service.tester)
    assert cleared.json()["user_group"]["properties"] is None
    again = await service.ask("PATCH", {**ACME, "properties": {"a": 1, "b": None}}, caller=service.tester)
    assert again.json()["user_group"]["properties"] == {"a": 1}


async def test_patch_takes_both_media_types(service: Service) -> None:
    """And PUT does not take that of a patch: it would replace what was meant to be merged."""
    await service.ask("GET", ACME)
    body = b'{"user_group_id": "acme", "properties": {"a": 1}}'
    assert (await service.send("PATCH", body, PATCH)).status_code == 200
    assert (await service.send("PATCH", body, JSON_TYPE)).status_code == 200
    assert code_of(await service.send("PUT", body, PATCH)) == (415, "unsupported_media_type")
    assert code_of(await service.send("PATCH", body, {"Content-Type": "text/plain"})) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"user_group_id": "nobody"}, 404, "unknown_group", "/user_group_id"),
        ({}, 422, "invalid_body", "/user_group_id"),
        ({**ACME, "name": None}, 422, "invalid_body", "/name"),
        ({**ACME, "properties": []}, 422, "invalid_body", "/properties"),
        ({**ACME, "other": 1}, 422, "invalid_body", "/other"),
        ({**ACME, "mapping": {"m": 1}}, 422, "invalid_body", "/mapping/m"),
        ({**ACME, "mapping": {"m": "nowhere", "gone": None}}, 422, "unknown_data_source", "/mapping/m"),
        ({**ACME, "properties": {"a": {"b": "ugkc_" + "A" * 49}}}, 422, "invalid_body", "/properties/a/b"),
        ({**ACME, "properties": {f"n{n}": None for n in range(257)}}, 422, "invalid_body", "/properties"),
    ],
)
async def test_patch_refuses(service: Service, body: dict[str, Any], status: int, code: str, field: str) -> None:
    """As PUT does, with the field; and nothing is changed."""
    await service.ask("GET", {**ACME, "properties": {"a": 1}})
    before = await service.store.groups.get(service.production, "acme")
    answer = await service.ask("PATCH", body)
    assert (*code_of(answer), answer.json()["error"]["field"]) == (status, code, field)
    assert await service.store.groups.get(service.production, "acme") == before


async def test_the_limits_hold_for_the_result(service: Service) -> None:
    """Two halves that are each small enough. Red when only the patch is checked."""
    await service.ask("GET", {**ACME, "properties": {"a": "x" * 20_000}})
    answer = await service.ask("PATCH", {**ACME, "properties": {"b": "x" * 20_000}})
    assert code_of(answer) == (422, "invalid_body")
    assert answer.json()["error"]["field"] == "/properties"


async def test_patches_at_once_lose_nothing(service: Service) -> None:
    """Each reads the group again where another was faster. Red without ``expected``."""
    await service.ask("GET", ACME)
    names = [f"p{number}" for number in range(8)]
    done = await asyncio.gather(*(service.ask("PATCH", {**ACME, "properties": {name: 1}}) for name in names))
    assert {each.status_code for each in done} == {200}
    stored = await service.store.groups.get(service.production, "acme")
    assert stored is not None
    assert sorted(stored.group.as_dict()["properties"]) == names


async def test_a_group_that_always_changes(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patch is given up, with 503, and never written over what came between."""
    await service.ask("GET", ACME)

    async def update(*_: Any, **__: Any) -> Any:
        raise GroupChanged("changed")

    monkeypatch.setattr(service.store.groups, "update", update)
    assert code_of(await service.ask("PATCH", {**ACME, "name": "B"})) == (503, "store_unavailable")


# --- DELETE ---


LATER = {"expires_at": None, "suspended": False}


async def delete(service: Service, query: str, body: bytes = b"", **options: Any) -> Any:
    return await service.send("DELETE", body, JSON_TYPE if body else {}, path="/api/user" + query, **options)


async def test_delete_by_the_address(service: Service) -> None:
    """The group is gone, and its token with it; the answer shows it without its token; the next one is 404. The audit
    trail names who did it."""
    made = (await service.ask("GET", {"user_group_id": "a&b é", "properties": {"a": 1}})).json()["user_group"]
    answer = await delete(service, "?user_group_id=a%26b+%C3%A9")
    assert_always(answer)
    shown = {name: value for name, value in made.items() if name != "token"}
    assert answer.json() == {
        "success": 1,
        "user_group": {**shown, "mapping": None, "api_environment_tag": "Customer", **LATER},
    }
    assert await service.store.find(service.keys.read(made["token"])) is None
    assert code_of(await delete(service, "?user_group_id=a%26b+%C3%A9")) == (404, "unknown_group")
    last = (await service.store.audit.list())[-1]
    assert (last.action, last.subject, last.author.request_id) == (
        "group.deleted",
        "a&b é",
        answer.headers["x-request-id"],
    )
    assert last.author.name.startswith("api token ")


async def test_a_dry_run_deletes_nothing(service: Service) -> None:
    """In either order of the parameters. Red when the parameter is passed over."""
    await service.ask("GET", ACME)
    for query in ("?user_group_id=acme&dry_run=true", "?dry_run=true&user_group_id=acme"):
        tried = await delete(service, query)
        assert (tried.status_code, tried.headers["dry-run"]) == (200, "true")
    assert code_of(await delete(service, "?user_group_id=nobody&dry_run=true")) == (404, "unknown_group")
    done = await delete(service, "?user_group_id=acme&dry_run=false")
    assert (done.json(), "dry-run" in done.headers) == (tried.json(), False)


@pytest.mark.parametrize(
    "query",
    ["", "?", "?user_group_id=", "?user_group_id=a&user_group_id=b", "?id=acme", "?user_group_id=acme&dry_run=1",
     "?user_group_id=acme&dry-run=true", "?user_group_id=%FF", "?user_group_id=" + "x" * 256],
)  # fmt: skip
async def test_an_address_that_names_no_group(service: Service, query: str) -> None:
    """400, also with a body that names one; nothing is deleted. The scope is checked later: red when a caller without
    it gets 403."""
    await service.ask("GET", ACME)
    for body in (b"", b'{"user_group_id": "acme"}'):
        assert code_of(await delete(service, query, body)) == (400, "bad_request")
    assert code_of(await delete(service, query, caller=service.reader)) == (400, "bad_request")
    assert await service.store.groups.get(service.production, "acme") is not None


async def test_who_may_delete(service: Service) -> None:
    """An API token of the environment that may provision. A group of another environment is unknown."""
    await service.ask("GET", ACME)
    assert code_of(await delete(service, "?user_group_id=acme", caller="x")) == (401, "unauthorized")
    assert code_of(await delete(service, "?user_group_id=acme", caller=service.reader)) == (403, "missing_scope")
    assert code_of(await delete(service, "?user_group_id=acme", caller=service.tester)) == (404, "unknown_group")
    assert await service.store.groups.get(service.production, "acme") is not None
