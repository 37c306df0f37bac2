"""A carrier of one's own keeps every promise of the built-in ones, and one that does not is an error, not a leak."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tenantry.errors import AmbiguousToken, OriginNotAllowed
from tenantry.middleware import (
    DEFAULT_CARRIERS,
    Carrier,
    Carriers,
    Extracted,
    UserGroupMiddleware,
    cookie,
    first_of,
    header,
    path,
    query,
)
from tenantry.middleware.extraction import Extractor
from tenantry.middleware.origins import OriginCheck
from tests.middleware.asgi import World, call, http, values
from tests.middleware.sockets import Answers
from tests.middleware.test_extraction import A, C, S, T, U, X

CONTEXT = b"x-gateway-context"
PROTOCOL = b"sec-websocket-protocol"


@dataclass
class Gateway:
    """Reads ``user=alice;tenant=ugtc_…`` and leaves the other fields. No hash, as many a plain class."""

    headers: Sequence[str] = ("X-Gateway-Context",)
    sent_by_browser: bool = False

    def extract(self, name: str, value: bytes, /) -> Extracted | None:
        fields = value.split(b";")
        for position, field in enumerate(fields):
            if field.startswith(b"tenant="):
                rest = b";".join(fields[:position] + fields[position + 1 :])
                return Extracted(field[7:], rest or None, self.sent_by_browser)
        return None


class Subprotocol:
    """Reads ``tenantry.ugtc_…`` of the subprotocols that a script offers."""

    headers = ("Sec-WebSocket-Protocol",)

    def extract(self, name: str, value: bytes, /) -> Extracted | None:
        offered = [each.strip() for each in value.split(b",")]
        for each in offered:
            if each.startswith(b"tenantry."):
                offered.remove(each)
                return Extracted(each[9:], b", ".join(offered) or None, sent_by_browser=False)
        return None


class Returning:
    """A carrier whose answer is given by a function."""

    headers = ("X-Gateway-Context",)

    def __init__(self, answer: Callable[[bytes], Any]) -> None:
        self.answer = answer

    def extract(self, name: str, value: bytes, /) -> Extracted | None:
        found: Extracted | None = self.answer(value)
        return found


def context(*fields: bytes) -> tuple[bytes, bytes]:
    return (CONTEXT, b";".join(fields))


LINES = [
    ([context(b"user=alice", b"tenant=" + T)], T, [(CONTEXT, b"user=alice")]),
    ([context(b"tenant=" + T)], T, []),
    ([context(b"tenant=" + T), context(b"user=alice")], T, [(CONTEXT, b"user=alice")]),
    ([context(b"tenant=" + T, b"tenant=" + T, b"a=1")], T, [(CONTEXT, b"a=1")]),
    ([context(b"tenant=", b"a=1")], b"", [(CONTEXT, b"a=1")]),
    ([context(b"a=1")], None, [(CONTEXT, b"a=1")]),
    ([context(b"copy=" + T, b"tenant=" + T)], T, [(CONTEXT, b"copy=redacted")]),
    ([context(b"copy=" + T + T, b"tenant=" + T + T)], T + T, [(CONTEXT, b"copy=redacted")]),  # as long as a pass
    ([context(b"a=" + T)], None, [(CONTEXT, b"a=" + T)]),
    ([(b"host", b"h")], None, [(b"host", b"h")]),
]


@pytest.mark.parametrize(("headers", "token", "left"), LINES)
@pytest.mark.parametrize("form", [list, tuple])
def test_lines(headers: list[Any], token: bytes | None, left: list[Any], form: type) -> None:
    """Token and remaining headers; a copy in the same header is masked, as one in a query is. Red without _masked()."""
    scope = http()
    scope["headers"] = given = form(headers)
    assert Extractor(first_of(Gateway())).extract(scope) == token
    assert scope["headers"] == left
    assert given == form(headers)  # the server's own list is its own


OTHERS = {
    "header": (header(), {"headers": [(X, U)]}),
    "authorization": (header(), {"headers": [(A, b"UserGroup " + U)]}),
    "cookie": (cookie(), {"headers": [(C, S + b"=" + U)]}),
    "query": (query(), {"query": S + b"=" + U}),
    "path": (path("/{token}"), {"path": "/" + U.decode()}),
    "custom": (Subprotocol(), {"headers": [(PROTOCOL, b"tenantry." + U)]}),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("given", [T, U])
def test_two_tokens_across_carriers(kind: str, given: bytes) -> None:
    """Two different ones are refused, the same one twice is one; both are taken out. Red when a custom token is not
    compared."""
    carrier, where = OTHERS[kind]
    scope = http(**{**where, "headers": [*where.get("headers", ()), context(b"tenant=" + given)]})
    extract = Extractor(first_of(carrier, Gateway())).extract
    if given == U:
        assert extract(scope) == U
    else:
        with pytest.raises(AmbiguousToken):
            extract(scope)
    assert T not in repr(scope).encode()
    assert U not in repr(scope).encode()


@pytest.mark.parametrize("lines", [1, 2])
def test_two_tokens_in_one_carrier(lines: int) -> None:
    """In one line or in two. Red when a line is read once only, or the first line alone."""
    fields = [b"tenant=" + T, b"tenant=" + U]
    headers = [context(*fields)] if lines == 1 else [context(field) for field in fields]
    scope = http(headers=headers)
    with pytest.raises(AmbiguousToken):
        Extractor(first_of(Gateway())).extract(scope)
    assert scope["headers"] == []


async def test_two_different_tokens_are_400() -> None:
    """Through the whole middleware."""
    world = World({"carriers": [header(), Gateway()]})
    _, token = world.backend.issue()
    sent = await world.call(http(headers=[(X, token), context(b"tenant=" + U)]))
    assert (sent[0]["status"], json.loads(sent[1]["body"])["error"]["code"]) == (400, "ambiguous_token")
    assert world.page.scope is None


# --- the token never reaches the app ----------------------------------------------------------------------------------

FORGETTING = {
    "the line as it came": lambda value: Extracted(T, value),
    "a mask of its own": lambda value: Extracted(T, b"tenant=" + b"x" * 97),
    "an empty token, left there": lambda value: Extracted(b"", value),
    "no bytes": lambda value: Extracted(T.decode(), None),  # type: ignore[arg-type]
    "no bytes left": lambda value: Extracted(T, "user=alice"),  # type: ignore[arg-type]
    "the bare token": lambda value: T,
    "an error of its own": lambda value: int("none"),
}


@pytest.mark.parametrize("kind", FORGETTING)
async def test_a_carrier_that_forgets_to_take_out_is_an_error(kind: str) -> None:
    """The app is not run, and the request is left without the headers that were read and without any other token.
    Red when the rest is not compared with the line: the app then sees the token."""
    world = World({"carriers": [query(), Returning(FORGETTING[kind])]})
    scope = http(query=S + b"=" + T, headers=[context(b"tenant=" + T), (b"host", b"h")])
    with pytest.raises((RuntimeError, TypeError, AttributeError, ValueError)) as caught:
        await world.call(scope)
    assert world.page.scope is None
    assert scope["headers"] == [(b"host", b"h")]
    assert T not in repr(scope).encode()
    assert T.decode() not in str(caught.value)


def test_the_error_names_carrier_and_header() -> None:
    """Who wrote the carrier reads what to do."""
    scope = http(headers=[context(b"tenant=" + T)])
    with pytest.raises(RuntimeError, match=r"Returning\.extract\(\) .* x-gateway-context .*without the token"):
        Extractor(first_of(Returning(lambda value: Extracted(T, value)))).extract(scope)


def test_the_rest_must_be_given() -> None:
    """A carrier cannot leave it out by forgetting."""
    with pytest.raises(TypeError, match="rest"):
        Extracted(T)  # type: ignore[call-arg]


@pytest.mark.parametrize("warm", [False, True])
async def test_the_app_sees_no_token(warm: bool) -> None:
    """On a miss and on a hit; a copy in a query parameter and in an address is masked too."""
    world = World({"carriers": Gateway()})
    group, token = world.backend.issue()
    if warm:
        await world.resolver.resolve(token)
    headers = [context(b"user=alice", b"tenant=" + token), (b"referer", b"https://h/?next=" + token)]
    sent = await world.call(http(query=b"next=" + token, headers=headers))
    assert sent[0]["status"] == 200
    assert world.page.scope["user_group"] is group
    assert world.page.scope["headers"] == [(CONTEXT, b"user=alice"), (b"referer", b"https://h/?next=redacted")]
    assert token not in repr(world.page.scope).encode()


@pytest.mark.parametrize(
    ("offered", "left"),
    [(b"chat, tenantry." + T, ["chat"]), (b"tenantry." + T, []), (b"tenantry." + T + b",a,b", ["a", "b"])],
)
def test_subprotocols_are_read_anew(offered: bytes, left: list[str]) -> None:
    """What the server read out of the header before us holds the token too. Red when _replace() sets headers alone."""
    protocols = [each.strip() for each in offered.decode().split(",")]
    scope = {**http(headers=[(PROTOCOL, offered)]), "type": "websocket", "subprotocols": protocols}
    assert Extractor(first_of(Subprotocol())).extract(scope) == T
    assert scope["subprotocols"] == left
    assert T.decode() not in repr(scope)


def test_nothing_shows_in_a_repr() -> None:
    """A traceback with locals, or a log of it, shows no token."""
    assert T.decode() not in repr(Extracted(T, b"user=" + T))


# --- origins ----------------------------------------------------------------------------------------------------------

FOREIGN = [(b"host", b"dash.example.com"), (b"origin", b"https://evil.example")]


@pytest.mark.parametrize(
    ("carrier", "more", "refused"),
    [
        (Gateway(sent_by_browser=True), [], True),
        (Gateway(sent_by_browser=False), [], False),
        (Returning(lambda value: Extracted(T, None)), [], True),  # the default
        (Gateway(sent_by_browser=True), [(C, S + b"=" + T)], True),
        (Gateway(sent_by_browser=True), [(X, T)], False),
        (Gateway(sent_by_browser=False), [(C, S + b"=" + T)], False),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_what_a_browser_sends_by_itself_is_held_to_the_origin(
    carrier: Any, more: list[tuple[bytes, bytes]], refused: bool, kind: str
) -> None:
    """Unless the carrier says that no browser does; a token that somebody wrote elsewhere too passes, as with cookies.
    Red when the default is False, or when such a token counts as explicit."""
    scope = {**http(headers=[*FOREIGN, context(b"tenant=" + T), *more]), "type": kind, "method": "POST"}
    extract = Extractor(first_of(DEFAULT_CARRIERS, carrier), OriginCheck()).extract
    if refused:
        with pytest.raises(OriginNotAllowed):
            extract(scope)
    else:
        assert extract(scope) == T
    assert T not in repr(scope).encode()


def test_a_cookie_is_always_sent_by_the_browser() -> None:
    """Whatever the carrier says of it. Red when a carrier of ``Cookie`` may lift the check."""

    class Basket:
        headers = ("cookie",)

        def extract(self, name: str, value: bytes, /) -> Extracted | None:
            found = value.removeprefix(b"basket=")
            return Extracted(b64decode(found), None, sent_by_browser=False) if found != value else None

    scope = {**http(headers=[*FOREIGN, (C, b"basket=" + b64encode(T))]), "method": "POST"}
    with pytest.raises(OriginNotAllowed):
        Extractor(first_of(Basket()), OriginCheck()).extract(scope)


# --- headers of the response ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "good"])
async def test_vary_names_what_a_carrier_reads(token: str | None) -> None:
    """With a group and without one; a shared cache never keeps the page. Red when Vary forgets custom carriers."""
    world = World({"carriers": [header("X-A"), cookie(), Gateway(), Gateway(("x-a", "X-B"))]})
    _, good = world.backend.issue()
    sent = await world.call(http(headers=[context(b"tenant=" + good)] if token else []))
    assert values(sent, b"vary") == [b"X-A, Cookie, X-Gateway-Context, X-B"]
    assert values(sent, b"cache-control") == ([b"private"] if token else [])


# --- how they are chosen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("carriers", [Gateway(), [Gateway()], (Gateway(), header()), first_of(Gateway())])
async def test_ways_to_give_carriers(carriers: Any) -> None:
    """Alone, in a list or merged."""
    world = World({"carriers": carriers})
    _, token = world.backend.issue()
    assert (await world.call(http(headers=[context(b"tenant=" + token)])))[0]["status"] == 200


def test_one_carrier_is_kept_once() -> None:
    """By identity: it may be unhashable, as a dataclass is."""
    gateway = Gateway()
    assert first_of(gateway, header("X-A"), gateway) == Carriers(headers=("X-A",), custom=(gateway,))


@pytest.mark.parametrize(
    ("mistake", "error"),
    [
        ("X-A", TypeError),
        (object(), TypeError),
        (Gateway, TypeError),
        (Gateway(()), ValueError),
        (Gateway("X-A"), ValueError),
        (Gateway(("X A",)), ValueError),
        (Gateway(("Origin",)), ValueError),
        (Gateway(("sec-fetch-site",)), ValueError),
        (Gateway(("HOST",)), ValueError),
    ],
)
def test_a_mistake_is_refused_when_the_middleware_is_made(mistake: Any, error: type[Exception]) -> None:
    """Not at the first request. A carrier that could take out Origin would switch the check off."""
    with pytest.raises(error, match=r"carrier|headers"):
        UserGroupMiddleware(lambda *_: None, resolver=Answers(), carriers=[mistake])  # type: ignore[arg-type,return-value]


def test_the_protocol_is_a_shape() -> None:
    """A carrier imports no base class."""
    carriers: list[Carrier] = [Gateway(), Subprotocol()]
    assert all(isinstance(each, Carrier) for each in carriers)


# --- mounted twice ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("same", "status"), [(True, 200), (False, 400)])
async def test_an_inner_one_with_a_custom_carrier(same: bool, status: int) -> None:
    """It compares its token with that of the outer one, and takes it out."""
    world = World({"carriers": Gateway()})
    outer = UserGroupMiddleware(world.app, resolver=world.resolver, carriers=header())
    _, token = world.backend.issue()
    sent = await call(outer, http(headers=[(X, token), context(b"tenant=" + (token if same else U))]))
    assert sent[0]["status"] == status
    assert same is (world.page.scope is not None and world.page.scope["headers"] == [])
