"""Calling an ASGI app by hand: what is in its scope, what it sends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenantry.middleware import UserGroupMiddleware
from tenantry.resolver import Resolver
from tests.resolver.fake import KEYS, FakeBackend

Headers = Sequence[tuple[bytes, bytes]]


def http(path: str = "/", query: bytes = b"", headers: Headers = (), **more: Any) -> dict[str, Any]:
    return {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": query, "headers": list(headers), **more,
    }  # fmt: skip


@dataclass
class Page:
    """An app that keeps the scope it was called with and sends the headers it was given."""

    headers: Headers = ()
    scope: dict[str, Any] | None = None
    error: Exception | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        if self.error is not None:
            raise self.error
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": b"ok"})


@dataclass
class World:
    """A middleware before a page, with a backend that counts."""

    settings: dict[str, Any] = field(default_factory=dict)
    page: Any = field(default_factory=Page)
    backend: FakeBackend = field(default_factory=FakeBackend)

    def __post_init__(self) -> None:
        self.resolver = Resolver(self.backend, keys=KEYS, staleness=60)
        self.app = UserGroupMiddleware(self.page, resolver=self.resolver, **self.settings)

    async def call(self, scope: dict[str, Any]) -> list[dict[str, Any]]:
        return await call(self.app, scope)


async def call(app: Callable[..., Any], scope: dict[str, Any]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


def values(sent: list[dict[str, Any]], name: bytes) -> list[bytes]:
    return [value for key, value in sent[0]["headers"] if key == name]
