"""The records of a store: user groups, environments, tokens, API tokens and data sources.

``codec`` has the JSON and table forms of a group.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from tenantry.groups.moments import write_moment
from tenantry.groups.record import Record, thaw
from tenantry.groups.session_variables import SessionVariables

RESERVED_NAMES = frozenset({"user_group", "params"})
"""Variable names that a property cannot take: read it as ``user_group.properties.<name>``."""


class Tag(StrEnum):
    """The two values of ``api_environment_tag`` (SPEC section 2.1)."""

    CUSTOMER = "Customer"
    TESTING = "Testing"


@dataclass(frozen=True, slots=True)
class Environment:
    """A boundary: nothing of one environment resolves, reads or routes in another.

    ``external_data_sources``: mappings are not checked against the registered data sources, because the app routes
    queries itself. ``grace_seconds``: the default grace of an old token after a rotation; 0: none.
    """

    id: int
    name: str
    tag: Tag
    external_data_sources: bool = False
    grace_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Token:
    """The parts of a user group token, from which a signing key makes the token string; stores hold only these.

    ``handle``: 8 random public bytes, constant per group, the key in caches and stores. ``nonce``: 16 secret random
    bytes, new at each rotation.
    """

    tag: Tag
    key_id: str
    handle: bytes
    version: int
    nonce: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group (SPEC section 2.1). Plain dicts given for ``properties`` and ``mapping`` are frozen to Records.

    ``handle`` (8 bytes) identifies the group in tokens and caches. ``token_version`` is that of the live token;
    ``revision`` counts changes. The previous token version is valid until ``grace_until``. From ``expires_at`` on
    (None: never) a Resolver refuses every token, by its own clock. Times are aware, in UTC.
    """

    team_id: int
    provided_id: str
    name: str
    environment: Environment
    properties: Record | None
    mapping: Record | None
    handle: bytes
    token_version: int
    revision: int
    grace_until: datetime | None = None
    expires_at: datetime | None = None
    _variables: Record | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("properties", "mapping"):
            value = getattr(self, name)
            if type(value) is not Record and isinstance(value, Mapping):
                object.__setattr__(self, name, Record(value))

    @property
    def variables(self) -> Record:
        """The variables of templates: every property by its name, and ``user_group.*``. Computed at the first call."""
        if self._variables is None:
            properties = self.properties if self.properties is not None else Record({})
            by_name = {name: properties[name] for name in properties if name not in RESERVED_NAMES}
            user_group = {
                "id": self.provided_id,
                "name": self.name,
                "environment": self.environment.name,
                "properties": properties,
            }
            object.__setattr__(self, "_variables", Record({**by_name, "user_group": user_group}))
        return cast("Record", self._variables)

    def seconds_left(self, now: datetime) -> float:
        """Seconds from ``now`` (aware) until the end date; ``inf`` without one. The group has ended at 0 or less."""
        return inf if self.expires_at is None else (self.expires_at - now).total_seconds()

    def is_bound_like(self, other: UserGroup) -> bool:
        """Whether queries and routing treat both records alike: equal id, name, properties, mapping and environment,
        where ``1``, ``1.0`` and ``true`` differ."""
        ours, theirs = self.environment, other.environment
        if (ours.id, ours.name, ours.tag) != (theirs.id, theirs.name, theirs.tag) or self.handle != other.handle:
            return False
        return self.revision == other.revision or self._bound() == other._bound()

    def _bound(self) -> str:
        return json.dumps([self.provided_id, self.name, thaw(self.properties), thaw(self.mapping)], sort_keys=True)

    def __hash__(self) -> int:
        """By handle and revision, because a Record has no hash."""
        return hash((self.handle, self.revision))

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready copy without secrets."""
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
        }


if TYPE_CHECKING:  # a default needs Python 3.13
    import typing_extensions

    LiveToken = typing_extensions.TypeVar("LiveToken", default=Token)
else:
    LiveToken = TypeVar("LiveToken")


@dataclass(frozen=True, slots=True)
class Issued(Generic[LiveToken]):
    """A group with its live token: the Token of a store, or the token string of a Provisioner (``Issued[str]``).

    ``created`` marks a new group; ``replayed`` marks the answer to a repeated Idempotency-Key.
    """

    group: UserGroup
    token: LiveToken = field(repr=False)
    created: bool = False
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What a backend found for a token, and how far that answer may be trusted: the group of the token, or None.

    ``generation`` is the store's at the snapshot that was read (not later than it); None where the backend knows none.
    ``seconds`` is for how long the answer is good by the store's own clock (the grace of an old token, the ``exp`` of
    an introspection), counted from when it was asked for; None: it has no end of its own.
    """

    group: UserGroup | None
    generation: int | None = None
    seconds: float | None = None


# --- what an environment registers beside its groups ------------------------------------------------------------------


class Scope(StrEnum):
    """A permission of an API token; ``provision`` includes ``provision:read`` and ``provision:write``."""

    PROVISION = "provision"
    PROVISION_READ = "provision:read"
    PROVISION_WRITE = "provision:write"
    INTROSPECT = "introspect"
    PREVIEW = "preview"


_CONTAINED_IN: Final = {Scope.PROVISION_READ: Scope.PROVISION, Scope.PROVISION_WRITE: Scope.PROVISION}


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A registered API token; its secret is not stored. ``hint``: the secret's last four characters. The token is
    refused from ``expires_at`` on. ``last_used_at`` is accurate to the hour."""

    id: int
    environment: Environment
    label: str
    scopes: frozenset[Scope]
    hint: str
    created_at: datetime
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None

    def allows(self, scope: Scope) -> bool:
        """Whether the token has this scope, or one that includes it."""
        return scope in self.scopes or _CONTAINED_IN.get(scope) in self.scopes


@dataclass(frozen=True, slots=True)
class RevokedApiToken:
    """A revoked API token, and the number of codes and sessions that ``ended`` with it; 0 if it was revoked before."""

    api_token: ApiToken
    ended: int


@dataclass(frozen=True, slots=True)
class Caller:
    """A live API token and the requested group of its environment, or None; read at one moment of the store."""

    api_token: ApiToken
    issued: Issued | None


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A data source of one environment: our id (``ds_…``), the caller's id, and the URL, which may hold a password.

    ``trusted`` permits a dialect whose read-only mode Tenantry cannot enforce. ``session``: session variables to set
    before each query, as pairs of a name and a tag (``("app.tenant", "{{ user_group.id }}")``); PostgreSQL only.
    """

    id: str
    provided_id: str
    environment: Environment
    url: str = field(repr=False)
    trusted: bool = False
    session: SessionVariables = ()

    @property
    def handles(self) -> tuple[bytes, bytes]:
        """The handles of both ids; a write is announced in the slots of both."""
        return source_handle(self.environment.id, self.id), source_handle(self.environment.id, self.provided_id)


@dataclass(frozen=True, slots=True)
class SourceReading:
    """The data source that a store found, or None, and the store's ``generation`` at the snapshot that was read."""

    source: RegisteredSource | None
    generation: int


SOURCES_HANDLE: Final = b"sources\0"
"""The handle under which writes to data sources are listed as changes."""


def source_handle(environment_id: int, reference: str) -> bytes:
    """The handle of a data source by its id (``ds_…``) or the caller's; it selects the slot."""
    return sha256(f"{environment_id}/{reference}".encode()).digest()[:8]
