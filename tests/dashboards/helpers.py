"""What the tests of dashboard() share: a group, and a client who is in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.testclient import TestClient

from tenantry.dashboards.endpoint import dashboard
from tenantry.groups import UserGroup
from tenantry.testing import make_group

App = Callable[[Any, Any, Any], Awaitable[None]]
GROUP = make_group(properties={"region": "<eu>", "n": 3})
HTML = {"Accept": "text/html,application/xhtml+xml"}


def client(app: App, group: UserGroup | None = GROUP, *, raises: bool = True) -> TestClient:
    """A client of the app, behind a stand-in for the middleware."""

    async def with_group(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "user_group": group}, receive, send)

    return TestClient(with_group, raise_server_exceptions=raises)


def get(
    renderer: Any, path: str = "/?q=1", *, group: UserGroup | None = GROUP, headers: Any = None, **options: Any
) -> Any:
    return client(dashboard(renderer, **options), group).get(path, headers=headers)
