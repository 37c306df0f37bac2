"""``POST /oauth/introspect``: one test for each row of docs/introspection.md."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import StoreUnavailable
from tenantry.groups import GroupChanges, Scope, Token
from tenantry.provisioning import issue_api_token
from tenantry.testing import FrozenClock
from tenantry.tokens import KeyRing, SigningKey, sign_pass
from tests.backends.introspection.conftest import FORM, PATH, ask, make_issued, reader_of, rotate
from tests.provisioning.http.conftest import (
    JSON_TYPE,
    Service,
    assert_documented,
    make_app,
    make_caller,
    make_keys,
    make_service,
)
from tests.provisioning.http.test_table import code_of

INACTIVE = b'{"active":false}'


def assert_refused(answer: httpx2.Response, status: int, code: str) -> None:
    """An error in the form of RFC 6749 section 5.2, with the code that /api/user has for it."""
    document = answer.json()
    assert (answer.status_code, document["code"]) == (status, code)
    assert document["error"] == OAUTH.get(status, "invalid_request")
    assert DESCRIPTION.fullmatch(document["error_description"])
    assert document["success"] == 0
    assert_always(answer)


DESCRIPTION = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]+")
"""What ``error_description`` may be made of (RFC 6749 section 5.2). Red with an ellipsis in the messages of a form."""
OAUTH = {401: "invalid_client", 403: "insufficient_scope", 503: "temporarily_unavailable"}
LACKING = 'Bearer realm="api", error="insufficient_scope", scope="introspect"'
ALL_CHALLENGES = ['Token realm="api"', 'Bearer realm="api"', 'Basic realm="api"']


def assert_always(answer: httpx2.Response) -> None:
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-request-id"]


# --- what is answered ---


async def test_an_active_token(service: Service) -> None:
    """The members of RFC 7662, and the whole group without its token; exactly these."""
    issued, token = await make_issued(service, mapping={"main": "eu"})
    answer = await ask(service, token, X_Request_Id="mine")
    assert answer.status_code == 200
    assert_always(answer)
    assert answer.headers["x-request-id"] == "mine"
    assert answer.json() == {
        "active": True,
        "token_type": "user_group_token",
        "sub": "acme",
        "user_group": {
            "team_id": 1,
            "provided_id": "acme",
            "name": "Acme",
            "environment": {
                "id": service.production.id,
                "name": "production",
                "tag": "Customer",
                "external_data_sources": False,
                "grace_seconds": 0,
            },
            "properties": {"region": "eu"},
            "mapping": {"main": "eu"},
            "handle": issued.group.handle.hex(),
            "token_version": 1,
            "revision": 1,
            "grace_until": None,
            "expires_at": None,
            "suspended": False,
            "revoked_viewers": None,
        },
    }
    assert token not in answer.text


@pytest.mark.parametrize("scheme", ["Token", "tOKEN", "Bearer", "bearer"])
async def test_both_schemes(service: Service, scheme: str) -> None:
    """``Token`` as everywhere here, ``Bearer`` as other programs send it. Red when only one is read."""
    _, token = await make_issued(service)
    assert (await ask(service, token, Authorization=f"{scheme} {service.reader}")).json()["active"] is True


async def test_a_hint_and_what_else_there_is_are_ignored(service: Service) -> None:
    """RFC 7662 section 2.1 and RFC 6749 section 3.2; a parameter without a value is one that is not there."""
    _, token = await make_issued(service)
    form = {"token_type_hint": "refresh_token", "token": token, "client_id": "x", "resource": ""}
    assert (await ask(service, form)).json()["active"] is True
    kind = "application/x-www-form-urlencoded; charset=UTF-8"
    assert (await ask(service, form, Content_Type=kind)).json()["active"] is True


async def test_a_rotated_token_is_inactive_at_once(service: Service) -> None:
    """At the first question after the rotation, whoever asked before. Red when ``look`` is not asked for fresh, and
    something is before the store."""
    issued, old = await make_issued(service)
    assert (await ask(service, old)).json()["active"] is True
    _, new = await rotate(service, issued)
    assert (await ask(service, old)).content == INACTIVE
    assert (await ask(service, new)).json()["user_group"]["token_version"] == 2


async def test_the_store_of_record_is_asked(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when ``look`` is called with fresh=False: a cache before the store would answer."""
    _, token = await make_issued(service)
    asked: list[bool] = []
    look = service.store.read_at_snapshot

    async def counted(token: Token, *, fresh: bool) -> Any:
        asked.append(fresh)
        return await look(token, fresh=fresh)

    monkeypatch.setattr(service.store, "read_at_snapshot", counted)
    await ask(service, token)
    assert asked == [True]


async def test_the_end_of_a_grace() -> None:
    """``exp`` and ``seconds`` of a token in its grace, by the store's clock; none of a live one. It ends with its exp.

    Red when exp is rounded up, or when a grace that has ended for the reader is still active."""
    clock = FrozenClock()
    clock.advance(0.25)
    service = await make_service(MemoryStore(clock=clock))
    issued, old = await make_issued(service)
    made, new = await rotate(service, issued, grace_seconds=60)
    assert made.group.grace_until is not None
    clock.advance(10)
    answer = (await ask(service, old)).json()
    assert answer["exp"] == int(made.group.grace_until.timestamp())
    assert answer["seconds"] == 49.75
    assert answer["user_group"]["grace_until"] == made.group.grace_until.isoformat()
    assert answer["user_group"]["token_version"] == 2
    assert not {"exp", "seconds"} & (await ask(service, new)).json().keys()
    clock.advance(49.7)
    assert (await ask(service, old)).json()["active"] is True
    clock.advance(0.05)  # the exp; the grace itself has a quarter of a second more
    assert clock() + timedelta(seconds=0.25) == made.group.grace_until
    assert (await ask(service, old)).content == INACTIVE


async def test_the_end_date_of_a_group() -> None:
    """``exp`` says it, rounded down, by the clock of this service; from then on the token is inactive, and nothing more
    is said. A grace ends with it. Red when the end date is not looked at, or is no ``exp``."""
    clock = FrozenClock()
    store = MemoryStore(clock=clock)
    service = await make_service(store)
    keys, where = service.keys, service.production
    http = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(make_app(store, keys, time_of_day=clock)), base_url="http://tenantry.test"
    )
    service = replace(service, http=http)
    issued, old = await make_issued(service)
    ends = clock() + timedelta(seconds=10.5)
    await store.groups.update(where, "acme", GroupChanges(expires_at=ends))
    answer = (await ask(service, old)).json()
    assert (answer["exp"], "seconds" in answer) == (int(ends.timestamp()), False)
    assert answer["user_group"]["expires_at"] == ends.isoformat()
    _, new = await rotate(service, issued, grace_seconds=60)
    graced = (await ask(service, old)).json()
    assert (graced["exp"], graced["seconds"]) == (int(ends.timestamp()), 60)
    await store.groups.update(where, "acme", GroupChanges(expires_at=ends + timedelta(hours=1)))
    assert (await ask(service, old)).json()["exp"] == int((clock() + timedelta(seconds=60)).timestamp())
    await store.groups.update(where, "acme", GroupChanges(expires_at=ends))
    clock.advance(9.999)
    assert (await ask(service, new)).json()["active"] is True
    clock.advance(0.001)
    assert [(await ask(service, token)).content for token in (old, new)] == [INACTIVE, INACTIVE]
    await store.groups.update(where, "acme", GroupChanges(expires_at=None))
    assert "exp" not in (await ask(service, new)).json()
    await http.aclose()


async def test_a_pass_that_ends_during_the_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the time is taken before the read: active, with an ``exp`` in the past."""
    clock = FrozenClock()
    store = MemoryStore(clock=clock)
    service = await make_service(store)
    app = make_app(store, service.keys, time_of_day=clock)
    read_at_snapshot = store.read_at_snapshot
    _, token = await make_issued(service)
    now = int(clock().timestamp())
    signed = sign_pass(token, {"iat": now, "exp": now + 2})

    async def slow(*arguments: Any, **options: Any) -> Any:
        clock.advance(3)
        return await read_at_snapshot(*arguments, **options)

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://tenantry.test") as http:
        service = replace(service, http=http)
        assert (await ask(service, signed)).json()["active"] is True
        monkeypatch.setattr(store, "read_at_snapshot", slow)
        assert (await ask(service, signed)).content == INACTIVE


async def test_a_pass(service: Service) -> None:
    """Its viewer, scope and end, and the group as for the token; inactive when it has ended, when its group is
    suspended and when its token was rotated.

    Red when the store is asked with the pass, or the end is that of the group."""
    issued, token = await make_issued(service)
    now = int(datetime.now(UTC).timestamp())
    claims = {"iat": now, "exp": now + 600, "sub": "ann", "viewer": {"a": [1]}, "scope": "app dashboard:x/*"}
    signed = sign_pass(token, claims)
    answer = (await ask(service, signed)).json()
    of_token = (await ask(service, token)).json()
    assert answer == {
        **of_token,
        "token_type": "pass",
        "exp": now + 600,
        "viewer": {"id": "ann", "attributes": {"a": [1]}},
        "scope": "app dashboard:x/*",
    }
    plain = (await ask(service, sign_pass(token, {"iat": now, "exp": now + 600}))).json()
    assert (plain["viewer"], "scope" in plain) == ({"id": None, "attributes": {}}, False)
    forged = signed[:-5] + ("AAAAA" if signed[-5:] != "AAAAA" else "BBBBB")
    ended = sign_pass(token, {"iat": now - 60, "exp": now - 1})
    for each in (forged, ended, signed[:48], signed + "é"):
        assert (await ask(service, each)).content == INACTIVE
    where = service.production
    await service.store.groups.update(where, "acme", GroupChanges(suspended=True))
    assert [(await ask(service, each)).content for each in (signed, token)] == [INACTIVE, INACTIVE]
    await service.store.groups.update(where, "acme", GroupChanges(suspended=False))
    assert (await ask(service, signed)).json()["active"] is True
    await rotate(service, issued)
    assert (await ask(service, signed)).content == INACTIVE


# --- what is not answered ---


async def test_there_is_no_oracle(service: Service) -> None:
    """Malformed, forged, unknown, rotated, deleted and of another environment: one answer, the same in each byte.

    Red when the environment is not compared, or when the answer has the reason."""
    issued, rotated = await make_issued(service)
    _, live = await rotate(service, issued)
    gone, deleted = await make_issued(service, provided_id="gone")
    await service.store.groups.delete(service.production, gone.group.provided_id)
    _, foreign = await make_issued(service, service.testing)
    twin_place = await service.store.environments.create("twin", service.production.tag)
    _, twin = await make_issued(service, twin_place)
    forger = KeyRing([SigningKey("k1", b"forged" * 8)])
    unknown = service.keys.mint(Token(service.production.tag, "k1", b"12345678", 1, b"n" * 16))
    dead = ["x", live[:-1], live + "A", live.upper(), " " + live, rotated, deleted, foreign, twin, unknown]
    dead += [forger.mint(issued.token), "ugtc_", "\0", "é" * 97, "0" * 60_000, service.reader]
    heads = []
    for token in dead:
        answer = await ask(service, token, X_Request_Id="same")
        assert (answer.status_code, answer.content) == (200, INACTIVE), token
        heads.append(answer.headers.raw)
    assert all(head == heads[0] for head in heads)
    reader = await reader_of(service, twin_place)
    assert (await ask(service, twin, Authorization=f"Token {reader}")).json()["sub"] == "acme"
    assert (await ask(service, live, Authorization=f"Token {reader}")).content == INACTIVE


async def test_a_forgery_costs_no_read(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signature comes first. Red when the store is asked before it: the store fails here, and the answer is 500."""

    async def never(*given: Any, **named: Any) -> None:
        raise AssertionError("the store was asked")

    issued, _ = await make_issued(service)
    monkeypatch.setattr(service.store, "read_at_snapshot", never)
    forger = KeyRing([SigningKey("k1", b"forged" * 8)])
    assert (await ask(service, forger.mint(issued.token))).content == INACTIVE


# --- who may ask ---


async def test_who_may_not_ask(service: Service) -> None:
    """401 without a live API token, with the challenge of the scheme that was used or with all; 403 with one that lacks
    the scope: ``provision`` is not enough. Red when the scope is not looked at."""
    _, token = await make_issued(service)
    secret, made = await issue_api_token(service.store.api_tokens, service.production, scopes=[Scope.INTROSPECT])
    await service.store.api_tokens.revoke(service.production, made.id)
    basic = "Basic cmVhZGVyOnNlY3JldA=="
    for given in ("", "Token", "Token x", f"Bearer {secret}", f"Digest {service.reader}", basic, service.reader):
        answer = await ask(service, token, Authorization=given)
        assert_refused(answer, 401, "unauthorized")
        scheme = given.partition(" ")[0]
        fitting = [each for each in ALL_CHALLENGES if scheme and each.startswith(f"{scheme} ")]
        assert answer.headers.get_list("www-authenticate") == (fitting or ALL_CHALLENGES)
    bare = await service.http.post(PATH, data={"token": token})
    assert_refused(bare, 401, "unauthorized")
    assert_refused(await ask(service, token, Authorization=f"Bearer {service.caller}"), 403, "missing_scope")
    both = await make_caller(service.store, service.production, *Scope)
    assert (await ask(service, token, Authorization=f"Bearer {both}")).json()["active"] is True
    headers = [("Authorization", f"Token {service.reader}"), ("Authorization", f"Bearer {service.reader}")]
    twice = await service.http.post(PATH, data={"token": token}, headers=headers)
    assert_refused(twice, 400, "ambiguous_authorization")
    repeated = {"token": token, "client_secret": [service.reader, service.reader]}
    assert_refused(await service.http.post(PATH, data=repeated), 400, "ambiguous_authorization")


async def test_a_lacking_scope_is_named_to_a_bearer(service: Service) -> None:
    """RFC 6750 section 3: the 403 has a challenge with the error and the scope that is needed; other ways to send the
    API token have no such challenge. Red without ``scope`` in the terms of the address."""
    for scheme, challenges in (("Bearer", [LACKING]), ("bEARER", [LACKING]), ("Token", [])):
        answer = await ask(service, "x", Authorization=f"{scheme} {service.caller}")
        assert_refused(answer, 403, "missing_scope")
        assert answer.headers.get_list("www-authenticate") == challenges
        assert_documented(answer)
    user = await service.send("GET", b'{"user_group_id": "acme"}', JSON_TYPE, caller=service.reader)
    assert code_of(user) == (403, "missing_scope")
    assert "www-authenticate" not in user.headers


async def test_a_bearer_is_no_caller_of_api_user(service: Service) -> None:
    """The second scheme is this address' alone."""
    answer = await service.send("GET", b"{}", {**JSON_TYPE, "Authorization": f"Bearer {service.caller}"})
    assert code_of(answer) == (401, "unauthorized")
    assert answer.headers.get_list("www-authenticate") == ['Token realm="api"']


# --- what may be sent ---


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "multipart/form-data; boundary=x",
        "text/plain",
        "",
        FORM["Content-Type"] + "; charset=utf-16",
    ],
)
async def test_other_media_types(service: Service, kind: str) -> None:
    """415, which names the one that is read."""
    answer = await ask(service, b'{"token":"x"}', Content_Type=kind)
    assert_refused(answer, 415, "unsupported_media_type")
    assert answer.headers["accept"] == FORM["Content-Type"]
    assert_refused(await ask(service, "x", Content_Encoding="gzip"), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"token",
        b"token=",
        b"Token=x",
        b"token_type_hint=token",
        b"token=x&token=x",
        b"token=x&token=",
        b"token=x&%74oken=y",
        b"token=x&a=1&a=2",
        b"token=x" + b"".join(b"&a%d=" % number for number in range(64)),
    ],
)
async def test_a_form_that_cannot_be_read(service: Service, body: bytes) -> None:
    """400 ``invalid_request``: no token, or a parameter twice. Red when the last or the first of two is taken."""
    assert_refused(await ask(service, body), 400, "invalid_request")


async def test_limits_and_methods(service: Service) -> None:
    """413 for more than 64 KiB, 405 for all but POST, with or without a slash, and never a redirect."""
    assert_refused(await ask(service, b"token=" + b"x" * 65_536), 413, "body_too_large")
    for path in (PATH, PATH + "/"):
        for method in ("GET", "PUT", "DELETE", "QUERY"):
            answer = await service.http.request(method, path, headers=FORM, content=b"token=x")
            assert_refused(answer, 405, "method_not_allowed")
            assert answer.headers["allow"] == "POST, OPTIONS"
        assert (await service.http.head(path)).status_code == 405
        assert (await service.http.options(path)).headers["allow"] == "POST, OPTIONS"
        assert (await service.http.post(path)).status_code == 401
    answer = await ask(service, "x", Accept="application/problem+json", Authorization="")
    assert answer.headers["content-type"] == "application/problem+json"


# --- a store in trouble ---


@pytest.mark.parametrize("read", ["api_tokens.get", "read_at_snapshot"])
async def test_a_store_that_is_down(service: Service, monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    """503 with Retry-After, and not ``active: false``: nobody knows. The message does not name the store."""

    async def down(*given: Any, **named: Any) -> None:
        raise StoreUnavailable("the file /srv/secret.db is gone")

    _, token = await make_issued(service)
    part, _, method = read.rpartition(".")
    monkeypatch.setattr(getattr(service.store, part) if part else service.store, method, down)
    answer = await ask(service, token)
    assert_refused(answer, 503, "store_unavailable")
    assert answer.headers["retry-after"] == "1"
    assert "secret" not in answer.text


async def test_the_calls_of_one_request_share_the_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 when the store never answers. Red without the patience: the test never ends."""

    async def hang(*given: Any, **named: Any) -> None:
        await asyncio.Event().wait()

    _, token = await make_issued(service)
    monkeypatch.setattr(service.store, "read_at_snapshot", hang)
    app = make_app(service.store, service.keys, store_seconds=0.05)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://tenantry.test") as http:
        headers = {"Authorization": f"Token {service.reader}"}
        assert_refused(await http.post(PATH, data={"token": token}, headers=headers), 503, "store_unavailable")


async def test_a_key_that_was_taken_away_ends_its_tokens(service: Service) -> None:
    """The endpoint knows the tokens of the keys that it has."""
    _, token = await make_issued(service)
    app = make_app(service.store, make_keys("k2"))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://tenantry.test") as http:
        headers = {"Authorization": f"Token {service.reader}"}
        assert (await http.post(PATH, data={"token": token}, headers=headers)).content == INACTIVE
