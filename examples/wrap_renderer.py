"""Wrap an existing dashboard renderer without changing it: ``python examples/wrap_renderer.py``.

It needs ``pip install 'tenantry[http]'``.
"""

from __future__ import annotations

import asyncio
import os

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from tenantry import HTMLTemplate, Record, Resolver, Tag, UserGroup, UserGroupMiddleware, dashboard, mint_pass
from tenantry.backends.memory import MemoryStore
from tenantry.groups import GroupDraft
from tenantry.provisioning import Provisioner
from tenantry.tokens import KeyRing, SigningKey

store = MemoryStore()
keys = KeyRing([SigningKey("k1", os.urandom(32))])

PAGE = HTMLTemplate("<h1>{{ title }}</h1><p>Region: {{ region }}</p>")


def render(group: UserGroup, variables: Record) -> str:
    """A renderer that was there before Tenantry: plain, synchronous, knows no request and no token."""
    return PAGE.render(variables, title=f"Sales of {group.name}")


app = Starlette(
    routes=[Route("/sales", dashboard(render, frame_ancestors=["https://app.example.com"]))],
    middleware=[Middleware(UserGroupMiddleware, resolver=Resolver(store, keys=keys))],
)


async def customers() -> list[str]:
    """Two customers' tokens. The second has no region: its page is an error that says so, never an empty string."""
    production = await store.environments.create("production", Tag.CUSTOMER)
    provisioner = Provisioner(store, keys)
    drafts = [GroupDraft("acme", "Acme <Ltd>", {"region": "eu"}), GroupDraft("globex", "Globex Inc")]
    return [(await provisioner.get_or_create(production, draft)).token for draft in drafts]


def main() -> None:
    """Shows both customers' pages, and the header that says who may embed them."""
    tokens = asyncio.run(customers())
    with TestClient(app) as viewer:
        for token in tokens:
            answer = viewer.get("/sales", headers={"X-User-Group-Token": mint_pass(token, "ann")})
            print(answer.status_code, answer.text)
            print("policy:", answer.headers.get("Content-Security-Policy", "none, for an error has nothing to embed"))


if __name__ == "__main__":
    main()
