"""The records of writes: drafts, changes, authors; audit entries; and the changes that caches follow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeAlias

from tenantry.groups.codec import to_micros
from tenantry.groups.record import freeze, thaw
from tenantry.groups.user_group import Environment, Token, UserGroup


class Unchanged(Enum):
    """The type of UNCHANGED: the field is absent. None clears a field."""

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

    def make_group(self, team_id: int, environment: Environment, token: Token) -> UserGroup:
        """The new group with its first token."""
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
    """An update: UNCHANGED fields stay; ``properties`` and ``mapping`` are replaced whole. As a merge patch (RFC 7396)
    their members are merged: see ``merged_changes``."""

    name: str | Unchanged = UNCHANGED
    properties: Mapping[str, Any] | Unchanged | None = field(default=UNCHANGED, repr=False)
    mapping: Mapping[str, str] | Unchanged | None = UNCHANGED
    expires_at: datetime | Unchanged | None = UNCHANGED

    def given(self) -> dict[str, Any]:
        """The given fields, by name."""
        values = {name: getattr(self, name) for name in SETTABLE_FIELDS}
        return {name: value for name, value in values.items() if value is not UNCHANGED}

    def differing(self, group: UserGroup) -> dict[str, Any]:
        """The given fields whose values differ from the group's."""
        return {name: value for name, value in self.given().items() if _text(value) != _text(getattr(group, name))}


def _text(value: Any) -> str:
    """JSON tells ``1`` from ``1.0`` and one order of keys from another; ``==`` does not."""
    return json.dumps(thaw(freeze(value)), default=to_micros)


SETTABLE_FIELDS: Final = tuple(each.name for each in fields(GroupChanges))
"""The fields that callers set, in drafts and updates."""

LATER_SETTABLE_FIELDS: Final = tuple(name for name in SETTABLE_FIELDS if name not in ("name", "properties", "mapping"))
"""The settable fields that SPEC does not know: PATCH sets them, PATCH and lists return them."""


@dataclass(frozen=True, slots=True)
class GroupCreation:
    """Creates the group of ``draft`` with ``token`` unless it exists."""

    draft: GroupDraft
    token: Token

    @property
    def provided_id(self) -> str:
        """The id of the group."""
        return self.draft.provided_id


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """Applies ``changes`` if ``group`` is still as it was read."""

    group: UserGroup
    changes: GroupChanges

    @property
    def provided_id(self) -> str:
        """The id of the group."""
        return self.group.provided_id


GroupWrite: TypeAlias = GroupCreation | GroupUpdate
"""A write in a batch."""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """An Idempotency-Key with keyed hashes (32 bytes each) of its body.

    One hash per signing key, the active key's first: the first is stored and any is recognised, so a replay survives a
    rotation of the signing keys.
    """

    key: str
    body_hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a write: a ``name`` (an API token's id and label, a user of the command line) and the request's id.
    Never a secret."""

    name: str
    request_id: str | None = None


UNNAMED = Author("unnamed")
"""The default author."""


@dataclass(frozen=True, slots=True)
class Seal:
    """Proves an AuditEntry: a MAC (32 bytes) with the key ``key_id`` over its content, the previous seal's MAC and all
    entries since the number ``after``."""

    key_id: str
    after: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The number and the MAC of the audit entry that was sealed last."""

    number: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A provisioning action, recorded for good.

    ``number`` counts up; ``at`` is aware, in UTC, by the store's clock. ``action`` is ``<thing>.<verb>``, such as
    ``group.rotated``; ``subject`` is the public id of the thing. Never holds a token, key or property value. ``seal``
    is None if the writer had no keys.
    """

    number: int
    at: datetime
    author: Author
    action: str
    environment: str
    subject: str
    details: dict[str, str] = field(default_factory=dict)
    seal: Seal | None = None


@dataclass(frozen=True, slots=True)
class AuditNote:
    """A future AuditEntry of a write to codes."""

    author: Author
    action: str
    environment: str
    subject: str
    details: dict[str, str] = field(default_factory=dict)


CHANNEL: Final = "tenantry"
"""The PostgreSQL channel for notices of changes."""


@dataclass(frozen=True, slots=True)
class Change:
    """A rotation, update or deletion: its ``generation``, the group's ``handle``, and its ``age`` in seconds by the
    store's clock."""

    generation: int
    handle: bytes
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class Changes:
    """The current ``generation`` of the store ``store_id``, and every change in (``since``, ``generation``], oldest
    first.

    The list is unbroken but may begin later than requested, because old changes are trimmed. A generation below an
    earlier one means that the store was restored from a backup.
    """

    store_id: str
    generation: int
    since: int
    changes: tuple[Change, ...] = ()


def write_notice(store_id: str, generation: int, handle: bytes) -> str:
    """The text of a notice. It is public; a forged one causes a read."""
    return f"{store_id} {generation} {handle.hex()}"


def read_notice(text: str) -> tuple[str, int, bytes] | None:
    """The store id, generation and handle of a notice, or None."""
    match text.split(" "):
        case [store_id, number, handle] if number.isascii() and number.isdigit() and len(number) < 20:
            try:
                return store_id, int(number), bytes.fromhex(handle)
            except ValueError:
                return None
    return None
