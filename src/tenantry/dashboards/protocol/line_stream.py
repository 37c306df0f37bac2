from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry.dashboards.protocol.answer_budget import OpenAnswer, answer_budget
from tenantry.dashboards.protocol.panel_lines import line
from tenantry.errors import ViewerLeft
from tenantry.http import GROUP_CHANGED, LAST_PART_KEY, user_group, while_connected
from tenantry.middleware import ResponseCut

MEDIA_TYPE: Final = "application/x-ndjson"

KEEP_ALIVE: Final = b"\n"
"""An empty line."""
RESTART: Final[Mapping[str, str]] = {"group": "changed"}
"""The last message of a response that ends because its group or data source changed. The page then loads everything
again."""

Line: TypeAlias = bytes | deque[bytes]
"""A line, or the pieces of a long one. Each piece is removed when it is sent."""


class LineStream(Response):
    """A response of JSON lines (NDJSON). Lines are sent as soon as they are ready, until the token is no longer valid.
    The body of ``request`` must have been read."""

    def __init__(self, request: Request) -> None:
        headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store", "X-Accel-Buffering": "no"}
        super().__init__(media_type=MEDIA_TYPE, headers=headers)
        del self.headers["content-length"]
        self._request = request

    def lines(self, answer: OpenAnswer) -> AsyncGenerator[Line]:
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send lines until the viewer leaves or is too slow, or the middleware ends the response. Raises AnswersUnread
        only before it sends anything."""
        with suppress(ViewerLeft, ResponseCut):
            async with (
                while_connected(self._request),
                answer_budget().open(user_group(self._request)) as answer,
                aclosing(self.lines(answer)) as lines,
            ):
                paced = answer.paced(send)
                await paced({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                # Send an empty part, so that the middleware watches the token before the first panel is ready.
                await paced(_part(b""))
                async for each in lines:
                    pieces = deque((each,)) if isinstance(each, bytes) else each
                    while pieces:
                        await paced(_part(pieces.popleft(), is_whole=not pieces))
                await paced({"type": "http.response.body", "body": b""})


def _last_line(reason: str) -> bytes:
    return line(RESTART if reason == GROUP_CHANGED else {"token": "ended"})


def _part(body: bytes, *, is_whole: bool = True) -> dict[str, Any]:
    """Return a message. ``is_whole``: it completes a line, so the middleware may end the response after it."""
    last = _last_line if is_whole else None
    return {"type": "http.response.body", "body": body, "more_body": True, LAST_PART_KEY: last}
