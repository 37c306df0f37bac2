"""One test for each row of the table of the HTTP interface, docs/http-api.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import OutcomeUnknown, StoreUnavailable
from tenantry.groups import Scope, SourceDraft
from tenantry.ports import EvictionListener
from tenantry.tokens import KeyRing, SigningKey
from tenantry.tokens.keys import SigningKeys, create_key_file
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app, make_caller, make_keys, make_service

ALLOW = "GET, PUT, PATCH, DELETE, POST, QUERY, OPTIONS"
ACME = {"user_group_id": "acme"}


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def assert_always(answer: httpx2.Response) -> None:
    """What every answer of /api/user has."""
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["vary"] == "Authorization, Accept"
    assert answer.headers["x-request-id"]
    assert answer.json()["success"] == int(answer.status_code == 200)


# --- get or create ---


@pytest.mark.parametrize("path", ["/api/user", "/api/user/"])
@pytest.mark.parametrize("method", ["GET", "QUERY"])
async def test_get_creates_and_then_finds(service: Service, method: str, path: str) -> None:
    """The first call creates, the second finds the same group and token; exactly the documented fields."""
    body = b'{"user_group_id": "acme", "name": "Acme", "properties": {"region": "eu", "n": [1, 2.5, null]}}'
    first = await service.send(method, body, JSON_TYPE, path=path)
    again = await service.send(method, b'{"user_group_id":"acme","name":"Other","properties":{}}', JSON_TYPE, path=path)
    assert_always(first)
    assert first.status_code == again.status_code == 200
    assert first.json() == {
        "success": 1,
        "new_user_group": True,
        "user_group": {
            "team_id": 1,
            "token": first.json()["user_group"]["token"],
            "name": "Acme",
            "provided_id": "acme",
            "properties": {"region": "eu", "n": [1, 2.5, None]},
        },
    }
    assert again.json() == {**first.json(), "new_user_group": False}
    assert service.keys.read(first.json()["user_group"]["token"]).version == 1


async def test_name_defaults_to_the_id(service: Service) -> None:
    """Only user_group_id is required; properties are null then."""
    answer = await service.ask("GET", ACME)
    assert answer.json()["user_group"]["name"] == "acme"
    assert answer.json()["user_group"]["properties"] is None


async def test_post_with_an_id_gets_or_creates(service: Service) -> None:
    """POST answers with GET's fields and the tag."""
    group = (await service.ask("GET", ACME)).json()["user_group"]
    answer = (await service.ask("POST", ACME)).json()
    assert answer == {
        "success": 1,
        "new_user_group": False,
        "user_group": {**group, "api_environment_tag": "Customer"},
    }


# --- update ---


async def test_put_replaces_what_is_given(service: Service) -> None:
    """Absent stays, a value replaces whole, null clears; the answer has the documented fields."""
    made = await service.ask("GET", {**ACME, "name": "A", "properties": {"a": 1, "b": 2}})
    group = {**made.json()["user_group"], "api_environment_tag": "Customer"}
    replaced = await service.ask("PUT", {**ACME, "properties": {"a": 3}})
    assert replaced.json() == {"success": 1, "user_group": {**group, "properties": {"a": 3}}}
    renamed = await service.ask("PUT", {**ACME, "name": "B"})
    assert renamed.json()["user_group"] == {**group, "name": "B", "properties": {"a": 3}}
    cleared = await service.ask("PUT", {**ACME, "properties": None, "mapping": None})
    assert cleared.json()["user_group"]["properties"] is None
    assert (await service.ask("PUT", ACME)).json() == cleared.json()


async def test_put_tells_an_empty_object_from_null(service: Service) -> None:
    """``{}`` and null are two different properties."""
    assert (await service.ask("GET", {**ACME, "properties": {}})).json()["user_group"]["properties"] == {}


async def test_put_of_an_unknown_id(service: Service) -> None:
    """404, and nothing is created; a group of another environment is unknown."""
    assert code_of(await service.ask("PUT", ACME)) == (404, "unknown_group")
    await service.ask("GET", ACME)
    assert code_of(await service.ask("PUT", ACME, caller=service.tester)) == (404, "unknown_group")


# --- rotate ---


async def test_post_rotates(service: Service) -> None:
    """A new token with the documented fields; the old one is answered 409."""
    made = (await service.ask("GET", ACME)).json()["user_group"]
    old = made["token"]
    answer = await service.ask("POST", {"current_token": old})
    new = answer.json()["user_group"]["token"]
    del made["properties"]
    assert answer.json() == {"success": 1, "user_group": {**made, "token": new, "api_environment_tag": "Customer"}}
    assert new != old
    assert (await service.ask("GET", ACME)).json()["user_group"]["token"] == new
    assert code_of(await service.ask("POST", {"current_token": old})) == (409, "token_already_rotated")


async def test_the_environments_grace_counts(service: Service) -> None:
    """As the OpenAPI document says, the old token stays valid for the grace period of the environment. Red when the
    operation asks for a grace of 0."""
    await service.store.environments.set_grace(service.production, 60)
    old = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    assert (await service.ask("POST", {"current_token": old})).status_code == 200
    assert await service.store.find(service.keys.read(old)) is not None


@pytest.mark.parametrize("text", ["", "x", "é" * 100, "ugtc_" + "A" * 92])
async def test_rotation_of_a_malformed_token(service: Service, text: str) -> None:
    """Whatever the text, it is of no group."""
    assert code_of(await service.ask("POST", {"current_token": text})) == (404, "unknown_token")


async def test_rotation_of_a_foreign_token(service: Service) -> None:
    """A token of another environment or of a deleted group is unknown, in the same words as a malformed one."""
    foreign = (await service.ask("GET", ACME, caller=service.tester)).json()["user_group"]["token"]
    gone = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    await service.store.groups.delete(service.production, "acme")
    answers = [(await service.ask("POST", {"current_token": text})).json()["error"] for text in (foreign, gone, "x")]
    assert answers[0]["code"] == "unknown_token"
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("body", [{}, {"name": "x"}, {"current_token": "x", "user_group_id": "acme"}])
async def test_post_of_both_or_neither(service: Service, body: dict[str, Any]) -> None:
    """Exactly one of the two fields says what is meant."""
    assert code_of(await service.ask("POST", body)) == (422, "ambiguous_request")


# --- Idempotency-Key ---


async def test_a_repeated_key_replays(service: Service) -> None:
    """The same key and body: the same bytes and a header, though the token is dead by now; names in another order too.

    Red when the operation runs without its IdempotencyKey: the second answer is 409 token_already_rotated.
    """
    old = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    first = await service.ask("POST", {"current_token": old}, Idempotency_Key="once")
    again = await service.send(
        "POST", b' {"current_token" : "' + old.encode() + b'"}', {**JSON_TYPE, "Idempotency-Key": "once"}
    )
    assert first.content == again.content
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"


async def test_a_key_with_another_body(service: Service) -> None:
    """422; and the key of one environment is nothing to the other."""
    await service.ask("POST", ACME, Idempotency_Key="once")
    assert code_of(await service.ask("POST", {"user_group_id": "b"}, Idempotency_Key="once")) == (
        422,
        "idempotency_key_reused",
    )
    other = await service.ask("POST", {"user_group_id": "b"}, caller=service.tester, Idempotency_Key="once")
    assert other.status_code == 200


@pytest.mark.parametrize("text", ["x", "ugtc_" + "A" * 92])
async def test_a_key_with_a_malformed_token_as_its_other_body(service: Service, text: str) -> None:
    """422 as any other body; the same token under a key of its own is unknown, and that key stays free.

    Red when a malformed token is refused before the key is looked at.
    """
    await service.ask("POST", ACME, Idempotency_Key="once")
    body = {"current_token": text}
    assert code_of(await service.ask("POST", body, Idempotency_Key="once")) == (422, "idempotency_key_reused")
    assert code_of(await service.ask("POST", body, Idempotency_Key="new")) == (404, "unknown_token")
    assert (await service.ask("POST", ACME, Idempotency_Key="new")).status_code == 200


async def test_a_rotation_is_replayed_without_the_old_tokens_key(service: Service) -> None:
    """The signing key was rotated between, and the old one is gone: the answer is the first one again.

    Red when the old token is read before the key is looked at: 404 unknown_token, and the new token seems lost.
    """
    old = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    both = KeyRing([SigningKey(name, name.encode() * 32) for name in ("k1", "k2")])
    headers = {"Authorization": f"Token {service.caller}", "Idempotency-Key": "once"}
    answers = []
    for keys in (both, make_keys("k2")):
        app = make_app(service.store, keys)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://t", headers=headers
        ) as http:
            answers.append(await http.post("/api/user", json={"current_token": old}))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
    assert answers[1].headers["idempotency-replayed"] == "true"


async def test_a_superseded_key(service: Service) -> None:
    """A token that died since is not given again."""
    token = (await service.ask("POST", ACME, Idempotency_Key="once")).json()["user_group"]["token"]
    await service.ask("POST", {"current_token": token})
    assert code_of(await service.ask("POST", ACME, Idempotency_Key="once")) == (409, "idempotency_superseded")


@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "\x7f"])
async def test_a_malformed_key(service: Service, key: str) -> None:
    """1 to 255 visible ASCII characters; on other methods the header is not read."""
    assert code_of(await service.ask("POST", ACME, Idempotency_Key=key)) == (400, "bad_request")
    assert (await service.ask("GET", ACME, Idempotency_Key=key)).status_code == 200


# --- authentication ---


@pytest.mark.parametrize("scheme", ["Token", "token", "TOKEN"])
async def test_the_scheme_word_in_any_case(service: Service, scheme: str) -> None:
    """RFC 9110 section 11.1."""
    headers = {**JSON_TYPE, "Authorization": f"{scheme} {service.caller}"}
    assert (await service.http.request("GET", "/api/user", json=ACME, headers=headers)).status_code == 200


@pytest.mark.parametrize("value", [None, "", "Token", "Token ", "Token x", "Bearer {}", "{}", "Basic {}", "Token {}x"])
async def test_no_good_api_token(service: Service, value: str | None) -> None:
    """401 with a challenge."""
    headers = {} if value is None else {"Authorization": value.format(service.caller)}
    answer = await service.http.request("GET", "/api/user", json=ACME, headers=headers)
    assert code_of(answer) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == 'Token realm="api"'
    assert_always(answer)


async def test_a_revoked_api_token_is_dead_at_once(service: Service) -> None:
    """It is looked up on every call."""
    secret = await make_caller(service.store, service.production)
    assert (await service.ask("GET", ACME, caller=secret)).status_code == 200
    token = (await service.store.api_tokens.list(service.production))[-1]
    await service.store.api_tokens.revoke(service.production, token.id)
    assert code_of(await service.ask("GET", ACME, caller=secret)) == (401, "unauthorized")


async def test_a_malformed_api_token_costs_no_lookup(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checksum is wrong, so the store is not asked. Red when the digest is taken without the checksum."""

    async def refuse(*given: Any) -> None:
        raise AssertionError("the store was asked")

    for verb in ("get", "get_with_group"):
        monkeypatch.setattr(service.store.api_tokens, verb, refuse)
    wrong = service.caller[:-1] + ("0" if service.caller[-1] != "0" else "1")
    assert code_of(await service.ask("GET", ACME, caller=wrong)) == (401, "unauthorized")


async def test_two_authorization_headers(service: Service) -> None:
    """400, even when they are equal."""
    value = f"Token {service.caller}"
    answer = await service.http.request(
        "GET", "/api/user", json=ACME, headers=[("Authorization", value), ("Authorization", value)]
    )
    assert code_of(answer) == (400, "ambiguous_authorization")


async def test_a_lacking_scope(service: Service) -> None:
    """403 on every method, and nothing is created."""
    for method in ("GET", "PUT", "POST", "QUERY"):
        assert code_of(await service.ask(method, ACME, caller=service.reader)) == (403, "missing_scope")
    assert await service.store.groups.get(service.production, "acme") is None


# --- the order of checks ---

BAD_TYPE = {"Content-Type": "text/plain"}
LARGE = b"{" + b" " * 70_000
LADDER: list[tuple[int, str, dict[str, str], bytes, str]] = [
    (405, "TRACE", {**BAD_TYPE, "Authorization": "no"}, LARGE, "method_not_allowed"),
    (401, "GET", {**BAD_TYPE, "Authorization": "no"}, LARGE, "unauthorized"),
    (413, "GET", BAD_TYPE, LARGE, "body_too_large"),
    (415, "GET", BAD_TYPE, b"{", "unsupported_media_type"),
    (400, "GET", JSON_TYPE, b"{", "bad_json"),
    (422, "GET", JSON_TYPE, b'{"user_group_id": 1}', "invalid_body"),
    (422, "GET", JSON_TYPE, b'{"user_group_id": "a", "properties": {"a": "\\u0000"}}', "invalid_body"),
    (403, "PUT", JSON_TYPE, b'{"user_group_id": "unknown"}', "missing_scope"),
]


@pytest.mark.parametrize(("status", "method", "headers", "body", "code"), LADDER)
async def test_the_order_of_checks(
    service: Service, status: int, method: str, headers: dict[str, str], body: bytes, code: str
) -> None:
    """Each request of a caller without scope has every later mistake too; the first in order is answered."""
    answer = await service.send(method, body, headers, caller=service.reader)
    assert code_of(answer) == (status, code)
    assert_always(answer)


# --- media type ---


@pytest.mark.parametrize(
    "value",
    [
        "application/json",
        "Application/JSON; charset=UTF-8",
        'application/json;charset="utf-8"',
        "application/json;charset=UTF8",
        'application/json; charset="Utf8"',
        "application/json; Charset=utf-8; profile=x",
    ],
)
async def test_json_media_types(service: Service, value: str) -> None:
    """JSON in UTF-8, however it is written. Red for ``UTF8`` when only the registered name is known."""
    assert (await service.send("GET", b'{"user_group_id":"a"}', {"Content-Type": value})).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": ""},
        {"Content-Type": "text/json"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json; charset = utf-16"},
        {"Content-Type": "application/json; charset=utf-8; charset=latin-1"},
        {"Content-Type": "application/json; charset=utf-88"},
        {"Content-Type": "application/json; charset="},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
async def test_other_media_types(service: Service, headers: dict[str, str]) -> None:
    """415, which says what is taken."""
    answer = await service.send("POST", b'{"user_group_id":"a"}', headers)
    assert code_of(answer) == (415, "unsupported_media_type")
    assert answer.headers["accept"] == "application/json"


# --- no body ---


@pytest.mark.parametrize("headers", [{}, JSON_TYPE])
async def test_an_empty_body_of_a_get(service: Service, headers: dict[str, str]) -> None:
    """The message says that the client may have dropped it, and what to send instead: many drop its Content-Type too.

    Red when a missing Content-Type is looked at before the missing body.
    """
    answer = await service.send("GET", b"", headers)
    assert code_of(answer) == (400, "bad_json")
    message = answer.json()["error"]["message"]
    assert "drop the body of a GET" in message
    assert "QUERY or POST" in message
    for method in ("PUT", "POST", "QUERY"):
        other = await service.send(method, b"", headers)
        assert code_of(other) == (400, "bad_json")
        assert "drop" not in other.json()["error"]["message"]
    assert code_of(await service.send("GET", b"", {"Content-Type": "text/plain"})) == (415, "unsupported_media_type")


# --- methods ---


async def test_head_never_creates(service: Service) -> None:
    """405. Red when HEAD is served as GET is, which Starlette does by default."""
    answer = await service.ask("HEAD", ACME)
    assert answer.status_code == 405
    assert answer.headers["allow"] == ALLOW
    assert await service.store.groups.get(service.production, "acme") is None


async def test_options_needs_no_token(service: Service) -> None:
    """204 with Allow, no body, and no CORS header."""
    answer = await service.http.options("/api/user", headers={"Origin": "https://x.test"})
    assert (answer.status_code, answer.headers["allow"], answer.content) == (204, ALLOW, b"")
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("method", ["LINK", "TRACE", "CONNECT", "PROPFIND", "get", "delete"])
async def test_other_methods(service: Service, method: str) -> None:
    """405 with Allow; methods are case-sensitive (RFC 9110 section 9.1)."""
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {"type": "http", "method": method, "path": "/api/user", "headers": [], "root_path": ""}
    await make_app(service.store, service.keys)(scope, None, send)  # type: ignore[arg-type]
    assert messages[0]["status"] == 405
    assert (b"allow", ALLOW.encode()) in messages[0]["headers"]


async def test_elsewhere(service: Service) -> None:
    """404 in JSON, and no redirect to or from the trailing slash. An encoded slash makes another address (RFC 3986
    section 2.2), which servers decode: red when the path is looked at as it was decoded."""
    encoded = (
        "/api%2fuser",
        "/api%2Fuser/",
        "/api/user%2f",
        "/api/user%2frotate",
        "/oauth%2Fintrospect",
        "/%2fhealthz",
    )
    for path in ("/", "/api", "/api/user/x", "/api/users/x", "/api/user//", *encoded):
        answer = await service.http.get(path)
        assert code_of(answer) == (404, "not_found")
        assert_always(answer)


# --- the store and the keys ---


@pytest.mark.parametrize("error", [StoreUnavailable("/srv/t.db is locked", retry_after=2), OutcomeUnknown("lost db1")])
@pytest.mark.parametrize("verb", ["api_tokens.get_with_group", "groups.get_or_create"])
async def test_the_store_is_down(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: StoreUnavailable,
    verb: str,
) -> None:
    """503 with Retry-After, wherever it is noticed. What the store says of itself is for the log: red with `message`
    where `error_document` takes `public_message`, for then anybody reads the name of its file or host.
    """

    async def fail(*given: Any, **named: Any) -> None:
        raise error

    part, method = verb.split(".")
    monkeypatch.setattr(getattr(service.store, part), method, fail)
    answer = await service.ask("GET", ACME)
    assert code_of(answer) == (503, error.code)
    assert answer.headers["retry-after"] == str(error.retry_after)
    assert error.message not in answer.text
    assert error.message in caplog.text
    assert_always(answer)


async def test_a_signing_key_is_gone(service: Service) -> None:
    """GET and PUT say so and change nothing; the dead token is unknown; another group is not touched.

    Red when an update mints only after its write: the group is changed though the answer is 409.
    """
    old = (await service.ask("GET", {**ACME, "name": "A"})).json()["user_group"]["token"]
    app = make_app(service.store, make_keys("k2"))
    headers = {"Authorization": f"Token {service.caller}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://t", headers=headers) as http:
        assert code_of(await http.request("GET", "/api/user", json=ACME)) == (409, "signing_key_missing")
        answer = await http.put("/api/user", json={**ACME, "name": "B"})
        assert code_of(answer) == (409, "signing_key_missing")
        assert code_of(await http.post("/api/user", json={"current_token": old})) == (404, "unknown_token")
        assert (await http.request("GET", "/api/user", json={"user_group_id": "b"})).status_code == 200
    issued = await service.store.groups.get(service.production, "acme")
    assert issued is not None
    assert (issued.group.name, issued.group.revision) == ("A", 1)


# --- mapping ---


async def test_a_mapping_names_registered_sources(service: Service) -> None:
    """By our id or the caller's own; another environment's source is unknown; the message names the command."""
    await service.store.sources.create(service.production, "ds_1", SourceDraft("warehouse", "sqlite:///x.db"))
    assert (await service.ask("GET", {**ACME, "mapping": {"a": "ds_1", "b": "warehouse"}})).status_code == 200
    for method in ("GET", "PUT", "POST", "QUERY"):
        answer = await service.ask(method, {**ACME, "mapping": {"a": "ds_1", "x/y": "elsewhere"}})
        assert code_of(answer) == (422, "unknown_data_source")
        assert answer.json()["error"]["field"] == "/mapping/x~1y"
        assert "tenantry data-source create elsewhere --environment production" in answer.json()["error"]["message"]
    answer = await service.ask("GET", {**ACME, "mapping": {"a": "ds_2"}})
    assert code_of(answer) == (422, "unknown_data_source")
    assert "data-source create NAME --environment" in answer.json()["error"]["message"]  # no name may begin with ds_


async def test_external_data_sources_are_not_checked(service: Service) -> None:
    """For an app that routes queries itself."""
    answer = await service.ask("GET", {**ACME, "mapping": {"a": "anything"}}, caller=service.tester)
    assert answer.status_code == 200


# --- environments ---


async def test_environments_are_separate(service: Service) -> None:
    """The API token says which environment is meant: the same id is two groups, each with its tag."""
    customer = (await service.ask("POST", ACME)).json()
    tester = (await service.ask("POST", ACME, caller=service.tester)).json()
    assert tester["new_user_group"] is True
    assert customer["user_group"]["api_environment_tag"] == "Customer"
    assert tester["user_group"]["api_environment_tag"] == "Testing"
    assert customer["user_group"]["token"] != tester["user_group"]["token"]


# --- problem+json and request ids ---


@pytest.mark.parametrize(
    ("accept", "problem"),
    [
        ("application/problem+json", True),
        ("application/json, application/problem+json", True),
        ("application/json, application/problem+json;q=0.5", False),
        ("application/problem+json;q=0", False),
        ("application/json", False),
        ("*/*", False),
        ("text/html, application/problem+json;q=what", False),
    ],
)
async def test_problem_json_when_asked_for(service: Service, accept: str, problem: bool) -> None:
    """RFC 9457, with our own members too. A success stays plain JSON."""
    answer = await service.ask("GET", {}, Accept=accept)
    assert answer.status_code == 422
    document = answer.json()
    assert answer.headers["content-type"].startswith("application/problem+json") == problem
    assert ("title" in document) == problem
    assert document["success"] == 0
    assert document["error"] == {
        "code": "invalid_body",
        "message": "this field is required",
        "field": "/user_group_id",
    }
    assert document["request_id"] == answer.headers["x-request-id"]
    if problem:
        assert (document["type"], document["status"]) == ("about:blank", 422)
        assert document["detail"] == document["error"]["message"]
    good = await service.ask("GET", ACME, Accept=accept)
    assert good.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ("req-1._A", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("a b", False),
        ("", False),
        ("\x7f", False),
        ("ugkc_" + "a" * 49, False),
    ],
)
async def test_request_ids(service: Service, given: str, accepted: bool) -> None:
    """A plain one comes back, any other is replaced: it goes into logs."""
    answer = await service.send("GET", b"", {**JSON_TYPE, "X-Request-Id": given})
    assert (answer.headers["x-request-id"] == given) == accepted
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_health(service: Service) -> None:
    """Neither needs a token."""
    assert (await service.http.get("/healthz")).json() == {"success": 1, "status": "ok"}
    assert (await service.http.get("/readyz")).json() == {"success": 1, "status": "ready"}
    assert (await service.http.post("/readyz")).status_code == 405


async def test_not_ready(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with Retry-After while the store does not answer; the process is healthy all the same."""

    async def fail() -> None:
        raise StoreUnavailable("db1.internal does not answer")

    monkeypatch.setattr(service.store, "ready", fail)
    answer = await service.http.get("/readyz")
    assert code_of(answer) == (503, "store_unavailable")
    assert "db1.internal" not in answer.text
    assert answer.headers["retry-after"] == "1"
    assert (await service.http.get("/healthz")).status_code == 200


@dataclass
class StillBus:
    """A WatchedBus that says this of itself."""

    status: str

    async def follow(self, listener: EvictionListener) -> None: ...


async def test_a_deaf_bus_is_told_and_changes_nothing() -> None:
    """A bus makes things faster and never true: the answer is 200 and names it. Red when ``degraded`` is left out."""
    buses = [StillBus(status) for status in ("idle", "connecting", "receiving", "lost", "deaf")]
    app = make_app(MemoryStore(), make_keys(), buses=buses)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://api.test") as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"success": 1, "status": "ready", "degraded": ["StillBus: lost", "StillBus: deaf"]}


async def test_introspect_scope_is_no_provision(service: Service) -> None:
    """A caller with both scopes may provision."""
    both = await make_caller(service.store, service.production, Scope.INTROSPECT, Scope.PROVISION)
    assert (await service.ask("GET", ACME, caller=both)).status_code == 200


async def test_a_key_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """The answer is 200 and names the keys, not the file; what the service does goes on. Red when ``problem`` is not
    asked for."""
    create_key_file(tmp_path / "tenantry.keys")
    service = await make_service(keys=SigningKeys.from_file(tmp_path / "tenantry.keys"))
    async with service.http:
        (tmp_path / "tenantry.keys").unlink()
        service.keys.refresh()
        answer = await service.http.get("/readyz")
        assert answer.status_code == 200
        assert answer.json() == {"success": 1, "status": "ready", "degraded": ["SigningKeys: unreadable"]}
        assert (await service.ask("GET", ACME)).status_code == 200


TAKEN = "user_group_id, name, mapping, properties"
UNKNOWN_FIELDS = [
    ("PUT", "", {**ACME, "plan": 1}, f"there is no such field; the fields are {TAKEN}"),
    ("PATCH", "", {**ACME, "plan": 1}, f"there is no such field; the fields are {TAKEN}, expires_at, suspended"),
    ("GET", "", {**ACME, "nam": 1}, f"there is no such field; did you mean name? The fields are {TAKEN}"),
    (
        "PUT",
        "",
        {**ACME, "expires_at": None},
        f"there is no such field here: PATCH sets expires_at; the fields are {TAKEN}",
    ),
    (
        "POST",
        "",
        {**ACME, "expiresAt": 1},
        f"there is no such field here: PATCH sets expires_at; the fields are {TAKEN}",
    ),
    ("POST", "/rotate", {"current_token": "t", "name": "A"}, "here: PATCH sets name; the fields are current_token"),
    ("PUT", "", {**ACME, "k" * 5000: 1}, f"there is no such field; the fields are {TAKEN}"),
    ("PUT", "", {**ACME, "[key]": 1}, f"there is no such field; the fields are {TAKEN}"),  # a word of pydantic's
    ("PUT", "", {**ACME, "": 1}, f"there is no such field; the fields are {TAKEN}"),
]


@pytest.mark.parametrize(("method", "path", "body", "told"), UNKNOWN_FIELDS)
async def test_an_unknown_field_is_told_which_there_are(
    service: Service, method: str, path: str, body: dict[str, Any], told: str
) -> None:
    """With the one that was probably meant, and where an end date is set. What was sent stands in the pointer alone,
    and a token not even there. Red when the message repeats the name."""
    answer = await service.send(method, json.dumps(body).encode(), JSON_TYPE, path=f"/api/user{path}")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].endswith(told)
    token = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    pasted = await service.ask("PUT", {**ACME, token: 1})
    assert token not in pasted.text
    assert pasted.json()["error"]["message"] == f"there is no such field; the fields are {TAKEN}"
