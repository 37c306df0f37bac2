"""An app that never closes anything: the store in the environment variable USAGE_STORE, whose groups it finds."""

from __future__ import annotations

import os

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tenantry import Resolver, UserGroupMiddleware, user_group
from tenantry.backends.sql import SQLStore
from tenantry.tokens.keys import SigningKeys

store = SQLStore(os.environ["USAGE_STORE"], deadline=30)


async def name(request: Request) -> PlainTextResponse:
    return PlainTextResponse(user_group(request).name)


app = Starlette(routes=[Route("/", name)])
app.add_middleware(UserGroupMiddleware, resolver=Resolver(store, keys=SigningKeys.from_file(os.environ["USAGE_KEYS"])))
