"""Four ways in which a host program mounts dashboards. Tests that speak HTTP run in each (fixture ``mount``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.types import ASGIApp

from tenantry import UserGroupMiddleware
from tenantry.middleware.fastapi import add_security_schemes
from tenantry.middleware.middleware import TokenResolver

Framework = type[Starlette] | type[FastAPI]


@dataclass(frozen=True)
class Mounting:
    """One of them. ``is_inside``: a UserGroupMiddleware is around the whole app, so its carriers are read too."""

    name: str
    framework: Framework = Starlette
    prefix: str = ""
    is_inside: bool = False

    def build(self, resolver: TokenResolver, mount_on: Callable[[Any], object]) -> ASGIApp:
        """The whole app. ``mount_on`` mounts the dashboards on an app, which is below ``prefix``."""
        inner = self.framework()
        mount_on(inner)
        return self.around(inner, resolver)

    def around(self, inner: ASGIApp, resolver: TokenResolver) -> ASGIApp:
        """``inner`` below ``prefix``, with what is around it."""
        app: Any = inner
        if self.prefix:
            app = self.framework()
            app.mount(self.prefix, inner)
        if not self.is_inside:
            return app
        if not self.prefix:
            return UserGroupMiddleware(app, resolver=resolver)
        app.add_middleware(UserGroupMiddleware, resolver=resolver)
        if isinstance(app, FastAPI):
            add_security_schemes(app)
        return app


BARE: Final = Mounting("bare")
INSIDE: Final = Mounting("inside", is_inside=True)
PREFIXED: Final = Mounting("prefixed", prefix="/eu/v2")
FASTAPI: Final = Mounting("fastapi", FastAPI, prefix="/product", is_inside=True)
"""A FastAPI app with the middleware of the README, which mounts a FastAPI app, which has the dashboards."""

MOUNTS: Final = (BARE, INSIDE, PREFIXED, FASTAPI)

current: Mounting = BARE
"""That of the running test."""
