"""Mount Tenantry in a Starlette app: ``python examples/mount_starlette.py``.

It needs ``pip install 'tenantry[http]'``.
"""

from __future__ import annotations

import asyncio
import os

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tenantry import Resolver, Tag, UserGroupMiddleware, mint_pass, user_group, variables
from tenantry.backends.memory import MemoryStore
from tenantry.groups import GroupDraft
from tenantry.provisioning import Provisioner
from tenantry.tokens import KeyRing, SigningKey

store = MemoryStore()  # an app of yours: SQLStore("postgresql://…")
keys = KeyRing([SigningKey("k1", os.urandom(32))])  # an app of yours: SigningKeys.from_file("tenantry.keys")
resolver = Resolver(store, keys=keys)


async def greeting(request: Request) -> PlainTextResponse:
    """Says who is looking. Without a token, ``user_group`` makes this a 401."""
    group = user_group(request)
    return PlainTextResponse(f"{group.name} sees the region {variables(request)['region']}")


app = Starlette(
    routes=[Route("/", greeting)],
    middleware=[Middleware(UserGroupMiddleware, resolver=resolver)],
)


async def customers() -> list[str]:
    """Two customers' tokens. In production your own backend asks for them over HTTP, at ``/api/user``."""
    production = await store.environments.create("production", Tag.CUSTOMER)
    provisioner = Provisioner(store, keys)
    drafts = [
        GroupDraft("acme", "Acme Ltd", {"region": "eu"}),
        GroupDraft("globex", "Globex Inc", {"region": "us"}),
    ]
    return [(await provisioner.get_or_create(production, draft)).token for draft in drafts]


def main() -> None:
    """Looks at the same page as a viewer of each customer, and as nobody. The token stays on the server."""
    tokens = asyncio.run(customers())
    with TestClient(app) as viewer:
        for token in tokens:
            print(viewer.get("/", headers={"X-User-Group-Token": mint_pass(token, "ann")}).text)
        print("without a token:", viewer.get("/").status_code)


if __name__ == "__main__":
    main()
