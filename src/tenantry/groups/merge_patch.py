"""Merge patch of JSON (RFC 7396): the members of a patch replace those of an object, null removes one, and objects are
merged member by member. Pure; used for the properties and the mapping of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.groups.user_group import UserGroup
from tenantry.groups.writes import UNCHANGED, GroupChanges, GroupDraft


def merge_patch(target: Any, patch: Any) -> Any:
    """The target after the patch, as a new value: both stay as they are. Members keep their order; new ones follow."""
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
    """The changes that replace what ``patch`` names of this group by what it makes of it."""
    plain = group.as_dict()
    return GroupChanges(
        patch.name,
        UNCHANGED if patch.properties is UNCHANGED else merge_patch(plain["properties"], patch.properties),
        UNCHANGED if patch.mapping is UNCHANGED else merge_patch(plain["mapping"], patch.mapping),
        patch.expires_at,
    )


def merged_draft(provided_id: str, patch: GroupChanges) -> GroupDraft:
    """The group that the patch makes where there is none with this id: of nothing, null removes nothing."""
    given = {name: merge_patch(None, value) for name, value in patch.given().items()}
    return GroupDraft(provided_id, **{"name": provided_id, **given})
