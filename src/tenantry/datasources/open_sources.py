# When a registration changes, the next query opens the source again; the old connections close after their last query.

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tenantry.datasources.declared_tables import declared_tables
from tenantry.datasources.engines.engine import Engine
from tenantry.datasources.engines.registry import BUILT_IN_NAMES, find_engine, is_engine, source_notes
from tenantry.datasources.guarding import DeclarationProof
from tenantry.datasources.pool.connection_pool import ConnectionPool
from tenantry.datasources.pool.fair_queue import FairQueue
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.query_label import TAGGED
from tenantry.datasources.session import SessionTemplate
from tenantry.datasources.url import parse_url, source_revision
from tenantry.datasources.url_secrets.resolution import ConnectableSource, UrlSecrets
from tenantry.errors import InvalidSettings, SecretUnavailable, SourceUnavailable
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.sql import BoundSQL

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables

# Seconds to wait before checking again whether the queries of a stopped source have ended.
_STOP_INTERVAL: Final = 0.005

_log = logging.getLogger(__name__)


def check_tagged(tagged: Collection[str], own: Collection[str]) -> frozenset[str]:
    """Return ``tagged`` as a set. Raises InvalidSettings if it is a string or contains an unknown engine."""
    if isinstance(tagged, str):
        raise InvalidSettings(
            f"query_tags is {tagged!r}; it takes a collection of engines, such as {TAGGED!r}, or () for none"
        )
    for engine in tagged:
        if engine not in own and not is_engine(engine):
            raise InvalidSettings(
                f"query_tags contains {engine!r}; known engines: {', '.join([*BUILT_IN_NAMES, *own])}"
            )
    return frozenset(tagged)


def create_source(
    source: RegisteredSource, limits: Limits, host: Mapping[str, Engine] | None = None
) -> ConnectionPool[Any]:
    """Create the connection pool of a source, without connecting. Raises InvalidSource for an unusable URL, dialect,
    driver or declaration of guarded tables."""
    url = parse_url(source.url)
    engine = find_engine(url, host, trusted=source.trusted)
    engine.check_url(url)  # checked again, because the row may be older than the rules
    tables, driver = declared_tables(source), engine.open_driver(source, limits)
    return ConnectionPool(driver, limits, None if tables is None else DeclarationProof(source, tables, driver).check)


def source_name(registered: RegisteredSource) -> str:
    """Return the source's name, unique in the store."""
    return f"{registered.environment.id}/{registered.id}"


@dataclass(slots=True, eq=False)
class OpenSource:
    registered: RegisteredSource
    secrets: ConnectableSource
    pool: ConnectionPool[Any]
    session: SessionTemplate | None
    tables: GuardedTables | None
    revision: str
    """A part of cache keys. It changes with every setting that affects rows."""
    queue: FairQueue
    is_tagged: bool = False
    for_authors: bool = False
    engine_notes: tuple[str, ...] = ()
    users: int = 0
    on_unused: Callable[[OpenSource], None] | None = None
    """Called when ``users`` falls to 0."""
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = source_name(self.registered)

    @property
    def notes(self) -> tuple[str, ...]:
        role = getattr(self.pool.driver, "role_warning", "")
        return (*self.engine_notes, role) if role else self.engine_notes

    def release(self) -> None:
        self.users -= 1
        if not self.users and self.on_unused is not None:
            self.on_unused(self)

    def fingerprint(self, bound: BoundSQL, session: BoundSQL | None, group: UserGroup) -> str:
        """Return the cache key of a query's result. Raises TypeError for a value of an unsupported type."""
        return bound.fingerprint(
            source=self.name,
            revision=self.revision,
            group=f"{group.handle.hex()} {group.revision}",
            session=session,
        )


class OpenSources:
    """Opens sources and keeps at most ``limits.max_sources`` of them open. An unused source closes only to make room
    for another. A source whose registration or secret has changed is not counted, and closes after its last query."""

    def __init__(
        self,
        limits: Limits,
        engines: Mapping[str, Engine],
        secrets: UrlSecrets,
        tagged: frozenset[str] = frozenset(),
    ) -> None:
        self.limits: Final = limits
        self._secrets = secrets
        self.for_authors: bool = False
        """Whether authors use these sources. Their queries may not use private names of the engine."""
        self._tagged = tagged
        self._engines = engines
        self._open: OrderedDict[tuple[int, str], OpenSource] = OrderedDict()  # least recently used first
        self._retired: set[OpenSource] = set()  # running queries use them, but new ones do not get them
        self._is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def find(self, registered: RegisteredSource) -> OpenSource:
        """Return the open source; open it if necessary. The caller must increment its ``users`` before the next
        ``await``, or the source may close. Raises InvalidSource, SourceUnavailable, SecretUnavailable."""
        if asyncio.get_running_loop() is not self._loop:
            self._bind_to_loop()
        if self._is_stopping:
            raise SourceUnavailable("this process is stopping and runs no more queries; try again")
        key = (registered.environment.id, registered.id)
        known = self._open.get(key)
        if (
            known is not None
            and known.registered == registered
            and (
                not known.secrets.read or known.secrets.is_current()
            )  # `not … or` saves the call for a URL without references
        ):
            self._open.move_to_end(key)
            return known
        opened = self._open_source(registered)
        if known is not None:
            self._retire(key)
        elif len(self._open) >= self.limits.max_sources:
            self._evict_idle()
        self._open[key] = opened
        return opened

    def _open_source(self, registered: RegisteredSource) -> OpenSource:
        session = SessionTemplate(registered) if registered.session else None
        try:
            secrets = self._secrets.resolve(registered)
        except SecretUnavailable as error:
            _log.error("%s", error.message)  # for operators: viewers must not see names of keys, variables or files
            raise
        pool = create_source(secrets.source, self.limits, self._engines)
        # A result within the limits of one process may exceed those of another, so only processes with the same limits
        # share results.
        revision = f"{source_revision(secrets.source)} {self.limits.row_limit} {self.limits.max_bytes}"
        is_tagged = parse_url(registered.url).get_backend_name() in self._tagged
        queue, tables = FairQueue(registered.id, self.limits), declared_tables(registered)
        opened = OpenSource(registered, secrets, pool, session, tables, revision, queue, is_tagged)
        if self.for_authors:
            opened.for_authors, opened.engine_notes = True, source_notes(registered, pool.driver, self._engines)
        return opened

    def _evict_idle(self) -> None:
        for key, opened in self._open.items():
            if not opened.users:
                self._retire(key)
                return
        raise SourceUnavailable(
            f"all {self.limits.max_sources} data sources that max_sources allows are in use; try again"
        )

    def _retire(self, key: tuple[int, str]) -> None:
        opened = self._open.pop(key)
        if opened.users:
            self._retired.add(opened)
            opened.on_unused = self._close
        else:
            self._close(opened)

    def _close(self, opened: OpenSource) -> None:
        opened.on_unused = None
        self._retired.discard(opened)
        task = asyncio.get_running_loop().create_task(opened.pool.aclose())
        self._closing.add(task)  # the loop itself holds tasks only weakly
        task.add_done_callback(self._closing.discard)

    def _bind_to_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed() and self._open:
            raise RuntimeError("this DataSources serves another event loop: create one for each loop")
        for opened in self._take_all():
            opened.pool.abandon()
        self._closing.clear()
        self._loop = loop

    def _take_all(self) -> list[OpenSource]:
        taken = [*self._open.values(), *self._retired]
        self._open.clear()
        self._retired.clear()
        for opened in taken:
            opened.on_unused = None
        return taken

    async def stop(self, seconds: float) -> None:
        """Stop all queries and refuse new ones. Wait at most ``seconds`` until they have ended."""
        self._bind_to_loop()
        self._is_stopping = True
        running = (*self._open.values(), *self._retired)
        for opened in running:
            opened.queue.close()
            opened.pool.stop_all()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while any(opened.pool.is_running for opened in running):  # noqa: ASYNC110  # once in a process
                    await asyncio.sleep(_STOP_INTERVAL)

    async def aclose(self) -> None:
        self._bind_to_loop()
        for opened in self._take_all():
            self._close(opened)
        while self._closing:
            await asyncio.gather(*self._closing)
