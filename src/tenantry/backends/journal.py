"""How much a store tells of what was done: the lengths of its lists, and the details of its audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenantry.groups import UNCHANGED, Author, Environment, GroupChanges, UserGroup
from tenantry.tokens import mask_within

KEPT_CHANGES: Final = 100_000
"""How many changes a store keeps, at least."""

LISTED_CHANGES: Final = 10_000
"""How many changes are told at most: who was away for longer starts with an empty cache."""


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


def without_tokens(author: Author, subject: str, details: Mapping[str, str]) -> tuple[Author, str, dict[str, str]]:
    """What the audit trail keeps, should a caller have put a token where an id or a label belongs."""
    request_id = None if author.request_id is None else mask_within(author.request_id)
    shown = {name: mask_within(value) for name, value in details.items()}
    return Author(mask_within(author.name), request_id), mask_within(subject), shown
