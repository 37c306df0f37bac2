"""A host's app that fails in many ways with secrets at hand, and logs all that it can. ``/leak`` has a known hole.

``uvicorn --factory benchmarks.acceptance.attacks.secrets_app:create``, with ATTACKED_DATABASE and ATTACKED_KEYS in the
environment.
"""

from __future__ import annotations

import logging
import os
import sys

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tenantry import (
    DataSources,
    Resolver,
    SigningKeys,
    TenantryError,
    UserGroupMiddleware,
    error_handler,
    user_group,
    variables,
)
from tenantry.backends.sql import SQLStore
from tenantry.datasources import Limits
from tenantry.html import HTMLTemplate
from tenantry.sql import SQLTemplate

_ROWS = SQLTemplate("select {{ secret }} as secret where {{ params.since }} > ''")
_NUMBER = SQLTemplate("select 1 limit {{ secret }}")
_PAGE = HTMLTemplate("<p>{{ name }} {{ nothing_of_this_name }}</p>")


def create() -> Starlette:
    """The app: each route ends in an error of another kind."""
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    store = SQLStore(os.environ["ATTACKED_DATABASE"])
    sources = DataSources(store, limits=Limits(connect_timeout=2))
    resolver = Resolver(store, keys=SigningKeys.from_file(os.environ["ATTACKED_KEYS"]))

    async def rows(request: Request) -> Response:
        template = _NUMBER if "number" in request.query_params else _ROWS
        found = await sources.fetch(user_group(request), request.path_params["schema"], template, variables(request))
        return JSONResponse(len(found))

    async def page(request: Request) -> Response:
        return HTMLResponse(_PAGE.render(variables(request)))

    async def crash(request: Request) -> Response:
        raise RuntimeError(
            f"a view that failed for {user_group(request)!r} with {sources!r}, {store!r} and {resolver!r}"
        )

    async def leak(request: Request) -> Response:
        print(user_group(request).properties["secret"], file=sys.stderr)  # type: ignore[index]
        return JSONResponse({})

    routes = [Route("/rows/{schema}", rows), Route("/page", page), Route("/crash", crash), Route("/leak", leak)]
    app = Starlette(routes=routes, exception_handlers={TenantryError: error_handler})
    app.add_middleware(UserGroupMiddleware, resolver=resolver)
    return app
