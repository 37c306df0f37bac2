"""DataSource: what can run bound SQL, and the words in which it fails.

What an engine says about a failure may quote a tenant's value or a part of the URL, so none of its text is passed on:
only the kind of error, an error code, and our own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tenantry.errors import NotOneStatement, QueryFailed, QueryTimeout, SourceUnavailable, TooManyBytes, TooManyRows
from tenantry.sql import BoundSQL

Rows = list[dict[str, Any]]


class DataSource(Protocol):
    """Runs bound SQL, read-only. ``dialect`` and ``paramstyle`` say how SQL must be bound for it."""

    @property
    def dialect(self) -> str: ...

    @property
    def paramstyle(self) -> str: ...

    async def fetch(self, bound: BoundSQL) -> Rows:
        """Raises DataSourceError."""
        ...

    async def aclose(self) -> None:
        """Stops what is running and closes every connection."""
        ...

    def abandon(self) -> None:
        """Lets go of every connection without waiting: the event loop that it belonged to is gone."""
        ...


def only_reads(source_id: str) -> NotOneStatement:
    return NotOneStatement(f"data source {source_id} runs exactly one statement, and only one that reads")


def timed_out(source_id: str, seconds: float) -> QueryTimeout:
    return QueryTimeout(f"the query on data source {source_id} ran longer than {seconds:g} s and was stopped")


def too_many_rows(source_id: str, limit: int) -> TooManyRows:
    return TooManyRows(f"the query on data source {source_id} gives more than {limit} rows: aggregate, or add a LIMIT")


def too_many_bytes(source_id: str, limit: int) -> TooManyBytes:
    return TooManyBytes(
        f"the rows of the query on data source {source_id} take more than {limit / 1024 / 1024:g} MiB: "
        "select fewer or shorter columns, aggregate, or add a LIMIT"
    )


def busy(source_id: str) -> SourceUnavailable:
    return SourceUnavailable(f"all connections of data source {source_id} are busy; try again", retry_after=1)


def unreachable(source_id: str, error: BaseException, hint: str = "") -> SourceUnavailable:
    return SourceUnavailable(f"data source {source_id} cannot be reached: {type(error).__name__}{hint}", retry_after=1)


def refused(source_id: str, evidence: str) -> QueryFailed:
    return QueryFailed(f"data source {source_id} refused the query: {evidence}")


def value_would_run(source_id: str) -> QueryFailed:
    return refused(
        source_id,
        "it has values and calls a function that runs a text as SQL, or reads the relation or file that a text names "
        "(query, ts_stat, dblink, load_file, …), or has a name in Unicode escapes, which could be one; "
        "a value never becomes SQL: write that text without values, or do without the function",
    )


def driver_missing(driver: str, extra: str) -> str:
    return f"the driver {driver} is not installed: pip install 'tenantry[{extra}]'"


def parameters(bound: BoundSQL) -> tuple[Any, ...] | dict[str, Any]:
    """The parameters as a driver takes them when it wants a collection in any case."""
    params = bound.params
    if params is None:
        return ()
    return dict(params) if isinstance(params, Mapping) else tuple(params)
