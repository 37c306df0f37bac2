"""Routes of an APIRouter that take the group as a typed parameter: ``python examples/fastapi_router.py``.

It needs ``pip install 'tenantry[http]' fastapi``.
"""

from __future__ import annotations

import asyncio
import os

from fastapi import APIRouter, FastAPI, WebSocket
from starlette.testclient import TestClient

from tenantry import Resolver, Tag, UserGroupMiddleware
from tenantry.backends.memory import MemoryStore
from tenantry.fastapi import CurrentGroup, CurrentVariables, add_security_schemes
from tenantry.groups import GroupDraft
from tenantry.middleware import cookie, header
from tenantry.provisioning import Provisioner
from tenantry.tokens import KeyRing, SigningKey

store = MemoryStore()
keys = KeyRing([SigningKey("k1", os.urandom(32))])

router = APIRouter(prefix="/sales", tags=["sales"])


@router.get("/region")
async def region(group: CurrentGroup, known: CurrentVariables) -> dict[str, str]:
    """Which region this customer sees. Without a token it is never called."""
    return {"customer": group.name, "region": known["region"]}


@router.websocket("/feed")
async def feed(websocket: WebSocket, group: CurrentGroup) -> None:
    """A websocket takes the same parameters."""
    await websocket.accept()
    await websocket.send_text(f"sales of {group.name}")
    await websocket.close()


app = FastAPI(title="Sales")
app.add_middleware(
    UserGroupMiddleware,
    resolver=Resolver(store, keys=keys),
    carriers=[header("Authorization", scheme="Bearer"), cookie()],
)
app.include_router(router)
add_security_schemes(app)  # Swagger UI, on /docs, has a button "Authorize" now


@app.get("/healthz")
async def healthz() -> str:
    """For all."""
    return "ok"


async def customer() -> str:
    """One customer's token."""
    production = await store.environments.create("production", Tag.CUSTOMER)
    draft = GroupDraft("acme", "Acme Ltd", {"region": "eu"})
    return (await Provisioner(store, keys).get_or_create(production, draft)).token


def main() -> None:
    """Asks as Swagger UI and generated clients do, and shows what the document tells them."""
    bearer = {"Authorization": f"Bearer {asyncio.run(customer())}"}
    with TestClient(app) as viewer:
        print("with a token:", viewer.get("/sales/region", headers=bearer).json())
        print("without one:", viewer.get("/sales/region").status_code)
        with viewer.websocket_connect("/sales/feed", headers=bearer) as socket:
            print("websocket:", socket.receive_text())
        document = viewer.get("/openapi.json").json()
    for name, scheme in document["components"]["securitySchemes"].items():
        print(f"{name}:", scheme["type"], scheme.get("scheme") or f"{scheme['in']} {scheme['name']}")
    for path, operations in document["paths"].items():
        print(path, "needs", " or ".join(key for each in operations["get"].get("security", ()) for key in each) or "-")


if __name__ == "__main__":
    main()
