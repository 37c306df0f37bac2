"""What a MemoryStore holds, and the little that all its parts do with it."""

from __future__ import annotations

import secrets
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock

from tenantry.backends.answer import Answer
from tenantry.backends.journal import KEPT_CHANGES, LISTED_CHANGES, without_tokens
from tenantry.backends.stored import StoredGroup
from tenantry.errors import UnknownEnvironment
from tenantry.groups import ApiToken, AuditEntry, Author, Change, Changes, Environment, RegisteredSource
from tenantry.ports import Clock


@dataclass(slots=True)
class Tables:
    """Everything, each under the key that is unique; whoever reads two of them or writes holds ``lock``."""

    clock: Clock
    lock: RLock = field(default_factory=RLock)
    store_id: str = field(default_factory=lambda: secrets.token_hex(16))
    environments: dict[str, Environment] = field(default_factory=dict)
    handles: dict[bytes, StoredGroup] = field(default_factory=dict)
    provided: dict[tuple[int, str], bytes] = field(default_factory=dict)
    api_tokens: dict[bytes, ApiToken] = field(default_factory=dict)
    sources: dict[tuple[int, str], RegisteredSource] = field(default_factory=dict)
    answers: dict[tuple[int, str], tuple[datetime, Answer]] = field(default_factory=dict)
    trail: list[AuditEntry] = field(default_factory=list)
    team_id: int = 0
    generation: int = 0
    written: deque[tuple[bytes, datetime]] = field(default_factory=lambda: deque(maxlen=KEPT_CHANGES))
    """The handles of the last changes, one for each generation up to ``generation``."""

    def own(self, environment: Environment) -> Environment:
        """The environment as it is kept. Raises UnknownEnvironment."""
        own = self.environments.get(environment.name)
        if own is None or own.id != environment.id:
            raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it with create_environment")
        return own

    def change(self, handle: bytes) -> int:
        """Counts a change; the new generation."""
        self.generation += 1
        self.written.append((handle, self.clock()))
        return self.generation

    def changes(self, since: int | None) -> Changes:
        now = self.clock()
        first = self.generation - len(self.written)
        begin = min(max(first, self.generation - LISTED_CHANGES, since or 0), self.generation)
        last = list(self.written)[begin - first :]
        found = [
            Change(begin + number, handle, max(0.0, (now - at).total_seconds()))
            for number, (handle, at) in enumerate(last, 1)
        ]
        return Changes(self.store_id, self.generation, begin, tuple(found))

    def note(self, author: Author, action: str, environment: str, subject: str, **details: str) -> None:
        """Adds a line to the audit trail."""
        number = len(self.trail) + 1
        author, subject, shown = without_tokens(author, subject, details)
        self.trail.append(AuditEntry(number, self.clock(), author, action, environment, subject, shown))
