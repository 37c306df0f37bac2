"""The way past Starlette leads to the same responses."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from tenantry.provisioning.http import FastRouter
from tests.provisioning.http.conftest import Service, make_app
from tests.provisioning.http.test_table import ACME

FIXED = {"X-Request-Id": "r1"}


class Locked(Starlette):
    """An app that nobody gets into."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the request went to the app")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path", ["/api/user", "/api/user/", "/api/user//", "/", "/healthz", "/readyz", "/openapi.json", "/oauth/introspect"]
)
async def test_the_answers_are_the_same(service: Service, method: str, path: str) -> None:
    """By status, headers and bytes. Red when an address leads to another endpoint."""
    await service.ask("GET", ACME)
    app = make_app(service.store, service.keys)
    headers = {"Authorization": f"Token {service.caller}", **FIXED}
    responses = []
    for each in (app, FastRouter(app)):
        transport = httpx2.ASGITransport(each)
        async with httpx2.AsyncClient(transport=transport, base_url="http://tenantry.test", headers=headers) as http:
            responses.append(await http.request(method, path, json=ACME))
    plain, quick = responses
    assert (quick.status_code, quick.headers, quick.content) == (plain.status_code, plain.headers, plain.content)


async def test_our_own_addresses_do_not_pass_the_app(service: Service) -> None:
    """Red when the router knows no endpoint: all it does is lost."""
    app = Locked(routes=make_app(service.store, service.keys).routes)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(FastRouter(app)), base_url="http://tenantry.test"
    ) as http:
        assert (await http.get("/healthz")).status_code == 200
        with pytest.raises(AssertionError, match="went to the app"):
            await http.get("/elsewhere")


async def test_what_is_no_request_goes_to_the_app(service: Service) -> None:
    """Its lifespan above all, which closes the store. Red when the type of the scope is not looked at."""
    app = Locked(routes=make_app(service.store, service.keys).routes)

    async def nothing(*given: Any) -> Any: ...

    for scope in ({"type": "lifespan"}, {"type": "websocket", "path": "/api/user"}):
        with pytest.raises(AssertionError, match="went to the app"):
            await FastRouter(app)(scope, nothing, nothing)
