"""What the drivers of cloud warehouses share: URL options, statements that read, a stop that waits for nothing.

Such an engine has no read-only session. The text of a statement must begin as one that reads, and the engine is asked
what kind of statement it is before it first runs; what functions do is up to the rights of the user.
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
_CHECKED: Final = 512  # texts whose kind is known


def url_options(url: URL, known: Collection[str]) -> dict[str, str]:
    """The options of a URL. Raises InvalidSource for one that is not known or is there twice."""
    options: dict[str, str] = {}
    for name, value in url.query.items():
        if name not in known or not isinstance(value, str):
            raise InvalidSource(
                f"a {url.get_backend_name()} URL takes each of these options once: {', '.join(sorted(known))}",
                field="/url",
            )
        options[name] = value
    return options


class ReadingStatements:
    """Lets only statements that read through. ``ask`` gives the engine's own reason against one, or None; it is asked
    once for each text."""

    def __init__(self, source_id: str, dialect: str) -> None:
        self._source_id = source_id
        self._dialect = dialect
        self._known: LRUCache[str, bool] = LRUCache(_CHECKED)
        self._lock = Lock()

    def check(self, bound: BoundSQL, ask: Callable[[], str | None]) -> None:
        """Raises NotOneStatement, QueryFailed and what ``ask`` raises."""
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
    """Threads that tell an engine to stop a query. The pool may be full when one must be stopped, and whoever asks for
    it is the event loop."""

    def __init__(self, source_id: str, limits: Limits) -> None:
        self._threads = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-stop-{source_id}")
        self._stopping: dict[int, Future[None]] = {}

    def stop(self, connection: Any, send: Callable[[], object]) -> None:
        """Sends it, unless what was sent for this connection is not answered yet. Waits for nothing."""
        before = self._stopping.get(id(connection))
        if before is None or before.done():
            self._stopping[id(connection)] = self._threads.submit(_quietly, send)

    def forget(self, connection: Any) -> None:
        """The connection is closed."""
        self._stopping.pop(id(connection), None)

    def shutdown(self) -> None:
        """Ends the threads, each when it has its answer."""
        self._threads.shutdown(wait=False)


def _quietly(send: Callable[[], object]) -> None:
    with suppress(Exception):  # the engine's own timeout ends the query then
        send()
