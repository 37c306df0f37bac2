"""The answer of an introspection endpoint becomes a Reading. Pure; whatever does not fit the token is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from tenantry.errors import StoreUnavailable
from tenantry.groups import Environment, Reading, Tag, Token, UserGroup

_HANDLE = r"^[0-9a-f]{16}$"
_Seconds = Annotated[float, Field(allow_inf_nan=False)]


class _Told(BaseModel):
    """No coercion; members that we do not know are let be (RFC 7662 section 2.2)."""

    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)


class _Environment(_Told):
    id: int
    name: str
    tag: Annotated[Tag, Field(strict=False)]  # a word becomes a Tag
    external_data_sources: bool = False
    grace_seconds: int = 0


class _Group(_Told):
    team_id: int
    provided_id: str
    name: str
    environment: _Environment
    properties: dict[str, Any] | None
    mapping: dict[str, str] | None
    handle: Annotated[str, Field(pattern=_HANDLE)]
    token_version: int
    revision: int
    grace_until: Annotated[AwareDatetime, Field(strict=False)] | None


class _Answer(_Told):
    active: bool
    exp: _Seconds | None = None
    seconds: _Seconds | None = None
    user_group: _Group | None = None


NOTHING = Reading(None)


def read_answer(body: bytes, token: Token, now: datetime) -> Reading:
    """What a body of a 200 says of ``token``, asked about at ``now``.

    A token in its grace is good for the ``seconds`` that the server counts, which needs no clock that agrees with its
    own, and never beyond ``exp`` by the clock of this host. Raises StoreUnavailable; its message repeats nothing.
    """
    answer = _parse(body)
    if answer is None:
        raise StoreUnavailable("the introspection endpoint answered otherwise than RFC 7662 says: is a proxy there?")
    if not answer.active:
        return NOTHING
    if answer.user_group is None:
        raise StoreUnavailable(
            "the introspection endpoint knows the token but tells no user_group: it is no server of Tenantry"
        )
    group = _built(answer.user_group)
    return Reading(*_judged(answer, group, token, now))


def _parse(body: bytes) -> _Answer | None:
    try:
        return _Answer.model_validate(from_json(body, allow_inf_nan=False))
    except (ValidationError, ValueError):  # both know the input, so neither goes along as a context
        return None


def _built(told: _Group) -> UserGroup:
    place = told.environment
    return UserGroup(
        team_id=told.team_id,
        provided_id=told.provided_id,
        name=told.name,
        environment=Environment(place.id, place.name, place.tag, place.external_data_sources, place.grace_seconds),
        properties=told.properties,  # type: ignore[arg-type]  # frozen to a Record
        mapping=told.mapping,  # type: ignore[arg-type]
        handle=bytes.fromhex(told.handle),
        token_version=told.token_version,
        revision=told.revision,
        grace_until=None if told.grace_until is None else told.grace_until.astimezone(UTC),
    )


def _judged(
    answer: _Answer, group: UserGroup, token: Token, now: datetime
) -> tuple[UserGroup | None, int | None, float | None]:
    behind = group.token_version - token.version
    of_this_token = group.handle == token.handle and group.environment.tag is token.tag and behind in (0, 1)
    ends = [] if answer.exp is None else [answer.exp - now.timestamp()]
    ends += [] if answer.seconds is None else [answer.seconds]
    if not of_this_token or (behind == 1 and not ends):
        raise StoreUnavailable("the introspection endpoint answered for another token than the one asked about")
    rest = min(ends, default=None)
    return (None, None, None) if rest is not None and rest <= 0 else (group, None, rest)
