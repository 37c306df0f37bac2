from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tenantry.demo.sources import AIRLINES, SHOWN
from tenantry.errors import UnknownGroup
from tenantry.groups import Author, Environment, GroupChanges
from tenantry.provisioning import Provisioner
from tenantry.tokens.minting import mint_pass

PAGE: Final = files("tenantry.demo") / "product" / "page.html"
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; script-src 'self' {0}; frame-src {0}; object-src 'none'; base-uri 'none'"
)


@dataclass
class Product:
    """A page at another origin that embeds the dashboards of three customers.

    The product has no login, so any visitor can get a pass for each customer. The customers' tokens stay on the
    product's server."""

    provisioner: Provisioner
    environment: Environment
    tokens: dict[str, str]
    port: int

    def app(self, hosts: Sequence[str]) -> Starlette:
        """Return the product's app. It refuses requests whose Host header is not in ``hosts``."""
        # Otherwise another site could read a pass by DNS rebinding.
        routes = [
            Route("/", self.page),
            Route("/customers/{carrier}/pass", self.make_pass, methods=["POST"]),
            Route("/customers/{carrier}/access", self.access, methods=["PUT", "DELETE"]),
            Mount("/static", StaticFiles(packages=[("tenantry.demo", "product"), ("tenantry", "static/bundles")])),
        ]
        return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))])

    async def page(self, request: Request) -> Response:
        tenantry = str(request.url.replace(port=self.port, path="", query=""))
        options = "".join(f'<option value="{each}">{AIRLINES[each].name}</option>' for each in SHOWN)
        html = PAGE.read_text(encoding="utf-8").replace("TENANTRY", tenantry).replace("CUSTOMERS", options)
        return HTMLResponse(html, headers={"Content-Security-Policy": _POLICY.format(tenantry)})

    async def make_pass(self, request: Request) -> Response:
        carrier = request.path_params["carrier"]
        if carrier not in SHOWN:
            return Response(status_code=403)
        made = mint_pass(self.tokens[carrier], "visitor", scope="dashboard")
        return PlainTextResponse(made, headers={"Cache-Control": "no-store"})

    async def access(self, request: Request) -> Response:
        carrier = request.path_params["carrier"]
        if carrier not in SHOWN:
            return Response(status_code=403)
        changes = GroupChanges(suspended=request.method == "DELETE")
        with suppress(UnknownGroup):  # an operator may have deleted it
            await self.provisioner.update(self.environment, carrier, changes, author=Author("the demo's product"))
        return Response(status_code=204)
