"""Pools: the open data sources of one event loop, bounded in number; and how a registered source becomes the DataSource
that runs its queries: by a built-in engine, or by one of the host's own.

An open source belongs to (environment, source, URL): one whose URL changed is opened anew, and the old one is closed
when its last query has ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from tenantry.datasources.caching.bound_statement import BoundStatement, made_of
from tenantry.datasources.driver import DataSource
from tenantry.datasources.engines.engine import Engine
from tenantry.datasources.engines.registry import BUILT_IN_NAMES, find_engine, is_engine
from tenantry.datasources.pool.limits import Limits
from tenantry.datasources.pool.threads import ThreadedSource
from tenantry.datasources.pool.turns import Turns
from tenantry.datasources.query_label import QueryLabel, with_tag
from tenantry.datasources.session import SessionTemplate
from tenantry.datasources.url import parse_url, source_revision
from tenantry.datasources.url_secrets.resolution import ConnectableSource, UrlSecrets
from tenantry.errors import InvalidSettings, SecretUnavailable, SourceUnavailable
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.sql import BoundSQL

TAGGED: Final = ("postgresql", "mysql", "mariadb")
"""Engines, by the scheme of their URLs, that show the text of what runs and keep no plan and no result by it."""

_STOP_INTERVAL: Final = 0.005  # seconds between two looks whether a source has ended what it ran

_log = logging.getLogger(__name__)


def check_tagged(tagged: Collection[str], own: Collection[str]) -> frozenset[str]:
    """A copy of the engines whose queries get a tag. Raises InvalidSettings for a text, and for an engine that is
    neither built in nor among the host's ``own``."""
    if isinstance(tagged, str):
        raise InvalidSettings(f"query_tags is {tagged!r}; it takes the engines, as {TAGGED!r}, or () for none")
    for engine in tagged:
        if engine not in own and not is_engine(engine):
            raise InvalidSettings(f"query_tags names {engine!r}; known are {', '.join([*BUILT_IN_NAMES, *own])}")
    return frozenset(tagged)


def create_source(source: RegisteredSource, limits: Limits, host: Mapping[str, Engine] | None = None) -> DataSource:
    """Raises InvalidSource for a URL, dialect or driver that cannot be used. ``host`` as ``host_engines`` gives it."""
    url = parse_url(source.url)
    engine = find_engine(url, host, trusted=source.trusted)
    engine.check_url(url)  # again: the row may be older than a rule
    return ThreadedSource(engine.open_driver(source, limits), limits)


def source_name(registered: RegisteredSource) -> str:
    """Its environment and id: what no other source of the store has."""
    return f"{registered.environment.id}/{registered.id}"


@dataclass(slots=True, eq=False)
class OpenSource:
    """A registered source with its connections. ``revision`` changes when anything of the registration does that
    decides which rows are there. ``is_tagged``: its queries get a tag."""

    registered: RegisteredSource
    secrets: ConnectableSource
    source: DataSource
    session: SessionTemplate | None
    revision: str
    turns: Turns
    is_tagged: bool = False
    users: int = 0
    name: str = field(init=False)
    """Its environment and id: what no other source of the store has."""

    def __post_init__(self) -> None:
        self.name = source_name(self.registered)

    def to_send(self, bound: BoundSQL, label: QueryLabel) -> BoundSQL:
        """What its server gets of a query."""
        return with_tag(bound, label) if self.is_tagged else bound

    def fingerprint(self, bound: BoundSQL, session: BoundSQL | None, group: UserGroup) -> str:
        """The key of an answer of this source. Raises TypeError for a value that has none."""
        return bound.fingerprint(
            source=self.name,
            revision=self.revision,
            group=f"{group.handle.hex()} {group.revision}",
            session=session,
        )

    def key(self, bound: BoundStatement, session: BoundSQL | None, group: UserGroup) -> str | None:
        """The key under which an answer is shared; None for a value without a fingerprint, for a driver of the host's
        own. The key of a wrapped query begins with that of the query itself."""
        try:
            key = self.fingerprint(bound.query, session, group)
            return key if bound.sql is bound.query else made_of(key, self.fingerprint(bound.sql, session, group))
        except TypeError:
            return None


class Pools:
    """Opens, shares and closes DataSources; at most ``limits.max_sources`` at a time."""

    def __init__(
        self,
        limits: Limits,
        engines: Mapping[str, Engine],
        secrets: UrlSecrets,
        tagged: frozenset[str] = frozenset(),
    ) -> None:
        self.limits: Final = limits
        self._secrets = secrets
        self._tagged = tagged
        self._engines = engines
        self._open: OrderedDict[tuple[int, str], OpenSource] = OrderedDict()  # least recently used first
        self._retired: set[OpenSource] = set()  # replaced while they have users
        self._is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def use(self, registered: RegisteredSource) -> AsyncIterator[OpenSource]:
        """The open source for as long as the block runs. Raises InvalidSource, SourceUnavailable."""
        pool = self.find(registered)
        pool.users += 1
        try:
            yield pool
        finally:
            self.release(pool)

    def release(self, pool: OpenSource) -> None:
        """One user less; the last one closes a source that has been replaced."""
        pool.users -= 1
        if not pool.users and pool in self._retired:
            self._retired.discard(pool)
            self._close(pool)

    def find(self, registered: RegisteredSource) -> OpenSource:
        """The open source: until the next ``await``, or longer for those who count in its ``users``. Raises
        InvalidSource, SourceUnavailable."""
        if asyncio.get_running_loop() is not self._loop:
            self._bind_to_loop()
        if self._is_stopping:
            raise SourceUnavailable("this process is stopping, and runs no more queries; try again", retry_after=1)
        key = (registered.environment.id, registered.id)
        pool = self._open.get(key)
        if (
            pool is not None
            and pool.registered == registered
            and (not pool.secrets.read or pool.secrets.is_current())  # no call where it has no references
        ):
            self._open.move_to_end(key)
            return pool
        session = SessionTemplate(registered) if registered.session else None
        secrets = self._resolve(registered)
        source = create_source(secrets.source, self.limits, self._engines)
        # A result within one limit may be beyond another: whoever has other limits shares no answers.
        revision = f"{source_revision(secrets.source)} {self.limits.row_limit} {self.limits.max_bytes}"
        is_tagged = parse_url(registered.url).get_backend_name() in self._tagged
        turns = Turns(registered.id, self.limits)
        opened = OpenSource(registered, secrets, source, session, revision, turns, is_tagged)
        if pool is not None:
            self._retire(key)
        elif len(self._open) >= self.limits.max_sources:
            self._evict_idle()
        self._open[key] = opened
        return opened

    def _resolve(self, registered: RegisteredSource) -> ConnectableSource:
        try:
            return self._secrets.resolve(registered)
        except SecretUnavailable as error:
            _log.error("%s", error.message)  # viewers are told nothing of keys, variables and files
            raise

    def _evict_idle(self) -> None:
        for key, pool in self._open.items():
            if not pool.users:
                self._retire(key)
                return
        raise SourceUnavailable(f"{self.limits.max_sources} data sources are busy at once; try again", retry_after=1)

    def _retire(self, key: tuple[int, str]) -> None:
        pool = self._open.pop(key)
        if pool.users:
            self._retired.add(pool)
        else:
            self._close(pool)

    def _close(self, pool: OpenSource) -> None:
        task = asyncio.get_running_loop().create_task(pool.source.aclose())
        self._closing.add(task)  # the loop itself holds tasks only weakly
        task.add_done_callback(self._closing.discard)

    def _bind_to_loop(self) -> None:
        """Connections belong to the event loop that opened them. Those of a closed loop are dropped."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed() and self._open:
            raise RuntimeError("one DataSources serves one event loop: make another one for this loop")
        for pool in self._take_all():
            pool.source.abandon()
        self._closing.clear()
        self._loop = loop

    def _take_all(self) -> list[OpenSource]:
        taken = [*self._open.values(), *self._retired]
        self._open.clear()
        self._retired.clear()
        return taken

    async def stop(self, seconds: float) -> None:
        """Stops what is running and refuses what comes, for good. Waits for the sources so long at most."""
        self._bind_to_loop()
        self._is_stopping = True
        pools = (*self._open.values(), *self._retired)
        for pool in pools:
            pool.turns.close()
            pool.source.stop_all()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while any(pool.source.is_running for pool in pools):  # noqa: ASYNC110  # once in a process
                    await asyncio.sleep(_STOP_INTERVAL)

    async def aclose(self) -> None:
        """Stops what is running and closes every connection. The pools can be used again: they open anew."""
        self._bind_to_loop()
        for pool in self._take_all():
            self._close(pool)
        while self._closing:
            await asyncio.gather(*self._closing)
