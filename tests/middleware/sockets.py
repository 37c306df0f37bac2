"""A websocket's server and a resolver, both in hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import UserGroup
from tenantry.middleware import UserGroupMiddleware
from tenantry.testing import make_group

Message = dict[str, Any]
RAW = b"t" * 97


class Answers:
    """A resolver with set answers. Checks are 10 ms apart."""

    environment = None
    staleness = 0.05

    def __init__(self) -> None:
        self.group: UserGroup = make_group()
        self.cached = True
        self.error: Exception | None = None
        self.lease: float | None = 60.0
        self.peeks = 0
        self.asked = 0
        self.hang: asyncio.Event | None = None

    @property
    def lease_age(self) -> float | None:
        return None if self.lease is None else self.staleness - self.lease

    def seconds_left(self, group: UserGroup) -> float:
        return group.seconds_left(datetime.now(UTC))

    def peek(self, raw: bytes) -> UserGroup | None:
        assert raw == RAW
        self.peeks += 1
        return self.group if self.cached and self.error is None else None

    async def resolve(self, raw: bytes) -> UserGroup:
        assert raw == RAW
        self.asked += 1
        if self.hang is not None:
            await self.hang.wait()
        if self.error is not None:
            raise self.error
        return self.group

    def revoke(self) -> None:
        self.error = InvalidToken(InvalidToken.MESSAGE)

    def break_down(self) -> None:
        self.error = StoreUnavailable("down")


class Foreign:
    """The least that a third party's resolver is: it has neither a staleness bound nor a lease."""

    environment = None

    def __init__(self) -> None:
        self.group = make_group()

    def peek(self, raw: bytes) -> UserGroup | None:
        return None

    async def resolve(self, raw: bytes) -> UserGroup:
        return self.group


class Socket:
    """What a server is to an app: a queue of messages from the client, and a list of those that went out. As with
    uvicorn, what follows a close is an error, and the close itself comes back as a disconnect."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[Message] = asyncio.Queue()
        self.sent: list[Message] = []
        self.scope: Message = {
            "type": "websocket", "path": "/", "raw_path": b"/", "root_path": "", "query_string": b"", "extensions": {},
            "headers": [(b"x-user-group-token", RAW)],
        }  # fmt: skip
        self.incoming.put_nowait({"type": "websocket.connect"})

    def say(self, text: str) -> None:
        self.incoming.put_nowait({"type": "websocket.receive", "text": text})

    async def receive(self) -> Message:
        return await self.incoming.get()

    async def send(self, message: Message) -> None:
        if self.closing is not None:
            raise RuntimeError("Unexpected ASGI message, after sending 'websocket.close'.")
        self.sent.append(message)
        if message["type"] == "websocket.close":
            self.incoming.put_nowait({"type": "websocket.disconnect", "code": 1006})

    @property
    def closing(self) -> Message | None:
        """The close message that went out."""
        return next((message for message in self.sent if message["type"] == "websocket.close"), None)

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.sent if message["type"] == "websocket.send"]

    def open(self, app: Any, resolver: Any) -> asyncio.Task[None]:
        """Runs an app behind the middleware on this socket."""

        async def serve() -> None:
            await UserGroupMiddleware(app, resolver=resolver)(self.scope, self.receive, self.send)

        return asyncio.create_task(serve())


async def until(true: Callable[[], Any]) -> None:
    """Waits for it, for as long as a busy machine may need."""
    async with asyncio.timeout(120):
        while not true():
            await asyncio.sleep(0.002)


async def listening(scope: Any, receive: Any, send: Any) -> None:
    """An app that answers each message with the name of the group until the client has gone."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] != "websocket.disconnect":
        group = scope["user_group"]
        await send({"type": "websocket.send", "text": f"{message['text']} {group.name}"})
    scope["goodbye"] = message
