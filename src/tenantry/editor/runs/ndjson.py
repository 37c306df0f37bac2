"""Responses of JSON lines (NDJSON)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry.dashboards import PacedSend
from tenantry.errors import ViewerLeft
from tenantry.http import while_connected
from tenantry.middleware import ResponseCut

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
    "X-Accel-Buffering": "no",
}


def json_line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"


class Lines(Response):
    """Sends parts until the author leaves; then ``parts`` is closed. The body of ``request`` must have been read."""

    def __init__(
        self,
        request: Request,
        parts: AsyncGenerator[bytes],
        media_type: str = "application/x-ndjson",
        headers: Mapping[str, str] = HEADERS,
    ) -> None:
        super().__init__(media_type=media_type, headers=dict(headers))
        del self.headers["content-length"]
        self._request = request
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        paced = PacedSend()
        with suppress(ViewerLeft, ResponseCut):
            async with while_connected(self._request), aclosing(self._parts) as parts:
                start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
                await paced.send(send, start)
                async for part in parts:
                    await paced.send(send, {"type": "http.response.body", "body": part, "more_body": True})
                await paced.send(send, {"type": "http.response.body", "body": b""})
