"""The product of the demo: a page of another origin, which embeds the dashboards for three customers. Its server has
the tokens, and gives them to who may see those dashboards: here to everybody at this machine, without a login."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tenantry.demo.sources import AIRLINES, SHOWN
from tenantry.groups import Author, Environment
from tenantry.provisioning import Provisioner

PAGE: Final = files("tenantry.demo") / "product" / "page.html"
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; script-src 'self' {0}; frame-src {0}; object-src 'none'; base-uri 'none'"
)


@dataclass
class Product:
    """``port``: where, at the same host, the dashboards are served. ``cut_off``: the customers without access."""

    provisioner: Provisioner
    environment: Environment
    port: int
    cut_off: set[str] = field(default_factory=set)

    def app(self, hosts: Sequence[str]) -> Starlette:
        """Its page and its server, for who came by one of these names: no other page is to read a token."""
        routes = [
            Route("/", self.page),
            Route("/customers/{carrier}/token", self.token, methods=["POST"]),
            Route("/customers/{carrier}/access", self.access, methods=["PUT", "DELETE"]),
            Mount("/static", StaticFiles(packages=[("tenantry.demo", "product"), ("tenantry", "static/bundles")])),
        ]
        return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))])

    async def page(self, request: Request) -> Response:
        """The one page, with the address of the dashboards and the customers in it."""
        tenantry = str(request.url.replace(port=self.port, path="", query=""))
        options = "".join(f'<option value="{each}">{AIRLINES[each].name}</option>' for each in SHOWN)
        html = PAGE.read_text(encoding="utf-8").replace("TENANTRY", tenantry).replace("CUSTOMERS", options)
        return HTMLResponse(html, headers={"Content-Security-Policy": _POLICY.format(tenantry)})

    async def token(self, request: Request) -> Response:
        """The live token of a customer, for the page's ``getToken``; 403 for one that was cut off."""
        carrier = request.path_params["carrier"]
        found = await self.provisioner.get(self.environment, carrier)
        if found is None or carrier in self.cut_off or carrier not in SHOWN:
            return Response(status_code=403)
        return JSONResponse({"token": found.token}, headers={"Cache-Control": "no-store"})

    async def access(self, request: Request) -> Response:
        """DELETE cuts a customer off: its token is rotated, and nobody is given the new one until PUT."""
        carrier = request.path_params["carrier"]
        found = await self.provisioner.get(self.environment, carrier)
        if found is None or carrier not in SHOWN:
            return Response(status_code=403)
        (self.cut_off.discard if request.method == "PUT" else self.cut_off.add)(carrier)
        if request.method == "DELETE":
            await self.provisioner.rotate(self.environment, found.token, author=Author("the demo's product"))
        return Response(status_code=204)
