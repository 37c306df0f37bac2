"""What a write takes (a draft, changes, an idempotency key, an author), and what is recorded of it: an entry of the
audit trail, and a change that caches and buses act on.
"""

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
    """The type of UNCHANGED, which says that a field was absent; None says that it is to be cleared."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """The group to create when there is none with this ``provided_id`` in the environment."""

    provided_id: str
    name: str
    properties: Mapping[str, Any] | None = field(default=None, repr=False)
    mapping: Mapping[str, str] | None = None
    expires_at: datetime | None = None

    def make_group(self, team_id: int, environment: Environment, token: Token) -> UserGroup:
        """The new group, whose first token is ``token``."""
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
    """An update: fields left UNCHANGED stay; ``properties`` and ``mapping`` are replaced whole. Where it is used as a
    merge patch (RFC 7396), their members are merged, and null removes one: see ``merged_changes``."""

    name: str | Unchanged = UNCHANGED
    properties: Mapping[str, Any] | Unchanged | None = field(default=UNCHANGED, repr=False)
    mapping: Mapping[str, str] | Unchanged | None = UNCHANGED
    expires_at: datetime | Unchanged | None = UNCHANGED

    def given(self) -> dict[str, Any]:
        """The fields that are to change, by name."""
        values = {name: getattr(self, name) for name in SETTABLE_FIELDS}
        return {name: value for name, value in values.items() if value is not UNCHANGED}

    def differing(self, group: UserGroup) -> dict[str, Any]:
        """The same without those that this group has already."""
        return {name: value for name, value in self.given().items() if _text(value) != _text(getattr(group, name))}


def _text(value: Any) -> str:
    """A value as JSON, by which ``1`` and ``1.0``, or two orders of keys, differ; to ``==`` they are equal."""
    return json.dumps(thaw(freeze(value)), default=to_micros)


SETTABLE_FIELDS: Final = tuple(each.name for each in fields(GroupChanges))
"""The fields of a group that its caller sets: a draft has each of them, and an update may change each."""

LATER_SETTABLE_FIELDS: Final = tuple(name for name in SETTABLE_FIELDS if name not in ("name", "properties", "mapping"))
"""The settable fields that SPEC does not know: PATCH sets and returns them, as do lists."""


@dataclass(frozen=True, slots=True)
class GroupCreation:
    """One of many writes: the group of ``draft`` is to be created with this ``token``, if there is none."""

    draft: GroupDraft
    token: Token

    @property
    def provided_id(self) -> str:
        """The id of the group."""
        return self.draft.provided_id


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """One of many writes: ``changes`` are to be made of the ``group``, if it is still as its writer has read it."""

    group: UserGroup
    changes: GroupChanges

    @property
    def provided_id(self) -> str:
        """The id of the group."""
        return self.group.provided_id


GroupWrite: TypeAlias = GroupCreation | GroupUpdate
"""One of many writes to groups that are made together."""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """An Idempotency-Key with keyed hashes (32 bytes each) of the body that came with it.

    One hash per signing key, the active key's first: the first is stored, any of them is recognised, so that a rotation
    of the signing keys does not break a replay.
    """

    key: str
    body_hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Author:
    """Who asks for a write: ``name`` for people (an API token's id and label, a user of the command line), and the id
    of the request, if it was one. Never a secret."""

    name: str
    request_id: str | None = None


UNNAMED = Author("unnamed")
"""The author of a write that a program made without saying who it is."""


@dataclass(frozen=True, slots=True)
class Seal:
    """What proves an AuditEntry: a MAC (32 bytes) by the key ``key_id`` over its content, the MAC of the entry that was
    sealed before it, and all entries above the number ``after``."""

    key_id: str
    after: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The entry of the audit trail that was sealed last, and the MAC of its seal."""

    number: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One provisioning action that was done, as the store records it for good.

    ``number`` counts up, ``at`` is aware, in UTC, by the store's clock. ``action`` is ``<thing>.<verb>``, such as
    ``group.rotated``; ``subject`` names the thing by its public id. No token, key or property value is ever in it.
    ``seal``: None where the writer had no keys.
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
    """What a write besides those of groups and environments adds to the audit trail: an AuditEntry to be."""

    author: Author
    action: str
    environment: str
    subject: str
    details: dict[str, str] = field(default_factory=dict)


CHANNEL: Final = "tenantry"
"""Where a store in PostgreSQL notifies of its changes, one notice each."""


@dataclass(frozen=True, slots=True)
class Change:
    """One rotation, update or deletion: the ``generation`` that it made, whose ``handle`` it was, and how many seconds
    ago it was written (``age``), by the store's own clock."""

    generation: int
    handle: bytes
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class Changes:
    """The ``generation`` of the store ``store_id`` at the moment of asking, and every change in (``since``,
    ``generation``], oldest first.

    The list is unbroken but may begin later than it was asked for: older changes have been trimmed. A generation below
    one that was seen before means that the store was restored from a backup.
    """

    store_id: str
    generation: int
    since: int
    changes: tuple[Change, ...] = ()


def write_notice(store_id: str, generation: int, handle: bytes) -> str:
    """A change as the text of a notice. Public as the handle is: whoever forges one causes a read."""
    return f"{store_id} {generation} {handle.hex()}"


def read_notice(text: str) -> tuple[str, int, bytes] | None:
    """Store id, generation and handle of a notice; None if the text is not one."""
    match text.split(" "):
        case [store_id, number, handle] if number.isascii() and number.isdigit() and len(number) < 20:
            try:
                return store_id, int(number), bytes.fromhex(handle)
            except ValueError:
                return None
    return None
