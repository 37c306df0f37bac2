"""The app that fenjing attacks: it renders what a caller writes: ``/sandboxed`` as a dashboard template.

``uvicorn benchmarks.acceptance.attacks.template_app:app``. Templates are the vendor's own; this is what happens
when one is not.
"""

from __future__ import annotations

from typing import Final

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from tenantry.errors import TenantryError
from tenantry.html import HTMLTemplate
from tenantry.testing import make_group

REFUSED: Final = "refused:"
"""How a refusal begins: what tells the tool to try its next way around."""

_VARIABLES = make_group(properties={"region": "eu", "numbers": [1, 2, 3]}).variables


async def sandboxed(request: Request) -> Response:
    """The text as an HTMLTemplate; its own errors are answers, as a host would show them."""
    text = request.query_params.get("text", "")
    try:
        return HTMLResponse(await run_in_threadpool(lambda: HTMLTemplate(text).render(_VARIABLES)))
    except TenantryError as error:
        return PlainTextResponse(f"{REFUSED} {error}")


async def plain(request: Request) -> Response:
    """The known hole: plain Jinja."""
    text = request.query_params.get("text", "")
    try:
        return HTMLResponse(
            await run_in_threadpool(lambda: jinja2.Environment(autoescape=True).from_string(text).render())
        )
    except jinja2.TemplateError as error:
        return PlainTextResponse(f"{REFUSED} {error}")


app = Starlette(routes=[Route("/sandboxed", sandboxed), Route("/plain", plain)])
