"""What an engine is to data sources: the protocols DataSource and Driver, and the errors that every engine raises.

What an engine's own error text says may quote a tenant's value or a part of the URL, so none of it is passed on: only
the kind of error, an error code, and our own text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from tenantry.datasources.connection_refusals import NoConnectionLeft, says_no_connection
from tenantry.datasources.query_label import untagged
from tenantry.datasources.results import Result
from tenantry.datasources.results.pieces import MakeWriter
from tenantry.errors import (
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
    TenantryError,
    TooManyBytes,
    TooManyRows,
)
from tenantry.sql import BoundSQL, has_dynamic_sql

if TYPE_CHECKING:
    from tenantry.datasources.pool.turns import Turn

Rows = list[dict[str, Any]]
"""The rows of a query, one dict each, in the order of the columns."""

Answer = Rows | Result
"""What a driver gives: a Result, which knows the types of its columns, or ready dicts."""

C = TypeVar("C")
Found = TypeVar("Found")

OnEnd: TypeAlias = Callable[[str, int, int], None]
"""Takes what became of a stream (``ok``, ``stopped`` or an error's code), and how many rows and bytes it gave."""


class ReadOnlyBy(Enum):
    """Who refuses a query that writes."""

    ENGINE = "engine"
    """The engine itself: its read-only mode, transaction or session, whatever the user may do."""
    STATEMENT = "statement"
    """Tenantry, by the kind of the statement, as its text or the engine shows it. Functions do what the user may."""
    USER = "user"
    """The rights of the user alone."""


@dataclass(frozen=True, slots=True)
class Enforcement:
    """What holds the queries of an engine. ``can_stop``: a query that runs is ended at the engine when its viewer has
    left or its time is up."""

    read_only_by: ReadOnlyBy = ReadOnlyBy.ENGINE
    can_stop: bool = True


class Pieces(Protocol):
    """A body that is being made, for one reader."""

    @property
    def row_count(self) -> int:
        """Rows so far."""
        ...

    async def next(self) -> bytes | None:
        """The next piece; None after the last one. Raises DataSourceError: also each time after it did."""
        ...

    def close(self, error: TenantryError | None = None) -> None:
        """Its reader reads no more: the query is stopped. ``next`` raises ``error`` then, where it is given."""
        ...


class DataSource(Protocol):
    """Runs bound SQL, read-only. ``dialect`` and ``paramstyle``: how SQL must be bound for it."""

    @property
    def dialect(self) -> str:
        """The SQL dialect that templates are bound for."""
        ...

    @property
    def paramstyle(self) -> str:
        """How its placeholders are written."""
        ...

    async def fetch(
        self, shape: Callable[[Answer], Found], bound: BoundSQL, turn: Turn, session: BoundSQL | None = None
    ) -> Found:
        """The rows in this shape, which is made where the query runs: such as ``as_result``.

        ``turn`` has come. It ends when the connection is free, which may be later than the query's caller has left.
        Runs ``session`` first, in the same transaction: what sets the session variables. Raises DataSourceError.
        """
        ...

    async def stream(
        self, make_writer: MakeWriter, bound: BoundSQL, turn: Turn, session: BoundSQL | None, on_end: OnEnd
    ) -> Pieces:
        """The rows as pieces of a body, of which the first is there. ``on_end`` is called once, when the query has
        ended or is told to. Raises DataSourceError."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether a query of it has not ended yet."""
        ...

    def stop_all(self) -> None:
        """Stops what is running, without waiting, and lets nothing begin. Whoever waits for it gets SourceUnavailable,
        also where the engine cannot stop it."""
        ...

    async def aclose(self) -> None:
        """Stops what is running and closes every connection."""
        ...

    def abandon(self) -> None:
        """Drops every connection without waiting: the event loop that it belonged to is gone."""
        ...


class Driver(Protocol[C]):
    """One data source on one engine with blocking connections of type ``C``. ``dialect`` is one of DIALECTS,
    ``paramstyle`` one of PARAMSTYLES. Every method but the properties runs in the source's threads.

    The driver enforces that queries only read: nothing around it does. Rows are taken by ``take_result`` or within the
    same limits. ``tenantry.testing.DriverContract`` has its tests. What it may have too: ReusingDriver, SessionDriver,
    DeclaringDriver, StreamingDriver; a later version may add such a protocol, and no method to this one.
    """

    @property
    def source_id(self) -> str:
        """The id of the source, for messages."""
        ...

    @property
    def dialect(self) -> str:
        """The SQL dialect that templates are bound for."""
        ...

    @property
    def paramstyle(self) -> str:
        """How its placeholders are written."""
        ...

    def open(self) -> C:
        """A new connection, read-only. Raises SourceUnavailable or the driver's own error."""
        ...

    def fetch(self, connection: C, bound: BoundSQL) -> Answer:
        """Runs one query and leaves the connection as it was. Raises TenantryError or the driver's own error."""
        ...

    def failure(self, error: Exception) -> TenantryError:
        """Our error for the driver's, without any of its text."""
        ...

    def interrupt(self, connection: C) -> None:
        """Stops what the connection runs; called from another thread. Does nothing where a driver cannot."""
        ...

    def close(self, connection: C) -> None:
        """Closes a connection. May raise: that is ignored."""
        ...

    def shutdown(self) -> None:
        """Called once, after every connection is closed."""
        ...


@runtime_checkable
class ReusingDriver(Protocol):
    """What a Driver may have too. Without it a connection that saw an error is closed."""

    def is_reusable(self, connection: Any) -> bool:
        """Whether another query may have the connection of one that failed: its state is known, and the same."""
        ...


@runtime_checkable
class SessionDriver(Protocol):
    """What a Driver may have too. Without it a source has no session variables."""

    def fetch_in_session(self, connection: Any, bound: BoundSQL, session: BoundSQL) -> Answer:
        """``fetch``, after ``session`` in the same transaction."""
        ...


@runtime_checkable
class DeclaringDriver(Protocol):
    """What a Driver may have too. Without it the source is taken for one that nothing holds, and the log says so."""

    @property
    def enforcement(self) -> Enforcement:
        """What holds its queries."""
        ...


def _nothing() -> None:
    """For rows that nothing need be done with."""


@dataclass(frozen=True, slots=True)
class OpenRows:
    """The rows of a query that runs: the names of its columns, its rows as they come, and what the engine says of the
    types. ``close`` is called once after the last row or before it, and by then stops the query."""

    names: Sequence[str]
    rows: Iterator[tuple[Any, ...]]
    types: Sequence[str | None] | None = None
    close: Callable[[], None] = _nothing


@runtime_checkable
class StreamingDriver(Protocol):
    """What a Driver may have too. Without it a stream runs ``fetch``: its limits hold and all rows are in memory."""

    def open_rows(self, connection: Any, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        """Begins one query, after ``session`` in the same transaction if there is one. ``limits.stream.timeout`` is its
        timeout. Its rows are read by any thread, one at a time, and when the last one was, or ``close`` was called, the
        connection is as ``fetch`` leaves it. All of it raises what ``fetch`` raises."""
        ...


def as_result(answer: Answer) -> Result:
    """What a driver gave, as a Result."""
    return answer if isinstance(answer, Result) else Result.of_dicts(answer)


def statement_error(source_id: str, reason: str) -> NotOneStatement:
    """The text is not one statement that reads: ``reason`` says why not, and what to write instead."""
    return NotOneStatement(f"data source {source_id} does not run this: {reason}")


def check_statement(source_id: str, reason: str | None) -> None:
    """Raises NotOneStatement if there is a reason."""
    if reason is not None:
        raise statement_error(source_id, reason)


def timeout_error(source_id: str, seconds: float) -> QueryTimeout:
    """The query ran longer than its timeout."""
    return QueryTimeout(f"the query on data source {source_id} ran longer than {seconds:g} s and was stopped")


def too_many_rows_error(source_id: str, limit: int) -> TooManyRows:
    """There are more rows than the limit."""
    return TooManyRows(f"the query on data source {source_id} gives more than {limit} rows: aggregate, or add a LIMIT")


def too_many_bytes_error(source_id: str, limit: int) -> TooManyBytes:
    """The rows take more memory than the limit."""
    return TooManyBytes(
        f"the rows of the query on data source {source_id} take more than {limit / 1024 / 1024:g} MiB: "
        "select fewer or shorter columns, aggregate, or add a LIMIT"
    )


def busy_error(source_id: str) -> SourceUnavailable:
    """No connection came free in time."""
    return SourceUnavailable(f"all connections of data source {source_id} are busy; try again", retry_after=1)


def closing_error(source_id: str) -> SourceUnavailable:
    """The source is closed while a query waits or runs."""
    return SourceUnavailable(f"data source {source_id} is being closed; try again", retry_after=1)


def queue_error(source_id: str, waiting: int, own: int) -> SourceUnavailable:
    """Too many wait already: ``waiting`` of all groups, ``own`` of the one that asks."""
    return SourceUnavailable(
        f"{waiting} queries wait for data source {source_id}, {own} of them of this user group, and no more may; "
        "try again",
        retry_after=1,
    )


def unreachable_error(
    source_id: str, error: BaseException, hint: str = "", *, has_no_connection: bool = False
) -> SourceUnavailable:
    """The engine does not answer or refuses the login; ``hint`` is a code or advice, never its own text. A
    NoConnectionLeft where its text says so, or a code (``has_no_connection``)."""
    kind = NoConnectionLeft if has_no_connection or says_no_connection(str(error)) else SourceUnavailable
    return kind(f"data source {source_id} cannot be reached: {type(error).__name__}{hint}", retry_after=1)


def query_error(source_id: str, evidence: str, position: int | None = None) -> QueryFailed:
    """The engine refused the query; ``evidence`` is a code or a type of error, never its own text. ``position``: at
    which character, from 1."""
    where = f", at character {position} of the SQL" if position else ""
    error = QueryFailed(f"data source {source_id} refused the query: {evidence}{where}")
    error.evidence, error.position = evidence, position or None
    return error


def refuse_dynamic_sql(source_id: str, bound: BoundSQL, dialect: str | None) -> None:
    """Raises QueryFailed for SQL with values that calls a function which runs a string as SQL: a value could be one.

    ``dialect`` None looks for the functions of all dialects.
    """
    if bound.params and has_dynamic_sql(untagged(bound), dialect):
        raise query_error(
            source_id,
            "it has values and calls a function that runs a text as SQL, or reads the relation or file that a text "
            "names (query, ts_stat, dblink, load_file, …), or has a name in Unicode escapes, which could be one; "
            "a value never becomes SQL: write that text without values, or do without the function",
        )


def driver_parameters(bound: BoundSQL) -> tuple[Any, ...] | dict[str, Any]:
    """The parameters as a driver takes them when it wants a collection in any case."""
    params = bound.params
    if params is None:
        return ()
    return dict(params) if isinstance(params, Mapping) else tuple(params)
