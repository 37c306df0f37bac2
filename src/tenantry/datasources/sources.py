from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from cachetools import LRUCache

from tenantry.clock import steady_time
from tenantry.datasources.activity import Activity, Monitoring, ObservedQuery
from tenantry.datasources.authors import WithoutTables
from tenantry.datasources.bound_query import QueryRequest, bind_query, check_owner
from tenantry.datasources.caching.in_flight import InFlightQueries, QueryOutcome
from tenantry.datasources.caching.result_cache import CachedQueries, ResultCache, check_max_age
from tenantry.datasources.caching.shared_answer import Uncopyable
from tenantry.datasources.changes import SourceChanges
from tenantry.datasources.driver import Chunks, Rows
from tenantry.datasources.engines.engine import DriverFactory
from tenantry.datasources.engines.registry import host_engines
from tenantry.datasources.explanation import ExplainedQuery, explain_query
from tenantry.datasources.open_sources import OpenSources, check_tagged, source_name
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.pool.streamed_reduction import Reduction
from tenantry.datasources.query_label import QueryLabel, template_name
from tenantry.datasources.query_watch import QueryWatch
from tenantry.datasources.result_stream import OnBegin, ResultStream, open_stream
from tenantry.datasources.results import Format, Result, StreamFormat
from tenantry.datasources.results.chunks import MakeWriter, chunk_writers, narrowed
from tenantry.datasources.results.format import DEFAULT_FORMAT
from tenantry.datasources.source_lookup import SourceLookup
from tenantry.datasources.url_secrets.resolution import Keys, UrlSecrets
from tenantry.datasources.wrapped_templates import WrappedTemplate
from tenantry.errors import UnregisteredSource
from tenantry.groups import Environment, Record, RegisteredSource, UserGroup
from tenantry.http import VIEWER_OF_THREAD, ask_for_thread
from tenantry.ports import SourceHolder
from tenantry.sql import SQLTemplate
from tenantry.usage import GroupUsage, recorder_of

if TYPE_CHECKING:
    from tenantry.datasources.catalogue.model import Catalogue

Found = TypeVar("Found", Rows, Result)
_STOP_SECONDS = 5.0
_COMPILED = 256  # number of cached templates that were given as strings


class DataSources:
    """Runs templates for groups, read-only, on the data source that each group's mapping names. Arguments:
    - ``store``: a Store, or another object with an attribute ``sources`` (a SourceDirectory). If this process has a
      Resolver of the same store, sources are cached; otherwise each query asks the store. Once a write that changes or
      removes a source has returned, this host no longer uses the old source. Other hosts stop using it within the
      staleness bound (``Resolver(staleness=…)``, default: 5 seconds).
    - ``cache`` keeps results. Even without it, equal concurrent calls of ``fetch`` and ``query`` share a result.
    - ``engines`` adds engines by URL scheme, as in ``{"athena": make_driver}``; ``make_driver`` takes a
      RegisteredSource and Limits, and returns a Driver.
    - ``keys`` decrypt URLs: a KeyRing or the path of a key file (default: TENANTRY_KEYS, else tenantry.keys).

    If the group or the source of a running query changes, the query is stopped within the staleness bound. Raises
    InvalidSettings if ``engines`` has a built-in scheme, or if ``Monitoring.query_tags`` has an unknown engine.
    """

    def __init__(
        self,
        store: SourceHolder,
        *,
        limits: Limits = Limits(),  # noqa: B008  # immutable
        cache: ResultCache | None = None,
        engines: Mapping[str, DriverFactory] | None = None,
        monitoring: Monitoring = Monitoring(),  # noqa: B008  # immutable
        keys: Keys = None,
    ) -> None:
        self._settings: dict[str, Any] = {"engines": engines, "monitoring": monitoring, "keys": keys}
        self._for_authors: list[DataSources] = []
        self.store: Final[SourceHolder] = store
        self._lookup = SourceLookup(store.sources)
        self.query_watch: QueryWatch = QueryWatch(getattr(store, "groups", None), self._lookup)
        tagged = check_tagged(monitoring.query_tags, engines or {})
        self._open_sources = OpenSources(limits, host_engines(engines or {}), UrlSecrets(keys), tagged)
        self._cache = cache
        clock, store_outcome, shared = steady_time, None, None
        if cache is not None:
            clock, store_outcome, shared = cache.clock, cache.store_outcome, cache.shared
        self._recorder = recorder_of(store) if monitoring.usage is None else None
        usage = self._recorder or (GroupUsage() if monitoring.usage is None else monitoring.usage)
        self.activity: Activity = Activity(monitoring.slow_seconds, usage)
        self.in_flight: InFlightQueries = InFlightQueries(limits, self.activity, clock, self.query_watch, store_outcome)
        self.changes: SourceChanges = SourceChanges(shared, clock, self.in_flight.invalidate_source)
        if cache is not None:
            cache.listeners.add(self.changes)
        self._cached = None if cache is None else CachedQueries(cache, self.in_flight)
        self._answer = self.in_flight.join if self._cached is None else self._cached.ask
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
        """Return the rows of ``template``, bound with ``variables`` (default: the group's), one dict per row.

        ``max_age`` is the maximum age of a cached result in seconds. None: as old as the cache allows. 0: query the
        source. Values have the driver's types. Raises UnmappedSchema, UnregisteredSource, InvalidSource,
        MissingVariable, InvalidParameter, UnbindableValue, TemplateError, NotOneStatement, QueryFailed, QueryTimeout,
        QueryOutdated, TooManyRows, TooManyBytes, SourceUnavailable, StoreUnavailable, the subclasses of InvalidToken if
        the group or viewer loses access during the query, and ValueError if the variables belong to another group.
        """
        return self._ask(QueryOutcome.take_dicts, group, schema, template, variables, max_age)

    def query(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | WrappedTemplate | str,
        variables: Mapping[str, Any] | Record | None = None,
        *,
        max_age: float | None = None,
        reduction: Reduction | None = None,
        now: datetime | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Return the rows as a Result, which ``tenantry.results`` can write as JSON, CSV or Arrow. ``reduction``
        reduces rows while they are read, within the limits of streams. ``now`` (aware; default: the current time)
        determines relative ranges, such as ``last 30 days``. Raises the errors of ``fetch``."""
        return self._ask(QueryOutcome.take_result, group, schema, template, variables, max_age, reduction, now)

    async def stream(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | str,
        variables: Mapping[str, Any] | Record | None = None,
        *,
        format: StreamFormat = "ndjson",  # noqa: A002  # the same name as in every function that writes
        options: Format = DEFAULT_FORMAT,
        formula_safe: bool = False,
        columns: Collection[str] | None = None,
    ) -> ResultStream:
        """Return the rows as a response body in chunks, once the first chunk is ready.

        ``options``: see ``Format``. ``formula_safe``: see ``to_csv``. ``columns``: the columns to write. Raises the
        errors of ``fetch``, and InvalidSettings for an unknown format or a missing package.
        """
        watch = VIEWER_OF_THREAD.get()
        if watch is not None:
            again = partial(self.stream, format=format, options=options, formula_safe=formula_safe, columns=columns)
            return await ask_for_thread(watch, lambda: again(group, schema, template, variables))
        make_writer = chunk_writers(format, options, formula_safe=formula_safe)
        if columns is not None:
            make_writer = narrowed(make_writer, columns)
        return ResultStream(await self.open_chunks(group, schema, template, variables, make_writer), format)

    async def open_chunks(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | str,
        variables: Mapping[str, Any] | Record | None,
        make_writer: MakeWriter,
        *,
        now: datetime | None = None,
        on_begin: OnBegin | None = None,
    ) -> Chunks:
        """Like ``stream``, but return the chunks that ``make_writer`` makes. ``now``: as for ``query``."""
        request = await self._request(group, schema, template, variables, now)
        with ObservedQuery(self.activity, request.label, lasts=True) as observed:
            query = bind_query(self._open_sources.find(request.registered), request, has_key=False)
            observed.sql = query.sql
            opening = open_stream(query, observed, make_writer, on_begin)
            return await self.query_watch.open(group, schema, request.registered, opening)

    async def _ask(
        self,
        take: Callable[[QueryOutcome], Found],
        group: UserGroup,
        schema: str,
        template: SQLTemplate | WrappedTemplate | str,
        variables: Mapping[str, Any] | Record | None,
        max_age: float | None,
        reduction: Reduction | None = None,
        now: datetime | None = None,
    ) -> Found:
        watch = VIEWER_OF_THREAD.get()
        if watch is not None:
            again = partial(self._ask, take, group, schema, template, variables, max_age, reduction, now)
            return await ask_for_thread(watch, again)
        if max_age is not None:
            check_max_age(max_age)
        request = await self._request(group, schema, template, variables, now)
        with ObservedQuery(self.activity, request.label) as observed:
            query = bind_query(self._open_sources.find(request.registered), request)
            query.wants_dicts, query.max_age = take is QueryOutcome.take_dicts, max_age
            if reduction is not None:
                query.reduce(reduction)
            observed.sql = query.sql
            try:
                outcome = await self._answer(query, max_age)
                found = take(outcome)
            except Uncopyable:  # the shared result cannot be copied, so run the query for this caller alone
                outcome = await self.in_flight.join(replace(query, key=None))
                found = take(outcome)
            observed.rows, observed.cache_hit = len(found), outcome.is_hit
            observed.queue_seconds = outcome.queue_seconds
        return found

    async def fingerprint(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | str,
        variables: Mapping[str, Any] | Record | None = None,
    ) -> str:
        """Return the cache key that ``fetch`` uses for the same arguments, without running the query.

        Two groups have the same key only if they use the same source, and neither the template nor the source's session
        variables use the group. Raises the errors that ``fetch`` raises before it runs the query, and TypeError for a
        value of an unsupported type.
        """
        request = await self._request(group, schema, template, variables)
        query = bind_query(self._open_sources.find(request.registered), request, has_key=False)
        return query.opened.fingerprint(query.sql, query.session, group)

    async def explain(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate,
        variables: Mapping[str, Any] | Record,
        *,
        now: datetime | None = None,
    ) -> ExplainedQuery:
        """Return the SQL that the query would run, and the origin of its values. ``now``: as for ``query``. Raises the
        errors that ``fetch`` raises before it runs a query."""
        check_owner(group, variables)
        registered = await self._lookup.of_schema(group, schema)
        opened = self._open_sources.find(registered)
        explain = partial(explain_query, opened, self._cache, group, template, variables, now)
        # The SQL of authors is new and must be compiled, which can block the event loop for too long.
        return await asyncio.to_thread(explain) if opened.for_authors else explain()

    async def dialect(self, group: UserGroup, schema: str) -> str:
        """The SQL dialect of the schema's source. Raises UnmappedSchema, UnregisteredSource, InvalidSource,
        SourceUnavailable, StoreUnavailable."""
        return self._open_sources.find(await self._lookup.of_schema(group, schema)).pool.dialect

    async def changed(self, environment: Environment, reference: str) -> None:
        """Announce that the rows of a source changed. This process immediately stops reusing earlier results of the
        source. Other processes that share the cache stop within five seconds. ``reference`` is Tenantry's id of the
        source (``ds_…``) or your own id. Raises UnregisteredSource, StoreUnavailable, and SourceUnavailable if the
        shared cache does not answer."""
        registered = await self._lookup.of_reference(environment, reference)
        if registered is None:
            raise UnregisteredSource(f"environment {environment.name!r} has no data source {reference!r}")
        name = source_name(registered)
        if self._cached is None:
            self.changes.notify(name)
        else:
            await self._cached.changed(name)

    async def registered(self, group: UserGroup, schema: str) -> RegisteredSource:
        """Return the source of a group's schema. Raises UnmappedSchema, UnregisteredSource, StoreUnavailable."""
        return await self._lookup.of_schema(group, schema)

    def notes(self, source: RegisteredSource) -> tuple[str, ...]:
        """Return warnings about the engine of a source and, once a connection is open, about the database role."""
        return self._open_sources.find(source).notes

    async def catalogue(self, source: RegisteredSource) -> Catalogue:
        """Read the tables that the source's database user can see, over a new connection. Raises the errors of
        ``read_catalogue``."""
        from tenantry.datasources.catalogue import read_catalogue  # few programs need it

        return await read_catalogue(source, keys=self._settings["keys"], engines=self._settings["engines"])

    def for_authors(self, limits: Limits, *, guarded: bool = True) -> DataSources:
        """Return a DataSources of the same store and engines for the queries of authors. It has its own connections and
        limits, and stops and closes together with this one.

        Queries are neither cached nor counted as usage. A query that could show secrets of the database server raises
        PrivateNameUsed. A query continues if its group is changed or suspended. With ``guarded=False``, declarations of
        guarded tables apply only if they say ``guard: required``.
        """
        settings = self._settings | {"monitoring": replace(self._settings["monitoring"], usage=GroupUsage())}
        store = self.store if guarded else WithoutTables(self.store.sources)
        made = DataSources(store, limits=limits, **settings)
        made.query_watch.checks_groups = False
        made._open_sources.for_authors = True
        self._for_authors.append(made)
        return made

    async def stop(self) -> None:
        """Stop every query and refuse new ones. Call this before the process ends.

        Callers of running queries get SourceUnavailable (503) immediately. This method returns within five seconds. The
        connections stay open until ``aclose``.
        """
        self.changes.end()
        await asyncio.gather(self._open_sources.stop(_STOP_SECONDS), *(each.stop() for each in self._for_authors))

    async def aclose(self) -> None:
        """Stop every query, close every connection, and store counted usage."""
        self.query_watch.stop()
        for each in self._for_authors:
            await each.aclose()
        if self._cached is not None:
            await self._cached.aclose()
        await self._open_sources.aclose()
        if self._recorder is not None:
            await self._recorder.flush()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.aclose()

    async def _request(
        self,
        group: UserGroup,
        schema: str,
        template: SQLTemplate | WrappedTemplate | str,
        variables: Mapping[str, Any] | Record | None,
        now: datetime | None = None,
    ) -> QueryRequest:
        variables = group.variables if variables is None else variables
        check_owner(group, variables)
        compiled = self._compiled(template) if isinstance(template, str) else template
        registered = await self._lookup.of_schema(group, schema)
        name: str = getattr(compiled, "name", "") or template_name(compiled)
        viewer_id = None if group.viewer is None else group.viewer.id
        label = QueryLabel(registered.id, registered.environment.name, group.provided_id, name, viewer_id)
        return QueryRequest(group, schema, compiled, variables, registered, label, now)

    def _compiled(self, template: str) -> SQLTemplate:
        known = self._templates.get(template)
        if known is None:
            known = self._templates[template] = SQLTemplate(template)
        return known
