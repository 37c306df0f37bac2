"""``POST /api/users/bulk``: what a line does and what is reported of it, on each store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupChanges, SourceDraft, thaw
from tenantry.groups.property_schema import PropertySchema
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.contract import QueryContract
from tests.provisioning.http.conftest import Service, make_app, make_keys, make_service

PATH = "/api/users/bulk"
NDJSON = {"Content-Type": "application/x-ndjson"}


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Service]:
    store: MemoryStore | SQLStore = MemoryStore()
    if request.param != "memory":
        store = SQLStore(request.getfixturevalue(f"{request.param}_url"), deadline=20, run_dir=tmp_path / "run")
    made = await make_service(store)
    async with made.http:
        yield made
    await store.aclose()


def body_of(groups: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in groups)


async def send(service: Service, body: bytes, *, query: str = "", **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await service.send("POST", body, {**NDJSON, **named}, path=PATH + query)


async def report(service: Service, *groups: Any, query: str = "") -> tuple[list[Any], dict[str, int]]:
    """What is said of each line, and the summary; the report is whole, and its lines come in their order."""
    answer = await send(service, groups[0] if isinstance(groups[0], bytes) else body_of(groups), query=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    *lines, last = lines_of(answer)
    assert last["success"] == 1, last
    assert [line["line"] for line in lines] == sorted(line["line"] for line in lines)
    assert last["summary"]["lines"] == len(lines)
    return lines, {name: count for name, count in last["summary"].items() if name != "lines" and count}


def lines_of(answer: httpx2.Response) -> list[Any]:
    """The lines of a report, each of which ends with LF; other ends of lines are text."""
    *lines, rest = answer.content.split(b"\n")
    assert rest == b""
    return [json.loads(line) for line in lines]


def codes(lines: list[Any]) -> list[str]:
    return [line["result"] if line["success"] else line["error"]["code"] for line in lines]


# --- what a line does -------------------------------------------------------------------------------------------------


async def test_a_line_is_answered_as_patch_answers(service: Service) -> None:
    """Exactly the answer of PATCH (SPEC section 4.2, and the end date), the number of the line, and what was done. The
    token is the group's own."""
    lines, summary = await report(service, {"user_group_id": "acme", "name": "Acme", "properties": {"a": 1.0}})
    patch = await service.ask("PATCH", {"user_group_id": "acme"})
    assert lines == [{"line": 1, "result": "created", **patch.json()}]
    assert patch.json()["user_group"]["properties"] == {"a": 1.0}
    assert summary == {"created": 1}
    assert service.keys.read(lines[0]["user_group"]["token"]).version == 1


async def test_lines_create_merge_and_leave(service: Service) -> None:
    """Upsert is create, or merge as PATCH does; what a group has already is not written: no revision, no entry in the
    audit trail, no change that a cache would hear of. Red when ``differing`` is asked for nothing: the third line of
    the second body is ``updated`` then."""
    await service.ask("PUT", {"user_group_id": "x"})
    first, summary = await report(
        service,
        {"user_group_id": "a"},
        {"user_group_id": "b", "name": "B", "properties": {"keep": 1, "drop": 2, "deep": {"x": 1, "y": 2}}},
        {"user_group_id": "c", "properties": {"never": None, "p": 1}, "mapping": None},
    )
    assert summary == {"created": 3}
    assert [each["user_group"]["name"] for each in first] == ["a", "B", "c"]
    assert first[2]["user_group"]["properties"] == {"p": 1}, "null removes a member, of a new group too"
    trail, generation = await service.store.audit.list(), (await service.store.changes(None)).generation
    lines, summary = await report(
        service,
        {"user_group_id": "a", "name": "A"},
        {"user_group_id": "b", "properties": {"drop": None, "deep": {"x": 3}, "new": [1]}},
        {"user_group_id": "c", "name": "c", "properties": {"p": 1, "absent": None}},
        {"user_group_id": "d"},
    )
    assert codes(lines) == ["updated", "updated", "unchanged", "created"]
    assert summary == {"created": 1, "updated": 2, "unchanged": 1}
    assert lines[1]["user_group"]["properties"] == {"keep": 1, "deep": {"x": 3, "y": 2}, "new": [1]}
    stored = await service.store.groups.get_many(service.production, list("abcd"))
    assert [stored[each].group.revision for each in "abcd"] == [2, 2, 1, 1]
    assert [line["user_group"]["token"] for line in lines[:3]] == [line["user_group"]["token"] for line in first]
    noted = (await service.store.audit.list())[len(trail) :]
    assert [(each.action, each.subject) for each in noted] == [
        ("group.updated", "a"),
        ("group.updated", "b"),
        ("group.created", "d"),
    ]
    assert (await service.store.changes(None)).generation == generation + 2


async def test_replace_is_as_put(service: Service) -> None:
    """Absent fields stay, ``properties`` and ``mapping`` are replaced whole; where there is no group it is created."""
    await service.ask("GET", {"user_group_id": "a", "name": "A", "properties": {"x": 1, "y": None}})
    lines, summary = await report(
        service,
        {"user_group_id": "a", "properties": {"z": None}},
        {"user_group_id": "b", "properties": {"n": None}},
        query="?replace=true",
    )
    assert summary == {"created": 1, "updated": 1}
    assert [each["user_group"]["properties"] for each in lines] == [{"z": None}, {"n": None}]
    assert [each["user_group"]["name"] for each in lines] == ["A", "b"]


@pytest.mark.parametrize("query", ["", "?replace=true"])
async def test_lines_set_end_dates(service: Service, query: str) -> None:
    """Of new groups and of those that are there; an equal moment is no change, null clears it, and absent it stays."""
    moment, same = "2031-01-31T23:59:59Z", "2031-02-01T00:59:59+01:00"
    lines, _ = await report(
        service,
        {"user_group_id": "a", "expires_at": moment},
        {"user_group_id": "a", "expires_at": same},
        {"user_group_id": "a", "name": "A"},
        {"user_group_id": "a", "expires_at": None},
        {"user_group_id": "b", "expires_at": "tomorrow"},
        query=query,
    )
    assert codes(lines) == ["created", "unchanged", "updated", "updated", "invalid_body"]
    shown = [line["user_group"]["expires_at"] for line in lines[:-1]]
    assert shown == ["2031-01-31T23:59:59+00:00"] * 3 + [None]
    assert lines[-1]["error"]["field"] == "/expires_at"


async def test_an_id_that_comes_again(service: Service) -> None:
    """Lines are done in their order: the later one is made of what the earlier one made. Red when a batch takes an id
    twice."""
    lines, summary = await report(
        service,
        {"user_group_id": "a", "properties": {"x": 1}},
        {"user_group_id": "b"},
        {"user_group_id": "a", "properties": {"y": 2}},
        {"user_group_id": "a", "properties": {"y": 2}},
        {"user_group_id": "a", "name": "A"},
    )
    assert codes(lines) == ["created", "created", "updated", "unchanged", "updated"]
    assert lines[-1]["user_group"] == {**lines[0]["user_group"], "name": "A", "properties": {"x": 1, "y": 2}}
    assert summary == {"created": 2, "updated": 2, "unchanged": 1}


async def test_many_batches(service: Service) -> None:
    """More lines than share a transaction: each is done and reported once, and done again changes nothing."""
    groups = [{"user_group_id": f"g{number}", "properties": {"n": number}} for number in range(611)]
    lines, summary = await report(service, *groups)
    assert summary == {"created": 611}
    assert [each["user_group"]["provided_id"] for each in lines] == [each["user_group_id"] for each in groups]
    again, summary = await report(service, *groups)
    assert summary == {"unchanged": 611}
    assert [each["user_group"] for each in again] == [each["user_group"] for each in lines]


async def test_environments_are_apart(service: Service) -> None:
    """The lines are about the environment of the API token."""
    await report(service, {"user_group_id": "acme"})
    answer = await service.send("POST", b'{"user_group_id": "acme"}', NDJSON, path=PATH, caller=service.tester)
    shown = lines_of(answer)[0]
    assert shown["result"] == "created"
    assert shown["user_group"]["api_environment_tag"] == "Testing"


async def test_a_dry_run_writes_nothing(service: Service) -> None:
    """And answers as the bulk would; what would be new is empty. Red when the endpoint always takes the provisioner
    that writes."""
    await service.ask("GET", {"user_group_id": "a", "properties": {"x": 1}})
    before = await service.store.audit.list(), await service.store.groups.list(service.production)
    groups = [{"user_group_id": "a", "properties": {"y": 2}}, {"user_group_id": "b"}, {"user_group_id": ""}]
    answer = await send(service, body_of([*groups, {"user_group_id": "a"}]), query="?dry_run=true")
    assert answer.headers["dry-run"] == "true"
    *lines, last = lines_of(answer)
    assert codes(lines) == ["updated", "created", "invalid_body", "unchanged"]
    assert lines[0]["user_group"]["properties"] == {"x": 1, "y": 2}
    assert (lines[1]["user_group"]["team_id"], lines[1]["user_group"]["token"]) == (0, "")
    assert last["summary"] == {"lines": 4, "created": 1, "updated": 1, "unchanged": 1, "failed": 1}
    assert (await service.store.audit.list(), await service.store.groups.list(service.production)) == before
    written = await send(service, body_of([*groups, {"user_group_id": "a"}]))
    assert "dry-run" not in written.headers
    assert codes(lines_of(written)[:-1])[:3] == codes(lines)[:3]


async def test_each_line_fails_alone(service: Service) -> None:
    """With the code and the field that a single call has; the lines around it are done. Red when the batch is refused
    for one of its lines."""
    await service.store.sources.create(service.production, "ds_1", SourceDraft("own", "sqlite:///x"))
    bad: list[tuple[bytes, str, str | None]] = [
        (b"{", "bad_json", None),
        (b"nonsense", "bad_json", None),
        (b'{"user_group_id": "a", "user_group_id": "b"}', "bad_json", None),
        (b'{"user_group_id": "\xff"}', "bad_json", None),
        (b'{"user_group_id": "x"} {"user_group_id": "y"}', "bad_json", None),
        (b'{"user_group_id": NaN}', "bad_json", None),
        (b"[]", "invalid_body", ""),
        (b"{}", "invalid_body", "/user_group_id"),
        (b'{"user_group_id": 7}', "invalid_body", "/user_group_id"),
        (b'{"user_group_id": "x", "plan": "pro"}', "invalid_body", "/plan"),
        (b'{"user_group_id": "x", "current_token": "y"}', "invalid_body", "/current_token"),
        (b'{"user_group_id": "x", "name": ""}', "invalid_body", "/name"),
        (b'{"user_group_id": "x", "properties": {"n": 1e999}}', "invalid_body", "/properties/n"),
        (b'{"user_group_id": "x", "properties": ' + b'{"d":' * 9 + b"1" + b"}" * 10, "invalid_body", None),
        (b'{"user_group_id": "x", "mapping": {"main": "none"}}', "unknown_data_source", "/mapping/main"),
        (b'{"user_group_id": "x", "name": "' + b"n" * 65_600 + b'"}', "body_too_large", None),
    ]
    body = b'{"user_group_id": "before", "mapping": {"main": "own", "other": "ds_1"}}\n'
    body += b"".join(line + b"\n" for line, _, _ in bad) + b'{"user_group_id": "after"}\n'
    lines, summary = await report(service, body)
    assert codes(lines) == ["created", *(code for _, code, _ in bad), "created"]
    assert summary == {"created": 2, "failed": len(bad)}
    for line, (text, _, field) in zip(lines[1:-1], bad, strict=True):
        assert set(line) == {"line", "success", "error"}
        assert field is None or line["error"]["field"] == field, text[:60]
        assert "line" in line["error"]["message"] or "field" in line["error"], line
    assert [each.provided_id for each in await service.store.groups.list(service.production)] == ["before", "after"]


async def test_a_token_in_a_line_is_neither_stored_nor_repeated(service: Service) -> None:
    """As in a single call."""
    (made,), _ = await report(service, {"user_group_id": "acme"})
    token = made["user_group"]["token"]
    answer = await send(service, body_of([{"user_group_id": token}, {"user_group_id": "b", "properties": {token: 1}}]))
    assert codes(lines_of(answer)[:-1]) == ["invalid_body"] * 2
    assert token not in answer.text


async def test_the_contract_of_the_queries_holds_for_each_line(service: Service) -> None:
    """A line whose properties break the schema, or a saved query, fails alone, and a dry run says so too."""
    contract = QueryContract(
        {"sales": SQLTemplate("select 1 from t where region = {{ region }}")},
        {"production": PropertySchema({"properties": {"seats": {"type": "integer"}}})},
    )
    await report(service, {"user_group_id": "a", "properties": {"region": "eu"}})
    service.http = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(make_app(service.store, service.keys, contract=contract)),
        base_url="http://tenantry.test",
    )
    body = [
        {"user_group_id": "a", "properties": {"region": None}},
        {"user_group_id": "b", "properties": {"seats": "many"}},
        {"user_group_id": "c", "properties": {"seats": 1}},
        {"user_group_id": "a", "properties": {"seats": 5}},
    ]
    async with service.http:
        for query in ("?dry_run=true", ""):
            lines, _ = await report(service, *body, query=query)
            assert codes(lines) == ["breaks_saved_query", "invalid_properties", "created", "updated"]


async def test_a_group_whose_signing_key_is_gone(service: Service) -> None:
    """Its line fails and the group is as it was: nothing is written that could not be answered."""
    await report(service, {"user_group_id": "a"})
    app = make_app(service.store, make_keys("k2"))
    service.http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://tenantry.test")
    async with service.http:
        lines, _ = await report(service, {"user_group_id": "a", "name": "A"}, {"user_group_id": "b"})
    assert codes(lines) == ["signing_key_missing", "created"]
    stored = await service.store.groups.get(service.production, "a")
    assert stored is not None
    assert stored.group.name == "a"


# --- others write at the same time ------------------------------------------------------------------------------------


async def test_a_group_that_another_writer_changes_meanwhile(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The merge is made of the group as it is when it is written: another writer's property stays. Red when a write
    that was not as expected is reported as done."""
    await report(service, {"user_group_id": "a"}, {"user_group_id": "gone"})
    read = service.store.groups.get_many
    others = [True]

    async def interrupted(environment: Any, provided_ids: Any) -> Any:
        found = await read(environment, provided_ids)
        if others:
            others.clear()
            await service.store.groups.update(service.production, "a", GroupChanges(properties={"theirs": 1}))
            await service.store.groups.delete(service.production, "gone")
            await service.ask("GET", {"user_group_id": "new", "properties": {"theirs": 1}})
        return found

    monkeypatch.setattr(service.store.groups, "get_many", interrupted)
    lines, _ = await report(
        service,
        {"user_group_id": "a", "properties": {"ours": 2}},
        {"user_group_id": "gone", "properties": {"ours": 2}},
        {"user_group_id": "new", "properties": {"ours": 2}},
    )
    assert codes(lines) == ["updated", "created", "updated"]
    stored = await read(service.production, ["a", "gone", "new"])
    plain = {name: thaw(issued.group.properties) for name, issued in stored.items()}
    assert plain == {"a": {"theirs": 1, "ours": 2}, "gone": {"ours": 2}, "new": {"theirs": 1, "ours": 2}}
