"""The routes that embedding adds to a mount.

GET  /dashboards/-/v1/embed.js            the element, for pages of every origin; embed.d.ts, embed-react.js and .d.ts
GET  /dashboards/-/embed.js               the newest major version
POST /dashboards/{name}/-/embed-code      a single-use code for the request's token
POST /dashboards/-/redeem                 the token, or the key of a preview's session, for a code, once
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from tenantry.clock import utc_now
from tenantry.dashboards.assets import BuiltFiles
from tenantry.dashboards.embedding.allowed_hosts import GroupHosts
from tenantry.dashboards.embedding.codes import EmbedCodes, Purpose, SingleUseCodes, TokenMint
from tenantry.dashboards.preview.preview_endpoint import PreviewBackend
from tenantry.dashboards.preview.previews import Previews
from tenantry.dashboards.protocol.panel_request import StrictBody, read_request
from tenantry.errors import CodeUsed, UnsupportedMediaType
from tenantry.ports import Clock, EnvironmentStore

ELEMENT_FILES: Final = ("embed.js", "embed.d.ts", "embed-react.js", "embed-react.d.ts")
"""Bundles for hosts."""

ELEMENT_VERSION: Final = 1
"""Major version of the element: its attributes, methods, events, and messages (``PROTOCOL`` in
frontend/src/dashboards/embed)."""

_SECRET: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class RedeemRequest(StrictBody):
    code: str


class EmbeddingBackend(PreviewBackend, Protocol):
    @property
    def environments(self) -> EnvironmentStore: ...


@dataclass(frozen=True)
class Embedding:
    """Hosts from the store, and single-use codes.

    ``group_hosts`` restricts a group's hosts; ``time_of_day``: the clock for end dates.
    """

    store: EmbeddingBackend
    keys: TokenMint
    group_hosts: GroupHosts | None = None
    time_of_day: Clock = utc_now

    def previews(self) -> Previews:
        return Previews(self.store, time_of_day=self.time_of_day)


def embedding_routes(built: BuiltFiles, embedding: Embedding | None, guards: Sequence[Middleware]) -> list[BaseRoute]:
    """The routes of the element, and with ``embedding`` of codes; ``guards`` find the group."""
    files: list[BaseRoute] = [
        Route(f"/-/{folder}{name}", partial(_file, built, name))
        for folder in (f"v{ELEMENT_VERSION}/", "")
        for name in ELEMENT_FILES
    ]
    return files if embedding is None else [*files, *code_routes(embedding, guards)]


async def _file(built: BuiltFiles, name: str, request: Request) -> Response:
    response = built.named(name, request)
    # Hosts write this address in their pages, so it has no hash of the content.
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


def code_routes(embedding: Embedding, guards: Sequence[Middleware]) -> list[BaseRoute]:
    codes = SingleUseCodes(embedding.store.codes)
    tokens = EmbedCodes(codes, embedding.store.groups, embedding.keys, time_of_day=embedding.time_of_day)
    previews = embedding.previews()
    opened = {Purpose.EMBED: tokens.open, Purpose.PREVIEW: previews.open}

    async def issue(request: Request) -> Response:
        return JSONResponse({"code": await tokens.issue(request)}, headers=_SECRET)

    async def redeem(request: Request) -> Response:
        found = await codes.redeem_one_of(opened, await _code_of(request))
        token = None if found is None else await opened[found[0]](found[1])  # for a preview: the key of its session
        if token is None:
            raise CodeUsed(CodeUsed.MESSAGE)
        return JSONResponse({"token": token}, headers=_SECRET)

    return [
        Route("/-/redeem", redeem, methods=["POST"]),
        Route("/{name:path}/-/embed-code", issue, methods=["POST"], middleware=list(guards)),
    ]


async def _code_of(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType("send the code as JSON: Content-Type: application/json")
    return (await read_request(request, RedeemRequest)).code
