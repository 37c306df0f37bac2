"""DataSources: rows of the one data source that a group's mapping names, or an error; never of another one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from cachetools import LRUCache

from tenantry.datasources.activity import Activity, ObservedQuery
from tenantry.datasources.binding_watch import BindingWatch
from tenantry.datasources.caching.bound_statement import bind_statement, made_of
from tenantry.datasources.caching.result_cache import CachedQueries, ResultCache, check_max_age
from tenantry.datasources.caching.shared_answer import Uncopyable
from tenantry.datasources.caching.single_flight import BoundQuery, Flights, Landing
from tenantry.datasources.changes import SourceChanges
from tenantry.datasources.delivery import ResultStream, open_stream
from tenantry.datasources.driver import Pieces, Rows
from tenantry.datasources.engines.engine import DriverFactory
from tenantry.datasources.engines.registry import host_engines
from tenantry.datasources.explanation import ExplainedQuery, explain_query
from tenantry.datasources.ownership import check_owner
from tenantry.datasources.pool.limits import Limits, StreamLimits
from tenantry.datasources.pool.many_rows import Reduction
from tenantry.datasources.pools import TAGGED, Pools, check_tagged, source_name
from tenantry.datasources.query_label import QueryLabel, label_of
from tenantry.datasources.registrations import Registrations
from tenantry.datasources.results import Format, Result, StreamFormat
from tenantry.datasources.results.format import DEFAULT_FORMAT
from tenantry.datasources.results.pieces import MakeWriter, narrowed, piece_writers
from tenantry.datasources.url_secrets.resolution import Keys, UrlSecrets
from tenantry.datasources.wrapped.wrapped_template import WrappedTemplate
from tenantry.errors import UnregisteredSource
from tenantry.groups import Environment, Record, RegisteredSource, UserGroup
from tenantry.http import VIEWER_OF_THREAD, ask_for_thread
from tenantry.ports import SourceHolder
from tenantry.sql import SQLTemplate
from tenantry.usage import GroupUsage, UsageCounter, recorder_of

Found = TypeVar("Found", Rows, Result)
_STOP_SECONDS = 5.0
_COMPILED = 256  # templates given as plain text whose compiled form is cached


class DataSources:
    """Runs templates for groups, read-only, on the data source that each group's mapping names.

    ``directory`` finds registered sources (any Store is one). Where a Resolver of the same store runs in this process,
    what it finds is cached under the lease of that resolver, as groups are: a source that was removed or moved is not
    used again once that write has returned on this host, and within the staleness bound elsewhere. Else, and for any
    other directory, it is asked for every query.
    ``timeout`` (seconds), ``row_limit`` and ``max_bytes`` (of all rows) bound a query, ``pool_size`` the connections of
    one source, ``connect_timeout`` (seconds) the opening of one, ``max_sources`` the sources open at once. A query
    waits for its turn as long as it may run. Groups that wait for the same source share its time: ``weight`` of a group
    (default: 1) says how much of it each has, ``group_pool_size`` how many connections of a source one group may use at
    once (default: two thirds of them). At most ``max_waiting`` queries wait for one source, ``group_max_waiting`` of
    one group. ``stream_limits`` bound a stream in place of ``row_limit`` and ``max_bytes``; ``timeout`` is then for the
    wait for its next rows.
    ``engines`` adds engines of your own, by the scheme of their URLs: ``{"athena": make_driver}``, a function of
    (RegisteredSource, Limits) that returns a Driver; built-in ones cannot be replaced. See Driver.
    ``cache`` keeps answers for a while; without it none is kept. Equal queries that are under way are one in any case.
    ``query_tags``: engines, by the scheme of their URLs, whose servers get a comment with each query that says for
    which group and source it runs and what its template is called; () for none. ``slow_seconds``: a query that
    takes so long, with its time in the queue, is a warning of the logger ``tenantry.datasources.slow``; None: none is.
    ``usage`` is given what groups use; None: the store keeps it, else a GroupUsage. ``keys`` open the encrypted URLs of
    sources: a KeyRing, or the key file, read when it is needed; None: that of TENANTRY_KEYS. No I/O is done before the
    first query. What runs ends within the staleness bound of a change to its group or source (BindingWatch). Raises
    InvalidSettings for a bound that is none, and for such an engine.
    """

    def __init__(
        self,
        store: SourceHolder,
        *,
        timeout: float = 30.0,
        row_limit: int = 10_000,
        max_bytes: int = 32 * 1024 * 1024,
        pool_size: int = 5,
        connect_timeout: float = 5.0,
        max_sources: int = 64,
        group_pool_size: int | None = None,
        max_waiting: int = 1_000,
        group_max_waiting: int = 200,
        stream_limits: StreamLimits = StreamLimits(),  # noqa: B008  # it cannot be changed
        weight: Callable[[UserGroup], float] | None = None,
        engines: Mapping[str, DriverFactory] | None = None,
        cache: ResultCache | None = None,
        query_tags: Collection[str] = TAGGED,
        slow_seconds: float | None = 10.0,
        usage: UsageCounter | None = None,
        keys: Keys = None,
    ) -> None:
        self.store: Final[SourceHolder] = store
        """The store, or any object whose ``sources`` finds registered sources."""
        self._registrations = Registrations(store.sources)
        self.bindings: BindingWatch = BindingWatch(getattr(store, "groups", None), self._registrations)
        """What runs, and ends when its group or source changes."""
        self._pools = Pools(
            Limits(
                timeout=timeout,
                row_limit=row_limit,
                max_bytes=max_bytes,
                pool_size=pool_size,
                connect_timeout=connect_timeout,
                max_sources=max_sources,
                group_pool_size=group_pool_size,
                max_waiting=max_waiting,
                group_max_waiting=group_max_waiting,
                stream=stream_limits,
            ),
            host_engines(engines or {}),
            UrlSecrets(keys),
            check_tagged(query_tags, engines or {}),
        )
        self._cache = cache
        clock, keep, shared = (time.time, None, None) if cache is None else (cache.clock, cache.land, cache.shared)
        self._recorder = recorder_of(store) if usage is None else None
        self.activity: Activity = Activity(slow_seconds, self._recorder or (GroupUsage() if usage is None else usage))
        """What runs at each source, and what came of it."""
        self.flights: Flights = Flights(self._pools, self.activity, clock, keep)
        """The queries that are under way, and what became of queries."""
        self.changes: SourceChanges = SourceChanges(shared, clock, self.flights.forget_source)
        """Who is told when the rows of a source have changed."""
        if cache is not None:
            cache.on_change = self.changes.notify
        self._cached = None if cache is None else CachedQueries(cache, self.flights)
        self._ask_bound = self.flights.ask if self._cached is None else self._cached.ask
        self._weight = weight
        self._templates: LRUCache[str, SQLTemplate] = LRUCache(_COMPILED)

    def fetch(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | str,
        variables: Mapping[str, Any] | Record | None = None,
        *,
        max_age: float | None = None,
    ) -> Coroutine[Any, Any, list[dict[str, Any]]]:
        """The rows of ``template``, bound with ``variables`` (default: the group's own), one dict a row.

        ``max_age``: seconds that the rows may be old; None is the cache's own limit, 0 asks the source. Values are what
        the driver gives: str, int, float, bytes, None, and on most engines Decimal, date, datetime,
        timedelta, UUID. Raises UnmappedSchema, UnregisteredSource, InvalidSource, MissingVariable, InvalidParameter,
        UnbindableValue, TemplateError, NotOneStatement, QueryFailed, QueryTimeout, QueryOutdated, TooManyRows,
        TooManyBytes, SourceUnavailable, StoreUnavailable; ValueError when the variables are another group's.
        """
        return self._ask(Landing.take_dicts, group, schema, template, variables, max_age)

    def query(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | WrappedTemplate | str,
        variables: Mapping[str, Any] | Record | None = None,
        *,
        max_age: float | None = None,
        reduction: Reduction | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """The same rows as tuples, with the names and types of the columns: what ``tenantry.results`` sends in JSON,
        CSV, NDJSON and Arrow IPC. With a ``reduction`` what it makes of them: they are within the limits of streams,
        in place of those of a query. Raises as ``fetch`` does."""
        return self._ask(Landing.take_result, group, schema, template, variables, max_age, reduction)

    async def stream(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | str,
        variables: Mapping[str, Any] | Record | None = None,
        *,
        format: StreamFormat = "ndjson",  # noqa: A002  # the word of every function that writes
        options: Format = DEFAULT_FORMAT,
        formula_safe: bool = False,
        columns: Collection[str] | None = None,
    ) -> ResultStream:
        """The same rows as the body of a response in ``format``, in pieces, as they come; see ResultStream.

        ``options`` and ``formula_safe`` as those of ``to_json`` and ``to_csv``; ``columns``: names of the columns that
        are written, None for all. Returns when the first piece is there. Raises as ``fetch`` does, and InvalidSettings
        for a format that there is not or whose package is not installed.
        """
        watch = VIEWER_OF_THREAD.get()
        if watch is not None:
            again = partial(self.stream, format=format, options=options, formula_safe=formula_safe, columns=columns)
            return await ask_for_thread(watch, lambda: again(group, schema, template, variables))
        make_writer = piece_writers(format, options, formula_safe=formula_safe)
        if columns is not None:
            make_writer = narrowed(make_writer, columns)
        return ResultStream(await self.open_pieces(group, schema, template, variables, make_writer), format)

    async def open_pieces(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | str,
        variables: Mapping[str, Any] | Record | None,
        make_writer: MakeWriter,
    ) -> Pieces:
        """What ``stream`` is made of, for a writer of one's own. Raises as it does."""
        given = group.variables if variables is None else variables
        check_owner(group, given)
        compiled = template if isinstance(template, SQLTemplate) else self._compiled(template)
        registered = await self._registrations.of_schema(group, schema)
        label = label_of(registered, group, compiled)
        with ObservedQuery(self.activity, label, lasts=True) as observed:
            query = self._query(group, label, registered, compiled, given)
            observed.set_statement(query.bound.dialect, query.bound.sql)
            opening = open_stream(self._pools, query, observed, make_writer)
            return await self.bindings.open(group, schema, registered, opening)

    async def _ask(
        self,
        take: Callable[[Landing], Found],
        group: UserGroup,
        schema: str,
        template: SQLTemplate | WrappedTemplate | str,
        variables: Mapping[str, Any] | Record | None,
        max_age: float | None,
        reduction: Reduction | None = None,
    ) -> Found:
        watch = VIEWER_OF_THREAD.get()
        if watch is not None:
            again = partial(self._ask, take, group, schema, template, variables, max_age, reduction)
            return await ask_for_thread(watch, again)
        if max_age is not None:
            check_max_age(max_age)
        variables = group.variables if variables is None else variables
        check_owner(group, variables)
        compiled = self._compiled(template) if isinstance(template, str) else template
        registered = await self._registrations.of_schema(group, schema)
        label = label_of(registered, group, compiled)
        with ObservedQuery(self.activity, label) as observed:
            query = self._query(group, label, registered, compiled, variables, shares=True)
            query.wants_dicts, query.max_age = take is Landing.take_dicts, max_age
            if reduction is not None:
                query.reduction, query.key = reduction, query.key and made_of(query.key, reduction.key)
            observed.set_statement(query.bound.dialect, query.bound.sql)
            query.while_current = partial(self.bindings.run, group, schema, registered)
            try:
                landing = await self._ask_bound(query, max_age)
                found = take(landing)
            except Uncopyable:
                landing = await self.flights.ask(replace(query, key=None))
                found = take(landing)
            observed.rows, observed.cache_hit = len(found), landing.is_hit
            observed.queue_seconds = landing.queue_seconds
        return found

    def _query(
        self,
        group: UserGroup,
        label: QueryLabel,
        registered: RegisteredSource,
        compiled: SQLTemplate | WrappedTemplate,
        variables: Mapping[str, Any] | Record,
        *,
        shares: bool = False,
    ) -> BoundQuery:
        """Bound, and with its key if it ``shares`` its answer with equal ones. To be asked before the next ``await``,
        else its source may be closed."""
        opened = self._pools.find(registered)
        bound = bind_statement(compiled, variables, opened.source)
        session = None if opened.session is None else opened.session.bind(group)
        weight = None if self._weight is None else partial(self._weight, group)
        key = opened.key(bound, session, group) if shares else None
        return BoundQuery(opened, bound.sql, session, group.handle, label, weight, key)

    async def fingerprint(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | str,
        variables: Mapping[str, Any] | Record | None = None,
    ) -> str:
        """The key under which what ``fetch`` gives for the same arguments may be cached; runs no query.

        Two groups have one key only where both are mapped to the same source, as it is registered now, and nothing of
        a group was read: not by the template, and not by the session variables of the source. See
        ``BoundSQL.fingerprint``. Raises as ``fetch`` does before it runs anything.
        """
        given = group.variables if variables is None else variables
        check_owner(group, given)
        compiled = template if isinstance(template, SQLTemplate) else self._compiled(template)
        registered = await self._registrations.of_schema(group, schema)
        async with self._pools.use(registered) as opened:
            session = None if opened.session is None else opened.session.bind(group)
            return opened.fingerprint(bind_statement(compiled, given, opened.source).sql, session, group)

    async def explain(
        self, group: UserGroup, schema: str, template: SQLTemplate, variables: Mapping[str, Any] | Record
    ) -> ExplainedQuery:
        """What ``query`` would ask, and where; runs nothing. Raises as ``fetch`` does before it runs anything."""
        check_owner(group, variables)
        registered = await self._registrations.of_schema(group, schema)
        async with self._pools.use(registered) as opened:
            return explain_query(opened, self._cache, group, template, variables)

    async def dialect(self, group: UserGroup, schema: str) -> str:
        """The dialect that templates of this group's schema are bound for. Raises as ``fetch`` does; runs no query."""
        async with self._pools.use(await self._registrations.of_schema(group, schema)) as opened:
            return opened.source.dialect

    async def changed(self, environment: Environment, reference: str) -> None:
        """The rows of a data source have changed: nothing of it that was asked before this call is used again here, and
        where the cache has a shared level, five seconds later nowhere. ``reference`` is its id (``ds_…``) or your own.
        Raises UnregisteredSource, StoreUnavailable; SourceUnavailable when the shared level does not answer."""
        registered = await self._registrations.look_up(environment, reference)
        if registered is None:
            raise UnregisteredSource(f"environment {environment.name!r} has no data source {reference!r}")
        name = source_name(registered)
        if self._cached is None:
            self.changes.notify(name)
        else:
            await self._cached.changed(name)

    async def registered(self, group: UserGroup, schema: str) -> RegisteredSource:
        """The source of a schema, by the mapping. Raises UnmappedSchema, UnregisteredSource, StoreUnavailable."""
        return await self._registrations.of_schema(group, schema)

    async def stop(self) -> None:
        """For a process that is about to end: stops every query that runs or waits, and refuses new ones, for good.

        Whoever waits gets SourceUnavailable (503) at once. Returns when the sources have ended the queries, after five
        seconds at the latest. Connections stay open until ``aclose``."""
        self.changes.end()
        await self._pools.stop(_STOP_SECONDS)

    async def aclose(self) -> None:
        """Stops what runs, closes every connection, and has the usage of groups kept. Used again, it opens new ones."""
        self.bindings.stop()
        if self._cached is not None:
            await self._cached.aclose()
        await self._pools.aclose()
        if self._recorder is not None:
            await self._recorder.flush()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.aclose()

    def _compiled(self, template: str) -> SQLTemplate:
        known = self._templates.get(template)
        if known is None:
            known = self._templates[template] = SQLTemplate(template)
        return known
