"""The details of audit entries, the listeners of this process, and the number of listed changes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from tenantry.groups import Author, Environment, GroupChanges, GroupDraft, Scope, UserGroup, write_moment
from tenantry.ports import ChangeListener
from tenantry.tokens import mask_within

_log = logging.getLogger("tenantry")

RETAINED_CHANGES: Final = 100_000
"""How many changes a store retains, at least."""

LISTED_CHANGES: Final = 10_000
"""How many changes are listed at most: a reader that was away for longer starts with an empty cache."""


def environment_details(environment: Environment) -> dict[str, str]:
    """The details of ``environment.created``."""
    external = "yes" if environment.external_data_sources else "no"
    return {
        "tag": environment.tag.value,
        "external_data_sources": external,
        "grace_seconds": str(environment.grace_seconds),
    }


def api_token_details(label: str, scopes: Collection[Scope], expires_at: datetime | None) -> dict[str, str]:
    """The details of ``api_token.created``."""
    named = " ".join(sorted(Scope(scope).value for scope in scopes))
    return {"label": label, "scopes": named} | ({"expires_at": expires_at.isoformat()} if expires_at else {})


def hosts_details(hosts: Sequence[str]) -> dict[str, str]:
    """The details of ``environment.embedding_set``."""
    return {"hosts": " ".join(hosts)}


def creation_details(draft: GroupDraft) -> dict[str, str]:
    """The details of ``group.created``."""
    return {} if draft.expires_at is None else {"expires_at": str(write_moment(draft.expires_at))}


def pruned_details(before: datetime, count: int) -> dict[str, str]:
    """The details of ``usage.pruned``."""
    return {"before": before.isoformat(timespec="minutes"), "rows": str(count)}


def update_details(changes: GroupChanges) -> dict[str, str]:
    """The details of ``group.updated``: the names of the given fields, and the value of the end date alone."""
    given = changes.given()
    ends = {"expires_at": write_moment(given["expires_at"]) or "none"} if "expires_at" in given else {}
    return {"fields": ", ".join(given), **ends}


def rotation_details(group: UserGroup) -> dict[str, str]:
    """The details of ``group.rotated``."""
    until = group.grace_until
    return {"token_version": str(group.token_version)} | ({"grace_until": until.isoformat()} if until else {})


def without_tokens(author: Author, subject: str, details: Mapping[str, str]) -> tuple[Author, str, dict[str, str]]:
    """Masks tokens that a caller put in place of an id or a label."""
    request_id = None if author.request_id is None else mask_within(author.request_id)
    shown = {name: mask_within(value) for name, value in details.items()}
    return Author(mask_within(author.name), request_id), mask_within(subject), shown


class ChangeListeners:
    """Calls every listener for each change that was committed."""

    def __init__(self) -> None:
        self._listeners: list[ChangeListener] = []

    def subscribe(self, listener: ChangeListener) -> None:
        """Calls it for each change from now on."""
        self._listeners.append(listener)

    def notify(self, handle: bytes, generation: int) -> None:
        """Calls all listeners; one that fails does not affect the write or the others."""
        for listener in self._listeners:
            try:
                listener.changed(handle, generation)
            except Exception:  # noqa: BLE001 - whatever a listener does
                _log.exception("a listener to changes failed")
