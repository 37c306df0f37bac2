from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from tenantry.groups import (
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    RegisteredSource,
    Scope,
    UserGroup,
    write_moment,
)
from tenantry.tokens import mask_within

_MAX_NAMES: Final = 50


def environment_details(environment: Environment) -> dict[str, str]:
    external = "yes" if environment.external_data_sources else "no"
    return {
        "tag": environment.tag.value,
        "external_data_sources": external,
        "grace_seconds": str(environment.grace_seconds),
    }


def api_token_details(label: str, scopes: Collection[Scope], expires_at: datetime | None) -> dict[str, str]:
    named = " ".join(sorted(Scope(scope).value for scope in scopes))
    return {"label": label, "scopes": named} | ({"expires_at": expires_at.isoformat()} if expires_at else {})


def hosts_details(hosts: Sequence[str]) -> dict[str, str]:
    return {"hosts": " ".join(hosts)}


def viewer_usage_details(is_on: bool) -> dict[str, str]:
    return {"viewer_usage": "on" if is_on else "off"}


def creation_details(draft: GroupDraft) -> dict[str, str]:
    ends = {} if draft.expires_at is None else {"expires_at": str(write_moment(draft.expires_at))}
    return ends | ({"suspended": "yes"} if draft.suspended else {})


def pruned_details(before: datetime, count: int) -> dict[str, str]:
    return {"before": before.isoformat(timespec="minutes"), "rows": str(count)}


def update_details(changes: GroupChanges) -> dict[str, str]:
    """Return the audit details of an update: the names of the given fields, the new ``expires_at`` and ``suspended`` if
    given, and the id of a viewer whose passes were revoked."""
    given = changes.given()
    ends = {"expires_at": write_moment(given["expires_at"]) or "none"} if "expires_at" in given else {}
    suspended = {"suspended": "yes" if given["suspended"] else "no"} if "suspended" in given else {}
    revoked = [*(given.get("revoked_viewers") or ())]
    viewer = {"viewer": revoked[-1]} if revoked else {}
    return {"fields": ", ".join(given), **ends, **suspended, **viewer}


def rotation_details(group: UserGroup) -> dict[str, str]:
    until = group.grace_until
    return {"token_version": str(group.token_version)} | ({"grace_until": until.isoformat()} if until else {})


def source_update_details(before: RegisteredSource, after: RegisteredSource) -> dict[str, str]:
    names = ("provided_id", "url", "trusted", "session", "tables")
    fields = ", ".join(name for name in names if getattr(before, name) != getattr(after, name))
    renamed = {} if before.provided_id == after.provided_id else {"renamed_from": before.provided_id}
    return {"fields": fields, **renamed, **table_changes(before.tables, after.tables)}


def table_changes(before: str, after: str) -> dict[str, str]:
    old, new = _entries(before), _entries(after)
    changes = {
        "added": [name for name in new if name not in old],
        "changed": [name for name in new if name in old and new[name] != old[name]],
        "removed": [name for name in old if name not in new],
    }
    return {kind: _listed(sorted(names)) for kind, names in changes.items() if names}


def _entries(tables: str) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, value in (json.loads(tables) if tables else {}).items():
        if isinstance(value, dict):
            made |= {f"{key}.{name}": entry for name, entry in value.items()}
        elif isinstance(value, list):
            made |= {f"{key}.{name}": True for name in value}
        else:
            made[key] = value
    return made


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def without_tokens(author: Author, subject: str, details: Mapping[str, str]) -> tuple[Author, str, dict[str, str]]:
    """Mask tokens that a caller sent in place of an id or label."""
    request_id = None if author.request_id is None else mask_within(author.request_id)
    shown = {name: mask_within(value) for name, value in details.items()}
    return Author(mask_within(author.name), request_id), mask_within(subject), shown
