from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from tenantry.datasources.checks.query_plans import PlanTemplate, plan_prefix
from tenantry.datasources.checks.refused_queries import Refusal, read_refusal
from tenantry.datasources.checks.repeated_rows import RepeatedRows
from tenantry.datasources.declared_tables import declared_tables
from tenantry.datasources.engines.engine import Engine
from tenantry.datasources.engines.registry import find_engine
from tenantry.datasources.explanation import ExplainedQuery
from tenantry.datasources.guarding import guarded_template
from tenantry.datasources.results import Result
from tenantry.datasources.session import SessionTemplate
from tenantry.datasources.sources import DataSources
from tenantry.datasources.url import parse_url
from tenantry.datasources.wrapped_templates import SchemaQuery, WrappedTemplate, can_name_columns
from tenantry.errors import (
    InvalidParameter,
    InvalidSource,
    MissingVariable,
    SourceUnavailable,
    StoreUnavailable,
    TemplateError,
    TenantryError,
    UnbindableValue,
)
from tenantry.groups import Record, RegisteredSource, UserGroup, extend
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import NAMED, Finding, Severity
from tenantry.sql.parameters import is_any_text, sample_input

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables

_AT_ONCE: Final = 8
_UNREACHABLE: Final = (SourceUnavailable, InvalidSource, StoreUnavailable)


class AskedQuery(NamedTuple):
    """A query to explain (``EXPLAIN``) on the data source to which a group maps ``schema``."""

    file: str
    """The file to name in findings."""
    template: SQLTemplate
    schema: str
    names: bool = False
    """Whether to ask the engine for the names of the columns, too."""
    unique_by: tuple[str, ...] = ()
    """If given, also run the query, and count the rows that have equal values in these columns."""


@dataclass(frozen=True, slots=True)
class EngineReport:
    findings: tuple[tuple[str, Finding], ...]
    explained: frozenset[str]  # files with a query that an engine explained
    engines: Mapping[str, frozenset[str]]  # for each engine that cannot explain queries, the files of its queries
    unasked: frozenset[str]  # files whose queries no group can run: each group lacks a data source or a property
    columns: Mapping[
        AskedQuery, Mapping[str, tuple[str, ...]]
    ]  # column names by query and by "data source …, for GROUP"
    unnamed: frozenset[str]  # files of explained queries for which the engine gave no column names
    asked: Mapping[AskedQuery, frozenset[str]]  # the engines that were asked about each query
    repeated: Mapping[AskedQuery, Mapping[str, int]]  # rows that are not unique, by "data source …, for GROUP"


class _Asked(NamedTuple):
    query: AskedQuery
    group: UserGroup
    variables: Record
    samples: tuple[str, ...] = ()
    """The parameters that get sample input. If empty, the query is explained without a viewer's input."""


@dataclass(slots=True)
class _Source:
    registered: RegisteredSource
    session: SessionTemplate | None
    tables: GuardedTables | None
    engine: Engine | None
    left: dict[str, list[AskedQuery]] = field(default_factory=dict)
    """Schema → the queries that no group added so far can run."""
    asked: list[_Asked] = field(default_factory=list)

    @property
    def dialect(self) -> str | None:
        return None if self.engine is None else self.engine.dialect


@dataclass(slots=True)
class _Answers:
    refusals: dict[str, Refusal | None] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)


class EngineCheck:
    """Asks engines to explain queries and to name the columns of queries. Call ``add`` for each group, then ``run``."""

    # On each source, each query is explained (with EXPLAIN) for the first group that has all properties that the query
    # needs: once without a viewer's input, if the query runs without it, and once with sample input for all its
    # parameters.

    def __init__(
        self, queries: Iterable[AskedQuery], sources: Iterable[RegisteredSource], names: Collection[str] = ()
    ) -> None:
        """``names``: known names of tables and columns, to correct misspelt names."""
        self._names = names
        self._queries: dict[str, list[AskedQuery]] = {}
        for query in dict.fromkeys(queries):
            self._queries.setdefault(query.schema, []).append(query)
        self._sources: dict[str, _Source] = {}
        for registered in sources:
            made = _Source(registered, _session(registered), _tables(registered), _engine(registered))
            self._sources |= {registered.id: made, registered.provided_id: made}
        self._now = datetime.now(UTC)
        self._refusals: dict[Refusal, list[str]] = {}
        self._unreachable: list[tuple[str, Finding]] = []
        self._explained: set[str] = set()
        self._engines: dict[str, set[str]] = {}
        self._columns: dict[AskedQuery, dict[str, tuple[str, ...]]] = {}
        self._unnamed: set[str] = set()
        self._repeated: dict[AskedQuery, dict[str, int]] = {}

    def add(self, group: UserGroup, files: Collection[str] | None = None) -> None:
        """Choose the queries to explain for this group. ``files``: the query files that the group can see (None:
        all)."""
        mapping = group.mapping
        for schema, queries in self._queries.items() if mapping is not None else ():
            reference = mapping[schema] if mapping is not None and schema in mapping else None
            source = self._sources.get(reference) if isinstance(reference, str) else None
            if source is None:
                continue
            left = source.left.setdefault(schema, queries)
            chosen = [query for query in left if files is None or query.file in files]
            found = [asked for query in chosen for asked in _asked(query, group) if self._can_ask(source, asked)]
            if found:
                source.asked += found
                asked = {each.query for each in found}
                source.left[schema] = [query for query in left if query not in asked]

    def _can_ask(self, source: _Source, asked: _Asked) -> bool:
        query, group = asked.query, asked.group
        try:
            if source.session is not None:
                source.session.bind(group)
            template, variables = guarded_template(source.tables, query.template, group, asked.variables)
            template.bind(variables, dialect=source.dialect, now=self._now)
        except (MissingVariable, UnbindableValue, InvalidParameter):
            return False
        except TemplateError:
            pass  # the query itself is wrong, and the check reports that when the query is explained
        return True

    async def run(self, sources: DataSources) -> EngineReport:
        """Ask the engines about the chosen queries. Raises StoreUnavailable."""
        slots = asyncio.Semaphore(_AT_ONCE)

        async def ask(source: _Source) -> None:
            async with slots:
                await self._ask(sources, source)

        each = {source.registered.id: source for source in self._sources.values() if source.asked}
        await asyncio.gather(*map(ask, each.values()))
        asked = {one.query.file for source in each.values() for one in source.asked}
        files = {query.file for queries in self._queries.values() for query in queries}
        return EngineReport(
            (*self._refused(), *self._unreachable),
            frozenset(self._explained),
            {engine: frozenset(found) for engine, found in sorted(self._engines.items())},
            frozenset(files - asked),
            self._columns,
            frozenset(self._unnamed),
            self._asked_engines(),
            self._repeated,
        )

    def _asked_engines(self) -> dict[AskedQuery, frozenset[str]]:
        found: dict[AskedQuery, set[str]] = {}
        for source in self._sources.values():
            if source.engine is not None:
                for asked in source.asked:
                    found.setdefault(asked.query, set()).add(source.engine.name)
        return {query: frozenset(engines) for query, engines in found.items()}

    async def _ask(self, sources: DataSources, source: _Source) -> None:
        known = _Answers()
        refused: set[AskedQuery] = set()
        looked_at: set[AskedQuery] = set()
        for asked in source.asked:
            query = asked.query
            if query in refused:  # the engine would report the same with sample input
                continue
            says = f"data source {source.registered.provided_id}, for {asked.group.provided_id}"
            try:
                refusal, explained = await self._explain(sources, asked, known.refusals)
                if explained is not None and query not in looked_at:
                    looked_at.add(query)
                    await self._look_at_rows(sources, asked, explained, known.names, says)
            except (SourceUnavailable, InvalidSource) as error:
                fix = "correct the registration or the network; the source's remaining queries were not checked"
                finding = wrong_tables(error) or Finding("source-unreachable", Severity.ERROR, 1, 1, error.message, fix)
                self._unreachable.append((f"data source {source.registered.provided_id}", finding))
                return
            if refusal is not None:
                refused.add(query)
                chosen = f", with a sample of {' and '.join(asked.samples)}" if asked.samples else ""
                self._refusals.setdefault(refusal, []).append(f"{says}{chosen}")

    async def _explain(
        self, sources: DataSources, asked: _Asked, known: dict[str, Refusal | None]
    ) -> tuple[Refusal | None, ExplainedQuery | None]:
        query, group, variables, samples = asked
        prefix, text = "", ""
        try:
            explained = await sources.explain(group, query.schema, query.template, variables)
            text = explained.traced.bound.sql
            prefix = plan_prefix(explained) or ""
            if not prefix:
                self._engines.setdefault(explained.engine, set()).add(query.file)
            elif text not in known:
                known[text] = None
                await sources.query(group, query.schema, PlanTemplate(query.template, prefix), variables)
            if not prefix or known[text] is not None:
                return known.get(text), None
            self._explained.add(query.file)
            return None, explained
        except _UNREACHABLE:
            raise
        except TenantryError as error:
            if isinstance(error, UnbindableValue) and any(
                is_any_text(query.template.parameters[name]) for name in samples
            ):
                known.pop(text, None)  # with another string, the query may bind
                return None, None
            known[text] = read_refusal(query.file, query.template, error, text, prefix, self._names)
            return known[text], None

    async def _look_at_rows(
        self,
        sources: DataSources,
        asked: _Asked,
        explained: ExplainedQuery,
        known: dict[str, tuple[str, ...]],
        says: str,
    ) -> None:
        query = asked.query
        if query.names:
            await self._name(sources, asked, explained, known, says)
        if query.unique_by:
            found = await _answer(sources, asked, RepeatedRows(query.template, query.unique_by))
            if found is not None and found.rows:
                self._repeated.setdefault(query, {})[says] = int(found.rows[0][0])

    async def _name(
        self,
        sources: DataSources,
        asked: _Asked,
        explained: ExplainedQuery,
        known: dict[str, tuple[str, ...]],
        says: str,
    ) -> None:
        text = explained.traced.bound.sql
        if text not in known:
            can_name = can_name_columns(explained.engine)
            found = await _answer(sources, asked, SchemaQuery(asked.query.template)) if can_name else None
            known[text] = () if found is None else tuple(found.names)
        if known[text]:
            self._columns.setdefault(asked.query, {})[says] = known[text]
        else:
            self._unnamed.add(asked.query.file)

    def _refused(self) -> Iterator[tuple[str, Finding]]:
        for (file, code, line, column, problem, fix, edit), says in self._refusals.items():
            message = f"{problem} ({reported_by(sorted(says))})"
            yield file, Finding(code, Severity.ERROR, line, column, message, fix, edit=edit)


def _asked(query: AskedQuery, group: UserGroup) -> Iterator[_Asked]:
    yield _Asked(query, group, group.variables)
    try:
        named = query.template.parameter_names
    except TemplateError:  # the check reports it when the query is explained
        return
    samples = sample_input(query.template.parameters.values())
    if samples:
        variables = extend(group.variables, "params", samples)
        yield _Asked(query, group, variables, tuple(name for name in samples if name in named))


def wrong_tables(error: TenantryError | None) -> Finding | None:
    """Return a finding if the error reports a wrong declaration of guarded tables, else None."""
    if not isinstance(error, InvalidSource) or error.problem is None:
        return None
    return Finding(
        "wrong-tables", Severity.ERROR, 1, 1, f"{error.problem}, so no query runs on this data source", error.fix
    )


def reported_by(sources: Sequence[str]) -> str:
    more = f"; and {len(sources) - NAMED} more" if len(sources) > NAMED else ""
    return "; ".join(sources[:NAMED]) + more


async def _answer(sources: DataSources, asked: _Asked, template: WrappedTemplate) -> Result | None:
    # None: the query failed or took too long. The error of an unreachable source is raised.
    query, group, variables, _ = asked
    try:
        return await sources.query(group, query.schema, template, variables)
    except _UNREACHABLE:
        raise
    except TenantryError:
        return None


def _session(registered: RegisteredSource) -> SessionTemplate | None:
    try:
        return SessionTemplate(registered) if registered.session else None
    except InvalidSource:  # `explain` raises it again
        return None


def _tables(registered: RegisteredSource) -> GuardedTables | None:
    try:
        return declared_tables(registered)
    except InvalidSource:  # `explain` raises it again
        return None


def _engine(registered: RegisteredSource) -> Engine | None:
    try:
        return find_engine(parse_url(registered.url), trusted=registered.trusted)
    except InvalidSource:
        return None
