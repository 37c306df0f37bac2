from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Protocol

from pydantic import Field
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from tenantry.clock import utc_now
from tenantry.dashboards.access import Access
from tenantry.dashboards.assets import BuiltFiles
from tenantry.dashboards.embedding.allowed_hosts import GroupHosts
from tenantry.dashboards.preview.previews import PreviewBackend, Previews
from tenantry.dashboards.protocol.panel_request import StrictBody, read_request
from tenantry.dashboards.single_use_codes import Purpose, SingleUseCodes
from tenantry.errors import (
    CodeUsed,
    PassExpired,
    TokenAlreadyRotated,
    UnsupportedMediaType,
)
from tenantry.groups import DASHBOARD, Token, UserGroup
from tenantry.http import FOUND_KEY, HTTPConnection, user_group
from tenantry.ports import Clock, EnvironmentStore, GroupStore
from tenantry.tokens import MAX_SECONDS, claims_of, make_claims, sign_pass, viewer_of

ELEMENT_FILES: Final = ("embed.js", "embed.d.ts", "embed-react.js", "embed-react.d.ts", "embed.tgz")
"""The bundles that pages of a host load, and ``embed.tgz``, the npm package that contains them."""

ELEMENT_VERSION: Final = 1
"""Major version of the element: its attributes, methods, events, and messages (``PROTOCOL`` in
frontend/src/dashboards/embed)."""

_SECRET: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class TokenMint(Protocol):
    def mint(self, token: Token) -> str:
        """Sign a token and return its string. Raises SigningKeyMissing."""
        ...


class RedeemRequest(StrictBody):
    code: str


class CodeRequest(StrictBody):
    seconds: Annotated[int, Field(ge=1, le=MAX_SECONDS)] | None = None
    """Lifetime, in seconds, of the pass that a client gets for the code. By default, the new pass ends with
    the request's pass. If the request has a token, the default is PASS_SECONDS."""


class EmbeddingBackend(PreviewBackend, Protocol):
    @property
    def environments(self) -> EnvironmentStore: ...


@dataclass(frozen=True)
class Embedding:
    """Settings of ``mount_dashboards`` for embedding."""

    store: EmbeddingBackend
    """The store of the allowed hosts and the single-use codes."""
    keys: TokenMint
    """Signs the passes that clients get for codes."""
    group_hosts: GroupHosts | None = None
    """Restricts the hosts for a group."""
    time_of_day: Clock = utc_now
    """The clock that decides whether the end date of a group has passed."""

    def previews(self) -> Previews:
        """Previews with this store and clock."""
        return Previews(self.store, time_of_day=self.time_of_day)


def embedding_routes(
    built: BuiltFiles, embedding: Embedding | None, access: Access, guards: Sequence[Middleware]
) -> list[BaseRoute]:
    # Pages of every origin may load these files. An address without a version serves the newest version.
    files: list[BaseRoute] = [
        Route(f"/-/{folder}{name}", partial(_file, built, name))
        for folder in (f"v{ELEMENT_VERSION}/", "")
        for name in ELEMENT_FILES
    ]
    return files if embedding is None else [*files, *code_routes(embedding, access, guards)]


async def _file(built: BuiltFiles, name: str, request: Request) -> Response:
    response = built.named(name, request)
    # The address is written in host pages, so it has no hash of the content. Cache the file only briefly, because it
    # may change.
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


PASS_SECONDS: Final = 3_600
"""Lifetime in seconds of a code's pass, if the code was requested with a token and without ``seconds``. This pass opens
only dashboards."""


class EmbedCodes:
    # Instead of a token, the store keeps a code's payload: the handle and version of the group's token, and, if the
    # code was requested with a pass, that pass's claims.

    def __init__(
        self, codes: SingleUseCodes, groups: GroupStore, keys: TokenMint, *, time_of_day: Clock = utc_now
    ) -> None:
        self._time_of_day = time_of_day
        self._codes = codes
        self._groups = groups
        self._keys = keys

    async def issue(self, connection: HTTPConnection, seconds: int | None = None) -> str:
        """Issue a code for the request's token or pass. ``seconds``: the lifetime of the pass that the browser gets for
        the code.

        Raises MissingToken, SigningKeyMissing and StoreUnavailable. Raises TokenAlreadyRotated if the
        request's token, or the token that made its pass, was rotated and is in its grace period.
        """
        scope: Any = getattr(connection, "scope", connection)
        group = user_group(connection)
        issued = await self._groups.get(handle=group.handle)
        if issued is None or not self._is_current(issued.token, group, scope.get(FOUND_KEY)):
            raise TokenAlreadyRotated("this token has been rotated: request the code with the current token")
        payload = {
            "handle": issued.token.handle.hex(),
            "version": issued.token.version,
            "claims": None if group.viewer is None else claims_of(group.viewer),
            "seconds": seconds,
        }
        return await self._codes.issue_for_viewer(
            Purpose.EMBED, json.dumps(payload, ensure_ascii=False), issued.token.handle
        )

    def _is_current(self, token: Token, group: UserGroup, found: int) -> bool:
        if group.viewer is not None:
            return group.viewer.token_version == token.version
        # The middleware removed the token from the request, but left a hash, which is enough to compare.
        return hash(self._keys.mint(token).encode("ascii")) == found

    async def open(self, payload: str) -> str | None:
        """Make a pass for the payload of a redeemed code. If the code was requested with a pass, the new pass ends no
        later than that pass. Returns None if the token was rotated or the group deleted. Raises UserGroupExpired,
        UserGroupSuspended, PassExpired, PassRevoked, SigningKeyMissing, StoreUnavailable."""
        kept: dict[str, Any] = json.loads(payload)
        issued = await self._groups.get(handle=bytes.fromhex(kept["handle"]))
        if issued is None or issued.token.version != kept["version"]:
            return None
        now = self._time_of_day()
        issued.group.require_access(now)
        moment, seconds = int(now.timestamp()), kept.get("seconds")  # absent: an older release issued the code
        claims = kept["claims"] or make_claims(moment, seconds or PASS_SECONDS, None, None, DASHBOARD)
        if claims["exp"] <= moment:
            raise PassExpired(PassExpired.MESSAGE)
        if seconds is not None:
            claims["exp"] = min(claims["exp"], max(claims["iat"], moment) + seconds)
        issued.group.with_viewer(viewer_of(claims, issued.token.version))  # raises PassRevoked
        return sign_pass(self._keys.mint(issued.token), claims)


def code_routes(embedding: Embedding, access: Access, guards: Sequence[Middleware]) -> list[BaseRoute]:
    codes = SingleUseCodes(embedding.store.codes)
    tokens = EmbedCodes(codes, embedding.store.groups, embedding.keys, time_of_day=embedding.time_of_day)
    opened = {Purpose.EMBED: tokens.open, Purpose.PREVIEW: embedding.previews().open}

    async def issue(request: Request) -> Response:
        access.require(request)
        wanted = await read_request(request, CodeRequest, optional=True)
        return JSONResponse({"code": await tokens.issue(request, wanted.seconds)}, headers=_SECRET)

    return [
        redeem_route(codes, opened),
        # Issues a code for the request's token or pass.
        Route("/{name:path}/-/embed-code", issue, methods=["POST"], middleware=list(guards)),
    ]


def redeem_route(codes: SingleUseCodes, opened: Mapping[Purpose, Callable[[str], Awaitable[str | None]]]) -> Route:
    """Return the route that exchanges a code for a pass, or for the key of a preview's session."""

    async def redeem(request: Request) -> Response:
        found = await codes.redeem_one_of(opened, await _code_of(request))
        token = None if found is None else await opened[found[0]](found[1])
        if token is None:
            raise CodeUsed(CodeUsed.MESSAGE)
        return JSONResponse({"token": token}, headers=_SECRET)

    return Route("/-/redeem", redeem, methods=["POST"])


async def _code_of(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType("send the code as JSON, with the header `Content-Type: application/json`")
    return (await read_request(request, RedeemRequest)).code
