"""What a MemoryStore holds; and its environments, API tokens, data sources and audit trail."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock
from typing import TypeVar

from tenantry.backends.audit.chain import ChainKeys, seal_entries
from tenantry.backends.audit.details import (
    LISTED_CHANGES,
    RETAINED_CHANGES,
    ChangeListeners,
    OfferedSourceLease,
    api_token_details,
    environment_details,
    without_tokens,
)
from tenantry.backends.stored import StoredGroup, StoredResponse, require_unexpired, use_is_recorded
from tenantry.cache.slots import PrivateSlots
from tenantry.errors import AlreadyExists, UnknownApiToken, UnknownDataSource, UnknownEnvironment
from tenantry.groups import (
    SOURCES_HANDLE,
    UNNAMED,
    ApiToken,
    AuditEntry,
    Author,
    ChainHead,
    Change,
    Changes,
    Environment,
    RegisteredSource,
    RevokedApiToken,
    Scope,
    SourceReading,
    Tag,
    Usage,
    UsageKey,
    check_session_variables,
)
from tenantry.ports import ApiTokenStore, AuditTrail, Clock, EnvironmentStore, LeasedSources, SourceStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredCode:
    """A single-use code or a session, and the API token that issued it."""

    purpose: str
    payload: str
    expires_at: datetime
    api_token_id: int | None = None
    group: bytes | None = None
    """The handle of the group in whose share it is."""


@dataclass(slots=True)
class MemoryTables:
    """Everything, each under the key that is unique; whoever reads two of them or writes holds ``lock``."""

    clock: Clock
    lock: RLock = field(default_factory=RLock)
    store_id: str = field(default_factory=lambda: secrets.token_hex(16))
    environments: dict[str, Environment] = field(default_factory=dict)
    handles: dict[bytes, StoredGroup] = field(default_factory=dict)
    provided: dict[tuple[int, str], bytes] = field(default_factory=dict)
    api_tokens: dict[bytes, ApiToken] = field(default_factory=dict)
    sources: dict[tuple[int, str], RegisteredSource] = field(default_factory=dict)
    answers: dict[tuple[int, str], tuple[datetime, StoredResponse]] = field(default_factory=dict)
    codes: dict[bytes, StoredCode] = field(default_factory=dict)
    """By digest, the oldest first."""
    embedding_hosts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    usage: dict[tuple[datetime, UsageKey], Usage] = field(default_factory=dict)
    usage_writers: dict[bytes, int] = field(default_factory=dict)
    """The last batch that each has added."""
    trail: list[AuditEntry] = field(default_factory=list)
    keys: ChainKeys | None = None
    chain_head: ChainHead | None = None
    team_id: int = 0
    generation: int = 0
    written: deque[tuple[bytes, datetime]] = field(default_factory=lambda: deque(maxlen=RETAINED_CHANGES))
    """The handles of the last changes, one for each generation up to ``generation``."""

    def own(self, environment: Environment) -> Environment:
        """The environment as it is stored. Raises UnknownEnvironment."""
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
        """The changes after ``since``, of the last LISTED_CHANGES."""
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
        entry = AuditEntry(number, self.clock(), author, action, environment, subject, shown)
        if self.keys is not None:
            head, after = self.chain_head, 0 if self.chain_head is None else self.chain_head.number
            (entry,) = seal_entries(self.keys, head, after, self.trail[after:], [entry])
            self.chain_head = None if entry.seal is None else ChainHead(number, entry.seal.mac)
        self.trail.append(entry)


class MemoryDirectory(OfferedSourceLease, EnvironmentStore, ApiTokenStore, SourceStore, LeasedSources, AuditTrail):
    """What a MemoryStore has besides its groups."""

    _tables: MemoryTables
    _slots: PrivateSlots
    _listeners: ChangeListeners

    # --- EnvironmentStore ---

    async def create_environment(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        tables = self._tables
        with tables.lock:
            if name in tables.environments:
                raise AlreadyExists(f"there is an environment {name!r} already")
            number = len(tables.environments) + 1
            environment = Environment(number, name, Tag(tag), external_data_sources, grace_seconds)
            tables.environments[name] = environment
            tables.note(author, "environment.created", name, name, **environment_details(environment))
            return environment

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        tables = self._tables
        with tables.lock:
            own = tables.own(environment)
            if own.grace_seconds == grace_seconds:
                return own
            changed = replace(own, grace_seconds=grace_seconds)
            tables.environments[own.name] = changed
            # Each record holds its environment, as a row of a database points at one.
            for handle, stored in tables.handles.items():
                if stored.group.environment.id == own.id:
                    tables.handles[handle] = replace(stored, group=replace(stored.group, environment=changed))
            for digest, token in tables.api_tokens.items():
                if token.environment.id == own.id:
                    tables.api_tokens[digest] = replace(token, environment=changed)
            for key, source in tables.sources.items():
                if source.environment.id == own.id:
                    tables.sources[key] = replace(source, environment=changed)
            tables.note(author, "environment.grace_set", own.name, own.name, grace_seconds=str(grace_seconds))
            return changed

    async def environment(self, name: str) -> Environment | None:
        return self._tables.environments.get(name)

    async def environments(self) -> Sequence[Environment]:
        return list(self._tables.environments.values())

    # --- ApiTokenStore ---

    async def create_api_token(
        self,
        environment: Environment,
        *,
        digest: bytes,
        label: str,
        scopes: Collection[Scope],
        hint: str,
        expires_at: datetime | None = None,
        author: Author = UNNAMED,
    ) -> ApiToken:
        tables = self._tables
        with tables.lock:
            if digest in tables.api_tokens:
                raise AlreadyExists("there is an API token with this secret already")
            number = len(tables.api_tokens) + 1
            own, now = tables.own(environment), tables.clock()
            token = ApiToken(number, own, label, frozenset(scopes), hint, now, expires_at=expires_at)
            tables.api_tokens[digest] = token
            details = api_token_details(label, scopes, expires_at)
            tables.note(author, "api_token.created", environment.name, str(number), **details)
            return token

    async def api_token(self, digest: bytes) -> ApiToken | None:
        token = self._tables.api_tokens.get(digest)
        if token is None or token.revoked_at is not None:
            return None
        return require_unexpired(token, self._tables.clock())

    async def record_api_token_use(self, token: ApiToken) -> None:
        tables = self._tables
        with tables.lock:
            now = tables.clock()
            for digest, stored in tables.api_tokens.items():
                if stored.id == token.id and not use_is_recorded(stored, now):
                    tables.api_tokens[digest] = replace(stored, last_used_at=now)

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        return [token for token in list(self._tables.api_tokens.values()) if token.environment.id == environment.id]

    async def revoke_api_token(
        self, environment: Environment, token_id: int, *, author: Author = UNNAMED
    ) -> RevokedApiToken:
        tables = self._tables
        with tables.lock:
            for digest, token in tables.api_tokens.items():
                if token.id != token_id or token.environment.id != environment.id:
                    continue
                if token.revoked_at is not None:
                    return RevokedApiToken(token, 0)
                revoked = replace(token, revoked_at=tables.clock())
                tables.api_tokens[digest] = revoked
                tables.note(author, "api_token.revoked", environment.name, str(token_id), label=token.label)
                issued = [each for each, code in tables.codes.items() if code.api_token_id == token_id]
                ended = [code for code in map(tables.codes.pop, issued) if code.expires_at > tables.clock()]
                return RevokedApiToken(revoked, len(ended))
        raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")

    # --- SourceStore ---

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = self._tables.sources.get((environment.id, reference))
        return found or next((s for s in await self.data_sources(environment) if s.provided_id == reference), None)

    async def source_at_snapshot(self, environment: Environment, reference: str) -> SourceReading:
        with self._tables.lock:
            return SourceReading(await self.data_source(environment, reference), self._tables.generation)

    async def create_data_source(
        self,
        environment: Environment,
        *,
        source_id: str,
        provided_id: str,
        url: str,
        trusted: bool = False,
        session: Mapping[str, str] | None = None,
        author: Author = UNNAMED,
    ) -> RegisteredSource:
        checked = check_session_variables(url, session or {})
        tables, made = self._tables, RegisteredSource(source_id, provided_id, environment, url, trusted, checked)

        def write() -> tuple[RegisteredSource, bool]:
            for source in tables.sources.values():
                if source.environment.id == environment.id and (
                    source.id == source_id or source.provided_id == provided_id
                ):
                    raise AlreadyExists(f"environment {environment.name!r} has a data source {provided_id!r} already")
            source = tables.sources[environment.id, source_id] = replace(made, environment=tables.own(environment))
            tables.note(author, "data_source.created", environment.name, source_id, provided_id=provided_id)
            return source, True

        return self._written(made.handles, write, listed=SOURCES_HANDLE)

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = [source for source in list(self._tables.sources.values()) if source.environment.id == environment.id]
        return sorted(found, key=lambda source: source.provided_id)

    async def set_source_url(
        self, source: RegisteredSource, url: str, *, author: Author = UNNAMED
    ) -> RegisteredSource | None:
        tables, key = self._tables, (source.environment.id, source.id)
        with tables.lock:
            if (stored := tables.sources.get(key)) is None or stored.url != source.url:
                return None

            def write() -> tuple[RegisteredSource, bool]:
                made = tables.sources[key] = replace(stored, url=url)
                tables.note(author, "data_source.url_written", stored.environment.name, source.id)
                return made, True

            return self._written(stored.handles, write, listed=SOURCES_HANDLE)

    async def delete_data_source(
        self, environment: Environment, reference: str, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        tables = self._tables
        with tables.lock:
            source = await self.data_source(environment, reference)
            if source is None:
                raise UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")

            def write() -> tuple[RegisteredSource, bool]:
                del tables.sources[environment.id, source.id]
                provided = source.provided_id
                tables.note(author, "data_source.deleted", environment.name, source.id, provided_id=provided)
                return source, True

            return self._written(source.handles, write, listed=SOURCES_HANDLE)

    def _written(
        self, handles: Sequence[bytes], write: Callable[[], tuple[T, bool]], *, listed: bytes | None = None
    ) -> T:
        """What ``write`` gives; if it changed anything, the change is counted and the listeners are called. It is
        announced in the slots of the handles, and ``listed`` under this one (None: the first of them)."""
        handle = handles[0] if listed is None else listed
        with self._tables.lock:
            with ExitStack() as announced:
                for each in handles:
                    announced.enter_context(self._slots.writing(each))
                result, changed = write()
                generation = self._tables.change(handle) if changed else None
            if generation is not None:
                self._listeners.notify(handle, generation)
            return result

    # --- AuditTrail ---

    async def audit(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        with self._tables.lock:
            later = self._tables.trail[max(0, after) :]
        return [entry for entry in later if environment in (None, entry.environment)][:limit]

    async def audit_head(self) -> ChainHead | None:
        return self._tables.chain_head
