from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.dashboards.preview.previews import Preview, Previews
from tenantry.errors import InvalidToken, MissingScope, StoreUnavailable, TenantryError
from tenantry.groups import UserGroup
from tenantry.http import FOUND_KEY, SCOPE_KEY
from tenantry.middleware import PASSED_KEY, TOKEN_HEADER, Exchange, PassedPreviewKey
from tenantry.tokens import PREVIEW_PREFIX

PREVIEW_KEY: Final = "tenantry.preview"
"""Key of the request's Preview in the ASGI scope."""

RequireAuthor: TypeAlias = Callable[[Scope], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class EditorPreview:
    """A dashboard preview in the SQL editor. ``require_author`` raises TenantryError if the request is not from the
    preview's author, or if the author has lost access."""

    id: str
    require_author: RequireAuthor

    async def has_author(self, scope: Scope) -> bool:
        """Whether ``require_author`` accepts the request. Raises StoreUnavailable."""
        try:
            await self.require_author(scope)
        except StoreUnavailable:
            raise
        except TenantryError:
            return False
        return True


class PreviewGuard:
    """ASGI middleware around UserGroupMiddleware. It accepts the key of a preview session instead of a token. Streams
    end within ``staleness`` seconds after the session ends. With ``editor``, streams also end when the preview's author
    loses access, pages have no watermark, and a request without the key of a session raises InvalidToken.

    Raises InvalidToken if the session has ended, MissingScope if the session is for another dashboard or preview, and
    UserGroupExpired, UserGroupSuspended or PassRevoked."""

    def __init__(
        self, app: ASGIApp, *, previews: Previews, staleness: float, editor: EditorPreview | None = None
    ) -> None:
        self.app = app
        self._editor = editor
        self._previews = previews
        self._staleness = staleness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = _key_of(scope)
        if key is not None:
            preview = await self._previews.find(key)
            if preview is None:
                raise InvalidToken(InvalidToken.MESSAGE)
            if scope["path_params"].get("name") != preview.dashboard:
                raise MissingScope("this preview is for another dashboard")
            if preview.shown_by != (None if self._editor is None else self._editor.id):
                raise MissingScope("this is the key of another preview")
            scope[SCOPE_KEY], scope[PREVIEW_KEY] = preview.group, preview
            raw = key.encode("latin-1")
            # With this hash, UserGroupMiddleware accepts the key in the token header, and removes it from the request.
            scope[FOUND_KEY] = hash(raw)
            sessions = _Sessions(self._previews, self._staleness, scope, self._editor)
            exchange = Exchange(sessions, raw, preview.group, receive, send)
            await self.app(scope, exchange.receive, exchange.send)
            return
        if self._editor is not None:
            raise InvalidToken(InvalidToken.MESSAGE)
        await self.app(scope, receive, send)


class _Sessions:
    lease_age = None

    def __init__(self, previews: Previews, staleness: float, scope: Scope, editor: EditorPreview | None) -> None:
        self._previews = previews
        self._scope = scope
        self._editor = editor
        self.staleness: float = staleness

    def seconds_left(self, group: UserGroup) -> float:
        return self._previews.seconds_left(group)

    def peek(self, raw: bytes) -> UserGroup | None:
        return None

    async def resolve(self, raw: bytes) -> UserGroup:
        if self._editor is not None and not await self._editor.has_author(self._scope):
            raise InvalidToken(InvalidToken.MESSAGE)
        preview = await self._previews.find(raw.decode("latin-1"))
        if preview is None:
            raise InvalidToken(InvalidToken.MESSAGE)
        return preview.group


def _key_of(scope: Scope) -> str | None:
    passed: PassedPreviewKey | None = scope.get(PASSED_KEY)
    if passed is not None:
        return passed.take()
    given = Headers(scope=scope).getlist(TOKEN_HEADER)
    return given[0] if len(given) == 1 and given[0].startswith(PREVIEW_PREFIX) else None


def preview_mark(scope: Scope) -> dict[str, Any]:
    """Return, as JSON, the group for the watermark of a preview's page."""
    preview: Preview | None = scope.get(PREVIEW_KEY)
    if preview is None:
        return {}
    group = preview.group
    mark = {"id": group.provided_id, "name": group.name, "environment": group.environment.name}
    return {"preview": mark | ({"editor": True} if preview.shown_by is not None else {})}
