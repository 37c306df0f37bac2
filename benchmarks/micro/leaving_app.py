"""The app of the table ``leaving``: ``uvicorn benchmarks.micro.leaving_app:app``.

``/`` is a dashboard with the query ``SQL`` on the data source ``URL``; ``/running`` says whether one runs. The
middleware is left out: what is measured begins behind it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from benchmarks.harness.one_source import SCHEMA, OneSource
from benchmarks.harness.one_source import group as make_group
from tenantry import DataSources, dashboard, stop_on_signals
from tenantry.datasources import Limits
from tenantry.groups import UserGroup

sources = DataSources(OneSource(os.environ["URL"]), limits=Limits(timeout=600))


async def page(group: UserGroup) -> list[Any]:
    """A dashboard whose rows come after ten minutes, if nobody stops them."""
    return await sources.fetch(group, SCHEMA, os.environ["SQL"], {})


async def running(request: Request) -> Response:
    """Whether a thread works on a query."""
    opened = sources._open_sources._open.values()  # nothing public shows the threads
    return PlainTextResponse(str(any(each.pool.is_running for each in opened)))


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    async with sources, stop_on_signals(sources):
        yield


_routed = Starlette(routes=[Route("/", dashboard(page)), Route("/running", running)], lifespan=_lifespan)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """With the group of every request."""
    scope["user_group"] = make_group()
    await _routed(scope, receive, send)
