from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from tenantry.groups import Author, Environment, GroupChanges, GroupDraft, Scope, UserGroup, write_moment
from tenantry.tokens import mask_within


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


def creation_details(draft: GroupDraft) -> dict[str, str]:
    return {} if draft.expires_at is None else {"expires_at": str(write_moment(draft.expires_at))}


def pruned_details(before: datetime, count: int) -> dict[str, str]:
    return {"before": before.isoformat(timespec="minutes"), "rows": str(count)}


def update_details(changes: GroupChanges) -> dict[str, str]:
    """Return the names of the given fields. Of the values, only the end date is recorded."""
    given = changes.given()
    ends = {"expires_at": write_moment(given["expires_at"]) or "none"} if "expires_at" in given else {}
    return {"fields": ", ".join(given), **ends}


def rotation_details(group: UserGroup) -> dict[str, str]:
    until = group.grace_until
    return {"token_version": str(group.token_version)} | ({"grace_until": until.isoformat()} if until else {})


def without_tokens(author: Author, subject: str, details: Mapping[str, str]) -> tuple[Author, str, dict[str, str]]:
    """Mask tokens that a caller sent in place of an id or label."""
    request_id = None if author.request_id is None else mask_within(author.request_id)
    shown = {name: mask_within(value) for name, value in details.items()}
    return Author(mask_within(author.name), request_id), mask_within(subject), shown
