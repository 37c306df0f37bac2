"""A token in an address: hidden wherever there is an address, and put back where a redirect needs it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from tenantry import UserGroupMiddleware, user_group
from tenantry.middleware import DEFAULT_CARRIERS, first_of, header, path, query
from tenantry.middleware.addresses import ADDRESS_HEADERS, OriginalAddress, restore_location
from tenantry.middleware.extraction import Extractor
from tenantry.resolver import Resolver
from tenantry.tokens import PASS_PATTERN
from tests.middleware.asgi import Page, World, call, http, values
from tests.middleware.test_extraction import C, S, T, U, X
from tests.resolver.fake import KEYS, FakeBackend

PASS = re.compile(PASS_PATTERN.pattern.encode())


def carrying(token: bytes) -> dict[str, dict[str, Any]]:
    return {
        "header": {"headers": [(X, token)]},
        "cookie": {"headers": [(C, b"a=1; " + S + b"=" + token)]},
        "query": {"query": S + b"=" + token},
        "path": {"path": f"/embed/{token.decode()}/x"},
        "nothing": {},
    }


CARRIED = carrying(T)

VALUES = [
    (b"https://h/p?" + S + b"=" + T, b"https://h/p"),
    (b"https://h/p?a=1&" + S + b"=" + T + b"&b=2#top", b"https://h/p?a=1&b=2#top"),
    (b"https://h/p?" + S + b"=" + T + b"#top", b"https://h/p#top"),
    (b"https://h/p?" + S + b"=" + U, b"https://h/p"),
    (b"https://h/embed/" + T + b"/sales", b"https://h/embed/redacted/sales"),
    (b"/p?other=" + T.replace(b"_", b"%5F"), b"/p?other=redacted"),
    (b"https://h/login?next=%2Fp%3F" + S + b"%3D" + T + b"%26a%3D1", None),
    (b"https://h/p?drugtest=1&q=" + b"x" * 200, b"https://h/p?drugtest=1&q=" + b"x" * 200),
]


@pytest.mark.parametrize("carried", CARRIED)
@pytest.mark.parametrize("name", sorted(ADDRESS_HEADERS))
def test_no_header_that_holds_an_address_holds_a_token(carried: str, name: bytes) -> None:
    """However the token came, and also when none did. The own parameter goes with its name, so that an app that sends
    the viewer back to the Referer sends no bad token. Red when only carriers are read."""
    extract = Extractor(
        first_of(DEFAULT_CARRIERS, path("/embed/{token}")) if carried == "path" else DEFAULT_CARRIERS
    ).extract
    for value, left in VALUES:
        scope = http(**{**CARRIED[carried], "headers": [*CARRIED[carried].get("headers", ()), (name, value)]})
        assert extract(scope) == (None if carried == "nothing" else T)
        shown = dict(scope["headers"])[name]
        assert T not in shown
        assert U not in shown
        assert left in (None, shown)
        assert T.decode() not in repr(scope)


@pytest.mark.parametrize("carried", ["header", "cookie", "query", "path"])
@pytest.mark.parametrize(
    "value", [T, T.replace(b"_", b"%5F"), b"%2Fp%3F" + S + b"%3D" + T + b"%26a%3D1", b"x" + T, T + b"%20"]
)
async def test_the_value_of_another_parameter_holds_no_token(carried: str, value: bytes) -> None:
    """The token that the request carries; a token that the app asks for under a name of its own is another one, and
    stays. Red when only carriers are taken out of the query."""
    extractors = [Extractor(first_of(DEFAULT_CARRIERS, path("/embed/{token}"))).extract]
    extractors += [Extractor(DEFAULT_CARRIERS).extract] if carried != "path" else []
    extractors += [Extractor(header()).extract] if carried == "header" else []
    given = CARRIED[carried]
    for extract in extractors:
        scope = http(**{**given, "query": b"&".join([b"next=" + value, b"keep=" + U, given.get("query", b"")])})
        assert extract(scope) == T
        left = scope["query_string"]
        assert T not in left
        assert T.replace(b"_", b"%5F") not in left
        assert left.startswith(b"next=")
        assert b"redacted" in left
        assert left.rstrip(b"&").endswith(b"&keep=" + U)


ALL_ESCAPED = "".join(f"%{byte:02x}" for byte in T).encode()


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (b"%75" + T[1:], b"redacted"),
        (T[:-1] + b"%41", b"redacted"),
        (b"u%67t%63%5fk1_" + b"A" * 89, b"redacted"),
        (ALL_ESCAPED, b"redacted"),
        (b"%zz%2Fp%3Fx%3D" + ALL_ESCAPED + b"%26a%3D1%", b"%zz%2Fp%3Fx%3Dredacted%26a%3D1%"),
        (T + b"%20" + ALL_ESCAPED + ALL_ESCAPED, b"redacted%20redactedredacted"),
        (b"ugtc_" + T, b"ugtc_redacted"),
        (U.replace(b"B", b"%42"), U.replace(b"B", b"%42")),
    ],
)
@pytest.mark.parametrize("carried", ["header", "cookie", "query", "path"])
def test_no_spelling_of_the_token_stays_in_a_query(carried: str, value: bytes, left: bytes) -> None:
    """Any of its signs may be escaped; the rest stays byte for byte. Red when only ``_ . -`` are read as escapes, when
    ``may_hold_token`` looks for ``ugt`` alone, and when a match begins before the token."""
    extract = Extractor(
        first_of(DEFAULT_CARRIERS, path("/embed/{token}")) if carried == "path" else DEFAULT_CARRIERS
    ).extract
    given = CARRIED[carried]
    scope = http(**{**given, "query": b"&".join([b"a=%C3%A9", b"next=" + value, b"b=%75", given.get("query", b"")])})
    assert extract(scope) == T
    assert scope["query_string"].rstrip(b"&") == b"a=%C3%A9&next=" + left + b"&b=%75"


@pytest.mark.parametrize("carried", [b"", b"u", b"ugt", b"75", T[:-1]])
def test_what_is_no_token_is_not_masked_in_a_query(carried: bytes) -> None:
    """Red when whatever a carrier holds is: a word of the query could be cut out from outside."""
    scope = http(headers=[(X, carried)], query=b"a=ugt%75&b=" + U)
    assert Extractor(DEFAULT_CARRIERS).extract(scope) == carried
    assert scope["query_string"] == b"a=ugt%75&b=" + U


@pytest.mark.parametrize("escaped", [b"%75" + T[1:], T[:-1] + b"%41", ALL_ESCAPED])
@pytest.mark.parametrize("carried", CARRIED)
def test_no_spelling_of_a_token_stays_in_a_header(carried: str, escaped: bytes) -> None:
    """Red when only ``_ . -`` are read as escapes."""
    extract = Extractor(DEFAULT_CARRIERS).extract
    for value, left in (
        (b"https://h/p?a=%41&" + S + b"=" + escaped + b"&b=2", b"https://h/p?a=%41&b=2"),
        (b"https://h/embed/" + escaped + b"/%75", b"https://h/embed/redacted/%75"),
    ):
        scope = http(**{**CARRIED[carried], "headers": [*CARRIED[carried].get("headers", ()), (b"referer", value)]})
        extract(scope)
        assert dict(scope["headers"])[b"referer"] == left


P = b"ugvc_k1_" + b"A" * 39 + b".eyJhbGciOiJIUzI1NiJ9.eyJpYXQiOjF9." + b"B_-" * 14 + b"A"


@pytest.mark.parametrize("written", [P, b"%75" + P[1:], P.replace(b"ugv", b"ug%76"), P.replace(b"9.e", b"9%2Ee"),
                                     "".join(f"%{byte:02X}" for byte in P).encode()], ids=range(5))  # fmt: skip
@pytest.mark.parametrize("carried", CARRIED)
def test_no_spelling_of_a_pass_stays(carried: str, written: bytes) -> None:
    """A pass is hidden as a token is, to its last character, in the query and in each header with an address. Red when
    ``may_hold_token`` or ``_SHAPE`` know the tokens alone, and when a pass is cut at a token's length."""
    extract = Extractor(
        first_of(DEFAULT_CARRIERS, path("/embed/{token}")) if carried == "path" else DEFAULT_CARRIERS
    ).extract
    given = carrying(P)[carried]
    headers = [(name, b"https://h/p?next=" + written + b"%26a&b=1") for name in sorted(ADDRESS_HEADERS)]
    query = b"&".join([b"next=" + (b"" if carried == "nothing" else written) + b"%26a", given.get("query", b"")])
    scope = http(**{**given, "query": query, "headers": [*given.get("headers", ()), *headers]})
    assert extract(scope) == (None if carried == "nothing" else P)
    assert {value for name, value in scope["headers"] if name in ADDRESS_HEADERS} == {
        b"https://h/p?next=redacted%26a&b=1"
    }
    assert scope["query_string"].rstrip(b"&") == (b"next=%26a" if carried == "nothing" else b"next=redacted%26a")
    assert P.decode() not in repr(scope)


def application(resolver: Resolver, **settings: Any) -> Starlette:
    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{user_group(request).name} {request.url.query}")

    async def away(request: Request) -> RedirectResponse:
        return RedirectResponse(request.query_params["to"])

    routes = [Route("/embed/{token}/sales", page), Route("/embed/{token}/files/", page), Route("/away", away)]
    app = Starlette(routes=[*routes, Route("/embed/{token}/away", away), Route("/plain", page)])
    app.add_middleware(UserGroupMiddleware, resolver=resolver, **settings)
    return app


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def resolver(backend: FakeBackend) -> Resolver:
    return Resolver(backend, keys=KEYS)


@pytest.mark.parametrize("warm", [False, True])
def test_a_path_with_or_without_its_last_slash_is_served(resolver: Resolver, backend: FakeBackend, warm: bool) -> None:
    """The router redirects to the path that it was shown, where the token is masked. Red when Location goes out as it
    is: 401, since ``redacted`` is no token."""
    _, raw = backend.issue()
    client = TestClient(application(resolver, carriers=path("/embed/{token}")))
    if warm:
        assert client.get(f"/embed/{raw.decode()}/sales").status_code == 200
    for asked in ("sales/?a=1", "files?a=1", "sales?a=1"):
        answer = client.get(f"/embed/{raw.decode()}/{asked}")
        assert (answer.status_code, answer.text) == (200, "Acme a=1")


@pytest.mark.parametrize("carriers", [query(), DEFAULT_CARRIERS, query("my token")])
def test_a_query_keeps_its_token_over_the_last_slash(resolver: Resolver, backend: FakeBackend, carriers: Any) -> None:
    """The same with the token in the query, which the router was not shown at all."""
    _, raw = backend.issue()
    client = TestClient(application(resolver, carriers=carriers))
    answer = client.get("/plain/", params={carriers.queries[0]: raw.decode(), "a": "1"})
    assert (answer.status_code, answer.text) == (200, "Acme a=1")
    answer = client.get("/plain/", params={carriers.queries[0]: raw.decode()})
    assert (answer.status_code, answer.text) == (200, "Acme ")


def test_a_mounted_app_redirects_below_its_mount(resolver: Resolver, backend: FakeBackend) -> None:
    """``path("token")``: the parameter that a router outside has read."""
    _, raw = backend.issue()

    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse(user_group(request).name)

    inner = Starlette(
        routes=[Route("/sales", page)],
        middleware=[Middleware(UserGroupMiddleware, resolver=resolver, carriers=path("token"))],
    )
    client = TestClient(Starlette(routes=[Mount("/embed/{token}", inner)]))
    assert client.get(f"/embed/{raw.decode()}/sales/").text == "Acme"


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.example/embed/redacted/sales",
        "//evil.example/embed/redacted/sales",
        "http://testserver.evil.example/embed/redacted/sales",
        "http://testserver@evil.example/embed/redacted/x",
        "http://testserver:81/embed/redacted/sales",
        "/other/redacted/sales",
        "/redacted",
        "?a=1",
        "sales",
        "javascript:/embed/redacted/sales",
        "http://[/embed/redacted",
    ],
)
def test_no_token_goes_to_another_address(resolver: Resolver, backend: FakeBackend, location: str) -> None:
    """An app's redirect elsewhere leaves as it is. Red when the host is not compared, or the path before the mask."""
    address = OriginalAddress(T, f"/embed/{T.decode()}/away", "USER_GROUP_TOKEN")
    scope = http(path="/embed/redacted/away", headers=[(b"host", b"testserver")])
    assert restore_location(location.encode(), address, scope) == location.encode()


def test_a_redirect_to_a_page_beside_keeps_the_token(resolver: Resolver, backend: FakeBackend) -> None:
    """An app that redirects below its masked path, as ``url_for`` does; also with an encoded segment before it."""
    address = OriginalAddress(T, f"/a b/{T.decode()}/away", None)
    scope = http(path="/a b/redacted/away", headers=[(b"host", b"testserver")])
    for host in ("", "http://testserver", "https://TESTSERVER"):
        location = f"{host}/a%20b/redacted/sales?x=1#y".encode()
        assert restore_location(location, address, scope) == f"{host}/a%20b/{T.decode()}/sales?x=1#y".encode()


@pytest.mark.parametrize(
    ("cookie", "in_query", "is_given"),
    [
        (b"__Host-tenantry-0123=redacted; Path=/", True, True),
        (b"__Host-tenantry-0123=redacted", True, True),
        (b"__Host-tenantry-0123=redacted2", True, False),
        (b"__Host-tenantry-0123=x; a=redacted", True, False),
        (b"other=redacted; Path=/", True, False),
        (b"__Host-tenantry-0123=redacted; Path=/", False, False),
    ],
    ids=range(6),
)
async def test_the_cookie_of_a_direct_visit_gets_a_pass(cookie: bytes, in_query: bool, is_given: bool) -> None:
    """That cookie alone, and where its value is the mask alone. Red when any cookie with the mask gets it, and when it
    gets the token of the address."""
    world = World(page=Page(headers=[(b"set-cookie", cookie)]))
    group, token = world.backend.issue()
    for _ in range(2):
        sent = await world.call(http(query=S + b"=" + token) if in_query else http(headers=[(X, token)]))
        (shown,) = values(sent, b"set-cookie")
        name, made, rest = PASS.split(shown)[0], PASS.findall(shown), PASS.split(shown)[-1]
        assert token not in shown
        assert (name + b"redacted" + rest if is_given else shown) == cookie
        assert [(await world.resolver.resolve(each)).handle for each in made] == [group.handle] * is_given


async def test_the_app_sees_no_address_of_ours() -> None:
    """What taking leaves for the middleware is gone when the app runs, in requests and websockets, and nothing in the
    scope shows the token. Red when it stays."""
    world = World({"carriers": first_of(DEFAULT_CARRIERS, path("/embed/{token}"))})
    _, token = world.backend.issue()
    for scope in (http(query=S + b"=" + token), http(path=f"/embed/{token.decode()}")):
        for _ in range(2):
            await world.call(dict(scope))
            assert "tenantry.address" not in world.page.scope
            assert token.decode() not in repr(world.page.scope)
    socket = http(query=S + b"=" + token) | {"type": "websocket"}
    await world.call(socket)
    assert "tenantry.address" not in socket


# --- mounted twice ----------------------------------------------------------------------------------------------------


def twice(outer: Any, inner: Any) -> tuple[World, Any]:
    world = World({"carriers": inner})
    return world, UserGroupMiddleware(world.app, resolver=world.resolver, carriers=outer)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("kind", ["http", "websocket"])
async def test_two_tokens_in_the_carriers_of_two_middlewares_are_400(warm: bool, kind: str) -> None:
    """As within one; also where the second is no good token. Red when the inner one looks at no carrier: the request
    passed with the outer's group, and the second token went on to the app."""
    world, app = twice(header("X-Outer"), first_of(header("X-Inner"), query("inner")))
    (_, one), (_, two) = world.backend.issue(), world.backend.issue()
    if warm:
        await world.resolver.resolve(one)
    for second in (two, b"junk", b""):
        for given in ({"headers": [(b"x-inner", second)]}, {"query": b"inner=" + second}):
            scope = http(**{**given, "headers": [(b"x-outer", one), *given.get("headers", ())]}) | {"type": kind}  # type: ignore[arg-type,dict-item]
            sent = await call(app, scope | {"extensions": {"websocket.http.response": {}}})
            assert sent[0]["status"] == 400
            assert world.page.scope is None


async def test_the_same_token_in_the_carriers_of_two_middlewares_is_one() -> None:
    """It is taken out of both, and Vary names both. A cookie beside a header needs no origin."""
    world, app = twice(header("X-Outer"), DEFAULT_CARRIERS)
    group, token = world.backend.issue()
    for extra in (
        {"headers": [(X, token)]},
        {"headers": [(C, S + b"=" + token)]},
        {"query": S + b"=" + token},
        {"headers": []},
    ):
        headers = [(b"x-outer", token), (b"origin", b"https://evil.example"), *extra.get("headers", ())]  # type: ignore[misc]
        sent = await call(app, http(**{**extra, "headers": headers}) | {"method": "POST"})  # type: ignore[arg-type]
        assert sent[0]["status"] == 200
        assert world.page.scope["user_group"] is group
        assert token.decode() not in repr(world.page.scope)
    assert world.backend.reads == 1
