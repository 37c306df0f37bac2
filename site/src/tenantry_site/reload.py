"""Live reload: a script on each page listens for server-sent events and reloads the page when its version changes."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from tenantry_site.templating import render_template

if TYPE_CHECKING:
    from starlette.types import Receive, Send

ROUTE = "_reload"
"""The path of the event stream, relative to the site's root."""

FILES = {
    "_reload.css": "reload.css",
    "_reload.js": "reload.js",
    "_tokens.css": "bundles/tokens.css",
}
"""Path from the site's root -> the file in ``static/`` that is served there."""

LISTENERS = 64
"""Maximum number of open streams; each occupies a connection."""

LIFE_SECONDS: Final = 30.0
"""After this many seconds a stream ends and the browser reconnects, so that a server that waits for open responses can
stop."""

_TICK_SECONDS: Final = 0.3
_BEAT_TICKS: Final = 15

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # keeps nginx from buffering the events
    (b"x-content-type-options", b"nosniff"),
]
_FULL = b"Too many pages listen for changes already.\n"


def script_tag(root: str, page: str, version: str) -> Markup:
    """The script element that reloads a page.

    ``root``: relative path from the page to the site's root (``../``); ``page``: the page's name in the stream's
    query; ``version``: the version of the page that this HTML shows.
    """
    return render_template("app/reload", root=root, route=ROUTE, page=page, version=version)


@cache
def static_file(path: str) -> bytes:
    """The contents of one of ``FILES``, by its path from the site's root."""
    return (files("tenantry_site") / "static" / FILES[path]).read_bytes()


class ReloadStream:
    """Sends the versions of pages to browsers, as server-sent events.

    ``version(page)`` returns a page's newest version. It must be cheap: each stream calls it about three times a
    second.
    """

    def __init__(self, version: Callable[[str], Awaitable[str]], *, life: float = LIFE_SECONDS) -> None:
        self._version = version
        self._life = life
        self._listeners = 0
        self._closed = False

    def close(self) -> None:
        """End all streams at their next tick."""
        self._closed = True

    async def __call__(self, page: str, receive: Receive, send: Send) -> None:
        """Answer one GET request with the stream of a page's versions, or with 503 if ``LISTENERS`` streams are open.

        The stream ends when the client disconnects, the server stops, or its lifetime is over.
        """
        if self._listeners >= LISTENERS:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"retry-after", b"5")]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": _FULL})
            return
        self._listeners += 1
        gone = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._send_versions(page, gone, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:  # the reader disconnected during a write
            pass
        finally:
            self._listeners -= 1
            gone.cancel()

    async def _send_versions(self, page: str, gone: asyncio.Task[None], send: Send) -> None:
        async def write(text: str) -> None:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        await write("retry: 500\n\n")
        sent, ticks = None, 0
        ends = asyncio.get_running_loop().time() + self._life
        while not (self._closed or gone.done() or _server_stops()) and asyncio.get_running_loop().time() < ends:
            newest = await self._version(page)
            if newest != sent:
                await write(f"event: version\ndata: {newest}\n\n")
                sent = newest
            elif ticks % _BEAT_TICKS == 0:
                await write(": still here\n\n")  # a write fails if the reader behind a proxy has disconnected
            ticks += 1
            await asyncio.wait({gone}, timeout=_TICK_SECONDS)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _server_stops() -> bool:
    """Whether uvicorn is stopping.

    Uvicorn waits for open responses but does not tell applications that it is stopping. So its ``should_exit`` flag is
    read, through the signal handler that uvicorn installs. Under other servers the stream ends after ``LIFE_SECONDS``.
    """
    handler = signal.getsignal(signal.SIGINT)
    return bool(getattr(getattr(handler, "__self__", None), "should_exit", False))
