"""dashboard(): as a route of Starlette and of FastAPI, and at a mount."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount, Route
from starlette.websockets import WebSocketDisconnect

from tenantry.dashboards.endpoint import dashboard
from tenantry.errors import TemplateError
from tenantry.groups import UserGroup
from tenantry.testing import make_group
from tests.dashboards.helpers import client, get

pytestmark = pytest.mark.usefixtures("mount")


async def sales(group: UserGroup, request: Request) -> str:
    """What we sold."""
    return f"{group.name} {request.path_params.get('year', '')}"


def test_as_a_route_of_starlette() -> None:
    """Named after the renderer; path parameters reach it; methods are the route's."""
    app = Starlette(routes=[Route("/sales/{year}", dashboard(sales), methods=["GET"]), Mount("/m", dashboard(sales))])
    browser = client(app)
    assert browser.get("/sales/2013").text == "Acme 2013"
    assert browser.get("/m/").text == "Acme "
    assert browser.post("/sales/2013").status_code == 405
    assert app.url_path_for("sales", year="2013") == "/sales/2013"
    assert dashboard(sales).__doc__ == "What we sold."


def test_in_fastapi() -> None:
    """Mounted and as a route."""
    app = FastAPI()
    app.mount("/mounted", dashboard(sales))
    app.add_route("/routed/{year}", dashboard(sales))
    browser = client(app)
    assert browser.get("/mounted/").text == "Acme "
    assert browser.get("/routed/2013").text == "Acme 2013"


def test_a_websocket_at_a_mount_is_closed() -> None:
    """A dashboard speaks HTTP only."""
    browser = client(Starlette(routes=[Mount("/m", dashboard(sales))]))
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect("/m/"):
        pass


def test_renderers_with_the_same_dashboard_do_not_mix() -> None:
    """One endpoint serves every group, each with its own variables."""
    endpoint = dashboard(lambda variables: variables["region"])
    for region in ("eu", "us"):
        assert client(endpoint, make_group(properties={"region": region})).get("/").text == region


def test_template_error_is_ours() -> None:
    """A renderer may raise it itself."""

    def renderer() -> str:
        raise TemplateError("line 7")

    assert get(renderer).json()["error"]["message"] == "line 7"
