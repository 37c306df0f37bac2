"""Maps addresses to the files of a site, and mounts a site in a Starlette or FastAPI app.

An address is only looked up among the paths of the site's files, so no spelling of an address reaches other files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.routing import BaseRoute, Mount, Route

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


def site_routes(path: str, app: ASGIApp) -> list[BaseRoute]:
    """Routes that serve a site at a path: ``Starlette(routes=[*site_routes("/docs", site_app("handbook")), …])``.

    ``Mount`` matches ``/docs/`` and deeper paths but not ``/docs`` itself; Starlette redirects ``/docs`` only if no
    other route matches it. Raises ValueError if ``path`` does not begin with a slash, or is only slashes.
    """
    prefix = path.rstrip("/")
    if not prefix.startswith("/"):
        raise ValueError(f"{path!r} is not a path such as '/docs': mount a site at the root with Mount('/', app)")
    return [Route(prefix, _WithoutSlash(app), methods=None), Mount(prefix, app)]


class _WithoutSlash:
    """Passes a request for the mount's path without a final slash to the site, which redirects to the path with the
    slash."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "root_path": scope["path"]}, receive, send)


@dataclass(frozen=True, slots=True)
class FileMatch:
    """An address that belongs to the file at ``path``."""

    path: str


@dataclass(frozen=True, slots=True)
class RedirectMatch:
    """An address that redirects to ``location``. An external ``location`` is absolute; any other is relative to the
    request's address, so that it works under any mount and proxy."""

    location: str


def match(address: str, has: Callable[[str], bool]) -> FileMatch | RedirectMatch | None:
    """The file or redirect for an address, or None.

    ``address``: path from the site's root, percent-decoded; ``has``: whether a file exists. ``guides/start`` and
    ``guides/start.html`` are the same page; ``guides/start/`` redirects to it. A folder's ``index`` page is at the
    folder's address with a final slash, against which its relative links resolve.
    """
    if "//" in address:
        return None
    if not address or address.endswith("/"):
        bare = address.rstrip("/")
        if has(f"{address}index.html"):
            return FileMatch(f"{address}index.html")
        return RedirectMatch(relative(address, bare)) if bare and has(f"{bare}.html") else None
    if has(address):
        return FileMatch(address)
    if has(f"{address}.html"):
        return FileMatch(f"{address}.html")
    if has(f"{address}/index.html"):
        return RedirectMatch(relative(address, f"{address}/"))
    return None


def relative(address: str, target: str) -> str:
    """The address of ``target`` relative to ``address``; both are paths from the site's root. It begins with a dot, so
    it cannot lead to another host."""
    return (to_root(address) or "./") + quote(target)


def to_root(address: str) -> str:
    return "../" * address.count("/")
