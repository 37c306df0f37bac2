"""UserGroup, one customer of the vendor as one immutable record, with what it is made and found of: its Environment,
the parts of its Token, and a LookupResult or an Issued group as stores answer with them. And what its environment
registers besides: the API tokens of callers, and data sources.

Its forms in JSON and in a table: codec.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from math import inf
from typing import Any, Final, cast

from tenantry.groups.moments import write_moment
from tenantry.groups.record import Record, thaw
from tenantry.groups.session_variables import SessionVariables

RESERVED_NAMES = frozenset({"user_group", "params"})
"""Names of variables that a property cannot take: such a property is reached as ``user_group.properties.<name>``."""


class Tag(StrEnum):
    """The two values of ``api_environment_tag`` (SPEC section 2.1)."""

    CUSTOMER = "Customer"
    TESTING = "Testing"


@dataclass(frozen=True, slots=True)
class Environment:
    """A boundary: nothing of one environment resolves, reads or routes in another.

    ``id`` is the store's own number. With ``external_data_sources`` the mapping of a group is not checked against the
    registered data sources, for apps that route queries themselves. ``grace_seconds`` is the grace of an old token
    after a rotation that names none of its own; 0: it dies at once.
    """

    id: int
    name: str
    tag: Tag
    external_data_sources: bool = False
    grace_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Token:
    """The parts of a user group token (tenantry.tokens); no I/O has been done for it.

    ``handle`` is 8 random public bytes, constant per group: the cache's and the store's key. ``nonce`` is 16 random
    bytes, new at each rotation, and never shown. A store holds these parts and never the token string: the same parts
    and the same signing key give the same string, bit for bit.
    """

    tag: Tag
    key_id: str
    handle: bytes
    version: int
    nonce: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group (SPEC section 2.1). Plain dicts given for ``properties`` and ``mapping`` are frozen to Records.

    ``handle`` (8 bytes) names the group in tokens, caches and invalidations. ``token_version`` is the version of the
    one live token, ``revision`` counts every change. Until ``grace_until`` (aware, UTC) the token version just before
    ``token_version`` is still good. From ``expires_at`` (aware, UTC; None: never) on no token of it is good: a Resolver
    judges that by its own clock, and no store does.
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
        """What templates may read of the group: every property by its bare name, and ``user_group.*``.

        Made at the first call and stored: a store reads many groups whose variables nobody asks for.
        """
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
        """From ``now`` (aware) until the end date; ``inf`` without one. The group has ended where it is not above 0."""
        return inf if self.expires_at is None else (self.expires_at - now).total_seconds()

    def is_bound_like(self, other: UserGroup) -> bool:
        """Whether both records mean the same to templates, queries and routing: equal id, name, properties, mapping and
        environment. Token, grace and end date do not count; ``1``, ``1.0`` and ``true`` differ."""
        ours, theirs = self.environment, other.environment
        if (ours.id, ours.name, ours.tag) != (theirs.id, theirs.name, theirs.tag) or self.handle != other.handle:
            return False
        return self.revision == other.revision or self._bound() == other._bound()

    def _bound(self) -> str:
        return json.dumps([self.provided_id, self.name, thaw(self.properties), thaw(self.mapping)], sort_keys=True)

    def __hash__(self) -> int:
        """By handle and revision: equal groups have both in common, and a Record in a field has no hash of its own."""
        return hash((self.handle, self.revision))

    def as_dict(self) -> dict[str, Any]:
        """A plain, JSON-ready copy: id, name, environment, tag, properties, mapping and end date. It holds no
        secret."""
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


@dataclass(frozen=True, slots=True)
class Issued:
    """A group together with the parts of its live token: what a store answers to a write.

    ``created`` marks a new group; ``replayed`` marks the answer to a repeated Idempotency-Key.
    """

    group: UserGroup
    token: Token
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
    """What an API token may be used for. ``provision`` is ``provision:read`` and ``provision:write`` together."""

    PROVISION = "provision"
    PROVISION_READ = "provision:read"
    PROVISION_WRITE = "provision:write"
    INTROSPECT = "introspect"
    PREVIEW = "preview"


_CONTAINED_IN: Final = {Scope.PROVISION_READ: Scope.PROVISION, Scope.PROVISION_WRITE: Scope.PROVISION}


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A registered API token; the secret itself is never stored. ``hint`` is the last four characters of the secret, to
    distinguish tokens in a list. It is refused from ``expires_at`` on. ``last_used_at`` is coarse: the token was used
    then, and perhaps within an hour after that."""

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
        """Whether it may be used for this: it has the scope, or the one that this is a part of."""
        return scope in self.scopes or _CONTAINED_IN.get(scope) in self.scopes


@dataclass(frozen=True, slots=True)
class RevokedApiToken:
    """An API token that is refused from now on. ``ended``: how many codes and sessions ended with it; 0 for one that
    was revoked before."""

    api_token: ApiToken
    ended: int


@dataclass(frozen=True, slots=True)
class Caller:
    """A live API token, and the group of its environment that was asked about: None if there is no such group. Both are
    of one moment of the store."""

    api_token: ApiToken
    issued: Issued | None


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A data source of one environment: our id (``ds_…``), the caller's own id, and the URL to connect to.

    ``url`` may hold a password, so it is kept out of ``repr``. ``trusted`` lets a dialect run whose read-only mode
    Tenantry cannot enforce. ``session``: the session variables that are set before each query, as pairs of a name and a
    tag (``("app.tenant", "{{ user_group.id }}")``); PostgreSQL only.
    """

    id: str
    provided_id: str
    environment: Environment
    url: str = field(repr=False)
    trusted: bool = False
    session: SessionVariables = ()

    @property
    def handles(self) -> tuple[bytes, bytes]:
        """Those of the two ids that a mapping may name it by: a write is announced in the slots of both."""
        return source_handle(self.environment.id, self.id), source_handle(self.environment.id, self.provided_id)


@dataclass(frozen=True, slots=True)
class SourceReading:
    """The data source that a store found, or None, and the store's ``generation`` at the snapshot that was read."""

    source: RegisteredSource | None
    generation: int


SOURCES_HANDLE: Final = b"sources\0"
"""The handle under which every write to a data source is listed as a change. A group's is as long, and random."""


def source_handle(environment_id: int, reference: str) -> bytes:
    """What chooses the slot of a data source by one of its ids, its own (``ds_…``) or the caller's."""
    return sha256(f"{environment_id}/{reference}".encode()).digest()[:8]
