from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from tenantry.groups.record import Record

LONGEST_PASS: Final = 86_400
"""How long a pass can be valid, in seconds."""

DASHBOARD: Final = "dashboard"
"""The kind of scopes for dashboards: ``dashboard`` permits all dashboards, ``dashboard:NAME`` permits one."""

_ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person within a user group, as described in a pass. ``attributes`` does not contain ``id``."""

    id: str | None
    attributes: Record = field(repr=False)
    scope: tuple[str, ...]
    """What the pass may open, such as ``app`` or ``dashboard:finance/*``. Empty: everything that a token may open."""
    issued_at: datetime
    expires_at: datetime
    """The end of the pass (aware, in UTC)."""
    token_version: int
    """The version of the token that signed the pass."""

    @property
    def variables(self) -> Record:
        """Return the values of ``viewer.*``: the attributes, and ``id`` if the pass names a viewer."""
        return self.attributes if self.id is None else Record({**dict(_items(self.attributes)), "id": self.id})

    def may_open(self, kind: str, name: str | None = None) -> bool:
        """Whether the pass permits ``kind``, such as ``app``. If ``kind`` is DASHBOARD: whether it permits the
        dashboard ``name`` or, if ``name`` is None, at least one dashboard. Other kinds have no names, so a scope such
        as ``app:reports`` permits nothing."""
        return not self.scope or any(_contains(entry, kind, name) for entry in self.scope)


def _items(record: Record) -> list[tuple[str, object]]:
    return [(name, record[name]) for name in record]


def _contains(entry: str, kind: str, name: str | None) -> bool:
    entry_kind, _, pattern = entry.partition(":")
    if entry_kind != kind:
        return False
    if not pattern:
        return True
    if name is None:
        return kind == DASHBOARD
    return name.startswith(pattern[:-1]) if pattern.endswith(_ALL) else name == pattern
