"""Whose variables a query is bound with: never another group's than the one whose source is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.groups import Record, UserGroup


def check_owner(group: UserGroup, variables: Mapping[str, Any] | Record) -> None:
    """Variables that name a user group must be this group's: else B's values would choose rows of A's source. Raises
    ValueError."""
    own = group.variables
    if variables is own or "user_group" not in variables:
        return
    owner, expected = variables["user_group"], own["user_group"]
    if owner is expected:  # what `variables(request)` gives: the group's own, extended
        return
    # A copy: of the same group read again, or one that went through a template or JSON.
    is_copy = isinstance(owner, Record | dict) and all(
        name in owner and owner[name] == expected[name] for name in ("id", "environment")
    )
    if not is_copy:
        raise ValueError("these variables are another user group's than the one whose data source is asked")
