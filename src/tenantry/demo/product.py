from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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
from tenantry.errors import TokenAlreadyRotated, UnknownToken
from tenantry.groups import Author, Environment
from tenantry.provisioning import Provisioner

PAGE: Final = files("tenantry.demo") / "product" / "page.html"
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; script-src 'self' {0}; frame-src {0}; object-src 'none'; base-uri 'none'"
)


@dataclass
class Product:
    """The demo's product: a page at another origin that embeds the dashboards of three customers.

    It has no login: any visitor gets the stored tokens of all customers. Customers in ``cut_off`` have no access.
    """

    provisioner: Provisioner
    environment: Environment
    tokens: dict[str, str]
    port: int
    cut_off: set[str] = field(default_factory=set)

    def app(self, hosts: Sequence[str]) -> Starlette:
        """The app. It answers only requests whose Host header is in ``hosts``, so that no other site can read a
        token."""
        routes = [
            Route("/", self.page),
            Route("/customers/{carrier}/token", self.token, methods=["POST"]),
            Route("/customers/{carrier}/access", self.access, methods=["PUT", "DELETE"]),
            Mount("/static", StaticFiles(packages=[("tenantry.demo", "product"), ("tenantry", "static/bundles")])),
        ]
        return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))])

    async def page(self, request: Request) -> Response:
        tenantry = str(request.url.replace(port=self.port, path="", query=""))
        options = "".join(f'<option value="{each}">{AIRLINES[each].name}</option>' for each in SHOWN)
        html = PAGE.read_text(encoding="utf-8").replace("TENANTRY", tenantry).replace("CUSTOMERS", options)
        return HTMLResponse(html, headers={"Content-Security-Policy": _POLICY.format(tenantry)})

    async def token(self, request: Request) -> Response:
        carrier = request.path_params["carrier"]
        if carrier in self.cut_off or carrier not in SHOWN:
            return Response(status_code=403)
        # Send the stored token. Requesting one from Tenantry would create a deleted customer again.
        return JSONResponse({"token": self.tokens[carrier]}, headers={"Cache-Control": "no-store"})

    async def access(self, request: Request) -> Response:
        """Cut off (DELETE) or restore (PUT) the customer's access. DELETE also rotates the token."""
        carrier = request.path_params["carrier"]
        if carrier not in SHOWN:
            return Response(status_code=403)
        (self.cut_off.discard if request.method == "PUT" else self.cut_off.add)(carrier)
        if request.method == "DELETE":
            with suppress(UnknownToken, TokenAlreadyRotated):  # an operator may have rotated it or deleted the group
                author = Author("the demo's product")
                rotated = await self.provisioner.rotate(self.environment, self.tokens[carrier], author=author)
                self.tokens[carrier] = rotated.token
        return Response(status_code=204)
