"""error_handler(): an app's own views answer Tenantry's errors with their own status."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from tenantry import TenantryError, error_handler
from tenantry.errors import MissingVariable, SourceUnavailable, UnregisteredSource


async def unfinished(request: Request) -> Any:
    raise MissingVariable("region has no value", names=["region"])


async def down(request: Request) -> Any:
    raise SourceUnavailable("the data source cannot be reached", retry_after=1)


async def unregistered(request: Request) -> Any:
    raise UnregisteredSource("the environment does not have it; see: tenantry data-source list")


async def live(websocket: WebSocket) -> None:
    await websocket.accept()
    raise MissingVariable("region has no value", names=["region"])


STARLETTE = Starlette(
    routes=[
        Route("/unfinished", unfinished),
        Route("/down", down),
        Route("/unregistered", unregistered),
        WebSocketRoute("/live", live),
    ],
    exception_handlers={TenantryError: error_handler},
)
FASTAPI = FastAPI()
FASTAPI.add_exception_handler(TenantryError, error_handler)
FASTAPI.get("/unfinished")(unfinished)
FASTAPI.get("/down")(down)
FASTAPI.get("/unregistered")(unregistered)
FASTAPI.websocket("/live")(live)


@pytest.mark.parametrize("app", [STARLETTE, FASTAPI], ids=["Starlette", "FastAPI"])
def test_an_error_keeps_its_status_and_names_what_is_wrong(app: Any) -> None:
    """Subclasses of TenantryError are met too. Red without the handler: Starlette answers 500."""
    with TestClient(app, raise_server_exceptions=False) as viewer:
        answer = viewer.get("/unfinished")
        assert answer.status_code == 422
        assert answer.json()["error"] == {"code": "missing_variable", "message": "region has no value"}
        page = viewer.get("/unfinished", headers={"Accept": "text/html"})
        assert "region" in page.text
        assert page.headers["content-type"].startswith("text/html")
        assert (viewer.get("/down").status_code, viewer.get("/down").headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("app", [STARLETTE, FASTAPI], ids=["Starlette", "FastAPI"])
def test_a_hint_for_the_operator_is_in_the_log_alone(app: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Viewers run no commands. Red when the error has no generic message, or is logged from 500 on only."""
    with TestClient(app, raise_server_exceptions=False) as viewer:
        for accept in ("application/json", "text/html"):
            answer = viewer.get("/unregistered", headers={"Accept": accept})
            assert answer.status_code == 422
            assert "data-source list" not in answer.text
    assert caplog.text.count("unregistered_source: the environment does not have it; see: tenantry data-source") == 2


@pytest.mark.parametrize("app", [STARLETTE, FASTAPI], ids=["Starlette", "FastAPI"])
def test_a_websocket_is_closed_with_the_code(app: Any) -> None:
    """1008, and the error's code as the reason. Red when the handler gives a Response alone: nothing closes."""
    with TestClient(app) as viewer, viewer.websocket_connect("/live") as socket:
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_text()
        assert (closed.value.code, closed.value.reason) == (1008, "missing_variable")


def test_what_is_not_the_viewers_fault_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Errors from 500 on leave a line for the operator; the viewer's own do not."""
    with TestClient(STARLETTE, raise_server_exceptions=False) as viewer:
        viewer.get("/unfinished")
        assert not caplog.records
        viewer.get("/down")
    assert [record.name for record in caplog.records if record.name.startswith("tenantry")] == ["tenantry.dashboards"]
