"""tenantry.fastapi: typed parameters, and the token in the OpenAPI document of an app."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, WebSocket
from fastapi.security import HTTPBasic
from starlette.middleware.gzip import GZipMiddleware
from starlette.testclient import TestClient, WebSocketDenialResponse

from engines.json_schema import openapi_validators
from tenantry import UserGroup, UserGroupMiddleware, user_group
from tenantry.errors import InvalidSettings
from tenantry.middleware import Extracted, cookie, first_of, header, path, query
from tenantry.middleware.fastapi import CurrentGroup, CurrentVariables, add_security_schemes
from tenantry.resolver import Resolver
from tenantry.testing import make_group
from tests.resolver.fake import KEYS, FakeBackend

ROOT = Path(__file__).parents[2]
BASIC = HTTPBasic()


def account(group: CurrentGroup) -> str:
    return group.name


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


def application(backend: FakeBackend, **options: Any) -> FastAPI:
    """An app as its users write one: routes of a router, and one that asks for no group."""
    app = FastAPI()
    app.add_middleware(UserGroupMiddleware, resolver=Resolver(backend, keys=KEYS), **options)
    router = APIRouter(prefix="/sales", tags=["sales"])

    @router.get("/region")
    async def region(group: CurrentGroup, known: CurrentVariables) -> dict[str, str]:
        return {"group": group.name, "region": known["region"]}

    @router.websocket("/feed")
    async def feed(websocket: WebSocket, group: CurrentGroup, known: CurrentVariables) -> None:
        await websocket.accept()
        await websocket.send_text(f"{group.name} {known['region']}")
        await websocket.close()

    @app.get("/public")
    async def public() -> str:
        return "for all"

    app.include_router(router)
    return app


def schemes_of(app: FastAPI) -> dict[str, Any]:
    schemes: dict[str, Any] = app.openapi()["components"]["securitySchemes"]
    return schemes


def secured(app: FastAPI) -> dict[str, Any]:
    """What each operation asks for."""
    paths = app.openapi()["paths"].items()
    return {
        f"{method} {where}": operation.get("security") for where, item in paths for method, operation in item.items()
    }


# --- parameters -------------------------------------------------------------------------------------------------------


def test_a_route_and_a_websocket_take_the_group(backend: FakeBackend) -> None:
    """As typed parameters, in a router; without a token both are refused."""
    client = TestClient(application(backend))
    _, raw = backend.issue(properties={"region": "eu"})
    headers = {"X-User-Group-Token": raw.decode()}
    assert client.get("/sales/region", headers=headers).json() == {"group": "Acme", "region": "eu"}
    assert client.get("/sales/region").status_code == 401
    with client.websocket_connect("/sales/feed", headers=headers) as socket:
        assert socket.receive_text() == "Acme eu"
    with pytest.raises(WebSocketDenialResponse) as caught, client.websocket_connect("/sales/feed"):
        pass
    assert caught.value.status_code == 401


def test_an_override_of_user_group_reaches_every_route(backend: FakeBackend) -> None:
    """``app.dependency_overrides[user_group]``, as FastAPI's users test their routes. Red when CurrentGroup depends on
    a function of its own."""
    app = application(backend)
    app.dependency_overrides[user_group] = lambda: make_group(name="Fake")
    with TestClient(app).websocket_connect(
        "/sales/feed", headers={"X-User-Group-Token": backend.issue(properties={"region": "eu"})[1].decode()}
    ) as socket:
        assert socket.receive_text() == "Fake eu"


@pytest.mark.slow
@pytest.mark.parametrize("checker", [["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]])
def test_a_type_checker_sees_a_user_group(checker: list[str]) -> None:
    """Red when CurrentGroup is declared as Any."""
    command = [sys.executable, "-m", *checker, "tests/middleware/typed_routes.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_fastapi_the_error_says_what_to_install() -> None:
    """And Tenantry itself needs none."""
    code = "import sys; sys.modules['fastapi'] = None; import tenantry; import tenantry.fastapi"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("ModuleNotFoundError: tenantry.fastapi needs FastAPI: pip install fastapi\n")


# --- the document of the app ------------------------------------------------------------------------------------------


class Gateway:
    headers = ("X-Gateway",)

    def extract(self, name: str, value: bytes, /) -> Extracted | None:
        return None


HEADER = ("UserGroupHeader", "apiKey", "header", "X-User-Group-Token")
COOKIE = ("UserGroupCookie", "apiKey", "cookie", "USER_GROUP_TOKEN")
BEARER = ("UserGroupBearer", "http", None, None)


@pytest.mark.parametrize(
    ("carriers", "shown"),
    [
        (None, [HEADER, COOKIE]),
        (header(), [HEADER]),
        ([header("X-Tenant"), query()], [("UserGroupHeader", "apiKey", "header", "X-Tenant")]),
        (header("Authorization", scheme="Bearer"), [BEARER]),
        (header("X-Tenant", "Authorization", scheme="bearer"), [(*HEADER[:3], "X-Tenant"), BEARER]),
        (header("Authorization"), [("UserGroupAuthorization", "apiKey", "header", "Authorization")]),
        (cookie("tenant"), [("UserGroupCookie", "apiKey", "cookie", "tenant")]),
        (query("t"), [("UserGroupQuery", "apiKey", "query", "t")]),
        (first_of(query(), path("/embed/{token}")), [("UserGroupQuery", "apiKey", "query", "USER_GROUP_TOKEN")]),
        ([header("X-Tenant"), Gateway()], [("UserGroupHeader", "apiKey", "header", "X-Tenant")]),
    ],
)
def test_the_document_shows_the_carriers_of_the_middleware(
    backend: FakeBackend, carriers: Any, shown: list[tuple[str | None, ...]]
) -> None:
    """And who does what it says is let in: each scheme is followed as a generated client or Swagger UI does. A
    parameter of the query, which would bring tokens into addresses, is shown only where there is nothing else. Red when
    the schemes are those of the default carriers."""
    app = application(backend, **({} if carriers is None else {"carriers": carriers}))
    add_security_schemes(app)
    client = TestClient(app)
    document = client.get("/openapi.json").json()
    openapi_validators().validate(document)
    schemes = document["components"]["securitySchemes"]
    assert [(name, each["type"], each.get("in"), each.get("name")) for name, each in schemes.items()] == shown
    assert document["paths"]["/sales/region"]["get"]["security"] == [{name: []} for name in schemes]
    assert "security" not in document["paths"]["/public"]["get"]
    token = backend.issue(properties={"region": "eu"})[1].decode()
    for name, scheme in schemes.items():
        sent: dict[str, Any] = {"headers": {"Authorization": f"Bearer {token}"}}
        if scheme["type"] == "apiKey":
            prefix = "UserGroup " if name == "UserGroupAuthorization" else ""
            value = {scheme["name"]: prefix + token}
            sent = {
                "header": {"headers": value},
                "cookie": {"headers": {"Cookie": f"{scheme['name']}={token}"}},
                "query": {"params": value},
            }[scheme["in"]]
        assert client.get("/sales/region", **sent).json() == {"group": "Acme", "region": "eu"}, name


def test_carriers_that_openapi_has_no_word_for_change_nothing(backend: FakeBackend) -> None:
    """A path, and a carrier of your own."""
    app = application(backend, carriers=[path("/embed/{token}"), Gateway()])
    before = app.openapi()
    add_security_schemes(app)
    assert app.openapi() == before


def test_every_way_to_depend_on_a_group_is_seen(backend: FakeBackend) -> None:
    """By another dependency, by that of a router, and by the plain accessors; also in a route that was added after the
    document was asked for. Red when only the parameters of a route are looked at."""
    app = application(backend)
    add_security_schemes(app)

    inner = APIRouter()

    @inner.post("/{item}")
    async def post(item: str) -> str:
        return item

    outer = APIRouter(prefix="/outer", dependencies=[Depends(user_group)])
    outer.include_router(inner, prefix="/inner")
    app.include_router(outer)
    ours = [{"UserGroupHeader": []}, {"UserGroupCookie": []}]
    assert secured(app) == {"get /public": None, "get /sales/region": ours, "post /outer/inner/{item}": ours}

    @app.get("/account")
    async def show(name: Annotated[str, Depends(account)]) -> str:
        return name

    assert secured(app)["get /account"] == ours


def test_what_an_operation_asks_for_already_stays(backend: FakeBackend) -> None:
    """Both are needed: each of its alternatives with each of ours. Red when ours are more alternatives: the document
    would promise entry with a password alone."""
    app = application(backend)

    @app.get("/both")
    async def both(group: CurrentGroup, password: Annotated[Any, Depends(BASIC)]) -> str:
        return group.name

    add_security_schemes(app)
    expected = [{"HTTPBasic": [], "UserGroupHeader": []}, {"HTTPBasic": [], "UserGroupCookie": []}]
    assert secured(app)["get /both"] == expected
    assert list(schemes_of(app)) == ["HTTPBasic", "UserGroupHeader", "UserGroupCookie"]


def test_where_a_token_is_required_every_operation_names_it(backend: FakeBackend) -> None:
    app = application(backend, required=True)
    add_security_schemes(app)
    assert all(secured(app).values())


def test_other_middlewares_are_passed_over(backend: FakeBackend) -> None:
    """Classes and functions that were added later. Red when the options of any class are read."""
    app = application(backend, carriers=header("X-Tenant"))
    app.add_middleware(GZipMiddleware, minimum_size=1)
    app.add_middleware(lambda inner: inner)
    add_security_schemes(app)
    assert schemes_of(app)["UserGroupHeader"]["name"] == "X-Tenant"


def test_an_app_without_the_middleware(backend: FakeBackend) -> None:
    """An error that says what to do, and with the carriers of one that is around the app, their schemes."""
    app = FastAPI()

    @app.get("/me")
    async def me(group: Annotated[UserGroup, Depends(user_group)]) -> str:
        return group.name

    with pytest.raises(InvalidSettings, match=r"Call it after app\.add_middleware\(UserGroupMiddleware"):
        add_security_schemes(app)
    add_security_schemes(app, carriers=header("X-Tenant"))
    assert schemes_of(app)["UserGroupHeader"]["name"] == "X-Tenant"
    with pytest.raises(TypeError, match="a carrier is"):
        add_security_schemes(app, carriers="X-Tenant")  # type: ignore[arg-type]  # a mistake of the caller
