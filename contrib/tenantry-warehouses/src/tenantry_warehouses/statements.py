"""Shared by the drivers of the warehouses: URL options, checks of statements, and threads that stop queries.

A warehouse has no read-only sessions. Instead, SQL must begin with a keyword that reads, such as ``select``. Before a
statement runs for the first time, the driver also asks the engine what kind of statement it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache
from sqlalchemy.engine import URL

from tenantry.datasources import Enforcement, Limits, ReadOnlyBy
from tenantry.datasources.engines import (
    check_statement,
    refusal,
    refuse_dynamic_sql,
    statement_error,
    untagged,
)
from tenantry.errors import InvalidSource
from tenantry.sql import BoundSQL

BY_STATEMENT: Final = Enforcement(ReadOnlyBy.STATEMENT)
_READING: Final = frozenset({"select", "with"})
_CHECKED: Final = 512  # maximum SQL strings remembered as permitted


def url_options(url: URL, known: Collection[str]) -> dict[str, str]:
    """Return the options of a URL. Raises InvalidSource for an unknown or repeated option."""
    options: dict[str, str] = {}
    for name, value in url.query.items():
        if name not in known or not isinstance(value, str):
            raise InvalidSource(
                f"a {url.get_backend_name()} URL accepts each of these options once: {', '.join(sorted(known))}",
                field="/url",
            )
        options[name] = value
    return options


class ReadingStatements:
    """Refuses statements that do more than read."""

    def __init__(self, source_id: str, dialect: str) -> None:
        self._source_id = source_id
        self._dialect = dialect
        self._known: LRUCache[str, bool] = LRUCache(_CHECKED)
        self._lock = Lock()

    def check(self, bound: BoundSQL, ask: Callable[[], str | None]) -> None:
        """Raise NotOneStatement, QueryFailed or the errors of ``ask``, unless the statement only reads. ``ask`` asks
        the engine, and returns a reason to refuse the SQL, or None. For permitted SQL, ``ask`` is not called again."""
        check_statement(self._source_id, refusal(bound.sql, _READING))
        refuse_dynamic_sql(self._source_id, bound, self._dialect)
        with self._lock:
            if untagged(bound) in self._known:
                return
        reason = ask()
        if reason is not None:
            raise statement_error(self._source_id, reason)
        with self._lock:
            self._known[untagged(bound)] = True


class Stopper:
    """Sends requests that stop queries. Uses separate threads, because all threads of the pool may be busy and the
    event loop must not wait."""

    def __init__(self, source_id: str, limits: Limits) -> None:
        self._threads = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-stop-{source_id}")
        self._stopping: dict[int, Future[None]] = {}

    def stop(self, connection: Any, send: Callable[[], object]) -> None:
        """Call ``send`` in a thread, without waiting, unless the connection's last call is still running."""
        before = self._stopping.get(id(connection))
        if before is None or before.done():
            self._stopping[id(connection)] = self._threads.submit(_quietly, send)

    def forget(self, connection: Any) -> None:
        self._stopping.pop(id(connection), None)

    def shutdown(self) -> None:
        self._threads.shutdown(wait=False)


def _quietly(send: Callable[[], object]) -> None:
    with suppress(Exception):  # if this fails, the engine's timeout ends the query
        send()
