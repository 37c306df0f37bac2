from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeAlias

from tenantry.groups.api_token import ApiToken
from tenantry.groups.codec import to_micros
from tenantry.groups.record import freeze, thaw
from tenantry.groups.session_variables import SessionVariables
from tenantry.groups.user_group import Environment, Issued, Token, UserGroup


class Unchanged(Enum):
    """The type of UNCHANGED. An update does not change fields with this value. (None clears a field.)"""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """A group to create."""

    provided_id: str
    name: str
    properties: Mapping[str, Any] | None = field(default=None, repr=False)
    mapping: Mapping[str, str] | None = None
    expires_at: datetime | None = None
    suspended: bool = False

    def make_group(self, team_id: int, environment: Environment, token: Token) -> UserGroup:
        """Return the new group. ``token``: its first token."""
        return UserGroup(
            team_id=team_id,
            provided_id=self.provided_id,
            environment=environment,
            handle=token.handle,
            token_version=token.version,
            revision=1,
            **{name: getattr(self, name) for name in SETTABLE_FIELDS},
        )


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """An update of a group. New ``properties`` or ``mapping`` replace the old ones completely."""

    name: str | Unchanged = UNCHANGED
    properties: Mapping[str, Any] | Unchanged | None = field(default=UNCHANGED, repr=False)
    mapping: Mapping[str, str] | Unchanged | None = UNCHANGED
    expires_at: datetime | Unchanged | None = UNCHANGED
    suspended: bool | Unchanged = UNCHANGED
    revoked_viewers: Mapping[str, int] | Unchanged | None = UNCHANGED

    def given(self) -> dict[str, Any]:
        """Return the fields that are not UNCHANGED, by name."""
        values = {name: getattr(self, name) for name in CHANGEABLE_FIELDS}
        return {name: value for name, value in values.items() if value is not UNCHANGED}

    def differing(self, group: UserGroup) -> dict[str, Any]:
        """Return, by field name, the new values that differ from those of ``group``."""
        return {name: value for name, value in self.given().items() if _text(value) != _text(getattr(group, name))}


def _text(value: Any) -> str:
    return json.dumps(thaw(freeze(value)), default=to_micros)  # unlike ==, tells 1 from 1.0 and keeps the key order


CHANGEABLE_FIELDS: Final = tuple(each.name for each in fields(GroupChanges))
"""The fields that an update can change."""

SETTABLE_FIELDS: Final = tuple(name for name in CHANGEABLE_FIELDS if name != "revoked_viewers")
"""The fields that callers of the API can set when they create or update a group."""

LATER_SETTABLE_FIELDS: Final = tuple(name for name in SETTABLE_FIELDS if name not in ("name", "properties", "mapping"))
"""Settable fields that are not in SPEC. Over HTTP, only PATCH and bulk requests set these fields. Only the responses to
PATCH, DELETE and bulk requests, and lists of groups, contain them."""


# --- JSON merge patch (RFC 7396) of properties and mapping ---


def merge_patch(target: Any, patch: Any) -> Any:
    """Apply ``patch`` to a copy of ``target`` (RFC 7396). Old members keep their order; new members follow them."""
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
    """Return the changes that the merge patch ``patch`` makes to ``group``."""
    given = {name: merge_patch(thaw(getattr(group, name)), value) for name, value in patch.given().items()}
    return GroupChanges(**given)


def merged_draft(provided_id: str, patch: GroupChanges) -> GroupDraft:
    """Make a draft of a group from the merge patch ``patch``. The name defaults to the id."""
    given = {name: merge_patch(None, value) for name, value in patch.given().items()}
    return GroupDraft(provided_id, **{"name": provided_id, **given})


# --- batches ---


@dataclass(frozen=True, slots=True)
class GroupCreation:
    """The creation of a group. It is skipped if a group with this id exists."""

    draft: GroupDraft
    token: Token

    @property
    def provided_id(self) -> str:
        """The group's id."""
        return self.draft.provided_id


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """An update of a group. It is not applied if the group has changed since the caller read ``group``."""

    group: UserGroup
    changes: GroupChanges

    @property
    def provided_id(self) -> str:
        """The group's id."""
        return self.group.provided_id


@dataclass(frozen=True, slots=True)
class GroupRotation:
    """A rotation of a group's token. It is not made if the group is suspended, or if ``issued.token`` is no longer the
    live token."""

    issued: Issued
    key_id: str
    nonce: bytes = field(repr=False)
    grace_seconds: int | None = None

    @property
    def provided_id(self) -> str:
        """The group's id."""
        return self.issued.group.provided_id


GroupWrite: TypeAlias = GroupCreation | GroupUpdate | GroupRotation
"""A write in a batch."""


# --- writes of data sources ---


@dataclass(frozen=True, slots=True)
class SourceDraft:
    """A data source to register."""

    provided_id: str
    """The name of the data source."""
    url: str = field(repr=False)
    trusted: bool = False
    session: Mapping[str, str] | SessionVariables = ()
    tables: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SourceUpdate:
    """An update of a data source. A field that is None is not changed. An empty ``tables`` removes the declaration of
    guarded tables."""

    url: str | None = field(default=None, repr=False)
    tables: Mapping[str, Any] | None = None
    provided_id: str | None = None
    trusted: bool | None = None
    session: Mapping[str, str] | SessionVariables | None = None

    def needs_test(self, password: str | None) -> bool:
        """Whether the connection to the source must be tested before this update. ``password``: the new password in
        the URL, or None."""
        return self.url is not None or password is not None or bool(self.tables or self.session)


# --- Idempotency-Keys, authors and the audit trail ---


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The Idempotency-Key of a request, with hashes of the request's body."""

    key: str
    body_hashes: tuple[bytes, ...]
    """Keyed hashes (32 bytes) of the body, one for each signing key. The hash for the active key is first; a store
    keeps only this hash. A repeated request has the same body if any of its hashes equals the stored hash, even if
    another key has become active since."""


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a write."""

    name: str
    """Such as ``api token 3 (billing)`` or ``command line ann@host``."""
    request_id: str | None = None

    @classmethod
    def of_request(cls, token: ApiToken, request_id: str | None) -> Author:
        """The author of a write over HTTP with this API token."""
        return cls(f"api token {token.id} ({token.label})", request_id)


UNNAMED = Author("unnamed")
"""The default author."""


@dataclass(frozen=True, slots=True)
class Seal:
    """Proves that an audit entry and all earlier entries are unchanged."""

    key_id: str
    after: int
    """The seal also covers the unsealed entries from number ``after`` + 1 up to the sealed entry."""
    mac: bytes
    """MAC (32 bytes) over the MAC of the previous seal, ``after``, all unsealed entries that this seal covers, and the
    sealed entry."""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """Number and MAC of the last sealed audit entry."""

    number: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A recorded write. Contains no tokens, keys or property values."""

    number: int
    """Increases with each entry."""
    at: datetime
    """When the write was recorded (aware, UTC), by the store's clock."""
    author: Author
    action: str
    """``<thing>.<verb>``, such as ``group.rotated``."""
    environment: str
    subject: str
    """Public id of the ``<thing>`` in ``action``."""
    details: dict[str, str] = field(default_factory=dict)
    seal: Seal | None = None
    """None if the writer of the entry had no signing keys."""


@dataclass(frozen=True, slots=True)
class AuditNote:
    """An audit entry before it is written. The store adds number, time and seal."""

    author: Author
    action: str
    environment: str
    subject: str
    details: dict[str, str] = field(default_factory=dict)


# --- changes and their notices ---

CHANNEL: Final = "tenantry"
"""The PostgreSQL channel for notices, the messages that report a change. Also the default channel on Redis."""


@dataclass(frozen=True, slots=True)
class Change:
    """A rotation, update or deletion of a group, or a write to a data source."""

    generation: int
    """The number of the change. A later change of the store has a higher number."""
    handle: bytes
    """The handle of the group. For a data source, SOURCES_HANDLE."""
    age: float = 0.0
    """Seconds since the write, according to the store's clock."""


@dataclass(frozen=True, slots=True)
class Changes:
    """All changes after generation ``since``, up to and including ``generation``."""

    store_id: str
    generation: int
    """The newest generation. It only decreases if a backup is restored."""
    since: int
    """The generation after which the list begins. It may be later than the requested one, because stores delete old
    changes."""
    changes: tuple[Change, ...] = ()
    """Oldest first."""


def write_notice(store_id: str, generation: int, handle: bytes) -> str:
    """Format the message that reports a change to other processes. It contains no secret."""
    return f"{store_id} {generation} {handle.hex()}"


def read_notice(text: str) -> tuple[str, int, bytes] | None:
    """Parse a result of ``write_notice`` into store id, generation and handle. Return None if it is malformed."""
    match text.split(" "):
        case [store_id, number, handle] if number.isascii() and number.isdigit() and len(number) < 20:
            try:
                return store_id, int(number), bytes.fromhex(handle)
            except ValueError:
                return None
    return None
