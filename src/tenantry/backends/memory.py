"""MemoryStore: everything in this process and nothing on disk, for tests and first steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock
from typing import TypeVar

from tenantry.backends.answer import KEPT, Answer
from tenantry.backends.clock import utc_now
from tenantry.backends.listeners import Listeners
from tenantry.backends.stored import UNKNOWN_TOKEN, StoredGroup
from tenantry.errors import (
    AlreadyExists,
    UnknownApiToken,
    UnknownDataSource,
    UnknownEnvironment,
    UnknownGroup,
    UnknownToken,
)
from tenantry.groups import (
    ApiToken,
    Environment,
    GroupChanges,
    GroupDraft,
    Issued,
    Once,
    Record,
    RegisteredSource,
    Scope,
    Tag,
    Token,
    UserGroup,
)
from tenantry.ports import ChangeListener, Clock

T = TypeVar("T")


@dataclass(slots=True)
class _Tables:
    """What the store holds, each under the key that is unique."""

    environments: dict[str, Environment] = field(default_factory=dict)
    handles: dict[bytes, StoredGroup] = field(default_factory=dict)
    provided: dict[tuple[int, str], bytes] = field(default_factory=dict)
    api_tokens: dict[bytes, ApiToken] = field(default_factory=dict)
    sources: dict[tuple[int, str], RegisteredSource] = field(default_factory=dict)
    answers: dict[tuple[int, str], tuple[datetime, Answer]] = field(default_factory=dict)
    team_id: int = 0


class MemoryStore:
    """A Store (tenantry.ports) in memory. ``clock`` gives the time of day in UTC.

    Each method runs to its end without waiting, under one lock, so that it is one transaction in any thread or loop.
    """

    def __init__(self, *, clock: Clock = utc_now) -> None:
        self._clock = clock
        self._tables = _Tables()
        self._listeners = Listeners()
        self._lock = RLock()

    # --- Backend ---

    async def find(self, token: Token) -> UserGroup | None:
        stored = self._tables.handles.get(token.handle)
        return stored.group if stored is not None and stored.accepts(token, self._clock()) else None

    # --- GroupStore ---

    async def get_or_create(
        self, environment: Environment, draft: GroupDraft, token: Token, *, once: Once | None = None
    ) -> Issued:
        return self._once(environment, once, lambda: self._get_or_create(environment, draft, token))

    def _get_or_create(self, environment: Environment, draft: GroupDraft, token: Token) -> Issued:
        handle = self._tables.provided.get((environment.id, draft.provided_id))
        if handle is not None:
            return self._tables.handles[handle].issued()
        environment = self._own(environment)
        if token.handle in self._tables.handles:
            raise AlreadyExists("another group has this handle: draw a new token")
        self._tables.team_id += 1
        group = UserGroup(
            team_id=self._tables.team_id,
            provided_id=draft.provided_id,
            name=draft.name,
            environment=environment,
            properties=_record(draft.properties),
            mapping=_record(draft.mapping),
            handle=token.handle,
            token_version=token.version,
            revision=1,
        )
        stored = StoredGroup(group, replace(token, tag=environment.tag))
        self._tables.handles[token.handle] = stored
        self._tables.provided[environment.id, draft.provided_id] = token.handle
        return stored.issued(created=True)

    async def update(self, environment: Environment, provided_id: str, changes: GroupChanges) -> Issued:
        with self._lock:
            stored = self._stored(environment, provided_id)
            return self._announced(stored.group.handle, lambda: self._put(stored.updated(changes)))

    async def rotate(
        self,
        environment: Environment,
        current: Token,
        *,
        key_id: str,
        nonce: bytes,
        grace_seconds: int = 0,
        once: Once | None = None,
    ) -> Issued:
        def write() -> Issued:
            stored = self._tables.handles.get(current.handle)
            if stored is None:
                raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
            return self._put(
                stored.rotated(
                    environment,
                    current,
                    key_id=key_id,
                    nonce=nonce,
                    grace_seconds=grace_seconds,
                    now=self._clock(),
                )
            )

        return self._announced(current.handle, lambda: self._once(environment, once, write))

    async def delete(self, environment: Environment, provided_id: str) -> UserGroup:
        def write() -> UserGroup:
            del self._tables.handles[handle]
            del self._tables.provided[environment.id, provided_id]
            return stored.group

        with self._lock:
            stored = self._stored(environment, provided_id)
            handle = stored.group.handle
            return self._announced(handle, write)

    async def get(self, environment: Environment, provided_id: str) -> Issued | None:
        with self._lock:
            handle = self._tables.provided.get((environment.id, provided_id))
            return self._tables.handles[handle].issued() if handle is not None else None

    async def groups(self, environment: Environment, *, after: int = 0, limit: int = 100) -> Sequence[UserGroup]:
        with self._lock:
            here = [stored.group for stored in self._tables.handles.values()]
        found = [group for group in here if group.environment.id == environment.id and group.team_id > after]
        return sorted(found, key=lambda group: group.team_id)[:limit]

    # --- EnvironmentStore ---

    async def create_environment(self, name: str, tag: Tag, *, external_data_sources: bool = False) -> Environment:
        with self._lock:
            if name in self._tables.environments:
                raise AlreadyExists(f"there is an environment {name!r} already")
            environment = Environment(len(self._tables.environments) + 1, name, Tag(tag), external_data_sources)
            self._tables.environments[name] = environment
            return environment

    async def environment(self, name: str) -> Environment | None:
        return self._tables.environments.get(name)

    async def environments(self) -> Sequence[Environment]:
        return list(self._tables.environments.values())

    # --- ApiTokenStore ---

    async def create_api_token(
        self, environment: Environment, *, digest: bytes, label: str, scopes: Collection[Scope], hint: str
    ) -> ApiToken:
        with self._lock:
            if digest in self._tables.api_tokens:
                raise AlreadyExists("there is an API token with this secret already")
            number = len(self._tables.api_tokens) + 1
            token = ApiToken(number, self._own(environment), label, frozenset(scopes), hint, self._clock())
            self._tables.api_tokens[digest] = token
            return token

    async def api_token(self, digest: bytes) -> ApiToken | None:
        token = self._tables.api_tokens.get(digest)
        return token if token is not None and token.revoked_at is None else None

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        return [token for token in list(self._tables.api_tokens.values()) if token.environment.id == environment.id]

    async def revoke_api_token(self, environment: Environment, token_id: int) -> ApiToken:
        with self._lock:
            for digest, token in self._tables.api_tokens.items():
                if token.id == token_id and token.environment.id == environment.id:
                    revoked = replace(token, revoked_at=token.revoked_at or self._clock())
                    self._tables.api_tokens[digest] = revoked
                    return revoked
        raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")

    # --- SourceStore ---

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = self._tables.sources.get((environment.id, reference))
        return found or next((s for s in await self.data_sources(environment) if s.provided_id == reference), None)

    async def create_data_source(
        self, environment: Environment, *, source_id: str, provided_id: str, url: str, trusted: bool = False
    ) -> RegisteredSource:
        with self._lock:
            for source in list(self._tables.sources.values()):
                if source.environment.id == environment.id and (
                    source.id == source_id or source.provided_id == provided_id
                ):
                    raise AlreadyExists(f"environment {environment.name!r} has a data source {provided_id!r} already")
            source = RegisteredSource(source_id, provided_id, self._own(environment), url, trusted)
            self._tables.sources[environment.id, source_id] = source
            return source

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = [source for source in list(self._tables.sources.values()) if source.environment.id == environment.id]
        return sorted(found, key=lambda source: source.provided_id)

    async def delete_data_source(self, environment: Environment, reference: str) -> RegisteredSource:
        with self._lock:
            source = await self.data_source(environment, reference)
            if source is None:
                raise UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")
            return self._tables.sources.pop((environment.id, source.id))

    # --- Store ---

    def subscribe(self, listener: ChangeListener) -> None:
        self._listeners.subscribe(listener)

    async def ready(self) -> None:
        return

    async def aclose(self) -> None:
        return

    # --- within one lock ---

    def _own(self, environment: Environment) -> Environment:
        own = self._tables.environments.get(environment.name)
        if own is None or own.id != environment.id:
            raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it with create_environment")
        return own

    def _stored(self, environment: Environment, provided_id: str) -> StoredGroup:
        handle = self._tables.provided.get((environment.id, provided_id))
        if handle is None:
            raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
        return self._tables.handles[handle]

    def _put(self, stored: StoredGroup) -> Issued:
        self._tables.handles[stored.group.handle] = stored
        return stored.issued()

    def _announced(self, handle: bytes, write: Callable[[], T]) -> T:
        with self._lock, self._listeners.announced(handle):
            return write()

    def _once(self, environment: Environment, once: Once | None, write: Callable[[], Issued]) -> Issued:
        with self._lock:
            if once is None:
                return write()
            now, answers = self._clock(), self._tables.answers
            for key in [key for key, (expires, _) in answers.items() if expires <= now]:
                del answers[key]
            kept = answers.get((environment.id, once.key))
            if kept is not None:
                return kept[1].replay(once, self._tables.handles.get(kept[1].group.handle))
            issued = write()
            answers[environment.id, once.key] = (now + KEPT, Answer.of(once, issued))
            return issued


def _record(values: object) -> Record | None:
    return None if values is None else Record(values)  # type: ignore[arg-type]  # a Mapping or a Record, as drafts say
