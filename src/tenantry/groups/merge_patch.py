"""JSON merge patch (RFC 7396) for properties and mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.groups.record import thaw
from tenantry.groups.user_group import UserGroup
from tenantry.groups.writes import GroupChanges, GroupDraft


def merge_patch(target: Any, patch: Any) -> Any:
    """Apply ``patch`` to a copy of ``target``. Members keep their order; new ones follow."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def merged_changes(group: UserGroup, patch: GroupChanges) -> GroupChanges:
    """Merge the given fields of ``patch`` into the group's; return the results as changes."""
    given = {name: merge_patch(thaw(getattr(group, name)), value) for name, value in patch.given().items()}
    return GroupChanges(**given)


def merged_draft(provided_id: str, patch: GroupChanges) -> GroupDraft:
    """Merge the patch into empty fields. The default name is the id."""
    given = {name: merge_patch(None, value) for name, value in patch.given().items()}
    return GroupDraft(provided_id, **{"name": provided_id, **given})
