"""Routes: a site at a path of a Starlette or FastAPI app, with the slash at its end and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Mount, Route

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


def site_routes(path: str, app: ASGIApp) -> list[BaseRoute]:
    """``Starlette(routes=[*site_routes("/docs", site_app("handbook")), Mount("/", rest)])``.

    A ``Mount`` alone takes ``/docs/`` and what is below, and Starlette leads ``/docs`` there only where no other route
    takes that. ``path`` begins with a slash and is more than one; else ValueError.
    """
    prefix = path.rstrip("/")
    if not prefix.startswith("/"):
        raise ValueError(f"{path!r} is not a path such as '/docs': mount a site at the root with Mount('/', app)")
    return [Route(prefix, _WithoutSlash(app), methods=None), Mount(prefix, app)]


class _WithoutSlash:
    """Calls an app as a mount at this path would, with nothing below: the site then leads to the slash."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "root_path": scope["path"]}, receive, send)
