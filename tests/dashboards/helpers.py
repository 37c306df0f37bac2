"""What the tests of dashboard() share: a group, and a client who is in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.testclient import TestClient

from tenantry.dashboards.endpoint import dashboard
from tenantry.groups import UserGroup
from tenantry.resolver import Resolver
from tenantry.testing import make_group
from tests.dashboards import mounts
from tests.resolver.fake import KEYS, FakeBackend

App = Callable[[Any, Any, Any], Awaitable[None]]
GROUP = make_group(properties={"region": "<eu>", "n": 3})
HTML = {"Accept": "text/html,application/xhtml+xml"}


def client(app: App, group: UserGroup | None = GROUP, *, raises: bool = True) -> TestClient:
    """A client of the app in the mount of the test, behind a stand-in for the middleware that finds the group."""
    mounted = mounts.current.around(app, Resolver(FakeBackend(), keys=KEYS))

    async def with_group(scope: Any, receive: Any, send: Any) -> None:
        await mounted({**scope, "user_group": group}, receive, send)

    base_url = f"http://testserver{mounts.current.prefix}"
    return TestClient(with_group, base_url=base_url, raise_server_exceptions=raises)


def get(
    renderer: Any, path: str = "/?q=1", *, group: UserGroup | None = GROUP, headers: Any = None, **options: Any
) -> Any:
    return client(dashboard(renderer, **options), group).get(path, headers=headers)
