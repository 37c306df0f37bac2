"""Mount Tenantry in a FastAPI app, the group as a typed dependency: ``python examples/mount_fastapi.py``.

It needs ``pip install 'tenantry[http]' fastapi``.
"""

from __future__ import annotations

import asyncio
import os

from fastapi import FastAPI, WebSocket
from starlette.testclient import TestClient

from tenantry import Resolver, Tag, UserGroupMiddleware, mint_pass
from tenantry.backends.memory import MemoryStore
from tenantry.fastapi import CurrentGroup, CurrentVariables
from tenantry.groups import GroupDraft
from tenantry.provisioning import Provisioner
from tenantry.tokens import KeyRing, SigningKey

store = MemoryStore()
keys = KeyRing([SigningKey("k1", os.urandom(32))])

app = FastAPI()
app.add_middleware(UserGroupMiddleware, resolver=Resolver(store, keys=keys))


@app.get("/me")
async def me(group: CurrentGroup) -> dict[str, str]:
    """Who is looking. Without a token FastAPI never calls it, and the answer is 401."""
    return {"id": group.provided_id, "name": group.name}


@app.websocket("/live")
async def live(websocket: WebSocket, group: CurrentGroup, known: CurrentVariables) -> None:
    """The same parameters in a websocket."""
    await websocket.accept()
    await websocket.send_text(f"{group.name} in {known['region']}")
    await websocket.close()


async def customer() -> str:
    """One customer's token."""
    production = await store.environments.create("production", Tag.CUSTOMER)
    return (
        await Provisioner(store, keys).get_or_create(production, GroupDraft("acme", "Acme Ltd", {"region": "eu"}))
    ).token


def main() -> None:
    """Asks with a pass in each place where it may travel, and without one. The token stays on the server."""
    given = mint_pass(asyncio.run(customer()), "ann")
    with TestClient(app) as viewer:
        print("header:", viewer.get("/me", headers={"Authorization": f"UserGroup {given}"}).json())
        print("query:", viewer.get("/me", params={"USER_GROUP_TOKEN": given}).json())
        print("cookie:", viewer.get("/me", headers={"Cookie": f"USER_GROUP_TOKEN={given}"}).json())
        with viewer.websocket_connect("/live", headers={"Cookie": f"USER_GROUP_TOKEN={given}"}) as socket:
            print("websocket:", socket.receive_text())
        evil = {"Cookie": f"USER_GROUP_TOKEN={given}", "Origin": "https://evil.example"}
        print("posted from another site:", viewer.post("/me", headers=evil).status_code)
        print("without a token:", viewer.get("/me").status_code)


if __name__ == "__main__":
    main()
