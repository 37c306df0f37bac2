"""How much a store tells of what was done: the lengths of its lists, and the details of its audit trail."""

from __future__ import annotations

from typing import Final

from tenantry.groups import UNCHANGED, Environment, GroupChanges, UserGroup

KEPT_CHANGES: Final = 100_000
"""How many changes a store keeps, at least: who was away for longer starts with an empty cache."""

LISTED_CHANGES: Final = 10_000
"""How many changes are told at most to who does not say since when: they only warm a list that is new."""


def of_environment(environment: Environment) -> dict[str, str]:
    """The details of ``environment.created``."""
    external = "yes" if environment.external_data_sources else "no"
    return {
        "tag": environment.tag.value,
        "external_data_sources": external,
        "grace_seconds": str(environment.grace_seconds),
    }


def of_update(changes: GroupChanges) -> dict[str, str]:
    """The details of ``group.updated``: the fields that were given, never their values."""
    names = [name for name in ("name", "properties", "mapping") if getattr(changes, name) is not UNCHANGED]
    return {"fields": ", ".join(names)}


def of_rotation(group: UserGroup) -> dict[str, str]:
    """The details of ``group.rotated``."""
    until = group.grace_until
    return {"token_version": str(group.token_version)} | ({"grace_until": until.isoformat()} if until else {})
