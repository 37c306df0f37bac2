"""IntrospectionBackend over a network that answers what a test wants."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tenantry.backends.introspection import IntrospectionBackend
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import LookupResult, Tag, Token, UserGroup
from tenantry.resolver import Resolver
from tenantry.testing import FrozenClock, make_environment, make_group, make_token
from tenantry.tokens import KeyRing, SigningKey, mint_api_token

KEYS = KeyRing([SigningKey("k1", b"1" * 32)])
API_TOKEN = mint_api_token(Tag.CUSTOMER, lambda size: bytes(range(size)))
URL = "https://tenantry.test/oauth/introspect"
Handler = Callable[[httpx2.Request], httpx2.Response]


def make_backend(answer: Handler | bytes | dict[str, Any], status: int = 200, **options: Any) -> IntrospectionBackend:
    """A backend whose endpoint is a function, or always answers this."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        if callable(answer):
            return answer(request)
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return httpx2.Response(status, stream=httpx2.ByteStream(content))

    given = {"api_token": API_TOKEN, "keys": KEYS, "transport": httpx2.MockTransport(respond), **options}
    return IntrospectionBackend(URL, **given)


def active_response(group: UserGroup, **changes: Any) -> dict[str, Any]:
    """What an endpoint answers for an active token of this group; ``changes`` are to its ``user_group``."""
    environment = group.environment
    environment = {
        "id": environment.id,
        "name": environment.name,
        "tag": environment.tag.value,
        "external_data_sources": environment.external_data_sources,
        "grace_seconds": environment.grace_seconds,
    }
    shown = {
        **group.as_dict(),
        "environment": environment,
        "handle": group.handle.hex(),
        "grace_until": group.grace_until and group.grace_until.isoformat(),
    }
    return {"active": True, "sub": group.provided_id, "user_group": {**shown, **changes}}


async def refusal_of(backend: IntrospectionBackend, token: Token) -> str:
    """The message of the StoreUnavailable, which holds no secret, nor does anything that hangs on it."""
    with pytest.raises(StoreUnavailable) as caught:
        await backend.read_at_snapshot(token, fresh=False)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    for secret in (KEYS.mint(token), API_TOKEN):
        assert secret not in repr(caught.value)
    return caught.value.message


async def test_what_is_sent() -> None:
    """One POST of a form with the token, as the API token after Bearer; nothing of it in the address."""
    requests: list[httpx2.Request] = []
    group = make_group()
    token = make_token(group)

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, stream=httpx2.ByteStream(json.dumps(active_response(group)).encode()))

    assert await make_backend(answer).find(token) == group
    (request,) = requests
    assert (request.method, str(request.url)) == ("POST", URL)
    assert request.content == b"token=" + KEYS.mint(token).encode()
    assert request.headers["authorization"] == f"Bearer {API_TOKEN}"
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert request.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "group",
    [
        make_group(),
        make_group(properties={}, mapping={}),
        make_group(properties={"a": [1, 1.5, -0.0, None, True, {"b": []}], "": "\x01\u2028😀"}, mapping={"main": "x"}),
        make_group(team_id=2**53, name="é", token_version=2**32 - 1, revision=9),
        make_group(environment=make_environment(tag=Tag.TESTING, external_data_sources=True, grace_seconds=86_400)),
        make_group(token_version=2, grace_until=datetime(2026, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)),
        make_group(expires_at=datetime(2026, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)),
    ],
)
async def test_a_group_comes_back_as_it_was(group: UserGroup) -> None:
    """Each field with its type; None and {} are two things. No end of its own for the live token, also while the
    token before it is in its grace. Red when a missing mapping becomes an empty one."""
    answer = json.dumps(active_response(group)).encode()
    reading = await make_backend(answer).read_at_snapshot(make_token(group), fresh=True)
    assert reading == LookupResult(group)
    assert reading.group is not None
    assert reading.group.as_dict() == group.as_dict()
    assert reading.group.grace_until == group.grace_until


async def test_an_inactive_token() -> None:
    """None; whatever else the answer has, and what is no token of these keys is not sent at all."""
    token = make_token()
    assert await make_backend({"active": False}).find(token) is None
    assert await make_backend({"active": False, "user_group": None, "more": 1}).find(token) is None

    def never(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError("it was sent")

    assert await make_backend(never).find(make_token(key_id="k9")) is None
    assert await make_backend(never).find(make_token(version=0)) is None


@pytest.mark.parametrize(
    ("exp", "seconds", "rest"),
    [
        (60, 49.5, 49.5),
        (60, 600.0, 60.0),
        (60, None, 60.0),
        (None, 49.5, 49.5),
        (60, 0, None),
        (0, 10, None),
        (-5, 10, None),
    ],
)
async def test_the_end_of_a_grace(exp: int | None, seconds: float | None, rest: float | None) -> None:
    """What the server counts, and never beyond ``exp`` by this host's clock; past either the token is dead.

    Red when only one of the two is looked at."""
    clock = FrozenClock()
    group = make_group(token_version=2, grace_until=clock())
    old = make_token(group, version=1)
    ends = {"exp": None if exp is None else int(clock().timestamp()) + exp, "seconds": seconds}
    answer = {**active_response(group), **{name: value for name, value in ends.items() if value is not None}}
    reading = await make_backend(answer, clock=clock).read_at_snapshot(old, fresh=True)
    assert reading == (LookupResult(None) if rest is None else LookupResult(group, None, rest))


async def test_the_end_date_of_a_group() -> None:
    """A live token is not used beyond its ``exp``, by the app's own clock: not even where the server's is late and goes
    on calling it active. Red when ``exp`` is looked at for a grace alone."""
    clock = FrozenClock()
    ends = clock() + timedelta(seconds=3)
    group = make_group(expires_at=ends)
    token = KEYS.mint(make_token(group))
    backend = make_backend({**active_response(group), "exp": int(ends.timestamp())}, clock=clock)
    resolver = Resolver(backend, keys=KEYS, clock=clock.monotonic, time_of_day=clock)
    assert await resolver.resolve(token) == group
    clock.advance(2.999)
    assert resolver.peek(token.encode()) == group
    clock.advance(0.001)
    assert resolver.peek(token.encode()) is None
    with pytest.raises(InvalidToken) as refused:
        await resolver.resolve(token)
    assert refused.value.code == "invalid_token"
    await resolver.aclose()


ACME = make_group()
ACMES = make_token(ACME)


@pytest.mark.parametrize(
    ("answer", "token"),
    [
        (active_response(ACME, handle="00" * 8), ACMES),
        (active_response(ACME, token_version=2), ACMES),  # in its grace, and nothing says for how long
        (active_response(ACME, token_version=3), ACMES),
        ({**active_response(ACME, token_version=3), "exp": 2**33, "seconds": 60}, ACMES),
        (active_response(ACME), make_token(ACME, version=2)),
        (active_response(make_group(handle=ACME.handle, environment=make_environment(tag=Tag.TESTING))), ACMES),
    ],
)
async def test_the_answer_to_another_question(answer: dict[str, Any], token: Token) -> None:
    """A wrong handle, version or tag is nobody's group: StoreUnavailable. Red for each that is not compared."""
    assert "a different token" in await refusal_of(make_backend(answer), token)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"null",
        b"[]",
        b"<html>",
        b"\xff",
        b'{"active":',
        b'{"active":false,"exp":NaN}',
        active_response(ACME, properties={"a": [float("nan")]}),
        active_response(ACME, properties={"a": float("-inf")}),
        b"[" * 100_000,
        b"{}",
        {"active": 1},
        {"active": "true"},
        {"active": None},
        {"active": "false"},
        {**active_response(ACME), "user_group": []},
        {**active_response(ACME), "user_group": {}},
        {**active_response(ACME), "exp": "soon"},
        {**active_response(ACME), "seconds": True},
        *[
            active_response(ACME, **{name: wrong})
            for name, wrongs in {
                "team_id": [None, "1", 1.5, True],
                "name": [None, 1],
                "provided_id": [None, 1],
                "properties": ["", [], 1],
                "mapping": [[], {"a": 1}, "x"],
                "handle": [None, "", ACME.handle.hex().upper() + "00", ACME.handle.hex()[:-1], "zz" * 8, 1],
                "token_version": [None, "1", 1.0, True],
                "revision": [None, "1"],
                "grace_until": ["soon", "2026-01-01T00:00:00", True],
                "environment": [None, "production", {}, {"id": 1, "name": "x", "tag": "Other"}],
            }.items()
            for wrong in wrongs
        ],
        *[
            {
                **active_response(ACME),
                "user_group": {n: v for n, v in active_response(ACME)["user_group"].items() if n != name},
            }
            for name in active_response(ACME)["user_group"]
            if name not in {"api_environment_tag", "expires_at", "suspended"}  # ours alone; unknown to older servers
        ],
    ],
)
async def test_what_is_no_answer(answer: bytes | dict[str, Any]) -> None:
    """Another type, a missing member, no JSON: StoreUnavailable, and nothing is guessed. Red when types are coerced."""
    assert "does not follow RFC 7662" in await refusal_of(make_backend(answer), ACMES)


async def test_a_foreign_server() -> None:
    """One that follows RFC 7662 and has no groups is named in the log, and not that the token is bad."""
    backend = make_backend({"active": True, "sub": "acme", "scope": "read"})
    assert "a Tenantry server" in await refusal_of(backend, ACMES)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "api_token"),
        (403, "scope introspect"),
        (404, "/oauth/introspect"),
        (405, "/oauth/introspect"),
        (301, "/oauth/introspect"),
        (307, "/oauth/introspect"),
        (201, "201"),
        (204, "204"),
        (400, "400"),
        (429, "429"),
        (500, "500"),
        (503, "503"),
    ],
)
async def test_any_status_but_200(status: int, reason: str) -> None:
    """StoreUnavailable that names the setting to check, whatever the body is; a redirect is not followed.

    Red when the body of a 401 or 404 counts as an answer: a dead API token would kill every group's token."""
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(status, json={"active": False}, headers={"Location": "https://elsewhere.test/"})

    message = await refusal_of(make_backend(answer), ACMES)
    assert reason in message
    assert str(status) in message
    assert asked == [URL]


async def test_an_answer_without_end() -> None:
    """Given up after 1 MiB. Red without the bound: the test never ends."""

    async def forever() -> Any:
        while True:
            yield b" " * 65_536

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=forever())

    assert "larger than any user group" in await refusal_of(make_backend(answer), ACMES)


async def test_a_server_that_does_not_answer() -> None:
    """StoreUnavailable when the time is over. Red without the deadline: the test never ends."""

    class Silent(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await asyncio.Event().wait()
            raise AssertionError

    message = await refusal_of(make_backend({}, transport=Silent(), timeout=0.05), ACMES)
    assert message == "the introspection endpoint did not answer within 0.05 seconds"


async def test_one_deadline_for_all_that_is_tried() -> None:
    """A connection that breaks is tried once more, within the same time; a second break is the end.

    Red when each attempt has the whole time, or when it is tried for ever."""
    attempts: list[int] = []

    class Breaking(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            attempts.append(1)
            raise httpx2.RemoteProtocolError("the token is " + request.content.decode())

    assert "RemoteProtocolError" in await refusal_of(make_backend({}, transport=Breaking()), ACMES)
    assert len(attempts) == 2

    class ThenSilent(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            attempts.append(1)
            if len(attempts) == 3:
                raise httpx2.ReadError("broken")
            await asyncio.Event().wait()
            raise AssertionError

    assert "0.05 seconds" in await refusal_of(make_backend({}, transport=ThenSilent(), timeout=0.05), ACMES)
    assert len(attempts) == 4


async def test_a_cancelled_question() -> None:
    """Cancellation is not an answer, and goes on to whoever cancelled."""

    class Silent(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await asyncio.Event().wait()
            raise AssertionError

    question = asyncio.ensure_future(make_backend({}, transport=Silent()).find(ACMES))
    await asyncio.sleep(0)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question


async def test_secrets_stay_inside(caplog: pytest.LogCaptureFixture) -> None:
    """In no repr and no log, at any level."""
    with caplog.at_level(logging.DEBUG):
        backend = make_backend(active_response(ACME))
        await backend.find(ACMES)
        shown = repr(backend) + str(backend)
    logged = shown + "\n".join(repr(vars(record)) + record.getMessage() for record in caplog.records)
    assert f"<IntrospectionBackend {URL}>" in shown
    for secret in (API_TOKEN, KEYS.mint(ACMES)):
        assert secret not in logged
