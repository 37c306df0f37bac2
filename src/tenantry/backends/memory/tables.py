from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import TypeVar

from tenantry.backends.audit.chain import ChainKeys, seal_entries
from tenantry.backends.audit.details import without_tokens
from tenantry.backends.changes import LISTED_CHANGES, RETAINED_CHANGES, ChangeListeners
from tenantry.backends.stored import StoredGroup, StoredResponse, unknown_environment
from tenantry.cache.slots import PrivateSlots
from tenantry.groups import (
    ApiToken,
    AuditEntry,
    Author,
    ChainHead,
    Change,
    Changes,
    Environment,
    Issued,
    RegisteredSource,
    Usage,
    UsageKey,
)
from tenantry.ports import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredCode:
    purpose: str
    payload: str
    expires_at: datetime
    api_token_id: int | None = None
    group: bytes | None = None
    """The ``owner`` in the code's CodeShare, or None if the code has no CodeShare."""


@dataclass(slots=True)
class MemoryTables:
    """The store's tables. Hold ``lock`` to write, or to read more than one dict."""

    clock: Clock
    keys: ChainKeys | None = None
    lock: RLock = field(default_factory=RLock)
    slots: PrivateSlots = field(default_factory=PrivateSlots)
    listeners: ChangeListeners = field(default_factory=ChangeListeners)
    store_id: str = field(default_factory=lambda: secrets.token_hex(16))
    environments: dict[str, Environment] = field(default_factory=dict)
    embedding_hosts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    viewer_usage: set[str] = field(default_factory=set)
    handles: dict[bytes, StoredGroup] = field(default_factory=dict)
    provided: dict[tuple[int, str], bytes] = field(default_factory=dict)
    api_tokens: dict[bytes, ApiToken] = field(default_factory=dict)
    sources: dict[tuple[int, str], RegisteredSource] = field(default_factory=dict)
    answers: dict[tuple[int, str], tuple[datetime, StoredResponse]] = field(default_factory=dict)
    codes: dict[bytes, StoredCode] = field(default_factory=dict)
    """Codes by digest, the oldest first."""
    usage: dict[tuple[datetime, UsageKey], Usage] = field(default_factory=dict)
    usage_writers: dict[bytes, int] = field(default_factory=dict)
    """Each writer's last batch number."""
    trail: list[AuditEntry] = field(default_factory=list)
    chain_head: ChainHead | None = None
    team_id: int = 0
    generation: int = 0
    written: deque[tuple[bytes, datetime]] = field(default_factory=lambda: deque(maxlen=RETAINED_CHANGES))
    """Handle and time of the newest changes, in the order of their generations. The generation of the last change is
    ``generation``."""

    def own(self, environment: Environment) -> Environment:
        """Return the environment as stored. Raises UnknownEnvironment."""
        own = self.environments.get(environment.name)
        if own is None or own.id != environment.id:
            raise unknown_environment(environment)
        return own

    def drop_viewer_usage(self, environment: Environment, provided_id: str) -> None:
        for row in [row for row in self.usage if row[1].viewer and row[1][:2] == (environment.name, provided_id)]:
            del self.usage[row]

    def issued(self, environment: Environment, provided_id: str) -> Issued | None:
        handle = self.provided.get((environment.id, provided_id))
        return None if handle is None else self.handles[handle].issued()

    def write(self, handles: Sequence[bytes], work: Callable[[], tuple[T, bool]], *, listed: bytes | None = None) -> T:
        """Run a write that affects caches, and return its result. ``work`` returns (result, whether it changed
        anything).

        While ``work`` runs, the slots of ``handles`` have odd versions. If ``work`` changed anything, the change is
        listed under the handle ``listed`` (default: the first of ``handles``), and the listeners are notified."""
        handle = handles[0] if listed is None else listed
        with self.lock:
            with ExitStack() as announced:
                for each in handles:
                    announced.enter_context(self.slots.writing(each))
                result, changed = work()
                generation = self._count(handle) if changed else None
            if generation is not None:
                self.listeners.notify(handle, generation)
            return result

    def _count(self, handle: bytes) -> int:
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
        number = len(self.trail) + 1
        author, subject, shown = without_tokens(author, subject, details)
        entry = AuditEntry(number, self.clock(), author, action, environment, subject, shown)
        if self.keys is not None:
            head, after = self.chain_head, 0 if self.chain_head is None else self.chain_head.number
            (entry,) = seal_entries(self.keys, head, after, self.trail[after:], [entry])
            self.chain_head = None if entry.seal is None else ChainHead(number, entry.seal.mac)
        self.trail.append(entry)
