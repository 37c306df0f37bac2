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
    """Type of UNCHANGED, an absent field. None clears a field."""

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
    """An update; UNCHANGED fields stay, ``properties`` and ``mapping`` are replaced."""

    name: str | Unchanged = UNCHANGED
    properties: Mapping[str, Any] | Unchanged | None = field(default=UNCHANGED, repr=False)
    mapping: Mapping[str, str] | Unchanged | None = UNCHANGED
    expires_at: datetime | Unchanged | None = UNCHANGED

    def given(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in SETTABLE_FIELDS}
        return {name: value for name, value in values.items() if value is not UNCHANGED}

    def differing(self, group: UserGroup) -> dict[str, Any]:
        """Return the given fields that differ from the group's."""
        return {name: value for name, value in self.given().items() if _text(value) != _text(getattr(group, name))}


def _text(value: Any) -> str:
    return json.dumps(thaw(freeze(value)), default=to_micros)  # unlike ==, tells 1 from 1.0 and keeps the key order


SETTABLE_FIELDS: Final = tuple(each.name for each in fields(GroupChanges))
"""The fields that callers set, in drafts and updates."""

LATER_SETTABLE_FIELDS: Final = tuple(name for name in SETTABLE_FIELDS if name not in ("name", "properties", "mapping"))
"""The settable fields that SPEC does not know: PATCH sets them, PATCH and lists return them."""


@dataclass(frozen=True, slots=True)
class GroupCreation:
    """Creates the group unless it exists."""

    draft: GroupDraft
    token: Token

    @property
    def provided_id(self) -> str:
        return self.draft.provided_id


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """Applies ``changes`` if ``group`` is unchanged since it was read."""

    group: UserGroup
    changes: GroupChanges

    @property
    def provided_id(self) -> str:
        return self.group.provided_id


GroupWrite: TypeAlias = GroupCreation | GroupUpdate
"""A write in a batch."""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """An Idempotency-Key with keyed hashes (32 bytes) of its body, the active signing key's first. The first is stored
    and any matches, so a replay survives key rotation."""

    key: str
    body_hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Author:
    """Author of a write: ``name`` (an API token's id and label, or a command-line user) and request id. Never a
    secret."""

    name: str
    request_id: str | None = None


UNNAMED = Author("unnamed")
"""The default author."""


@dataclass(frozen=True, slots=True)
class Seal:
    """A MAC (32 bytes) over an entry, the previous seal's MAC and all entries after number ``after``."""

    key_id: str
    after: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """Number and MAC of the last sealed entry."""

    number: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A provisioning action; contains no tokens, keys or property values.

    ``number`` counts up; ``at``: aware UTC by the store's clock; ``action``: ``<thing>.<verb>``; ``subject``: public
    id; ``seal``: None if the writer had no keys."""

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
    """The audit entry of a write to codes."""

    author: Author
    action: str
    environment: str
    subject: str
    details: dict[str, str] = field(default_factory=dict)


CHANNEL: Final = "tenantry"
"""The PostgreSQL channel for notices of changes."""


@dataclass(frozen=True, slots=True)
class Change:
    """A rotation, update or deletion; ``age``: seconds by the store's clock."""

    generation: int
    handle: bytes
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes in (``since``, ``generation``], oldest first. The list is unbroken but may begin late, because old
    changes are trimmed. A lower generation than before means a restored backup."""

    store_id: str
    generation: int
    since: int
    changes: tuple[Change, ...] = ()


def write_notice(store_id: str, generation: int, handle: bytes) -> str:
    """Return a public notice; a forged one costs one read."""
    return f"{store_id} {generation} {handle.hex()}"


def read_notice(text: str) -> tuple[str, int, bytes] | None:
    """Return store id, generation and handle, or None if invalid."""
    match text.split(" "):
        case [store_id, number, handle] if number.isascii() and number.isdigit() and len(number) < 20:
            try:
                return store_id, int(number), bytes.fromhex(handle)
            except ValueError:
                return None
    return None
