"""Routes of an app that a leak check requests or misses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.routing import BaseRoute, Match, Mount, Route

from tenantry.testing.requests import Call


def own_routes(app: Any) -> tuple[BaseRoute, ...]:
    """Routes of a Starlette or FastAPI app, also inside middleware; else empty."""
    while app is not None:
        routes = getattr(app, "routes", None)
        if routes is not None:
            return tuple(routes)
        app = getattr(app, "app", None)
    return ()


def plain_paths(routes: Iterable[BaseRoute]) -> list[str]:
    return [path for path, route in _flat(routes) if "{" not in path and "GET" in (route.methods or {"GET"})]


def missed(routes: Iterable[BaseRoute], calls: Iterable[Call]) -> list[str]:
    """Routes not reached by these requests, such as ``GET /d/{handle}/``. Routes of other mounted apps are unknown."""
    given = list(calls)
    return [
        f"{method} {path}"
        for path, route in _flat(routes)
        for method in sorted(route.methods or {"GET"})
        if method != "HEAD" and not any(call.method == method and _matches(path, route, call) for call in given)
    ]


def matched(routes: Iterable[BaseRoute], call: Call) -> str:
    """The path pattern of the route a request reaches, or an empty string."""
    return next((path for path, route in _flat(routes) if _matches(path, route, call)), "")


def _flat(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, Route]]:
    for route in routes:
        if isinstance(route, Mount):
            yield from _flat(route.routes or (), prefix + route.path)
        elif isinstance(route, Route):
            yield prefix + route.path, route


def _matches(path: str, route: Route, call: Call) -> bool:
    prefix = path.removesuffix(route.path)
    asked = unquote(urlsplit(call.path).path)
    if not asked.startswith(prefix):
        return False
    scope = {"type": "http", "method": call.method, "path": asked.removeprefix(prefix), "root_path": "", "headers": []}
    return route.matches(scope)[0] is Match.FULL
