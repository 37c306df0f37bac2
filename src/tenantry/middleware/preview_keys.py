"""With a preview key, an operator or author sees what a group sees. A request sends the key in the token header. Only
the mounted dashboards that issued the key can check it."""

from __future__ import annotations

import re
from collections.abc import Iterable, MutableMapping
from typing import Any, Final

from tenantry.errors import InvalidToken, MissingToken
from tenantry.middleware.cache_headers import Header, Message, Receive, Send
from tenantry.middleware.carriers import TOKEN_HEADER
from tenantry.middleware.long_responses import ResponseCut
from tenantry.middleware.unauthorized import App, send_error
from tenantry.tokens import PREVIEW_PREFIX

PASSED_KEY: Final = "tenantry.passed_preview_key"
"""The scope key of a request's PassedPreviewKey."""

_SHAPE: Final = re.compile(rb"%s[A-Za-z0-9_-]{43}" % PREVIEW_PREFIX.encode())
_HEADER: Final = TOKEN_HEADER.lower().encode("ascii")


class PassedPreviewKey:
    __slots__ = ("_key", "is_taken")

    def __init__(self, key: str) -> None:
        self._key = key
        self.is_taken: bool = False

    def take(self) -> str:
        """Return the key. The caller must then respond to the request."""
        self.is_taken = True
        return self._key


def is_preview_key(raw: bytes, headers: Iterable[Header]) -> bool:
    return _SHAPE.fullmatch(raw) is not None and any(
        name == _HEADER and value.strip() == raw for name, value in headers
    )


async def run_with_preview_key(
    raw: bytes, app: App, scope: MutableMapping[str, Any], receive: Receive, send: Send, send_private: Send
) -> None:
    """Run the app. If its dashboards ``take`` the key, the response goes to ``send_private``. Otherwise the app's
    response is dropped, and ``send`` gets a 401."""
    passed = scope[PASSED_KEY] = PassedPreviewKey(raw.decode("ascii"))
    is_refused = is_cut = False

    async def send_taken(message: Message) -> None:
        nonlocal is_refused, is_cut
        if passed.is_taken:
            await send_private(message)
        elif not is_refused:
            is_refused = True
            await send_error(InvalidToken(InvalidToken.MESSAGE), scope, send)
        elif message.get("more_body"):
            is_cut = True
            raise ResponseCut("the response was refused")

    try:
        await app(scope, receive, send_taken)
    except (
        MissingToken
    ):  # from a view that requires a group: Starlette has sent a 500 response and raises the error again
        if passed.is_taken:
            raise
    except Exception:
        if is_cut:  # our ResponseCut, or a framework's error that wraps it
            return
        raise
    if not passed.is_taken and not is_refused:
        await send_error(InvalidToken(InvalidToken.MESSAGE), scope, send)
