"""Guard: lets an app run without a user group, and answers 401 when the app turns out to need one."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final

from tenantry.accessors import HANDSHAKE_KEY, Handshake
from tenantry.errors import MissingToken
from tenantry.middleware.denial import close, deny
from tenantry.middleware.privacy import Message, Send

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope

_HELD_AT_MOST: Final = 8
_UNUSED: Final = Handshake()  # what an HTTP request has


class Guard:
    """Stands between one call of an app and ``send``; can still replace a response that MissingToken caused.

    A mounted Starlette app answers every exception with a 500 of its own and raises it again. So a 500 is held back
    until the app is done (or streams on): if the app ends with MissingToken it is dropped, else it goes out as it is.
    """

    __slots__ = ("_handshake", "_held", "_last", "_send")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._handshake = _UNUSED
        self._held: list[Message] = []
        self._last = ""

    async def run(self, app: ASGIApp, scope: Scope, receive: Receive, plain: Send) -> None:
        """Runs the app. A refusal goes to ``plain``. Raises what the app raises, but for a MissingToken in time."""
        if scope["type"] == "websocket":
            self._handshake = scope[HANDSHAKE_KEY] = Handshake()
        try:
            forward: Any = self.send  # Starlette's types leave open what a message is; ASGI says a dict
            await app(scope, receive, forward)
        except MissingToken as error:
            if not await self._refuse(error, scope, plain):
                raise
        except Exception:
            await self._release()
            raise
        else:
            await self._release()

    def send(self, message: Message) -> Awaitable[None]:
        if self._held or (message["type"] == "http.response.start" and message["status"] == 500):
            self._held.append(message)
            return self._release() if len(self._held) > _HELD_AT_MOST else _nothing()
        self._handshake.answered = True
        self._last = message["type"]
        return self._send(message)

    async def _release(self) -> None:
        held, self._held = self._held, []
        for message in held:
            self._last = message["type"]
            await self._send(message)

    async def _refuse(self, error: MissingToken, scope: Scope, plain: Send) -> bool:
        """False if it is too late: the response has begun, or the websocket is closed."""
        if not self._last:
            await deny(error, scope, plain)
        elif self._last in {"websocket.accept", "websocket.send"}:
            await close(error, plain)
        else:
            return False
        return True


async def _nothing() -> None:
    """What is awaited for a message that is held back."""
