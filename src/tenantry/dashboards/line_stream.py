"""LineStream: an answer in lines of JSON (NDJSON), each sent as soon as it is there. The token is watched meanwhile."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry.accessors import GROUP_CHANGED, LAST_PART_KEY
from tenantry.dashboards.live import CHANGED
from tenantry.dashboards.panel_lines import line
from tenantry.errors import ViewerLeft
from tenantry.middleware.long_responses import ResponseCut
from tenantry.viewers import while_connected

MEDIA_TYPE: Final = "application/x-ndjson"


class LineStream(Response):
    """The response to ``request``, whose body has been read."""

    def __init__(self, request: Request) -> None:
        headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store", "X-Accel-Buffering": "no"}
        super().__init__(media_type=MEDIA_TYPE, headers=headers)
        del self.headers["content-length"]
        self._request = request

    def lines(self) -> AsyncGenerator[bytes]:
        """What is sent."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the lines. Returns early when the viewer leaves, and when the middleware ends it: to the app it is the
        same."""
        with suppress(ViewerLeft, ResponseCut):
            async with while_connected(self._request), aclosing(self.lines()) as lines:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                # A part without a byte: from here on the token is watched, also while the first panel is waited for.
                await send(_part(b"") | {LAST_PART_KEY: _last_line})
                async for each in lines:
                    await send(_part(each))
                await send({"type": "http.response.body", "body": b""})


def _last_line(reason: str) -> bytes:
    return line(CHANGED if reason == GROUP_CHANGED else {"token": "ended"})


def _part(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}
