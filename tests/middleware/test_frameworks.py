"""In Starlette and FastAPI: routes, mounted apps, streams, background tasks, lifespan, websockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI
from fastapi import WebSocket as FastAPIWebSocket
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from tenantry import Record, UserGroup, UserGroupMiddleware, user_group, variables
from tenantry.errors import MissingToken
from tenantry.middleware import path
from tenantry.resolver import Resolver
from tests.resolver.fake import KEYS, FakeBackend

HEADER = "X-User-Group-Token"


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def resolver(backend: FakeBackend) -> Resolver:
    return Resolver(backend, keys=KEYS)


def show(request: Request) -> JSONResponse:
    return JSONResponse({"name": user_group(request).name, "query": request.url.query, "cookies": request.cookies})


async def public(request: Request) -> PlainTextResponse:
    return PlainTextResponse("for all")


async def chat(websocket: WebSocket) -> None:
    name = user_group(websocket).name
    await websocket.accept()
    await websocket.send_text(f"{name} {websocket.url.query}")
    await websocket.close()


async def late(websocket: WebSocket) -> None:
    await websocket.accept()
    user_group(websocket)


def current(request: Request) -> UserGroup:
    return user_group(request)


GroupDependency = Annotated[UserGroup, Depends(user_group)]
VariablesDependency = Annotated[Record, Depends(variables)]
CurrentGroup = Annotated[UserGroup, Depends(current)]

ROUTES = [Route("/", show), Route("/public", public), WebSocketRoute("/chat", chat), WebSocketRoute("/late", late)]


def application(resolver: Resolver, *more: Any, **settings: Any) -> Starlette:
    app = Starlette(routes=[*more, *ROUTES])
    app.add_middleware(UserGroupMiddleware, resolver=resolver, **settings)
    return app


def test_starlette(resolver: Resolver, backend: FakeBackend) -> None:
    """By header, scheme, cookie and query: the group arrives, the token does not, the headers for caches are set."""
    _, raw = backend.issue()
    token = raw.decode()
    app = application(resolver)
    ways: list[dict[str, Any]] = [
        {"headers": {HEADER: token}},
        {"headers": {"USER_GROUP_TOKEN": token}},
        {"headers": {"Authorization": f"UserGroup {token}"}},
        {"headers": {"Cookie": f"USER_GROUP_TOKEN={token}"}},
        {"params": {"USER_GROUP_TOKEN": token}},
    ]
    for way in ways:
        answer = TestClient(app).get("/", **way)
        assert answer.json() == {"name": "Acme", "query": "", "cookies": {}}
        assert answer.headers["cache-control"] == "private"
        assert "Cookie" in answer.headers["vary"]
    assert backend.reads == 1  # each client has an event loop of its own; the cache is one


def test_three_outcomes(resolver: Resolver, backend: FakeBackend) -> None:
    """Without a token a public page is served and another one is 401; with a bad one both are 401."""
    client = TestClient(application(resolver))
    assert client.get("/public").text == "for all"
    refused = client.get("/", headers={"Accept": "text/html"})
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "UserGroup")
    assert "<h1>" in refused.text
    for page in ("/", "/public"):
        assert client.get(page, headers={HEADER: "junk"}).json()["error"]["code"] == "invalid_token"
    assert TestClient(application(resolver, required=True)).get("/public").status_code == 401


def test_a_mounted_app_under_one_middleware(resolver: Resolver, backend: FakeBackend) -> None:
    """A whole Starlette app mounted below: it finds the group, and its missing token is 401, though it answers every
    exception with a 500 of its own. Red when the guard does not hold a 500 back."""
    _, raw = backend.issue()
    client = TestClient(application(resolver, Mount("/sub", Starlette(routes=ROUTES))))
    assert client.get("/sub/", headers={HEADER: raw.decode()}).json()["name"] == "Acme"
    assert client.get("/sub/").status_code == 401


def test_a_middleware_in_a_mounted_app(resolver: Resolver, backend: FakeBackend) -> None:
    """The app around it needs no middleware; the token may be in the mount's path, or be found by the outer."""
    _, raw = backend.issue()
    sub = Starlette(routes=ROUTES, middleware=[Middleware(UserGroupMiddleware, resolver=resolver)])
    embedded = Starlette(
        routes=[Route("/page", show)],
        middleware=[Middleware(UserGroupMiddleware, resolver=resolver, carriers=path("token"))],
    )
    routes = [Mount("/sub", sub), Mount("/embed/{token}", embedded)]
    client = TestClient(Starlette(routes=routes))
    assert client.get("/sub/", headers={HEADER: raw.decode()}).json()["name"] == "Acme"
    assert client.get("/sub/").status_code == 401
    assert client.get(f"/embed/{raw.decode()}/page").json()["name"] == "Acme"
    assert client.get("/embed/junk/page").status_code == 401
    twice = Starlette(routes=routes, middleware=[Middleware(UserGroupMiddleware, resolver=resolver)])
    assert TestClient(twice).get("/sub/", headers={HEADER: raw.decode()}).json()["name"] == "Acme"


class Swallowing:
    """A framework that answers what a view raises, and raises nothing, as Litestar does. ``later`` answers when it has
    left the handler of the error, as others do."""

    def __init__(self, view: Any, *, later: bool = False) -> None:
        self.view = view
        self.later = later

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            self.view(scope)
        except Exception:  # noqa: BLE001  # as frameworks do
            if not self.later:
                await self.answer(scope, send)
        if self.later:
            await self.answer(scope, send)

    async def answer(self, scope: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4500})
        else:
            await PlainTextResponse("failed", 500)(scope, None, send)  # type: ignore[arg-type]  # nothing is received


def asks(scope: Any) -> None:
    user_group(scope)


def copes(scope: Any) -> None:
    """Without a group too, and fails for another reason."""
    with suppress(MissingToken):
        user_group(scope)
    raise ZeroDivisionError


def fails(scope: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("view", "later", "status"), [(asks, False, 401), (asks, True, 401), (copes, False, 500), (fails, True, 500)]
)
def test_a_framework_that_raises_nothing(resolver: Resolver, view: Any, later: bool, status: int) -> None:
    """A view that asked for the group is 401 there as well, and what failed for another reason stays as it is. Red when
    only what the app raises counts; the third without ``_is_other_error``."""
    client = TestClient(UserGroupMiddleware(Swallowing(view, later=later), resolver=resolver))
    assert client.get("/").status_code == status
    if status == 401:
        assert client.get("/").json()["error"]["code"] == "missing_token"
        with pytest.raises(WebSocketDenialResponse) as caught, client.websocket_connect("/"):
            pass
        assert caught.value.status_code == 401
    else:
        with pytest.raises(WebSocketDisconnect) as closed, client.websocket_connect("/"):
            pass
        assert closed.value.code == 4500


def test_fastapi_with_a_typed_dependency(resolver: Resolver, backend: FakeBackend) -> None:
    """``Depends`` over the accessor gives the group; without a token the route is 401."""
    app = FastAPI()
    app.add_middleware(UserGroupMiddleware, resolver=resolver)

    @app.get("/sales")
    async def sales(group: CurrentGroup, request: Request) -> dict[str, str]:
        return {"region": variables(request)["region"], "group": group.name, "year": variables(request)["params"]["y"]}

    _, raw = backend.issue(properties={"region": "eu"})
    client = TestClient(app)
    answer = client.get("/sales", params={"USER_GROUP_TOKEN": raw.decode(), "y": "2013", "region": "us"})
    assert answer.json() == {"region": "eu", "group": "Acme", "year": "2013"}
    assert client.get("/sales").status_code == 401


def test_fastapi_takes_the_accessors_as_dependencies(resolver: Resolver, backend: FakeBackend) -> None:
    """``Depends(user_group)`` and ``Depends(variables)``, for requests and websockets; the document of the API shows no
    parameter of theirs. Red when their annotation is not HTTPConnection: FastAPI then refuses the route."""
    app = FastAPI()
    app.add_middleware(UserGroupMiddleware, resolver=resolver)

    @app.get("/sales")
    async def sales(group: GroupDependency, known: VariablesDependency) -> dict[str, str]:
        return {"group": group.name, "region": known["region"], "year": known["params"]["y"]}

    @app.websocket("/feed")
    async def feed(websocket: FastAPIWebSocket, group: GroupDependency, known: VariablesDependency) -> None:
        await websocket.accept()
        await websocket.send_text(f"{group.name} {known['region']} {known['params']['y']}")
        await websocket.close()

    _, raw = backend.issue(properties={"region": "eu"})
    client = TestClient(app)
    address = f"?USER_GROUP_TOKEN={raw.decode()}&y=2013&region=us"
    assert client.get("/sales" + address).json() == {"region": "eu", "group": "Acme", "year": "2013"}
    with client.websocket_connect("/feed" + address) as socket:
        assert socket.receive_text() == "Acme eu 2013"
    assert client.get("/sales").status_code == 401
    with pytest.raises(WebSocketDenialResponse) as caught, client.websocket_connect("/feed"):
        pass
    assert caught.value.status_code == 401
    assert "parameters" not in client.get("/openapi.json").json()["paths"]["/sales"]["get"]


def test_streams_and_background_tasks_keep_the_group(resolver: Resolver, backend: FakeBackend) -> None:
    """Each part of a stream and the task after it read the group that the request began with, also when the group is
    rotated meanwhile."""
    group, raw = backend.issue()
    after: list[str] = []

    async def stream(request: Request) -> StreamingResponse:
        async def parts() -> AsyncIterator[str]:
            for _ in range(3):
                await asyncio.sleep(0)
                resolver.evict(group.handle, 1)
                yield user_group(request).name + " "

        async def note() -> None:
            after.append(user_group(request).name)

        return StreamingResponse(parts(), background=BackgroundTask(note))

    client = TestClient(application(resolver, Route("/stream", stream)))
    for _ in range(2):
        answer = client.get("/stream", headers={HEADER: raw.decode()})
        assert answer.text == "Acme Acme Acme "
        assert answer.headers["cache-control"] == "private"
    assert after == ["Acme", "Acme"]


def test_lifespan_passes_through(resolver: Resolver, backend: FakeBackend) -> None:
    """Start and stop of the app are its own; its state arrives."""
    events = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, int]]:
        events.append("start")
        yield {"answer": 42}
        events.append("stop")

    async def state(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{user_group(request).name} {request.state.answer}")

    _, raw = backend.issue()
    app = Starlette(routes=[Route("/", state)], lifespan=lifespan)
    app.add_middleware(UserGroupMiddleware, resolver=resolver)
    for _ in range(2):
        with TestClient(app) as client:
            assert client.get("/", headers={HEADER: raw.decode()}).text == "Acme 42"
    assert events == ["start", "stop"] * 2


async def test_usage_is_flushed_before_the_shutdown_is_confirmed(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uvicorn ends the process when it is confirmed. Red when it is confirmed first, and without the flush."""
    events: list[str] = []

    async def flush(_: Resolver) -> None:
        events.append("flushed")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for kind in ("startup", "shutdown"):
            await send({"type": f"lifespan.{kind}.complete"})

    async def send(message: Any) -> None:
        events.append(message["type"])

    async def receive() -> Any: ...

    monkeypatch.setattr(Resolver, "flush_usage", flush)
    await UserGroupMiddleware(app, resolver=resolver)({"type": "lifespan"}, receive, send)
    assert events == ["lifespan.startup.complete", "flushed", "lifespan.shutdown.complete"]


def test_websocket(resolver: Resolver, backend: FakeBackend) -> None:
    """By query and by header, on a miss and on a hit; the token is not in the URL that the app sees."""
    _, raw = backend.issue()
    client = TestClient(application(resolver))
    for _ in range(2):
        with client.websocket_connect(f"/chat?a=1&USER_GROUP_TOKEN={raw.decode()}") as socket:
            assert socket.receive_text() == "Acme a=1"
        with client.websocket_connect("/chat", headers={HEADER: raw.decode()}) as socket:
            assert socket.receive_text() == "Acme "


@pytest.mark.parametrize(("query", "code"), [("", "missing_token"), ("?USER_GROUP_TOKEN=junk", "invalid_token")])
def test_websocket_denial(resolver: Resolver, query: str, code: str) -> None:
    """Before accept, where the server can: a whole HTTP response with the reason."""
    client = TestClient(application(resolver))
    with pytest.raises(WebSocketDenialResponse) as caught, client.websocket_connect("/chat" + query):
        pass
    assert caught.value.status_code == 401
    assert caught.value.json()["error"]["code"] == code


def test_websocket_that_asks_too_late_is_closed(resolver: Resolver) -> None:
    """An app that accepts first and asks then: close 1008."""
    client = TestClient(application(resolver))
    with client.websocket_connect("/late") as socket, pytest.raises(WebSocketDisconnect) as caught:
        socket.receive_text()
    assert (caught.value.code, caught.value.reason) == (1008, "missing_token")


async def test_websocket_without_denial_is_closed_before_accept(resolver: Resolver) -> None:
    """Where the server lacks the extension: close 1008."""
    app = UserGroupMiddleware(application(resolver), resolver=resolver, required=True)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/chat", "headers": [], "query_string": b""}
    await app(scope, None, send)  # type: ignore[arg-type]  # never received from
    assert sent == [{"type": "websocket.close", "code": 1008, "reason": "missing_token"}]
