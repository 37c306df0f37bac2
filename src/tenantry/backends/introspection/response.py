"""The response of an introspection endpoint becomes a Reading. Pure; whatever does not fit the token is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from tenantry.errors import StoreUnavailable
from tenantry.groups import INTROSPECTION, Reading, Token, UserGroup

_Seconds = Annotated[float, Field(allow_inf_nan=False)]


class _Response(BaseModel):
    """No coercion; members that we do not know are passed over (RFC 7662 section 2.2)."""

    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)
    active: bool
    exp: _Seconds | None = None
    seconds: _Seconds | None = None
    user_group: dict[str, Any] | None = None


NOT_ACTIVE = Reading(None)


def read_response(body: bytes, token: Token, now: datetime) -> Reading:
    """What the body of a 200 means for ``token``, asked about at ``now``.

    A token in its grace is good for the ``seconds`` that the server counts, which needs no clock that agrees with its
    own, and never beyond ``exp`` by the clock of this host. Raises StoreUnavailable; its message repeats nothing.
    """
    response, group = _parse(body)
    if response is None:
        raise StoreUnavailable("the introspection endpoint answered otherwise than RFC 7662 says: is a proxy there?")
    if not response.active:
        return NOT_ACTIVE
    if group is None:
        raise StoreUnavailable(
            "the introspection endpoint knows the token but sends no user_group: it is no server of Tenantry"
        )
    return Reading(*_checked(response, group, token, now))


def _parse(body: bytes) -> tuple[_Response | None, UserGroup | None]:
    try:
        response = _Response.model_validate(from_json(body, allow_inf_nan=False))
        group = None if response.user_group is None else INTROSPECTION.decode(response.user_group)
    except (ValidationError, ValueError):  # both know the input, so neither goes along as a context
        return None, None
    return response, group


def _checked(
    response: _Response, group: UserGroup, token: Token, now: datetime
) -> tuple[UserGroup | None, int | None, float | None]:
    behind = group.token_version - token.version
    of_this_token = group.handle == token.handle and group.environment.tag is token.tag and behind in (0, 1)
    ends = [] if response.exp is None else [response.exp - now.timestamp()]
    ends += [] if response.seconds is None else [response.seconds]
    if not of_this_token or (behind == 1 and not ends):
        raise StoreUnavailable("the introspection endpoint answered for another token than the one asked about")
    rest = min(ends, default=None)
    return (None, None, None) if rest is not None and rest <= 0 else (group, None, rest)
