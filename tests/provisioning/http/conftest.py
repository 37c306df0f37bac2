"""A whole service in memory: an environment of each tag, callers, and the app."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Environment, Scope, Tag
from tenantry.provisioning import issue_api_token
from tenantry.provisioning.http import create_api, not_found, openapi_document
from tenantry.tokens import KeyRing, SigningKey

JSON_TYPE = {"Content-Type": "application/json"}


def make_keys(*ids: str) -> KeyRing:
    return KeyRing([SigningKey(key_id, key_id.encode() * 32) for key_id in ids or ("k1",)])


def make_app(store: Any, keys: KeyRing, **options: Any) -> Starlette:
    """With more patience for a store than users have by default: a busy machine must not fail what is about something
    else."""
    options = {"store_seconds": 20.0, **options}
    app = Starlette(routes=[*create_api(store, keys, **options)], exception_handlers={404: not_found})
    app.router.redirect_slashes = False
    return app


async def make_caller(store: MemoryStore, environment: Environment, *scopes: Scope) -> str:
    secret, _ = await issue_api_token(store.api_tokens, environment, scopes=scopes or [Scope.PROVISION])
    return secret


@dataclass
class Service:
    """The app over ASGI; ``ask`` sends a JSON value, ``send`` sends bytes."""

    store: MemoryStore
    keys: KeyRing
    production: Environment
    testing: Environment
    caller: str
    tester: str
    reader: str
    http: httpx2.AsyncClient

    async def ask(self, method: str, body: Any, *, caller: str | None = None, **headers: str) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.send(
            method, json.dumps(body, ensure_ascii=False).encode(), {**JSON_TYPE, **named}, caller=caller
        )

    async def send(
        self, method: str, body: bytes, headers: dict[str, str], *, caller: str | None = None, path: str = "/api/user"
    ) -> httpx2.Response:
        authorization = {"Authorization": f"Token {caller or self.caller}"}
        answer = await self.http.request(method, path, content=body, headers={**authorization, **headers})
        assert_documented(answer)
        return answer


_DOCUMENT = openapi_document("3.2")


def assert_documented(answer: httpx2.Response) -> None:
    """Each error that any test meets is listed for its operation, with its code and the headers that matter. So a code
    that the document forgets makes some test red."""
    operation = _DOCUMENT["paths"].get(answer.request.url.path.rstrip("/"), {}).get(answer.request.method.lower())
    if operation is None or answer.status_code < 400:
        return
    name = operation["responses"][str(answer.status_code)]["$ref"].removeprefix("#/components/responses/")
    listed = _DOCUMENT["components"]["responses"][name]
    document = answer.json()
    code = document["code"] if isinstance(document["error"], str) else document["error"]["code"]
    assert code in listed["content"]["application/json"]["examples"]
    for header in ("Retry-After", "WWW-Authenticate"):
        assert header not in answer.headers or header in listed["headers"]


async def make_service(store: Any = None, keys: KeyRing | None = None, **options: Any) -> Service:
    """``options``: of ``create_api``."""
    store, keys = store or MemoryStore(), keys or make_keys()
    production = await store.environments.create("production", Tag.CUSTOMER)
    testing = await store.environments.create("testing", Tag.TESTING, external_data_sources=True)
    return Service(
        store,
        keys,
        production,
        testing,
        await make_caller(store, production),
        await make_caller(store, testing),
        await make_caller(store, production, Scope.INTROSPECT),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(make_app(store, keys, **options)), base_url="http://tenantry.test"
        ),
    )


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    made = await make_service()
    async with made.http:
        yield made
