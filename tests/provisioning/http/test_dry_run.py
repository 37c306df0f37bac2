"""``?dry_run=true``: the answer or the refusal that the write itself would get, and nothing written; on real stores."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.sql import SQLStore
from tenantry.groups import SourceDraft
from tenantry.groups.property_schema import PropertySchema
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.contract import QueryContract
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app, make_service

QUERIES = {"sales": SQLTemplate("select 1 from t where region = {{ region }}")}
SCHEMAS = {"production": PropertySchema({"properties": {"seats": {"type": "integer"}}})}
ROTATE = "/api/user/rotate"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Service]:
    """With a contract that refuses, on each store."""
    store: MemoryStore | SQLStore = MemoryStore()
    if request.param != "memory":
        store = SQLStore(request.getfixturevalue(f"{request.param}_url"), deadline=20, run_dir=tmp_path / "run")
    made = await make_service(store)
    app = make_app(store, made.keys, contract=QueryContract(QUERIES, SCHEMAS))
    made.http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://tenantry.test")
    async with made.http:
        yield made
    await store.aclose()


async def held(service: Service) -> Any:
    """All that a write could leave: groups with their tokens and revisions, the audit trail, the list of changes."""
    store, groups = service.store, []
    for environment in (service.production, service.testing):
        found = await store.groups.list(environment)
        groups += [await store.groups.get(environment, group.provided_id) for group in found]
    return groups, await store.audit.list(), (await store.changes(None)).generation


def essence(answer: httpx2.Response) -> tuple[int, dict[str, str], dict[str, Any]]:
    """What of an answer is the same for each request alike."""
    own = {"x-request-id", "dry-run", "content-length"}
    document = {name: value for name, value in answer.json().items() if name != "request_id"}
    return answer.status_code, {name: text for name, text in answer.headers.items() if name not in own}, document


# A method, its body, the path, the status of the answer, and which of its fields a dry run cannot know. LIVE and OLD
# stand for the tokens of acme at that time. Each is done for real after its dry run, in this order.
STEPS: list[tuple[str, dict[str, Any], str, int, tuple[str, ...]]] = [
    ("GET", {"user_group_id": "acme", "name": "A", "properties": {"region": "eu"}}, "", 200, ("team_id", "token")),
    ("GET", {"user_group_id": "acme", "name": "B"}, "", 200, ()),
    ("QUERY", {"user_group_id": "acme"}, "", 200, ()),
    ("POST", {"user_group_id": "beta", "mapping": {"main": "own"}}, "", 200, ("team_id", "token")),
    ("POST", {"user_group_id": "beta"}, "", 200, ()),
    ("GET", {"user_group_id": "new", "properties": {"seats": "many"}}, "", 422, ()),
    ("GET", {"user_group_id": "new", "mapping": {"main": "none"}}, "", 422, ()),
    ("GET", {"user_group_id": ""}, "", 422, ()),
    ("PUT", {"user_group_id": "acme", "name": "C"}, "", 200, ()),
    ("PUT", {"user_group_id": "acme", "properties": {"region": "us", "seats": 1}}, "", 200, ()),
    ("PUT", {"user_group_id": "acme"}, "", 200, ()),
    ("PUT", {"user_group_id": "acme", "properties": None}, "", 409, ()),
    ("PUT", {"user_group_id": "acme", "properties": {"region": "eu", "seats": "1"}}, "", 422, ()),
    ("PUT", {"user_group_id": "acme", "mapping": {"main": "none"}}, "", 422, ()),
    ("PUT", {"user_group_id": "beta", "mapping": None, "properties": {}}, "", 200, ()),
    ("PUT", {"user_group_id": "nobody", "name": "D"}, "", 404, ()),
    ("PATCH", {"user_group_id": "acme", "properties": {"seats": 2}}, "", 200, ()),
    ("PATCH", {"user_group_id": "acme", "properties": {"region": None}}, "", 409, ()),
    ("PATCH", {"user_group_id": "acme", "properties": {"seats": "1"}}, "", 422, ()),
    ("PATCH", {"user_group_id": "acme", "mapping": {"main": "none", "other": None}}, "", 422, ()),
    ("PATCH", {"user_group_id": "nobody", "properties": {}}, "", 404, ()),
    ("POST", {"current_token": "LIVE"}, "", 200, ("token",)),
    ("POST", {"current_token": "OLD"}, "", 409, ()),
    ("POST", {"current_token": "LIVE"}, ROTATE, 200, ("token",)),
    ("POST", {"current_token": "OLD"}, ROTATE, 409, ()),
    ("POST", {"current_token": "nonsense"}, "", 404, ()),
    ("POST", {"current_token": "FOREIGN"}, "", 404, ()),
    ("POST", {"current_token": "GONE"}, ROTATE, 404, ()),
    ("POST", {"current_token": "LIVE", "user_group_id": "acme"}, "", 422, ()),
]


async def test_it_answers_what_the_write_does_and_writes_nothing(service: Service) -> None:
    """Each write is rehearsed with an Idempotency-Key, twice, then done with the same key: the answers are alike but
    for what does not exist yet, the store holds what it held, and the key was free. Red when the key was taken, when
    the answer showed a token that was drawn, when the write was made, and when the contract was not given on."""
    await service.store.sources.create(service.production, "ds_own", SourceDraft("own", "sqlite:////own.db"))
    tokens = {"LIVE": "", "OLD": ""}
    for name, caller in (("FOREIGN", service.tester), ("GONE", None)):
        made = await service.ask("GET", {"user_group_id": "acme"}, caller=caller)
        tokens[name] = made.json()["user_group"]["token"]
    await service.store.groups.delete(service.production, "acme")
    for number, (method, fields, path, status, unknown) in enumerate(STEPS):
        token = fields.get("current_token")
        given = {**fields, "current_token": tokens.get(token, token)} if token else fields
        body, headers = json.dumps(given).encode(), {**JSON_TYPE, "Idempotency-Key": f"step-{number}"}
        path, before = path or "/api/user", await held(service)
        dry = await service.send(method, body, headers, path=f"{path}?dry_run=true")
        again = await service.send(method, body, headers, path=f"{path}/?dry_run=true")
        assert await held(service) == before, (method, fields)
        done = await service.send(method, body, headers, path=f"{path}?dry_run=false")
        assert (done.status_code, done.headers.get("idempotency-replayed")) == (status, None), done.text
        assert dry.headers.get("dry-run") == ("true" if status == 200 else None)
        assert essence(again) == essence(dry)
        expected = essence(done)
        if status == 200:
            group = expected[2]["user_group"]
            if group["provided_id"] == "acme" and group["token"] != tokens["LIVE"]:
                tokens["OLD"], tokens["LIVE"] = tokens["LIVE"], group["token"]
            group.update({name: {"team_id": 0, "token": ""}[name] for name in unknown})
        assert essence(dry) == expected


@pytest.mark.parametrize(
    "query",
    [
        "dry_run",
        "dry_run=",
        "dry_run=1",
        "dry_run=True",
        "dry_run=yes",
        "dry_run=true&dry_run=true",
        "dry_run=true&dry_run=false",
        "dry-run=true",
        "dryRun=true",
        "DRY_RUN=true",
        "dry%2drun=true",
        "dryrun",
        "utm=1",
        "dry_run=false&utm=1",
        "=",
    ],
)
@pytest.mark.parametrize("service", ["memory"], indirect=True)
async def test_a_slip_does_not_write(query: str, service: Service) -> None:
    """What may be meant as a dry run is refused, after the API token and before the body. Red when any other text than
    ``true`` meant false, and when another name was passed over."""
    before = await held(service)
    for body, code in ((b'{"user_group_id": "acme"}', "bad_request"), (b"{", "bad_request")):
        answer = await service.send("GET", body, JSON_TYPE, path=f"/api/user?{query}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    refused = await service.send("GET", b"{}", JSON_TYPE, path=f"/api/user?{query}", caller="x")
    assert refused.status_code == 401
    assert await held(service) == before


@pytest.mark.parametrize("service", ["memory"], indirect=True)
@pytest.mark.parametrize("query", ["", "&", "dry_run=false", "dry_run=false&", "dry%5Frun=false"])
async def test_without_it_the_write_is_made(query: str, service: Service) -> None:
    """Red when the parameter alone, whatever its value, is taken for a dry run."""
    answer = await service.send("GET", b'{"user_group_id": "acme"}', JSON_TYPE, path=f"/api/user?{query}")
    assert (answer.json()["new_user_group"], answer.headers.get("dry-run")) == (True, None)
    assert await service.store.groups.get(service.production, "acme") is not None


@pytest.mark.parametrize("service", ["memory"], indirect=True)
async def test_a_dry_run_needs_the_scope(service: Service) -> None:
    """It shows tokens of groups that exist. Red when it was let through as a read."""
    body = b'{"user_group_id": "acme"}'
    answer = await service.send("GET", body, JSON_TYPE, path="/api/user?dry_run=true", caller=service.reader)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "missing_scope")


@pytest.mark.parametrize("service", ["memory"], indirect=True)
async def test_what_is_only_reported_is_refused_in_a_dry_run(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """A dry run is there to find what would break, as that of the command line is; and it is no event for the log. Red
    when the contract alone decided."""
    contract = QueryContract(QUERIES, SCHEMAS, refuses=False)
    transport = httpx2.ASGITransport(make_app(service.store, service.keys, contract=contract))
    service.http = httpx2.AsyncClient(transport=transport, base_url="http://tenantry.test")
    await service.ask("GET", {"user_group_id": "acme", "properties": {"region": "eu"}})
    body = b'{"user_group_id": "acme", "properties": null}'
    dry = await service.send("PUT", body, JSON_TYPE, path="/api/user?dry_run=true")
    assert (dry.status_code, dry.json()["error"]["code"]) == (409, "breaks_saved_query")
    assert not caplog.records
    assert (await service.send("PUT", body, JSON_TYPE)).status_code == 200
    assert "breaks_saved_query" in caplog.text
