"""PreviewGuard: the data of one dashboard for the session of a preview, in place of a token."""

from __future__ import annotations

from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.accessors import FOUND_KEY, SCOPE_KEY
from tenantry.dashboards.preview.previews import SESSION_PREFIX, Preview, Previews
from tenantry.errors import InvalidToken, MissingScope
from tenantry.middleware.carriers import TOKEN_HEADER

PREVIEW_KEY: Final = "tenantry.preview"
"""The scope key of the Preview of a request."""


class PreviewGuard:
    """ASGI middleware before UserGroupMiddleware, on the routes of a dashboard's data alone: where the header of the
    token holds the key of a session, the group is that of the preview. All else passes through.

    Raises InvalidToken for a session that has ended, UserGroupExpired for a group that has, MissingScope for another
    dashboard than that of the preview.
    """

    def __init__(self, app: ASGIApp, *, previews: Previews) -> None:
        self.app = app
        self._previews = previews

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).getlist(TOKEN_HEADER)
        if len(given) == 1 and given[0].startswith(SESSION_PREFIX):
            preview = await self._previews.find(given[0])
            if preview is None:
                raise InvalidToken(InvalidToken.MESSAGE)
            if scope["path_params"].get("name") != preview.dashboard:
                raise MissingScope("this preview is of another dashboard, and of that one alone")
            scope[SCOPE_KEY], scope[PREVIEW_KEY] = preview.group, preview
            scope[FOUND_KEY] = hash(given[0].encode("latin-1"))  # UserGroupMiddleware takes it out of the headers
        await self.app(scope, receive, send)


def preview_mark(scope: Scope) -> dict[str, Any]:
    """What the page draws over a dashboard that is a preview: as whom. Nothing for others."""
    preview: Preview | None = scope.get(PREVIEW_KEY)
    if preview is None:
        return {}
    group = preview.group
    return {"preview": {"id": group.provided_id, "name": group.name, "environment": group.environment.name}}
