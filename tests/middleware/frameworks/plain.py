"""No framework: plain ASGI."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from tenantry import UserGroupMiddleware, user_group
from tests.middleware.frameworks.control import names, resolver, seen, with_control


async def serve(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["type"] == "websocket":
        await live(scope, receive, send)
    else:
        found = seen(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/stream":
            with suppress(OSError):  # as ASGI has it where the client has left
                async for part in names(user_group(scope)):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            return
        await send({"type": "http.response.body", "body": json.dumps(found).encode()})


async def live(scope: Any, receive: Any, send: Any) -> None:
    user_group(scope)
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] != "websocket.disconnect":
        await send({"type": "websocket.send", "text": f"{message['text']} {user_group(scope).name}"})


app = with_control(UserGroupMiddleware(serve, resolver=resolver))
