"""UserGroup: one customer of the vendor, as one immutable record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from tenantry.groups.environment import Environment
from tenantry.groups.record import Record, thaw
from tenantry.groups.token import Token

RESERVED_NAMES = frozenset({"user_group", "params"})
"""Names of variables that a property cannot take: such a property is reached as ``user_group.properties.<name>``."""


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group (SPEC section 2.1). Plain dicts given for ``properties`` and ``mapping`` are frozen to Records.

    ``handle`` (8 bytes) names the group in tokens, caches and invalidations. ``token_version`` is the version of the
    one live token, ``revision`` counts every change. Until ``grace_until`` (aware, UTC) the token version just before
    ``token_version`` is still good.
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
    _variables: Record | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("properties", "mapping"):
            value = getattr(self, name)
            if value is not None and type(value) is not Record and isinstance(value, Mapping):  # the slow question last
                object.__setattr__(self, name, Record(value))

    @property
    def variables(self) -> Record:
        """What templates may read of the group: every property by its bare name, and ``user_group.*``.

        Made when it is first asked for and then kept: a store reads many groups whose variables nobody asks for.
        """
        if self._variables is None:
            object.__setattr__(self, "_variables", self._make_variables())
        return cast("Record", self._variables)

    def _make_variables(self) -> Record:
        properties = self.properties if self.properties is not None else Record({})
        own = {name: properties[name] for name in properties if name not in RESERVED_NAMES}
        shown = {
            "id": self.provided_id,
            "name": self.name,
            "environment": self.environment.name,
            "properties": properties,
        }
        return Record({**own, "user_group": shown})

    def __hash__(self) -> int:
        """By handle and revision: equal groups have both in common, and a Record in a field has no hash of its own."""
        return hash((self.handle, self.revision))

    def as_dict(self) -> dict[str, Any]:
        """A plain, JSON-ready copy: id, name, environment, tag, properties and mapping. It holds no secret."""
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
        }


@dataclass(frozen=True, slots=True)
class Issued:
    """A group together with the parts of its live token: what a store answers to a write.

    ``created`` tells a new group from one that was there; ``replayed`` marks the answer to a repeated Idempotency-Key.
    """

    group: UserGroup
    token: Token
    created: bool = False
    replayed: bool = False
