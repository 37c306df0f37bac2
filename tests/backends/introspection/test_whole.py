"""The whole of it: an app with the middleware, a resolver, IntrospectionBackend, and uvicorn with the store."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from engines.ports import free_port
from tenantry import Resolver, UserGroupMiddleware, user_group
from tenantry.backends.introspection import IntrospectionBackend
from tenantry.errors import StoreUnavailable
from tenantry.groups import Tag
from tenantry.testing import FrozenClock
from tenantry.tokens import mint_api_token
from tests.backends.introspection.conftest import listening, make_issued, rotate
from tests.provisioning.http.conftest import Service, make_app

X = 3600.0


async def page(request: Request) -> PlainTextResponse:
    group = user_group(request)
    return PlainTextResponse(f"{group.name} {group.token_version}")


@dataclass
class App:
    """A dashboard app that shares no database with the server at ``url``. Its clock does not move until it is moved."""

    backend: IntrospectionBackend
    resolver: Resolver
    clock: FrozenClock
    http: httpx2.AsyncClient

    async def get(self, token: str) -> tuple[int, str]:
        async with asyncio.timeout(120):
            answer = await self.http.get("/", headers={"USER_GROUP_TOKEN": token})
        return answer.status_code, answer.text if answer.status_code == 200 else answer.json()["error"]["code"]


def make_dashboard(url: str, service: Service, *, api_token: str = "", timeout: float = 20.0) -> App:
    clock = FrozenClock()
    backend = IntrospectionBackend(url, api_token=api_token or service.reader, keys=service.keys, timeout=timeout)
    resolver = Resolver(backend, keys=service.keys, staleness=X, patience=30, clock=clock.monotonic)
    inner = Starlette(routes=[Route("/", page)])
    transport = httpx2.ASGITransport(UserGroupMiddleware(inner, resolver=resolver))
    return App(backend, resolver, clock, httpx2.AsyncClient(transport=transport, base_url="http://app.test"))


@pytest.fixture
async def app(service: Service) -> AsyncIterator[App]:
    async with listening(make_app(service.store, service.keys)) as url:
        made = make_dashboard(url, service)
        yield made
        await close(made)


async def close(app: App) -> None:
    await app.http.aclose()
    await app.resolver.aclose()
    await app.backend.aclose()


async def test_a_rotated_token_is_refused_within_x(service: Service, app: App) -> None:
    """Asked once, then answered from memory; X after the question it is asked again and refused. The new token works
    at once, and its version is proof enough that the old one is dead.

    Red when an answer is used for longer than X."""
    issued, old = await make_issued(service)
    assert [await app.get(old) for _ in range(3)] == [(200, "Acme 1")] * 3
    assert app.resolver.counters.loads == 1
    _, new = await rotate(service, issued)
    app.clock.advance(X - 0.01)
    assert (await app.get(old))[0] == 200
    app.clock.advance(0.01)
    assert await app.get(old) == (401, "invalid_token")
    assert await app.get(new) == (200, "Acme 2")


async def test_a_new_token_ends_the_old_one(service: Service, app: App) -> None:
    """A version that is ahead of what is remembered makes the app ask, and what is behind it is dead from then on."""
    issued, old = await make_issued(service)
    assert (await app.get(old))[0] == 200
    _, new = await rotate(service, issued)
    assert await app.get(new) == (200, "Acme 2")
    assert await app.get(old) == (401, "invalid_token")


async def test_a_grace_that_ends_before_x(service: Service, app: App) -> None:
    """An old token in its grace is remembered for what is left of it and not for X.

    Red when the resolver does not look at ``LookupResult.seconds``."""
    issued, old = await make_issued(service)
    await rotate(service, issued, grace_seconds=600)
    assert await app.get(old) == (200, "Acme 2")
    app.clock.advance(600)  # the app's clock alone: the server would still accept it
    loads = app.resolver.counters.loads
    assert await app.get(old) == (200, "Acme 2")
    assert app.resolver.counters.loads == loads + 1


async def test_a_server_that_goes_and_comes_back(service: Service) -> None:
    """503 while nobody listens, for tokens that are not remembered and for those that were, X later; 200 again at the
    first question after it is back, over the same backend. Nothing of the failure is remembered."""
    issued, token = await make_issued(service)
    server = make_app(service.store, service.keys)
    async with listening(server, port := free_port()) as url:  # no port that another program gets meanwhile
        app = make_dashboard(url, service)
        assert (await app.get(token))[0] == 200
    assert (await app.get(token))[0] == 200  # within X
    app.clock.advance(X)
    assert await app.get(token) == (503, "store_unavailable")
    other = service.keys.mint((await make_issued(service, provided_id="other"))[0].token)
    assert await app.get(other) == (503, "store_unavailable")
    _, new = await rotate(service, issued)
    async with listening(server, port):
        assert await app.get(other) == (200, "Acme 1")
        assert await app.get(token) == (401, "invalid_token")
        assert await app.get(new) == (200, "Acme 2")
        await close(app)


async def test_a_server_that_takes_the_question_and_is_silent(service: Service) -> None:
    """503 when its time is over. Red without the deadline: the test does not end within its 30 seconds."""
    _, token = await make_issued(service)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app = make_dashboard(f"http://127.0.0.1:{silent.getsockname()[1]}/oauth/introspect", service, timeout=0.2)
        assert await app.get(token) == (503, "store_unavailable")
        await close(app)


async def test_a_store_that_is_down_behind_the_server(
    service: Service, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its 503 is a 503 here, not a dead token, and is not remembered."""

    async def down(*given: object, **named: object) -> None:
        raise StoreUnavailable("down")

    _, token = await make_issued(service)
    with monkeypatch.context() as broken:
        broken.setattr(service.store, "read_at_snapshot", down)
        assert await app.get(token) == (503, "store_unavailable")
    assert (await app.get(token))[0] == 200


async def test_other_environments_stay_outside(service: Service, app: App) -> None:
    """The API token has one environment: groups of others are unknown here."""
    _, token = await make_issued(service, service.testing)
    assert await app.get(token) == (401, "invalid_token")


async def test_many_viewers_are_one_question(service: Service, app: App) -> None:
    """Fifty requests at once for one token: one read."""
    _, token = await make_issued(service)
    assert await asyncio.gather(*(app.get(token) for _ in range(50))) == [(200, "Acme 1")] * 50
    assert app.resolver.counters.loads == 1


async def test_no_secret_in_any_log(service: Service, app: App, caplog: pytest.LogCaptureFixture) -> None:
    """Of app, client library and server, at every level, when all goes well and when the API token is wrong; and the
    log names the setting that is."""
    with caplog.at_level(logging.DEBUG):
        issued, token = await make_issued(service, properties={"a": "canary-property"})
        assert (await app.get(token))[0] == 200
        _, new = await rotate(service, issued)
        url = repr(app.backend).split()[1].rstrip(">")
        unknown = mint_api_token(Tag.CUSTOMER, secrets.token_bytes)
        for api_token in (service.caller, unknown):
            wrong = make_dashboard(url, service, api_token=api_token)
            assert await wrong.get(new) == (503, "store_unavailable")
            await close(wrong)
    logged = "\n".join(repr(vars(record)) + record.getMessage() for record in caplog.records)
    assert "api_token must be a live API token with the scope introspect" in logged
    for secret in (token, new, service.reader, service.caller, unknown, "canary-property"):
        assert secret not in logged
