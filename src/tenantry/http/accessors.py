"""The user group and variables of a request.

``user_group`` and ``variables`` accept a Starlette or FastAPI connection, or an ASGI scope. In FastAPI they are
dependencies: ``Annotated[UserGroup, Depends(user_group)]``.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from tenantry.errors import MiddlewareMissing, MissingToken, OutOfScope
from tenantry.groups import Record, UserGroup
from tenantry.http import responses as http

SCOPE_KEY = "user_group"
"""ASGI scope key of the request's UserGroup. The value is None if the request has no token."""

OUT_OF_SCOPE_KEY = "tenantry.out_of_scope"
"""If a pass does not permit the ``audience`` of an outer UserGroupMiddleware, the ASGI scope has the group under this
key. An inner UserGroupMiddleware accepts the group if the pass permits its ``audience``."""

FOUND_KEY = "tenantry.found"
"""ASGI scope key of the hash of the request's token. An inner UserGroupMiddleware compares this hash with that of the
token that it finds."""

HANDSHAKE_KEY = "tenantry.handshake"

GROUP_REQUESTED_KEY = "tenantry.group_requested"

LAST_PART_KEY = "tenantry.last_part"
"""Optional key of an ``http.response.body`` message with ``more_body``. The value is a function that takes a reason
(GROUP_CHANGED or an error code) and returns the last part of the body. UserGroupMiddleware calls this function to end
the response early. The key is removed before the message reaches the server."""

GROUP_CHANGED = "group_changed"
"""Why a response ends early: the group's properties, name or mapping have changed."""

VIEWER_KEY = "tenantry.viewer"
"""ASGI scope key of a websocket's ReadAhead, whose ``wait_left()`` returns when the viewer disconnects."""


class Handshake:
    __slots__ = ("answered",)

    def __init__(self) -> None:
        self.answered: bool = False


class GroupRequested:
    __slots__ = ("made",)

    def __init__(self) -> None:
        self.made: bool = False


def user_group(connection: http.HTTPConnection) -> UserGroup:
    """The user group of this request.

    Raises:
    - MissingToken if the request has no token; UserGroupMiddleware then sends a 401
    - OutOfScope (403) if the request has a pass whose scope does not cover the request
    - MiddlewareMissing if UserGroupMiddleware is not installed
    """
    scope: Any = getattr(connection, "scope", connection)  # a Starlette Request is itself a Mapping, and has a scope
    try:
        group = scope[SCOPE_KEY]
    except KeyError:
        raise MiddlewareMissing(
            "no UserGroupMiddleware runs before this view: call app.add_middleware(UserGroupMiddleware, resolver=…)"
        ) from None
    if group is None:
        requested = scope.get(GROUP_REQUESTED_KEY)
        if requested is not None:
            requested.made = True
        if OUT_OF_SCOPE_KEY in scope:
            raise OutOfScope(OutOfScope.MESSAGE)
        raise MissingToken(MissingToken.MESSAGE)
    if not isinstance(group, UserGroup):
        raise MiddlewareMissing(f'another middleware overwrote scope["{SCOPE_KEY}"] after UserGroupMiddleware')
    return group


def variables(connection: http.HTTPConnection) -> Record:
    """The variables for templates: ``UserGroup.variables``, with the query parameters as ``params.*``. A repeated
    parameter becomes a list. Query parameters cannot override other values. Raises the errors of ``user_group``."""
    group = user_group(connection)
    scope: Any = getattr(connection, "scope", connection)
    query: bytes = scope.get("query_string", b"")
    if not query:
        return group.variables
    values: dict[str, list[str]] = {}
    # Latin-1 keeps every byte; the percent-encoding is UTF-8; invalid bytes become U+FFFD.
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="replace"):
        values.setdefault(name, []).append(value)
    params = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
    return group.with_params(params)
