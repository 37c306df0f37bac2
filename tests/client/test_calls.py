"""What the client does when the service fails it: sends again what may be sent again, and says what it knows."""

from __future__ import annotations

import builtins
import inspect
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from tenantry.client import AsyncClient, Client, methods
from tenantry.client.calls import NoReply, Reply, Sleep
from tenantry.errors import (
    ApiUnreachable,
    IdempotencyInFlight,
    StoreUnavailable,
    TemplateError,
    TenantryError,
    TooManyConnections,
    TooManyRequests,
    UnexpectedAnswer,
    UnknownGroup,
)

TOKEN = "ugkc_secret-secret"
GOOD: dict[str, Any] = {
    "success": 1,
    "new_user_group": True,
    "user_group": {"team_id": 1, "token": "the-group-token", "name": "a", "provided_id": "a", "properties": {"p": "v"}},
}


def refused(status: int, code: str, **headers: str) -> httpx2.Response:
    document = {"success": 0, "error": {"code": code, "message": "no"}, "request_id": "r"}
    return httpx2.Response(status, json=document, headers=headers)


class Script:
    """A transport that plays these answers, one a request, and keeps the requests."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return httpx2.Response(answer.status_code, content=answer.content, headers=answer.headers)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody waits in these tests. Servers in threads of this process sleep as always."""
    taken: list[float] = []

    async def sleep(seconds: float) -> None:
        taken.append(seconds)

    monkeypatch.setattr("tenantry.client.time", SimpleNamespace(sleep=taken.append))
    monkeypatch.setattr("tenantry.client.async_client.asyncio", SimpleNamespace(sleep=sleep))
    return taken


Act = Callable[[Any], Any]


async def run(kind: str, script: Script, act: Act, **options: Any) -> Any:
    """The same act by either client."""
    transport = httpx2.MockTransport(script)
    if kind == "sync":
        with Client("http://tenantry.test", TOKEN, transport=transport, **options) as client:
            return act(client)
    async with AsyncClient("http://tenantry.test", TOKEN, transport=transport, **options) as client:
        return await act(client)


KINDS = pytest.mark.parametrize("kind", ["sync", "async"])


@KINDS
async def test_a_rotation_is_sent_again_with_the_same_key(kind: str, pauses: list[float]) -> None:
    """A lost reply, a dead store and the first request still running: the same bytes and key each time.

    Red when the key is drawn for each attempt: a token could be rotated twice.
    """
    script = Script(
        httpx2.ReadError("gone"),
        refused(503, "outcome_unknown", **{"Retry-After": "2"}),
        refused(409, "idempotency_in_flight"),
        httpx2.Response(200, json=GOOD, headers={"Idempotency-Replayed": "true"}),
    )
    made = await run(kind, script, lambda client: client.rotate("old"), attempts=4)
    assert (made.token, made.replayed) == ("the-group-token", True)
    assert pauses == [0.1, 2, 0.4]
    assert len({(request.headers["idempotency-key"], request.content) for request in script.requests}) == 1


CALLS: dict[str, Act] = {
    "get_or_create": lambda client: client.get_or_create("a", dry_run=True),
    "update": lambda client: client.update("a", name="b", dry_run=True),
    "merge": lambda client: client.merge("a", properties={"p": None}, dry_run=True),
    "rotate": lambda client: client.rotate("old", dry_run=True),
}


@KINDS
@pytest.mark.parametrize("call", CALLS)
async def test_a_dry_run_is_asked_for_and_answered(kind: str, call: str, pauses: list[float]) -> None:
    """In the address, again at each attempt. A success that does not say that nothing was written is an error, for an
    older service passes the parameter over and writes. Red without the check, and when the second attempt wrote."""
    rehearsed = {**GOOD, "user_group": {**GOOD["user_group"], "team_id": 0, "token": ""}}
    script = Script(httpx2.ReadError("gone"), httpx2.Response(200, json=rehearsed, headers={"Dry-Run": "true"}))
    made = await run(kind, script, CALLS[call])
    assert (made.dry_run, made.team_id, made.token) == (True, 0, "")
    assert [str(request.url) for request in script.requests] == ["http://tenantry.test/api/user?dry_run=true"] * 2
    older = Script(httpx2.Response(200, json=GOOD))
    with pytest.raises(UnexpectedAnswer, match="does not know dry_run"):
        await run(kind, older, CALLS[call])
    plain = Script(httpx2.Response(200, json=GOOD))
    assert not (await run(kind, plain, lambda client: client.update("a"))).dry_run
    assert plain.requests[0].url.query == b""


@KINDS
async def test_two_rotations_have_two_keys(kind: str, pauses: list[float]) -> None:
    """A fresh one for each call, unless one is given."""
    keys = []
    for key in (None, None, "mine"):
        script = Script(httpx2.Response(200, json=GOOD))
        await run(kind, script, lambda client, key=key: client.rotate("old", idempotency_key=key))
        keys.append(script.requests[0].headers["idempotency-key"])
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


@KINDS
@pytest.mark.parametrize(
    ("last", "error"),
    [
        (httpx2.ConnectError("no"), ApiUnreachable),
        (httpx2.ReadTimeout("no"), ApiUnreachable),
        (refused(503, "store_unavailable"), StoreUnavailable),
        (refused(409, "idempotency_in_flight"), IdempotencyInFlight),
        (refused(503, "too_many_connections"), TooManyConnections),
    ],
)
async def test_it_gives_up(kind: str, last: Any, error: type[TenantryError], pauses: list[float]) -> None:
    """After ``attempts`` requests, with the last failure."""
    script = Script(last, last, last)
    with pytest.raises(error):
        await run(kind, script, lambda client: client.update("a", name="b"))
    assert len(script.requests) == 3
    assert len(pauses) == 2


WAITS: dict[str, tuple[httpx2.Response, float]] = {
    "429 of nginx as we document it": (refused(429, "too_many_requests", **{"Retry-After": "7"}), 7),
    "429 of another proxy": (httpx2.Response(429, text="slow down", headers={"Retry-After": "12"}), 12),
    "429 that does not say how long": (httpx2.Response(429, json={"error": "slow down"}), 0.1),
    "429 with a date that no calendar has": (
        httpx2.Response(429, headers={"Retry-After": f"Mon, 01 Jan {'9' * 30} 00:00:00 GMT"}),
        0.1,
    ),
    "503 with zeros": (httpx2.Response(503, headers={"Retry-After": "0" * 5000 + "4"}), 4),
    "429 that says nonsense": (httpx2.Response(429, headers={"Retry-After": "soon"}), 0.1),
    "503 of a proxy": (httpx2.Response(503, text="<html>", headers={"Retry-After": "3"}), 3),
    "503 of the service": (refused(503, "draining", **{"Retry-After": "8"}), 8),
    "at once": (httpx2.Response(429, headers={"Retry-After": "0"}), 0.1),
    "a date that has passed": (httpx2.Response(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), 0.1),
}


@KINDS
@pytest.mark.parametrize("case", WAITS)
async def test_it_waits_as_long_as_it_is_asked_to(kind: str, case: str, pauses: list[float]) -> None:
    """Then the request is sent again. Red when the answer of a proxy is an UnexpectedAnswer at once, and when a pause
    is cut to 5 s."""
    answer, seconds = WAITS[case]
    script = Script(answer, httpx2.Response(200, json=GOOD))
    assert (await run(kind, script, lambda client: client.get_or_create("a"))).token == "the-group-token"
    assert pauses == [seconds]


@KINDS
async def test_it_waits_until_a_date(kind: str, pauses: list[float]) -> None:
    """An HTTP date. Red when only seconds are read."""
    late = format_datetime(datetime.now(UTC) + timedelta(seconds=25), usegmt=True)
    script = Script(httpx2.Response(429, headers={"Retry-After": late}), httpx2.Response(200, json=GOOD))
    await run(kind, script, lambda client: client.get_or_create("a"))
    assert 1 <= pauses[0] <= 26


@KINDS
async def test_the_wait_is_bounded(kind: str, pauses: list[float]) -> None:
    """In all attempts of a call together. A longer one is the caller's matter, who learns how long it is. Red when each
    pause is bounded by itself, and with a ValueError for 5,000 digits."""
    asked = httpx2.Response(429, headers={"Retry-After": "20"})
    script = Script(asked, asked, httpx2.Response(200, json=GOOD))
    with pytest.raises(TooManyRequests) as caught:
        await run(kind, script, lambda client: client.get_or_create("a"))
    assert (caught.value.retry_after, caught.value.status, pauses) == (20, 429, [20])
    for_ever = Script(httpx2.Response(429, headers={"Retry-After": "9" * 5000}))
    with pytest.raises(TooManyRequests) as caught:
        await run(kind, for_ever, lambda client: client.get_or_create("a"))
    assert caught.value.retry_after == 999_999_999_999
    script = Script(asked, asked, httpx2.Response(200, json=GOOD))
    await run(kind, script, lambda client: client.get_or_create("a"), max_wait=40)
    assert pauses == [20, 20, 20]
    for wrong in (-1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="max_wait"):
            await run(kind, Script(), lambda client: client.get_or_create("a"), max_wait=wrong)


@KINDS
async def test_other_errors_are_not_sent_again(kind: str, pauses: list[float]) -> None:
    """They would be the same."""
    script = Script(refused(404, "unknown_group"))
    with pytest.raises(UnknownGroup):
        await run(kind, script, lambda client: client.update("a", name="b"))
    assert (len(script.requests), pauses) == (1, [])


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(200, text="<html>a proxy</html>"),
        httpx2.Response(200, json={"success": 1}),
        httpx2.Response(200, json={"success": 1, "user_group": {**GOOD["user_group"], "token": None}}),
        httpx2.Response(200, json={"success": 1, "user_group": {**GOOD["user_group"], "api_environment_tag": "x"}}),
        httpx2.Response(200, json=[]),
        httpx2.Response(302, headers={"Location": "http://elsewhere.test/"}),
        httpx2.Response(403, text="blocked"),
        httpx2.Response(404, json={"detail": "Not Found"}),
        httpx2.Response(502, content=b"\xff"),
    ],
)
async def test_an_answer_of_another_program(answer: httpx2.Response) -> None:
    """UnexpectedAnswer, and a redirect is not followed with the API token."""
    script = Script(answer)
    with pytest.raises(UnexpectedAnswer):
        await run("sync", script, lambda client: client.get_or_create("a"))
    assert len(script.requests) == 1


@pytest.mark.parametrize("code", ["template_error", "missing_variable", "internal", "of_a_later_version"])
async def test_codes_keep_their_meaning(code: str) -> None:
    """Also those whose classes want more than a message, and those that are not known yet."""
    with pytest.raises(TenantryError) as caught:
        await run("sync", Script(refused(418, code)), lambda client: client.get_or_create("a"))
    assert (caught.value.code, caught.value.status, caught.value.field) == (code, 418, None)
    assert isinstance(caught.value, TemplateError) == (code == "template_error")
    assert str(caught.value) == "no (request r)"


def test_what_is_sent() -> None:
    """Only what was given; JSON; the API token in its header; UNCHANGED is not null."""
    script = Script(*[httpx2.Response(200, json=GOOD) for _ in range(4)])
    with Client("https://x.test/base/", TOKEN, transport=httpx2.MockTransport(script)) as client:
        client.get_or_create("a")
        client.get_or_create("a", name="n", properties={}, mapping={"m": "d"})
        client.update("a")
        client.update("a", properties=None, mapping=None)
    assert [json.loads(request.content) for request in script.requests] == [
        {"user_group_id": "a"},
        {"user_group_id": "a", "name": "n", "properties": {}, "mapping": {"m": "d"}},
        {"user_group_id": "a"},
        {"user_group_id": "a", "properties": None, "mapping": None},
    ]
    assert {str(request.url) for request in script.requests} == {"https://x.test/base/api/user"}
    assert script.requests[0].headers["authorization"] == f"Token {TOKEN}"
    assert [request.method for request in script.requests] == ["GET", "GET", "PUT", "PUT"]
    with pytest.raises(ValueError, match="JSON"):
        client.get_or_create("a", properties={"a": float("nan")})


LISTED: dict[str, Any] = {
    "team_id": 1,
    "name": "A",
    "provided_id": "a",
    "properties": {"p": "v"},
    "mapping": None,
    "api_environment_tag": "Customer",
}


@KINDS
async def test_a_list_is_asked_for_page_by_page(kind: str, pauses: list[float]) -> None:
    """Until ``next`` is null, each page tried again by itself. Red when the failed page starts the list anew."""
    script = Script(
        httpx2.Response(200, json={"success": 1, "user_groups": [LISTED], "next": 7}),
        httpx2.ReadError("gone"),
        httpx2.Response(200, json={"success": 1, "user_groups": [LISTED], "next": None}),
    )

    def act(client: Any) -> Any:
        found = client.groups(match="a&b", page_size=1)
        if kind == "sync":
            return list(found)
        return collect(found)

    async def collect(found: Any) -> list[Any]:
        return [each async for each in found]

    assert [each.provided_id for each in await run(kind, script, act)] == ["a", "a"]
    addresses = ["?limit=1&match=a%26b", *["?limit=1&after=7&match=a%26b"] * 2]
    assert [str(request.url) for request in script.requests] == [
        f"http://tenantry.test/api/users{each}" for each in addresses
    ]


@KINDS
async def test_a_deletion_whose_reply_was_lost_is_done(kind: str, pauses: list[float]) -> None:
    """The second attempt finds no group: that is what was asked for. So it is where
    the service did not know the outcome. Else finding none is an error: a store that did not answer has deleted
    nothing, and neither has a dry run.

    Red when the first 404 counts, or the second does not; or when attempts are counted instead of lost replies.
    """
    gone = refused(404, "unknown_group")
    script = Script(httpx2.ReadError("gone"), gone)
    assert await run(kind, script, lambda client: client.delete("a b")) is None
    assert [(each.method, each.url.query, each.content) for each in script.requests] == [
        ("DELETE", b"user_group_id=a+b", b"")
    ] * 2
    with pytest.raises(UnknownGroup):
        await run(kind, Script(gone), lambda client: client.delete("a"))
    with pytest.raises(UnknownGroup):
        await run(kind, Script(refused(503, "store_unavailable"), gone), lambda client: client.delete("a"))
    unknown = Script(refused(503, "outcome_unknown"), refused(503, "store_unavailable"), gone)
    assert await run(kind, unknown, lambda client: client.delete("a")) is None
    with pytest.raises(UnknownGroup):
        await run(kind, Script(httpx2.ReadError("gone"), gone), lambda client: client.delete("a", dry_run=True))
    answer = httpx2.Response(200, json={"success": 1, "user_group": LISTED})
    assert (await run(kind, Script(answer), lambda client: client.delete("a"))).provided_id == "a"
    with pytest.raises(UnexpectedAnswer, match="does not know dry_run"):
        await run(kind, Script(answer), lambda client: client.delete("a", dry_run=True))


@pytest.mark.parametrize("lacking", [*LISTED, "next", "user_groups"])
async def test_a_list_of_another_program(lacking: str) -> None:
    """UnexpectedAnswer where a field is missing."""
    group = {name: value for name, value in LISTED.items() if name != lacking}
    page = {"success": 1, "user_groups": [group], "next": None}
    answer = httpx2.Response(200, json={name: value for name, value in page.items() if name != lacking})
    with pytest.raises(UnexpectedAnswer):
        await run("sync", Script(answer), lambda client: client.find("a"))


async def test_no_secret_is_shown() -> None:
    """Neither token nor properties in a repr; nor what was sent in an error. Red when a failure's text is passed on."""
    client = Client("http://x.test", TOKEN, transport=httpx2.MockTransport(Script(httpx2.Response(200, json=GOOD))))
    with client:
        made = client.get_or_create("a", properties={"p": "v-secret"})
        printed = repr(client) + repr(made) + repr(vars(client)) + repr(vars(client._calls)["limits"])
    script = Script(*[httpx2.ConnectError(f"could not send {TOKEN}")] * 2)
    with pytest.raises(ApiUnreachable) as caught:
        await run("async", script, lambda client: client.rotate("old-secret"), attempts=2)
    printed += repr(caught.value) + str(Reply(200, b"secret")) + repr(Sleep(1)) + repr(NoReply("ConnectError"))
    assert "secret" not in printed
    assert "the-group-token" not in printed
    assert "2 attempts: ConnectError" in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "token", "options"),
    [
        ("tenantry.test", TOKEN, {}),
        ("ftp://x", TOKEN, {}),
        ("http://x", "", {}),
        ("http://x", "a\r\nb", {}),
        ("http://x", "é", {}),
        ("http://x", TOKEN, {"attempts": 0}),
    ],
)
def test_what_cannot_work_is_said_at_once(base_url: str, token: str, options: dict[str, Any]) -> None:
    """With the name of the argument, and never the token."""
    with pytest.raises(ValueError, match=r"base_url|api_token|attempts") as caught:
        Client(base_url, token, **options)
    assert TOKEN not in str(caught.value)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the command that fixes it; importing the module alone needs nothing."""
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tenantry\[http\]'"):
        Client("http://x.test", TOKEN)
    assert builtins.__import__("tenantry.client").client.Client is Client


def test_help_shows_signatures_and_docstrings() -> None:
    """The methods of both clients are made from those of ApiCalls. Red when ``documented_as`` leaves out a docstring or
    the result."""
    shown = inspect.signature(Client.merge)
    assert list(shown.parameters)[:3] == ["self", "user_group_id", "name"]
    assert shown.return_annotation == "ProvisionedGroup"
    assert inspect.iscoroutinefunction(AsyncClient.merge)
    for name in vars(methods.ApiCalls).keys() & vars(Client).keys():
        if name.startswith("_"):
            continue
        both = getattr(Client, name), getattr(AsyncClient, name)
        assert inspect.signature(both[0]) == inspect.signature(both[1])
        assert inspect.getdoc(both[0]) == inspect.getdoc(both[1])
        assert inspect.getdoc(both[0])
