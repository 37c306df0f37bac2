"""Carriers of your own: a field of a header, a subprotocol of a websocket: ``python examples/custom_carrier.py``.

It needs ``pip install 'tenantry[http]'``.
"""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from tenantry import UserGroup, UserGroupMiddleware, user_group
from tenantry.errors import InvalidToken
from tenantry.middleware import Extracted
from tenantry.testing import make_group

ACME = "ugtc_k1_" + "A" * 89


class OneGroup:
    """Stands in for ``Resolver(store, keys=keys)``: it knows one token."""

    environment = None

    def __init__(self) -> None:
        self._group = make_group(provided_id="acme")

    def peek(self, raw: bytes) -> UserGroup | None:
        """The group, without I/O."""
        return self._group if raw == ACME.encode() else None

    async def resolve(self, raw: bytes) -> UserGroup:
        """The group, or the one refusal that every bad token gets."""
        if (group := self.peek(raw)) is None:
            raise InvalidToken(InvalidToken.MESSAGE)
        return group


class GatewayContext:
    """Takes ``tenant=ugtc_…`` out of ``X-Gateway-Context: user=alice;tenant=ugtc_…``. No base class is needed.

    A gateway adds it to whatever the browser sends, for any page: so ``sent_by_browser`` stays True, the default.
    """

    headers = ("X-Gateway-Context",)

    def extract(self, name: str, value: bytes, /) -> Extracted | None:
        """The first field ``tenant``; the others are the app's."""
        fields = value.split(b";")
        for field in fields:
            if field.startswith(b"tenant="):
                fields.remove(field)
                return Extracted(token=field.removeprefix(b"tenant="), rest=b";".join(fields))
        return None


class Subprotocol:
    """Takes the token out of ``new WebSocket(url, ["chat", "tenantry." + token])``: no script can set a header."""

    headers = ("Sec-WebSocket-Protocol",)

    def extract(self, name: str, value: bytes, /) -> Extracted | None:
        """The first subprotocol ``tenantry.…``. The app accepts one of the others."""
        offered = [each.strip() for each in value.split(b",")]
        for each in offered:
            if each.startswith(b"tenantry."):
                offered.remove(each)
                rest = b", ".join(offered) or None  # None: the header goes
                return Extracted(each.removeprefix(b"tenantry."), rest, sent_by_browser=False)
        return None


async def me(request: Request) -> JSONResponse:
    """The group, and what the app sees of the header."""
    return JSONResponse({"id": user_group(request).provided_id, "context": request.headers["X-Gateway-Context"]})


async def feed(websocket: WebSocket) -> None:
    """The group, and the subprotocols that the app sees."""
    await websocket.accept(subprotocol="chat")
    await websocket.send_text(f"{user_group(websocket).provided_id}, offered: {websocket.scope['subprotocols']}")
    await websocket.close()


def main() -> None:
    """Sends the token in each of the two, then two different ones, then from a page of another site."""
    app = Starlette(routes=[Route("/me", me, methods=["GET", "POST"]), WebSocketRoute("/feed", feed)])
    guarded = UserGroupMiddleware(app, resolver=OneGroup(), carriers=[GatewayContext(), Subprotocol()])
    client = TestClient(guarded)
    context = {"X-Gateway-Context": f"user=alice;tenant={ACME}"}

    answer = client.get("/me", headers=context)
    print("gateway:", answer.json(), "Vary:", answer.headers["Vary"])
    with client.websocket_connect("/feed", subprotocols=["chat", f"tenantry.{ACME}"]) as socket:
        print("websocket:", socket.receive_text())
    other = {"X-Gateway-Context": f"tenant={ACME};tenant={ACME.replace('A', 'B')}"}
    print("two tokens:", client.get("/me", headers=other).status_code)
    print("another site:", client.post("/me", headers={**context, "Origin": "https://evil.example"}).status_code)


if __name__ == "__main__":
    main()
