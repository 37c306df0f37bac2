from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from tenantry.errors import InvalidToken, PassExpired, PassRevoked, UserGroupExpired, UserGroupSuspended
from tenantry.groups.moments import write_moment
from tenantry.groups.record import Record, extend, thaw
from tenantry.groups.viewer import Viewer

RESERVED_NAMES = frozenset({"user_group", "params", "viewer"})
"""Variable names with a fixed meaning. A property with such a name is read as ``user_group.properties.<name>``."""


class Tag(StrEnum):
    """The two values of ``api_environment_tag`` (SPEC section 2.1)."""

    CUSTOMER = "Customer"
    TESTING = "Testing"


@dataclass(frozen=True, slots=True)
class Environment:
    """A boundary around groups, data sources and API tokens."""

    id: int
    name: str
    tag: Tag
    external_data_sources: bool = False
    """Whether the app runs the queries itself. If it does, mappings are not checked."""
    grace_seconds: int = 0
    """The default grace period, in seconds: after a rotation, the previous token is still accepted for this time."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token's parts, without the signature."""

    tag: Tag
    key_id: str
    handle: bytes
    """8 public bytes that identify the group. They never change."""
    version: int
    nonce: bytes = field(repr=False)
    """16 secret bytes. Each rotation makes new ones."""


_NO_PARAMS: Final = Record({})


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group (SPEC section 2.1). You may pass dicts as ``properties`` and ``mapping``; they become Records. Times
    are aware, in UTC."""

    team_id: int
    """The group's number in the store. No other group ever gets it."""
    provided_id: str
    name: str
    environment: Environment
    properties: Record | None
    mapping: Record | None
    handle: bytes
    """8 bytes that identify the group in tokens and caches."""
    token_version: int
    revision: int
    """Number of writes to the group, counted from 1."""
    grace_until: datetime | None = None
    """When the grace period of the last rotation ends. Until then, the previous token is still accepted. None: there
    was no grace period."""
    expires_at: datetime | None = None
    """From this time on, a Resolver refuses all tokens of the group. None: the group has no end date. In a group with a
    viewer, this is the end of the viewer's pass if the pass ends before the group."""
    suspended: bool = False
    """Whether a Resolver refuses all tokens and passes of the group."""
    revoked_viewers: Record | None = None
    """Viewer id -> time in seconds since 1970. Passes issued to the viewer before this time are refused. The latest
    revocation is the last item."""
    viewer: Viewer | None = field(default=None, init=False)
    """The person named in the pass that the request has. None if the request has a token instead of a pass."""
    _variables: Record | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("properties", "mapping", "revoked_viewers"):
            value = getattr(self, name)
            if type(value) is not Record and isinstance(value, Mapping):
                object.__setattr__(self, name, Record(value))

    @property
    def variables(self) -> Record:
        """Return the template variables: the properties by name, ``user_group.*``, an empty ``params``, and
        ``viewer.*`` if there is a viewer."""
        made = self._variables
        if made is None:
            properties = self.properties if self.properties is not None else Record({})
            by_name = {name: properties[name] for name in properties if name not in RESERVED_NAMES}
            user_group = {
                "id": self.provided_id,
                "name": self.name,
                "environment": self.environment.name,
                "properties": properties,
            }
            values = {**by_name, "user_group": user_group, "params": _NO_PARAMS}
            if self.viewer is not None:
                values["viewer"] = self.viewer.variables
            made = Record(values)
            object.__setattr__(self, "_variables", made)
        return made

    def with_params(self, params: Mapping[str, Any]) -> Record:
        """Return ``variables`` with these ``params.*``."""
        return extend(self.variables, "params", params)

    def with_viewer(self, viewer: Viewer) -> UserGroup:
        """Return a copy of the group with this viewer. The copy expires with the viewer's pass or with the group,
        whichever comes first. Raises PassRevoked if the pass is revoked."""
        if viewer.issued_at.timestamp() < self.revoked_before(viewer.id):
            raise PassRevoked(PassRevoked.MESSAGE)
        ends = viewer.expires_at if self.expires_at is None else min(self.expires_at, viewer.expires_at)
        seen = replace(self, expires_at=ends)
        object.__setattr__(seen, "viewer", viewer)
        return seen

    @property
    def viewer_id(self) -> str | None:
        """The viewer's id. None if there is no viewer, or the pass names none."""
        return None if self.viewer is None else self.viewer.id

    def revoked_before(self, viewer_id: str | None) -> int:
        """Return the time before which the viewer's passes are revoked (seconds since 1970), or 0 if none are."""
        revoked = self.revoked_viewers
        return 0 if revoked is None or viewer_id is None or viewer_id not in revoked else int(revoked[viewer_id])

    @property
    def may_end(self) -> bool:
        """Whether the group has an end date or is suspended."""
        return self.suspended or self.expires_at is not None

    @property
    def ends_with_pass(self) -> bool:
        """Whether ``expires_at`` is the end of a pass."""
        return self.viewer is not None and self.viewer.expires_at == self.expires_at

    def seconds_left(self, now: datetime) -> float:
        """Return the seconds from ``now`` (aware) to ``expires_at``, negative after it. Return ``inf`` if there is no
        end date, and 0 if the group is suspended."""
        if self.suspended:
            return 0.0
        return inf if self.expires_at is None else (self.expires_at - now).total_seconds()

    def require_access(self, now: datetime) -> None:
        """Raise an error if access has ended: UserGroupSuspended if the group is suspended, PassExpired if
        ``expires_at`` is the end of the viewer's pass, otherwise UserGroupExpired."""
        if self.seconds_left(now) <= 0:
            raise self.end_error(self.end_error.MESSAGE)

    @property
    def end_error(self) -> type[InvalidToken]:
        """The class of the error that requests get once ``seconds_left`` is 0 or less."""
        if self.suspended:
            return UserGroupSuspended
        return PassExpired if self.ends_with_pass else UserGroupExpired

    def accepts(self, token_version: int, now: datetime | None = None) -> bool:
        """Whether ``token_version`` is the version of the live token, or of the previous token in its grace period. If
        ``now`` is None, the end of the grace period is ignored. This does not check the token's nonce."""
        if token_version == self.token_version:
            return True
        until = self.grace_until
        return token_version == self.token_version - 1 and until is not None and (now is None or now < until)

    def is_bound_like(self, other: UserGroup) -> bool:
        """Whether ``other`` is the same group, with the same mapping and the same values for templates. ``1``, ``1.0``
        and ``true`` count as different."""
        ours, theirs = self.environment, other.environment
        if (ours.id, ours.name, ours.tag) != (theirs.id, theirs.name, theirs.tag) or self.handle != other.handle:
            return False
        if not self.has_viewer_of(other):
            return False
        return self.revision == other.revision or self._bound() == other._bound()

    def has_viewer_of(self, other: UserGroup) -> bool:
        """Whether neither group has a viewer, or both have viewers with the same values of ``viewer.*``."""
        if self.viewer is None or other.viewer is None:
            return self.viewer is other.viewer
        return self.viewer is other.viewer or _as_json(self.viewer.variables) == _as_json(other.viewer.variables)

    def _bound(self) -> str:
        return _as_json([self.provided_id, self.name, thaw(self.properties), thaw(self.mapping)])

    def __hash__(self) -> int:
        return hash((self.handle, self.revision))  # a Record has no hash

    def as_dict(self) -> dict[str, Any]:
        """Return the group as JSON, without secrets."""
        return {
            "team_id": self.team_id,
            "provided_id": self.provided_id,
            "name": self.name,
            "environment": self.environment.name,
            "api_environment_tag": self.environment.tag.value,
            "properties": thaw(self.properties),
            "mapping": thaw(self.mapping),
            "token_version": self.token_version,
            "revision": self.revision,
            "expires_at": write_moment(self.expires_at),
            "suspended": self.suspended,
        }


def _as_json(value: Any) -> str:
    return json.dumps(thaw(value), sort_keys=True)


if TYPE_CHECKING:  # the default of a TypeVar needs Python 3.13
    import typing_extensions

    LiveToken = typing_extensions.TypeVar("LiveToken", default=Token)
else:
    LiveToken = TypeVar("LiveToken")


@dataclass(frozen=True, slots=True)
class Issued(Generic[LiveToken]):
    """A group with its live token: a Token in a store's results, a string in a Provisioner's."""

    group: UserGroup
    token: LiveToken = field(repr=False)
    created: bool = False
    replayed: bool = False
    """Whether this repeats the response to an earlier request with the same Idempotency-Key."""


@dataclass(frozen=True, slots=True)
class LookupResult:
    """A backend's result for a token: the group, or None."""

    group: UserGroup | None
    generation: int | None = None
    """The result includes the change with this number (``Change.generation``) and all earlier changes. None if the
    number is unknown."""
    seconds: float | None = None
    """How long the token is valid, in seconds from the request to the backend. None: no limit."""
