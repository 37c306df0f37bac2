"""A cookie from a page of another origin: websockets and writing requests are refused (OWASP ASVS 5.0, 4.4.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from tenantry import UserGroupMiddleware
from tenantry.errors import InvalidSettings, OriginNotAllowed
from tenantry.middleware import cookie
from tenantry.middleware.origins import OriginCheck
from tests.middleware.asgi import World, http
from tests.middleware.test_extraction import A, C, S, T, U, X

SITE, ORIGIN = b"sec-fetch-site", b"origin"
EVIL = "https://evil.example"
DASH = "dash.example.com"
ALLOWED = ["https://app.example.com", "http://localhost:3000", "https://[2001:db8::1]:8443", "capacitor://localhost"]


def ask(host: str | None = DASH, scheme: str = "http", method: str = "POST", **headers: str | list[str]) -> Any:
    """A scope with these headers (``_`` for ``-``); a list is a header that comes twice."""
    pairs = [] if host is None else [(b"host", host.encode())]
    for name, value in headers.items():
        lines = [value] if isinstance(value, str) else value
        pairs += [(name.replace("_", "-").encode(), line.encode("latin-1")) for line in lines]
    return http(headers=pairs, scheme=scheme) | {"method": method}


PASS = {
    "neither header: no browser": ask(),
    "no Host either": ask(None),
    "the browser says same-origin": ask(sec_fetch_site="same-origin"),
    "same-origin, though Referrer-Policy made the Origin null": ask(sec_fetch_site="same-origin", origin="null"),
    "the browser's header comes before a Host that a proxy changed": ask(
        "internal:8000", sec_fetch_site="same-origin", origin=f"https://{DASH}"
    ),
    "Origin is Host": ask(origin=f"http://{DASH}"),
    "behind a proxy that speaks TLS": ask(origin=f"https://{DASH}"),
    "https known": ask(scheme="https", origin=f"https://{DASH}"),
    "upper case": ask(host=DASH.upper(), origin=f"HTTPS://{DASH.title()}"),
    "a port": ask(f"{DASH}:8443", origin=f"https://{DASH}:8443"),
    "default port written in Host": ask(f"{DASH}:443", origin=f"https://{DASH}"),
    "default port written in Origin": ask(origin=f"http://{DASH}:80"),
    "IPv6": ask("[::1]:8000", origin="http://[::1]:8000"),
    "IPv6, spelled at length": ask("[0:0:0:0:0:0:0:1]:8000", origin="http://[::1]:8000"),
    "one label, as in a container": ask("web_1:8000", origin="http://web_1:8000"),
    "same-site, but Origin is Host": ask(sec_fetch_site="same-site", origin=f"https://{DASH}"),
    "allowed": ask(origin="https://app.example.com", sec_fetch_site="same-site"),
    "allowed, cross-site": ask(origin="https://app.example.com", sec_fetch_site="cross-site"),
    "allowed, the port written": ask(origin="https://app.example.com:443"),
    "allowed with a port": ask(origin="http://localhost:3000"),
    "allowed IPv6": ask(origin="https://[2001:DB8:0::1]:8443"),
    "allowed app": ask(origin="capacitor://localhost"),
    "allowed, whatever Host": ask(None, origin="https://app.example.com"),
} | {f"{method} is safe": ask(method=method, origin=EVIL) for method in ("GET", "HEAD", "OPTIONS", "TRACE")}

REFUSED = {
    "another site": ask(origin=EVIL),
    "another site, and the browser says so": ask(origin=EVIL, sec_fetch_site="cross-site"),
    "another host of the same site": ask(origin="https://blog.example.com", sec_fetch_site="same-site"),
    "cross-site without Origin": ask(sec_fetch_site="cross-site"),
    "same-site without Origin": ask(sec_fetch_site="same-site"),
    "none without Origin": ask(sec_fetch_site="none"),
    "unknown site": ask(sec_fetch_site="same-galaxy"),
    "two sites": ask(sec_fetch_site=["same-origin", "cross-site"]),
    "a list of sites": ask(sec_fetch_site="same-origin, cross-site"),
    "null": ask(origin="null"),
    "null to a host of that name": ask("null", origin="null"),
    "empty": ask(origin=""),
    "two Origins": ask(origin=[f"https://{DASH}", EVIL]),
    "two Origins, the same": ask(origin=[f"https://{DASH}", f"https://{DASH}"]),
    "a list of Origins": ask(origin=f"https://{DASH} {EVIL}"),
    "no Host": ask(None, origin=f"https://{DASH}"),
    "another port": ask(f"{DASH}:8000", origin=f"http://{DASH}:3000"),
    "a port that Host lacks": ask(origin=f"https://{DASH}:8443"),
    "a port that Origin lacks": ask(f"{DASH}:8443", origin=f"https://{DASH}"),
    "http where https is known": ask(scheme="https", origin=f"http://{DASH}"),
    "Host's name as a prefix": ask(origin=f"https://{DASH}.evil.example"),
    "Host's name as a suffix": ask(origin=f"https://evil{DASH}"),
    "Host's name as a user": ask(origin=f"https://{DASH}@evil.example"),
    "Host's name in a path": ask(origin=f"https://evil.example/{DASH}"),
    "a path": ask(origin=f"https://{DASH}/"),
    "no scheme": ask(origin=DASH),
    "another scheme": ask(origin=f"capacitor://{DASH}"),
    "a file": ask(origin="file://"),
    "bytes": ask(origin="https://d\xe4sh.example.com"),
    "no such port": ask(f"{DASH}:99999", origin=f"https://{DASH}:99999"),
    "a line feed": ask(origin=f"https://{DASH}\n"),
    "an allowed host by http": ask(origin="http://app.example.com"),
    "an allowed host, another port": ask(origin="http://localhost:3001"),
    "beside an allowed one": ask(origin="https://app.example.com.evil.example"),
    "IPv6 that is none": ask("[::1::2]", origin="http://[::1::2]"),
} | {f"{method} is not safe": ask(method=method, origin=EVIL) for method in ("PUT", "PATCH", "DELETE", "QUERY", "get")}
REFUSED["two Hosts"] = ask(origin=EVIL)
REFUSED["two Hosts"]["headers"].append((b"host", b"evil.example"))


@pytest.mark.parametrize("name", PASS)
def test_what_passes(name: str) -> None:
    """Each row alone. Red one by one when a line of ``_is_host`` goes."""
    OriginCheck(ALLOWED).require(PASS[name])


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """Red one by one with ``in`` or ``startswith`` for ``==``, without the count of headers, without the scheme."""
    with pytest.raises(OriginNotAllowed) as caught:
        OriginCheck(ALLOWED).require(REFUSED[name])
    assert caught.value.status == 403


@pytest.mark.parametrize("scheme", ["ws", "wss"])
@pytest.mark.parametrize(("origin", "passes"), [(f"https://{DASH}", True), (EVIL, False), ("null", False)])
def test_a_websocket_whatever_its_method(scheme: str, origin: str, passes: bool) -> None:
    """The handshake is a GET, and is checked. Red when the check goes by the method alone."""
    scope = ask(scheme=scheme, method="GET", origin=origin) | {"type": "websocket"}
    del scope["method"]  # ASGI gives a websocket none
    if passes:
        OriginCheck().require(scope)
    else:
        with pytest.raises(OriginNotAllowed):
            OriginCheck().require(scope)


BAD = [
    "https://app.example.com/",
    "https://app.example.com/page",
    "app.example.com",
    "localhost:3000",
    "wss://app.example.com",
    "ws://localhost:3000",
    "https://*.example.com",
    "*",
    "null",
    "https://bücher.example",
    "https://user@app.example.com",
    "https://app.example.com:99999",
    " https://app.example.com",
    "https://[::1::2]",
    "",
    None,
]


@pytest.mark.parametrize("origin", BAD)
def test_a_bad_allowed_origin_is_named_at_the_start(origin: Any) -> None:
    """A mistake in the list is an error of the host program, not a 403 in production."""
    world = World()
    with pytest.raises(InvalidSettings) as caught:
        UserGroupMiddleware(world.page, resolver=world.resolver, allowed_origins=["https://good.example", origin])
    assert repr(origin) in caught.value.message
    assert "as in https://app.example.com" in caught.value.message


def test_one_origin_is_no_list() -> None:
    """The usual slip: a text is a list of its characters."""
    with pytest.raises(InvalidSettings, match=r"write \['https://app.example.com'\]"):
        OriginCheck("https://app.example.com")


CARRIED = [
    ([(C, S + b"=" + T)], b"", True),
    ([(C, b"a=1; " + S + b"=" + T + b"; b=2")], b"", True),
    ([(C, S + b"=" + T.replace(b"_", b"%5F"))], b"", True),
    ([(C, S + b"=" + T), (C, S + b"=" + T)], b"", True),
    ([(X, T)], b"", False),
    ([(A, b"UserGroup " + T)], b"", False),
    ([], S + b"=" + T, False),
    ([(X, T), (C, S + b"=" + T)], b"", False),
    ([(C, S + b"=" + T)], S + b"=" + T, False),
    ([], b"", False),
]


@pytest.mark.parametrize(("headers", "query", "checked"), CARRIED)
async def test_only_a_token_that_came_in_a_cookie_alone_is_checked(
    headers: list[Any], query: bytes, checked: bool
) -> None:
    """In both lanes. Who writes the token into a header or an address knows it, and no browser added it. Red when the
    careful lane does not check (rows 3 and 4), and when it checks whatever it found (rows 8 and 9)."""
    world = World()
    group, token = world.backend.issue()
    given = [
        (name, value.replace(T, token).replace(T.replace(b"_", b"%5F"), token.replace(b"_", b"%5F")))
        for name, value in headers
    ]
    scope = http(query=query.replace(T, token), headers=[*given, (b"host", b"h"), (ORIGIN, b"https://evil.example")])
    sent = await world.call(scope | {"method": "POST"})
    assert sent[0]["status"] == (403 if checked else 200)
    if checked:
        assert json.loads(sent[1]["body"])["error"]["code"] == "origin_not_allowed"
        assert b"evil.example" in sent[1]["body"]
        assert world.page.scope is None
        assert world.backend.reads == 0  # refused before anything is asked
    elif headers or query:
        assert world.page.scope["user_group"] is group


async def test_two_tokens_are_still_400() -> None:
    """Which of the two is refused first does not depend on where the page was."""
    headers = [(C, S + b"=" + T), (X, U), (ORIGIN, b"https://evil.example")]
    sent = await World().call(http(headers=headers) | {"method": "POST"})
    assert sent[0]["status"] == 400


def test_a_websocket_is_refused_before_it_is_accepted() -> None:
    """403 with the reason where the server can say it, else a close before accept; the app is never called."""
    called = []

    async def feed(websocket: WebSocket) -> None:
        called.append(websocket.url)
        await websocket.accept()
        await websocket.send_text("data of the group")
        await websocket.close()

    world = World(
        {"carriers": cookie(), "allowed_origins": ["https://app.example.com"]}, page=WebSocketRoute("/", feed).app
    )
    _, token = world.backend.issue()
    client = TestClient(world.app)
    headers = {"Cookie": f"USER_GROUP_TOKEN={token.decode()}"}
    for origin in (EVIL, "null", "http://testserver:81"):
        with pytest.raises(WebSocketDenialResponse) as caught:
            client.websocket_connect("/", headers={**headers, "Origin": origin}).__enter__()
        assert caught.value.status_code == 403
        assert caught.value.json()["error"]["code"] == "origin_not_allowed"
    assert called == []
    for extra in ({}, {"Origin": "http://testserver"}, {"Origin": "https://app.example.com"}):
        with client.websocket_connect("/", headers={**headers, **extra}) as socket:
            assert socket.receive_text() == "data of the group"
