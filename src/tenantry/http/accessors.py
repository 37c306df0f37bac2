"""Request accessors: the user group that the middleware found, and the variables of templates.

They read an ASGI scope; they take a Starlette or FastAPI ``Request`` or ``WebSocket``, or the scope itself. In
FastAPI they are dependencies as they are: ``Annotated[UserGroup, Depends(user_group)]``.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from tenantry.errors import MiddlewareMissing, MissingToken
from tenantry.groups import Record, UserGroup, extend
from tenantry.http import responses as http

SCOPE_KEY = "user_group"
"""The scope key under which UserGroupMiddleware puts the UserGroup of a request, or None."""

FOUND_KEY = "tenantry.found"
"""The scope key of the hash of the token that UserGroupMiddleware found: another one that is mounted further in
compares its own. Python's hash of 97 random characters reveals nothing of them."""

HANDSHAKE_KEY = "tenantry.handshake"
"""The scope key under which UserGroupMiddleware puts the Handshake of a websocket."""

GROUP_REQUESTED_KEY = "tenantry.group_requested"
"""The scope key under which UserGroupMiddleware puts the GroupRequested of a request or websocket without a token."""

LAST_PART_KEY = "tenantry.last_part"
"""In a message ``http.response.body`` with ``more_body``: a function of the reason that gives the last part of a
response that is ended meanwhile. The reason is GROUP_CHANGED, or the code of the error with which the token is refused.
Without it such a response is left without an end. UserGroupMiddleware takes it out."""

GROUP_CHANGED = "group_changed"
"""The reason where the token is good and its group has other properties, another name or another mapping."""

VIEWER_KEY = "tenantry.viewer"
"""The scope key under which UserGroupMiddleware puts what tells whether the client of a websocket has left: its
``wait_left()`` returns then."""


class Handshake:
    """Whether a websocket's app has answered its handshake: accepted, denied or closed it."""

    __slots__ = ("answered",)

    def __init__(self) -> None:
        self.answered: bool = False


class GroupRequested:
    """Whether the user group was asked for where there is none. A framework may make a response of its own of the
    MissingToken that a view raises, and raise nothing."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        self.made: bool = False


def user_group(connection: http.HTTPConnection) -> UserGroup:
    """The user group of this request.

    Raises MissingToken (the middleware answers it with 401) if the request carried no token, and MiddlewareMissing if
    UserGroupMiddleware is not installed before this view.
    """
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
    """What templates may read: the group's properties by name, ``user_group.*``, and viewer input as ``params.*``.

    ``params`` holds the query parameters: one value as a str, a repeated one as a list of str. A viewer can never
    shadow a value of the group. Raises what ``user_group`` raises.
    """
    group = user_group(connection)
    scope: Any = getattr(connection, "scope", connection)
    query: bytes = scope.get("query_string", b"")
    if not query:
        return extend(group.variables, "params", _NO_PARAMS)
    values: dict[str, list[str]] = {}
    # Latin-1 keeps every byte; the percent-encoding is UTF-8, and what is not becomes U+FFFD.
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="replace"):
        values.setdefault(name, []).append(value)
    params = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
    return extend(group.variables, "params", params)


_NO_PARAMS = Record({})
