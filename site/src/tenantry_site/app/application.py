"""The ASGI app that serves a site. In live mode its pages show diagnostics to the author."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.datastructures import Headers

from tenantry_site.app.cache import ServedSite, SiteCache
from tenantry_site.app.responses import (
    FOREVER,
    FRESH,
    ResponseSender,
    SiteResponse,
    etag_of,
    media_type,
    prefers_markdown,
    send_file,
)
from tenantry_site.app.routes import FileMatch, RedirectMatch, match, relative, to_root
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.options import SiteOptions
from tenantry_site.relay.request import SCOPE_KEY
from tenantry_site.reload import FILES, ROUTE, ReloadStream, script_tag, static_file
from tenantry_site.templating import render_template
from tenantry_site.theme import csp

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_SHOWN = 50
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def author_notes(diagnostics: Iterable[Diagnostic], source: str) -> Markup:
    """The errors and warnings as a collapsed list for the foot of a page; empty without errors and warnings.
    Diagnostics about ``source``, the page's file, come first."""
    found = [each for each in diagnostics if each.severity is not Severity.INFO]
    found.sort(key=lambda each: (each.path != source, _ORDER[each.severity]))
    if not found:
        return Markup()
    here = sum(each.path == source for each in found) if source else 0
    return render_template("app/author_notes", count=len(found), here=here, **_items(found))


def error_page(diagnostics: Iterable[Diagnostic], root: str, script: Markup) -> bytes:
    """The page of diagnostics to show if the site cannot be rendered. ``root``: relative path to the site's root."""
    found = sorted(diagnostics, key=lambda each: _ORDER[each.severity])
    return render_template("app/author_page", root=root, script=script, **_items(found)).encode()


def _items(diagnostics: Sequence[Diagnostic]) -> dict[str, object]:
    shown = [
        (each, ":".join([each.path or "the site", *(str(number) for number in (each.line, each.column) if number)]))
        for each in diagnostics[:_SHOWN]
    ]
    return {"items": shown, "more": len(diagnostics) - len(shown)}


RELAY = "_relay"
"""The path of the relay, relative to the site's root."""

_HEADERS: Final = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
_PICTURE: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"}
"""The policy of an SVG: if a browser opens it as a page, no code in it runs."""
_HASHED: Final = re.compile(r"\.[0-9a-f]{8,64}\.(?:css|js|json|svg|png|txt)$")
_POLICY: Final = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_POLICY_WITHIN: Final = 2_000
"""Number of bytes at the beginning of a page in which its policy is searched for."""
_MAX_DEPTH: Final = 16
"""Maximum number of slashes in an address that gets the site's 404 page; deeper addresses get plain text."""


def site_app(
    folder: str | os.PathLike[str],
    *,
    options: SiteOptions = SiteOptions(),  # noqa: B008  # frozen
    relay: ASGIApp | None = None,
    live: bool = False,
) -> ASGIApp:
    """An ASGI app that serves the site in ``folder``: ``Mount("/docs", site_app("docs"))``.

    The site is built at the first request. ``live`` is for the author of a site, not for readers: when the folder
    changes, the site is built again and open pages reload themselves; pages show diagnostics. ``relay``: an app
    (``tenantry_site.relay.Relay``) that is mounted at ``_relay`` and sends the playground's requests.
    """
    return SiteApp(folder, options, relay, live=live)


class SiteApp:
    """The ASGI app of one site. Invalid files in the site's folder give diagnostics, not errors."""

    def __init__(
        self, folder: str | os.PathLike[str], options: SiteOptions, relay: ASGIApp | None, *, live: bool
    ) -> None:
        self._options = replace(options, relay=RELAY) if relay is not None else options
        self._relay = relay
        self._live = live
        self._cache = SiteCache(folder, self._options, live=live)
        self._stream = ReloadStream(self._version)
        policy = csp(self._options, header=True)
        self._sender = ResponseSender(_HEADERS | {"Content-Security-Policy": policy})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                self._stream.close()
                await send({"type": "lifespan.shutdown.complete"})
                return
            await send({"type": "lifespan.startup.complete"})

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = _below_mount(scope)
        address = path.removeprefix("/")
        if self._relay is not None and address == RELAY:
            headers = (await self._cache.current()).request_headers
            await self._relay({**scope, SCOPE_KEY: headers}, receive, send)
        elif scope["method"] not in {"GET", "HEAD"}:
            await self._send_text(405, "Only GET and HEAD are allowed.", scope, send, {"Allow": "GET, HEAD"})
        elif not path:  # at /docs, without the final slash, relative links would resolve against the folder above
            last = scope.get("root_path", "").rpartition("/")[2]
            await self._redirect(relative("", f"{last}/"), scope, send)
        elif self._live and address == ROUTE and scope["method"] == "GET":
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            await self._stream(query.get("page", [""])[0], receive, send)
        elif self._live and address in FILES:
            await self._sender.send(SiteResponse(static_file(address), media_type(address)), scope, send)
        else:
            served = await self._cache.current()
            found = _match(address, served)
            if isinstance(found, RedirectMatch):
                await self._redirect(found.location, scope, send)
            elif found is not None and found.path in served.files:
                path = found.path
                if prefers_markdown(Headers(scope=scope).get("accept", "")) and path.endswith(".html"):
                    text = f"{path.removesuffix('.html')}.md"
                    path = text if text in served.files else path
                await self._sender.send(self._page(address, path, served), scope, send)
            elif found is None or not await self._file(found.path, served, scope, send):
                await self._sender.send(self._not_found(address, served), scope, send)

    async def _file(self, path: str, served: ServedSite, scope: Scope, send: Send) -> bool:
        kind = media_type(path)
        response = SiteResponse(b"", kind, headers=_PICTURE if kind == "image/svg+xml" else {})
        return await send_file(served.assets[path], response, self._sender, scope, send)

    def _page(self, address: str, path: str, served: ServedSite) -> SiteResponse:
        content = served.files[path]
        kind = media_type(path)
        if not kind.startswith("text/html"):
            return SiteResponse(content, kind, cache=FOREVER if _HASHED.search(path) else FRESH)
        return self._html(content, 200, address, path.removesuffix(".html"), served)

    def _not_found(self, address: str, served: ServedSite) -> SiteResponse:
        """The response for an address without a file, or for any address if the site cannot be rendered."""
        if address.count("/") > _MAX_DEPTH:  # the theme renders and caches one layout per depth
            return SiteResponse(b"There is no such page.\n", "text/plain; charset=utf-8", 404)
        up = to_root(address)
        if served.ready:
            return self._html(served.site.not_found(up).encode("utf-8", "replace"), 404, address, "", served)
        if not self._live:
            return SiteResponse(b"This site cannot be shown now.\n", "text/plain; charset=utf-8", 503)
        version = etag_of(repr(served.diagnostics).encode())
        content = error_page(served.diagnostics, up, script_tag(up, address, version))
        return SiteResponse(content, "text/html; charset=utf-8", 503, tag=version)

    def _html(self, content: bytes, status: int, address: str, page: str, served: ServedSite) -> SiteResponse:
        tag = ""
        if self._live:
            notes = author_notes(served.diagnostics, served.site.source(page)).encode()
            tag = etag_of(b"\0".join((content, notes, served.assets_hash.encode())))
            head, end, rest = content.rpartition(b"</body>")
            content = head + notes + script_tag(to_root(address), address, tag).encode() + end + rest
        return SiteResponse(content, "text/html; charset=utf-8", status, tag=tag, headers=_policy(content))

    async def _version(self, address: str) -> str:
        """The entity tag of the page at an address, which changes with the page."""
        served = await self._cache.current()
        found = _match(address, served)
        if isinstance(found, FileMatch) and found.path in served.files:
            return self._page(address, found.path, served).tag
        return self._not_found(address, served).tag

    async def _redirect(self, location: str, scope: Scope, send: Send) -> None:
        query = scope.get("query_string", b"").decode("latin-1")
        if query and "?" not in location and query.isascii() and query.isprintable():
            path, hash_mark, fragment = location.partition("#")
            location = f"{path}?{query}{hash_mark}{fragment}"
        await self._send_text(308, f"Moved to {location}", scope, send, {"Location": location})

    async def _send_text(self, status: int, text: str, scope: Scope, send: Send, headers: dict[str, str]) -> None:
        headers = {"Content-Security-Policy": "default-src 'none'"} | headers
        response = SiteResponse(f"{text}\n".encode(), "text/plain; charset=utf-8", status, headers=headers)
        await self._sender.send(response, scope, send)


def _match(address: str, served: ServedSite) -> FileMatch | RedirectMatch | None:
    """The file or redirect for an address, or None. Only a redirect in the configuration file can lead to another
    host."""
    if not served.ready:
        return None
    found = match(address, served.has)
    moved = served.site.redirect(address) if found is None else None
    return found if moved is None else RedirectMatch(moved.url or relative(address, _clean(moved.path)) + moved.tail)


def _policy(page: bytes) -> dict[str, str]:
    """A header with the policy from the page's ``meta`` element, plus ``frame-ancestors``, which works only in a
    header."""
    found = _POLICY.search(page, 0, _POLICY_WITHIN)
    return {"Content-Security-Policy": f"{unescape(found[1].decode())}; frame-ancestors 'self'"} if found else {}


def _below_mount(scope: Scope) -> str:
    """The request's path relative to the mount: ``/guides/start``; empty for the mount's own path without a slash."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "").rstrip("/")
    if root and (path == root or path.startswith(f"{root}/")):
        return path[len(root) :]
    return path or "/"


def _clean(path: str) -> str:
    """The address of a page; for an ``index`` page, its folder's address."""
    return path.removesuffix("index") if path == "index" or path.endswith("/index") else path
