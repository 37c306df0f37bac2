"""Beside an app, outside of its middleware: ``POST /groups`` makes a group, ``POST /rotations`` gives it another token.

So the tests need nothing of the process that serves it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse

from tenantry import UserGroup, user_group
from tenantry.middleware import RedactTokens
from tenantry.resolver import Resolver
from tests.resolver.fake import KEYS, FakeBackend, token_of

PAUSE = 0.02

backend = FakeBackend()
resolver = Resolver(backend, keys=KEYS)

# The other servers log when a request or websocket has ended; granian logs a websocket before the app runs.
for handler in logging.getLogger("granian.access").handlers:
    handler.addFilter(RedactTokens())


def seen(scope: Any) -> dict[str, Any]:
    """The group, and all that could hold its token."""
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    return {
        "name": user_group(scope).name,
        "seen": f"{scope['path']} {scope.get('raw_path')} {scope['query_string']} {headers}",
    }


async def names(group: UserGroup) -> AsyncIterator[bytes]:
    """What streams until the client has left."""
    while True:
        yield f"{group.name}\n".encode()
        await asyncio.sleep(PAUSE)


def with_control(app: Any) -> Any:
    """The app, and what the tests ask for."""

    async def controlled(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        if scope["path"] == "/groups":
            group, raw = backend.issue(name="Acme")
        else:
            old = backend.groups[bytes.fromhex(scope["query_string"].decode())]
            group = replace(old, token_version=old.token_version + 1)
            backend.write(group)
            raw = token_of(group)
        await JSONResponse({"handle": group.handle.hex(), "token": raw.decode()})(scope, receive, send)

    return controlled
