"""S31 forged passes, S33 what passes open: asked of the resolver and of the apps themselves, without a socket."""

from __future__ import annotations

import asyncio
import hmac
import json
import random
import secrets
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.checks.inputs import Counting, try_forgeries
from tenantry import DataSources, Embedding, Resolver, UserGroupMiddleware, mint_pass, mount_dashboards, user_group
from tenantry.clock import utc_now
from tenantry.groups import Environment, GroupDraft, Tag
from tenantry.testing import MemoryStore, make_token
from tenantry.tokens import KeyRing, SigningKey

_KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.="


async def _forged(number: int, dice: random.Random) -> dict[str, int]:
    backend = Counting()
    resolver = Resolver(backend, keys=_KEYS)
    foreign = KeyRing([SigningKey("k1", dice.randbytes(32))])
    tokens = [_KEYS.mint(make_token(key_id="k1")) for _ in range(50)]
    real = [mint_pass(token, "ada", {"region": "eu"}, scope="app") for token in tokens]
    makers: list[Callable[[str], bytes]] = [
        lambda _: mint_pass(foreign.mint(make_token(key_id="k1")), "ada").encode(),
        lambda token: _changed(token.encode(), dice),
        lambda token: _changed(_changed(token.encode(), dice), dice),
        lambda token: token[: dice.randrange(len(token))].encode(),
        lambda token: (token + dice.choice(["=", " ", "A", "\n", ".", "\0"])).encode(),
        lambda token: _signed(token, dice.choice([token[:47], token, "", _another(token, tokens, dice)])),
        lambda token: _unsigned(token, dice.choice(["none", "None", "RS256", "HS512", "hs256"])),
        lambda token: (token[:47] + dice.choice(real)[47:]).encode(),
        lambda token: dice.randbytes(len(token)),
    ]
    found = await try_forgeries(resolver, makers, real, number, dice)
    await resolver.aclose()
    return {**found, "calls": backend.calls}


def _changed(raw: bytes, dice: random.Random) -> bytes:
    """One character replaced, left out, doubled or moved."""
    place = dice.randrange(len(raw))
    before, here, after = raw[:place], raw[place : place + 1], raw[place + 1 :]
    other = dice.choice(_ALPHABET)
    return dice.choice(
        [
            before + bytes([other]) + after,
            before + after,
            before + here * 2 + after,
            before + after[:1] + here + after[1:],
        ]
    )


def _another(token: str, tokens: list[str], dice: random.Random) -> str:
    """The token of another group than the pass's."""
    return dice.choice([each for each in tokens if each[4:47] != token[4:47]])


def _signed(token: str, key: str) -> bytes:
    """Other claims, signed with what an attacker may know: the public part, a pass, another group's token."""
    now = int(utc_now().timestamp())
    message = token.split(".")[1] + "." + _encoded({"iat": now, "exp": now + 86_400, "sub": "admin"})
    signature = urlsafe_b64encode(hmac.digest(key.encode(), message.encode(), "sha256")).rstrip(b"=").decode()
    return f"{token[:47]}.{message}.{signature}".encode()


def _unsigned(token: str, algorithm: str) -> bytes:
    """A header that asks for no check or another one."""
    public, _, claims, signature = token.split(".")
    return f"{public}.{_encoded({'alg': algorithm, 'typ': 'JWT'})}.{claims}.{signature}".encode()


def _encoded(value: dict[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def forged(effort: Effort) -> Measured:
    """S31."""
    found = asyncio.run(_forged(effort.pick(300_000, 2_000_000), effort.dice()))
    figure = f"{found['accepted']} accepted, {found['calls']} backend calls in {found['tried']:,}"
    return Measured(figure, not found["accepted"] and not found["calls"], found)


# --- scope ------------------------------------------------------------------------------------------------------------


async def _name(request: Request) -> Response:
    return PlainTextResponse(user_group(request).name)


async def _greeting(websocket: WebSocket) -> None:
    name = user_group(websocket).name
    await websocket.accept()
    await websocket.send_text(name)
    await websocket.close()


class _Apps:
    """An app with dashboards and another app in it, and both below a middleware of the whole app or not."""

    def __init__(self, folder: Path, store: MemoryStore, token: str) -> None:
        resolver = Resolver(store, keys=_KEYS, environment="production")
        for name in ("sales", "finance/costs"):
            file = folder / "dashboards" / f"{name}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"title: {name}\nrows: [{{heading: A}}]\n")
        self.token = token
        self.bare = Starlette()
        self._mount(self.bare, folder, store, resolver)
        inner = Starlette(routes=[Route("/", _name)])
        inner.add_middleware(UserGroupMiddleware, resolver=resolver, required=True)
        self.whole = Starlette(
            routes=[Mount("/inner", inner), Route("/", _name), WebSocketRoute("/socket", _greeting)],
        )
        self._mount(self.whole, folder, store, resolver)
        self.whole.add_middleware(UserGroupMiddleware, resolver=resolver)

    @staticmethod
    def _mount(app: Starlette, folder: Path, store: MemoryStore, resolver: Resolver) -> None:
        sources, embedding = DataSources(store), Embedding(store, _KEYS)
        mount_dashboards(app, folder / "dashboards", resolver, sources, embedding=embedding)

    async def opened(self, scope: str) -> dict[str, bool]:
        """Which of all mounts a pass with this scope opens; an empty scope is none."""
        headers = {"X-User-Group-Token": mint_pass(self.token, "ada", scope=scope or None)}
        found: dict[str, bool] = {}
        for place, app in (("bare", self.bare), ("whole", self.whole)):
            transport = httpx2.ASGITransport(app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://app.test", headers=headers) as http:
                asked: dict[str, Awaitable[httpx2.Response]] = {}
                for name in ("sales", "finance/costs"):
                    address = f"/dashboards/{name}/-"
                    asked[f"dashboard:{name} panels"] = http.post(f"{address}/panels", json={"live": False})
                    asked[f"dashboard:{name} code"] = http.post(f"{address}/embed-code")
                if place == "whole":
                    asked |= {"app view": http.get("/"), "app inner": http.get("/inner/")}
                found |= {f"{mount} {place}": (await answer).status_code == 200 for mount, answer in asked.items()}
        found["app socket"] = await asyncio.to_thread(self._opens_socket, headers)
        return found

    def _opens_socket(self, headers: dict[str, str]) -> bool:
        try:
            with TestClient(self.whole).websocket_connect("/socket", headers=headers) as socket:
                return socket.receive_text() == "acme"
        except WebSocketDenialResponse:
            return False


_ENTRIES: Final = (
    "app", "dashboard", "mcp", "forward-auth", "editor", "dashboard:sales", "dashboard:finance/*", "dashboard:*",
    "dashboard:sal*", "dashboard:finance", "dashboard:costs", "dashboard:sales/*", "app:sales", "app:*", "mcp:orders",
    "dashboards", "ap", "dashboard:sales.x", "mcp:*", "dashboard:finance/costs",
)  # fmt: skip


def _should_open(scope: str, mount: str) -> bool:
    """The rule, written a second time."""
    kind, _, name = mount.split(" ")[0].partition(":")
    if not scope:
        return True
    granted = set(scope.split())
    if kind == "app":
        return "app" in granted
    wider = {"dashboard", "dashboard:*", f"dashboard:{name}"}
    return bool(granted & wider) or any(
        entry.endswith("*") and f"dashboard:{name}".startswith(entry[:-1]) for entry in granted if ":" in entry
    )


async def _scopes(number: int, dice: random.Random) -> dict[str, Any]:
    store = MemoryStore()
    environment: Environment = await store.environments.create("production", Tag.CUSTOMER)
    made = await store.groups.get_or_create(environment, GroupDraft("acme", "acme"), make_token(key_id="k1"))
    found: dict[str, Any] = {"tried": 0, "opened": 0, "wrong": 0, "mounts": 0, "examples": []}
    with tempfile.TemporaryDirectory(prefix="tenantry-scopes-") as folder:
        apps = _Apps(Path(folder), store, _KEYS.mint(made.token))
        while found["tried"] < number:
            scope = " ".join(dice.sample(_ENTRIES, dice.choice((0, 1, 1, 1, 2, 3))))
            opened = await apps.opened(scope)
            wrong = [mount for mount in opened if opened[mount] != _should_open(scope, mount)]
            found["tried"] += len(opened)
            found["opened"] += sum(opened.values())
            found["wrong"] += len(wrong)
            found["mounts"] = len(opened)
            found["examples"] = [*found["examples"], *(f"{scope}: {mount}" for mount in wrong)][:8]
    return found


def scopes(effort: Effort) -> Measured:
    """S33."""
    found = asyncio.run(_scopes(effort.pick(5_000, 20_000), effort.dice()))
    figure = (
        f"{found['wrong']} of {found['tried']:,} requests at {found['mounts']} mounts answered otherwise "
        f"({found['opened']:,} may open)"
    )
    return Measured(figure, not found["wrong"] and 0 < found["opened"] < found["tried"], found)


CHECKS = (
    Check("S31", "Forged and changed passes: accepted, backend calls", "0 and 0 in ≥ 300,000", forged, (150, 600)),
    Check("S33", "Passes with a scope, at each mount: wrongly opened or refused", "0 in ≥ 5,000", scopes, (150, 400)),
)
