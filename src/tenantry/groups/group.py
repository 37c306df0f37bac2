"""UserGroup: one customer of the vendor, as one immutable record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, cast

from tenantry.groups.environment import Environment
from tenantry.groups.record import Record, thaw
from tenantry.groups.token import Token

RESERVED_NAMES = frozenset({"user_group", "params"})
"""Names of variables that a property cannot take: such a property is reached as ``user_group.properties.<name>``."""


@dataclass(frozen=True, slots=True, init=False)
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

    def __init__(
        self,
        team_id: int,
        provided_id: str,
        name: str,
        environment: Environment,
        properties: Record | None,
        mapping: Record | None,
        handle: bytes,
        token_version: int,
        revision: int,
        grace_until: datetime | None = None,
    ) -> None:
        # By the slots themselves, in half the time of the constructor that dataclass writes: each miss makes a group.
        _set_team_id(self, team_id)
        _set_provided_id(self, provided_id)
        _set_name(self, name)
        _set_environment(self, environment)
        _set_properties(self, properties if properties is None or type(properties) is Record else _frozen(properties))
        _set_mapping(self, mapping if mapping is None or type(mapping) is Record else _frozen(mapping))
        _set_handle(self, handle)
        _set_token_version(self, token_version)
        _set_revision(self, revision)
        _set_grace_until(self, grace_until)
        _set_variables(self, None)

    @property
    def variables(self) -> Record:
        """What templates may read of the group: every property by its bare name, and ``user_group.*``.

        Made when it is first asked for and then kept: a store reads many groups whose variables nobody asks for.
        """
        if self._variables is None:
            _set_variables(self, self._make_variables())
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


(
    _set_team_id,
    _set_provided_id,
    _set_name,
    _set_environment,
    _set_properties,
    _set_mapping,
    _set_handle,
    _set_token_version,
    _set_revision,
    _set_grace_until,
    _set_variables,
) = (UserGroup.__dict__[slot.name].__set__ for slot in fields(UserGroup))


def _frozen(value: Any) -> Any:
    return Record(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True)
class Issued:
    """A group together with the parts of its live token: what a store answers to a write.

    ``created`` tells a new group from one that was there; ``replayed`` marks the answer to a repeated Idempotency-Key.
    """

    group: UserGroup
    token: Token
    created: bool = False
    replayed: bool = False
