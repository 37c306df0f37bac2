"""Request accessors. They accept a Starlette or FastAPI connection or an ASGI scope. In FastAPI they are dependencies:
``Annotated[UserGroup, Depends(user_group)]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from tenantry.errors import MiddlewareMissing, MissingToken
from tenantry.groups import Record, UserGroup, extend
from tenantry.http import responses as http

SCOPE_KEY = "user_group"
"""The scope key of the request's UserGroup, or None."""

FOUND_KEY = "tenantry.found"
"""The scope key of the token's hash, which an inner UserGroupMiddleware compares."""

HANDSHAKE_KEY = "tenantry.handshake"
"""The scope key of a websocket's Handshake."""

GROUP_REQUESTED_KEY = "tenantry.group_requested"
"""The scope key of the request's GroupRequested."""

LAST_PART_KEY = "tenantry.last_part"
"""Optional key of a ``http.response.body`` message with ``more_body``: a function from a reason (GROUP_CHANGED or an
error code) to the last part if the response is cut short. UserGroupMiddleware removes it."""

GROUP_CHANGED = "group_changed"
"""The reason if the group's properties, name or mapping changed."""

VIEWER_KEY = "tenantry.viewer"
"""The scope key of a websocket's reader, whose ``wait_left()`` returns on disconnect."""


class Handshake:
    """Whether the app has answered the websocket."""

    __slots__ = ("answered",)

    def __init__(self) -> None:
        self.answered: bool = False


class GroupRequested:
    """Whether a view requested a missing group."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        self.made: bool = False


def user_group(connection: http.HTTPConnection) -> UserGroup:
    """The user group of this request. Raises MissingToken, which the middleware answers with 401, or
    MiddlewareMissing."""
    scope: Any = getattr(connection, "scope", connection)  # a Starlette Request is itself a Mapping, and has a scope
    try:
        group = scope[SCOPE_KEY]
    except KeyError:
        raise MiddlewareMissing(
            "UserGroupMiddleware is not installed before this view: app.add_middleware(UserGroupMiddleware, resolver=…)"
        ) from None
    if group is None:
        requested = scope.get(GROUP_REQUESTED_KEY)
        if requested is not None:
            requested.made = True
        raise MissingToken(MissingToken.MESSAGE)
    if not isinstance(group, UserGroup):
        raise MiddlewareMissing(f'another middleware took scope["{SCOPE_KEY}"] after UserGroupMiddleware')
    return group


def variables(connection: http.HTTPConnection) -> Record:
    """The variables of templates: properties by name, ``user_group.*``, and query parameters as ``params.*`` (a list if
    repeated). Viewers cannot override group values. Raises the errors of ``user_group``."""
    group = user_group(connection)
    scope: Any = getattr(connection, "scope", connection)
    query: bytes = scope.get("query_string", b"")
    if not query:
        return extend(group.variables, "params", _NO_PARAMS)
    values: dict[str, list[str]] = {}
    # Latin-1 keeps every byte; the percent-encoding is UTF-8; invalid bytes become U+FFFD.
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="replace"):
        values.setdefault(name, []).append(value)
    params = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
    return extend(group.variables, "params", params)


_NO_PARAMS = Record({})
