from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry.dashboards import PacedSend
from tenantry.editor.requests import EditorRequest
from tenantry.errors import TenantryError, ViewerLeft
from tenantry.http import while_connected
from tenantry.middleware import ResponseCut

ASK_SECONDS: Final = 2.0
"""Seconds between two checks whether the author may still get an open response."""

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
    "X-Accel-Buffering": "no",
}

_log: Final = logging.getLogger("tenantry.editor")


def json_line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"


class Lines(Response):
    """Sends parts until the author leaves or may no longer get them, then closes ``parts``. After an error, the
    response ends early."""

    def __init__(
        self,
        asked: EditorRequest[Any],
        parts: AsyncGenerator[bytes],
        media_type: str = "application/x-ndjson",
        headers: Mapping[str, str] = HEADERS,
    ) -> None:
        super().__init__(media_type=media_type, headers=dict(headers))
        del self.headers["content-length"]
        self._asked = asked
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        paced = PacedSend()
        try:
            async with (
                while_connected(self._asked.request),
                while_allowed(self._asked),
                aclosing(self._parts) as parts,
            ):
                start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
                await paced.send(send, start)
                async for part in parts:
                    await paced.send(send, {"type": "http.response.body", "body": part, "more_body": True})
                await paced.send(send, {"type": "http.response.body", "body": b""})
        except ViewerLeft:
            pass
        except ResponseCut as cut:
            _log.info("the response to %s was cut off: %s", scope["path"], cut)
        except TenantryError as error:
            _log.warning("the response to %s was cut off: %s: %s", scope["path"], error.code, error)


@asynccontextmanager
async def while_allowed(asked: EditorRequest[Any]) -> AsyncIterator[None]:
    """Cancels the block, and raises ResponseCut, when the author may no longer get the response."""
    limit = asyncio.timeout(None)

    async def watch() -> None:
        is_allowed = True
        while is_allowed:
            await asyncio.sleep(ASK_SECONDS)
            is_allowed = await asked.is_still_allowed()
        limit.reschedule(0.0)

    try:
        async with limit:
            watching = asyncio.create_task(watch(), name="tenantry.editor")
            try:
                yield
            finally:
                watching.cancel()
    except TimeoutError:
        if not limit.expired():
            raise
        raise ResponseCut("the author has logged out, or the author's rights have changed") from None
