"""Pages opened inside this process, so that whoever opens one first does not wait for what is made only once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

_SEE_OTHER = 303


async def open_page(app: ASGIApp, url: str) -> int:
    """GET, as a browser does it: a redirect is followed with the cookie that came with it. Returns the last status."""
    status, headers = await _get(app, url, [])
    if status != _SEE_OTHER:
        return status
    cookie = headers.get(b"set-cookie", b"").partition(b";")[0]
    status, _ = await _get(app, headers[b"location"].decode(), [(b"cookie", cookie)])
    return status


async def _get(app: ASGIApp, url: str, headers: list[tuple[bytes, bytes]]) -> tuple[int, dict[bytes, bytes]]:
    """Status and headers of one answer; its body is thrown away."""
    parts = urlsplit(url)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": parts.scheme or "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", (parts.netloc or "127.0.0.1").encode()), *headers],
        "client": None,
        "server": None,
    }
    start: dict[str, Any] = {}
    asked = False

    async def receive() -> Message:
        nonlocal asked
        message = {"type": "http.disconnect"} if asked else {"type": "http.request", "body": b"", "more_body": False}
        asked = True
        return message

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)

    await app(scope, receive, send)
    return start["status"], dict(start["headers"])
