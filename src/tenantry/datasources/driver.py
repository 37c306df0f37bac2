# The message of an engine's error may quote values or the URL, so the errors made here contain only the error's type
# and code.

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Protocol, TypeAlias, TypeVar, runtime_checkable

from tenantry.database import network_problem
from tenantry.datasources.query_label import untagged
from tenantry.datasources.results import Result
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

Rows = list[dict[str, Any]]
"""The rows of a query. Each row is a dict with its keys in the order of the columns."""

Answer = Rows | Result
"""The rows that a driver returns: a Result, which has column types, or dicts without types."""

C = TypeVar("C")
T = TypeVar("T")
Found = TypeVar("Found")

OnEnd: TypeAlias = Callable[[str, int, int], None]
"""Called when a stream ends. The arguments are the outcome (``ok``, ``stopped`` or an error's code), the number of rows
and the number of bytes in the body."""


# Matches the messages by which PostgreSQL, PgBouncer, Redshift, Supavisor, MySQL, MariaDB, ProxySQL, ClickHouse, Oracle
# and SQL Server report that no connection is free.
_NO_CONNECTION: Final = re.compile(
    r"too many (\w+ )*(connections|clients|sessions|queries)|no more connections|more than 'max_user_connections'"
    r"|connection slots are reserved|connection limit|exceeded the 'max_\w*connections\w*' resource"
    r"|max(imum)? (client connections|clients|number of (\w+ )*(connections|sessions|processes))"
    r"|sessions_per_user|sessions? limit",
    re.IGNORECASE,
)


class ReadOnlyBy(Enum):
    """The mechanism that keeps queries from writing."""

    ENGINE = "engine"
    """The engine prevents writes, by a read-only mode, transaction or session. The rights of the database user do not
    matter."""
    STATEMENT = "statement"
    """Tenantry prevents writes: it allows only read-only statements, such as SELECT. Functions in them have the
    database user's rights."""
    USER = "user"
    """Only the rights of the database user prevent writes."""


@dataclass(frozen=True, slots=True)
class Enforcement:
    """How a driver keeps its queries read-only. ``can_stop``: whether the engine can stop a query when the query times
    out or its viewer leaves."""

    read_only_by: ReadOnlyBy = ReadOnlyBy.ENGINE
    can_stop: bool = True


class Chunks(Protocol):
    @property
    def row_count(self) -> int: ...

    async def next(self) -> bytes | None:
        """Return the next chunk, or None after the last one. Raises DataSourceError. After an error, later calls raise
        it again."""
        ...

    def close(self, error: TenantryError | None = None) -> None:
        """Stop the query. A waiting reader gets ``error``."""
        ...


class Driver(Protocol[C]):
    """Runs SQL on one data source, over blocking connections of type ``C``. Methods are called in several threads.

    A driver must make queries read-only and apply the limits (see ``take_result``). Test your driver with
    ``tenantry.testing.DriverContract``. No methods will be added to this protocol.
    """

    @property
    def source_id(self) -> str:
        """Id of the data source, for errors."""
        ...

    @property
    def dialect(self) -> str:
        """One of DIALECTS."""
        ...

    @property
    def paramstyle(self) -> str:
        """One of PARAMSTYLES."""
        ...

    def open(self) -> C:
        """Open a read-only connection. Raises TenantryError or the client library's error."""
        ...

    def fetch(self, connection: C, bound: BoundSQL) -> Answer:
        """Run one query, and leave the connection in the same state as before. Raises TenantryError or the client
        library's error."""
        ...

    def failure(self, error: Exception) -> TenantryError:
        """Convert the client library's error to a TenantryError that does not quote the error's text."""
        ...

    def interrupt(self, connection: C) -> None:
        """Stop the query that runs on the connection, if the driver can. Called from another thread, repeatedly if the
        query continues."""
        ...

    def close(self, connection: C) -> None:
        """Close a connection. Errors are ignored."""
        ...

    def shutdown(self) -> None:
        """Release resources that connections share. Called once, at the end. Another thread may still wait for a server
        that does not answer."""
        ...


@runtime_checkable
class ReusingDriver(Protocol):
    """Optional protocol for drivers that decide after each query whether the connection can be reused. Connections of
    other drivers are closed after a failed query."""

    def is_reusable(self, connection: Any) -> bool:
        """Whether the connection can run another query."""
        ...


@runtime_checkable
class SessionDriver(Protocol):
    """Optional protocol for drivers that set session variables."""

    def fetch_in_session(self, connection: Any, bound: BoundSQL, session: BoundSQL) -> Answer:
        """Run ``session``, which sets session variables, and then ``bound``, in one transaction."""
        ...


@runtime_checkable
class DeclaringDriver(Protocol):
    """Optional protocol for drivers that declare their Enforcement. For other drivers, a warning is logged."""

    @property
    def enforcement(self) -> Enforcement:
        """The driver's guarantees."""
        ...


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class OpenRows:
    """A running query. ``close`` stops the query and is called once.

    ``arrow_types``: the Arrow type of each column, or None if the engine does not know it. The types are bool, int64,
    uint64, double, binary, date32, time64, duration, timestamp, timestamptz, string, and decimals such as
    ``decimal(9, 2)``.
    """

    names: Sequence[str]
    rows: Iterator[tuple[Any, ...]]
    types: Sequence[str | None] | None = None
    close: Callable[[], None] = _nothing
    arrow_types: Sequence[str | None] | None = None


@runtime_checkable
class StreamingDriver(Protocol):
    """Optional protocol for drivers that return rows as they arrive. With other drivers, a stream begins when ``fetch``
    has returned all rows."""

    def open_rows(self, connection: Any, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        """Run ``session``, if given, and start the query in the same transaction. The query's timeout is
        ``limits.stream.timeout``. Several threads read the rows, but only one at a time. After the last row, or after
        ``close``, the connection must be in the same state as after ``fetch``. Raises the errors of ``fetch``."""
        ...


class NoConnectionLeft(SourceUnavailable):
    """The server allows no more connections. The query may wait until a connection is free."""


def says_no_connection(message: str) -> bool:
    return _NO_CONNECTION.search(message) is not None


def attempt(work: Callable[[], T], failure: Callable[[Exception], TenantryError]) -> T | TenantryError:
    """Return the result of ``work``, or its error. ``failure`` converts an error that is not a TenantryError."""
    try:
        return work()
    except TenantryError as error:
        return error.with_traceback(None)
    except Exception as error:  # noqa: BLE001  # only the driver may read its text: it may quote a value or the URL
        return failure(error)


def as_result(answer: Answer) -> Result:
    return answer if isinstance(answer, Result) else Result.of_dicts(answer)


def statement_error(source_id: str, reason: str) -> NotOneStatement:
    """Return the error for SQL that is refused for ``reason``."""
    return NotOneStatement(f"data source {source_id} does not run this query: {reason}")


def check_statement(source_id: str, reason: str | None) -> None:
    """If there is a ``reason``, raise NotOneStatement."""
    if reason is not None:
        raise statement_error(source_id, reason)


def timeout_error(source_id: str, seconds: float) -> QueryTimeout:
    """Return the error for a query that ran too long."""
    return QueryTimeout(f"the query on data source {source_id} ran longer than {seconds:g} s and was stopped")


def too_many_rows_error(source_id: str, limit: int) -> TooManyRows:
    return TooManyRows(
        f"the query on data source {source_id} returns more than {limit} rows: aggregate, or add a LIMIT"
    )


def too_many_bytes_error(source_id: str, limit: int) -> TooManyBytes:
    return TooManyBytes(
        f"the rows of the query on data source {source_id} take more than {limit / 1024 / 1024:g} MiB: "
        "select fewer or shorter columns, aggregate, or add a LIMIT"
    )


def busy_error(source_id: str) -> SourceUnavailable:
    return SourceUnavailable(f"all connections of data source {source_id} are busy; try again")


def closing_error(source_id: str) -> SourceUnavailable:
    return SourceUnavailable(f"data source {source_id} is being closed; try again")


def queue_error(source_id: str, waiting: int, own: int) -> SourceUnavailable:
    return SourceUnavailable(
        f"the queue of data source {source_id} is full: {waiting} queries wait, {own} of them from this user group; "
        "try again"
    )


def unreachable_error(
    source_id: str,
    error: BaseException,
    hint: str = "",
    *,
    cause: str | None = None,
    server: str = "its server",
    has_no_connection: bool = False,
) -> SourceUnavailable:
    """Return the error for an engine that is unreachable or refuses the login. If the engine has no free connection,
    the error is a NoConnectionLeft. HTTP clients get neither the cause nor ``hint``."""
    kind = NoConnectionLeft if has_no_connection or says_no_connection(str(error)) else SourceUnavailable
    why = cause or network_problem(error, server) or type(error).__name__
    failure = kind(f"data source {source_id} cannot be reached: {why}{hint}")
    failure.generic_message = f"data source {source_id} cannot be reached: its operator can see the reason in the log"
    return failure


def query_error(source_id: str, evidence: str, position: int | None = None, *, word: str = "") -> QueryFailed:
    """Return the error for a query that the engine refused.

    Arguments:
    - ``evidence``: the engine's error code or error type.
    - ``position``: the number of the first wrong character of the SQL, counted from 1.
    - ``word``: a name, such as a column's, from the engine's message. It may be a value, so it is not in the message
      of the returned error, only in its ``word``.
    """
    where = f", at character {position} of the SQL" if position else ""
    error = QueryFailed(f"data source {source_id} refused the query: {evidence}{where}")
    error.evidence, error.position, error.word = evidence, position or None, word
    return error


def named_word(message: str, phrases: re.Pattern[str]) -> str:
    """Return the name that an engine's message quotes: the last capture group of ``phrases`` that matched, or an
    empty string."""
    found = phrases.search(message)
    return found[found.lastindex or 0] if found is not None else ""


def refuse_dynamic_sql(source_id: str, bound: BoundSQL, dialect: str | None) -> None:
    """Raise QueryFailed if a query has bound values and calls a function that runs a string as SQL. With
    ``dialect=None``, the functions of all dialects are refused."""
    if bound.params and has_dynamic_sql(untagged(bound), dialect):
        raise query_error(
            source_id,
            "it has bound values and calls a function that can run a string as SQL or open a table or file by its "
            "name (query, ts_stat, dblink, load_file, …; a function name in Unicode escapes counts as one of these), "
            "but a value never becomes SQL: write the query without values, or without the function",
        )


def driver_parameters(bound: BoundSQL) -> tuple[Any, ...] | dict[str, Any]:
    params = bound.params
    if params is None:
        return ()
    return dict(params) if isinstance(params, Mapping) else tuple(params)
