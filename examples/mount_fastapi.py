"""Mount Tenantry in a FastAPI app, the group as a typed dependency: ``python examples/mount_fastapi.py``."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from starlette.testclient import TestClient

from tenantry import Resolver, Tag, UserGroup, UserGroupMiddleware, user_group
from tenantry.backends.memory import MemoryStore
from tenantry.groups import GroupDraft
from tenantry.provisioning import Provisioner
from tenantry.tokens import KeyRing, SigningKey

store = MemoryStore()
keys = KeyRing([SigningKey("k1", os.urandom(32))])

app = FastAPI()
app.add_middleware(UserGroupMiddleware, resolver=Resolver(store, keys=keys))


async def current_group(request: Request) -> UserGroup:
    """The group of this request; without a token FastAPI never calls the route."""
    return user_group(request)


CurrentGroup = Annotated[UserGroup, Depends(current_group)]


@app.get("/me")
async def me(group: CurrentGroup) -> dict[str, str]:
    """Who is looking."""
    return {"id": group.provided_id, "name": group.name}


async def customer() -> str:
    """One customer's token."""
    production = await store.create_environment("production", Tag.CUSTOMER)
    return (await Provisioner(store, keys).get_or_create(production, GroupDraft("acme", "Acme Ltd"))).token


def main() -> None:
    """Asks with the token in each place where it may travel, and without one."""
    token = asyncio.run(customer())
    with TestClient(app) as viewer:
        print("header:", viewer.get("/me", headers={"Authorization": f"UserGroup {token}"}).json())
        print("query:", viewer.get("/me", params={"USER_GROUP_TOKEN": token}).json())
        print("cookie:", viewer.get("/me", headers={"Cookie": f"USER_GROUP_TOKEN={token}"}).json())
        print("without a token:", viewer.get("/me").status_code)


if __name__ == "__main__":
    main()
