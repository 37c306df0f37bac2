"""Routes: which file of the finished site an address means, and a site at a path of a Starlette or FastAPI app.

All of it is looked up in the set of files that there are, so that no spelling of an address reaches anything else.
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


@dataclass(frozen=True, slots=True)
class FileMatch:
    """``path`` is the file."""

    path: str


@dataclass(frozen=True, slots=True)
class RedirectMatch:
    """``location`` is where to go instead: relative to the address, so that it holds under any mount and any proxy."""

    location: str


def match(address: str, has: Callable[[str], bool]) -> FileMatch | RedirectMatch | None:
    """``address`` is what follows the site's root, without percent signs: ``guides/start``; ``has`` knows the files.

    ``guides/start`` is the page, ``guides/start.html`` too. ``guides/start/`` leads to it, and a folder's ``index`` is
    at the folder's address with the slash, where its relative links hold.
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
    """The address of ``target`` (both from the site's root) as seen from ``address``; never one of another host."""
    return (to_root(address) or "./") + quote(target)


def to_root(address: str) -> str:
    """What leads from an address to the site's root: ``../`` for each folder, or nothing."""
    return "../" * address.count("/")


def as_location(text: str) -> str:
    """An address that an author wrote, fit for a header: printable ASCII."""
    return quote(text, safe="/@:+,;=!$&'()*~?#%[]")
