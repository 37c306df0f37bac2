"""One query in its source's threads."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, Concatenate, Final, Generic, TypeAlias

from tenantry.datasources.driver import C, Driver, query_error, unreachable_error
from tenantry.errors import SourceUnavailable, TenantryError

Work: TypeAlias = Callable[Concatenate[C, ...], Any]
"""Uses a connection. May raise anything."""
Shape: TypeAlias = Callable[[Any], Any]
Finish: TypeAlias = Callable[["PooledQuery[C]", Any], None]
"""Takes the query and its outcome in the event loop: the result of the work, or a TenantryError."""
Idle: TypeAlias = deque[tuple[float, C]]
"""Unused connections, each after the time since when it is idle; oldest first."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One step of a stream, which keeps its connection until the last."""

    content: bytes
    is_last: bool


class PooledQuery(Generic[C]):
    """``close_rows`` is called before a stopped stream's connection closes."""

    def __init__(
        self,
        driver: Driver[C],
        is_reusable: Callable[[C], bool] | None,
        idle: Idle[C],
        finish: Finish[C],
        close_rows: Callable[[], None] | None = None,
    ) -> None:
        self._driver = driver
        self._is_reusable = is_reusable
        self._idle = idle
        self._finish = finish
        self._close_rows = close_rows
        self._loop = asyncio.get_running_loop()
        self.outcome: Final[asyncio.Future[Any]] = self._loop.create_future()
        self._lock = Lock()
        self._connection: C | None = None
        self._stopped = False

    def run(self, work: Work[C], arguments: tuple[Any, ...] = (), shape: Shape | None = None) -> None:
        """Run ``work`` in a thread and deliver its result or error. Never raises, because drivers' errors quote
        values."""
        how = work, arguments, shape
        outcome: Any = None
        try:
            if self._connection is not None:
                outcome = self._attempt(self._connection, *how)
            else:
                reused = None
                with suppress(IndexError):
                    reused = self._idle.pop()[1]
                if reused is not None:
                    outcome = self._attempt(reused, *how)
                if outcome is None or (isinstance(outcome, SourceUnavailable) and not self._stopped):
                    # The server may have closed it while it was idle. A query only reads, so it may be sent again.
                    opened = self._open()
                    outcome = opened if isinstance(opened, TenantryError) else self._attempt(opened, *how)
        except BaseException as error:  # noqa: BLE001  # the caller waits for an outcome
            outcome = query_error(self._driver.source_id, type(error).__name__)
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._finish, self, outcome)

    def _attempt(self, connection: C, work: Work[C], arguments: tuple[Any, ...], shape: Shape | None) -> Any:
        with self._lock:
            self._connection = connection
        outcome: Any
        try:
            outcome = work(connection, *arguments)
            if shape is not None:
                outcome = shape(outcome)
        except TenantryError as error:
            outcome = error.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # its text may quote a value, and must not leave
            outcome = self._driver.failure(error)
        if isinstance(outcome, Chunk) and not outcome.is_last:
            with self._lock:
                if not self._stopped:
                    return outcome
            outcome = self._stop_rows()
        with self._lock:  # from here on it may serve another query, so this one must not be stopped on it
            self._connection = None
        # A stop that arrives late could hit the connection's next query, so the connection closes.
        failed = isinstance(outcome, TenantryError) if self._is_reusable is None else not self._is_reusable(connection)
        if self._stopped or failed:
            with suppress(Exception):
                self._driver.close(connection)
        else:
            self._idle.append((monotonic(), connection))
        return outcome

    def _stop_rows(self) -> TenantryError:
        if self._close_rows is not None:
            with suppress(Exception):
                self._close_rows()
        return stopped_error(self._driver.source_id)

    def _open(self) -> C | TenantryError:
        try:
            return self._driver.open()
        except TenantryError as error:
            return error.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # as above: it may quote the URL
            return unreachable_error(self._driver.source_id, error)

    def stop(self) -> None:
        """Interrupt the query and prevent further steps. Thread-safe."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                with suppress(Exception):
                    self._driver.interrupt(self._connection)


def stopped_error(source_id: str) -> SourceUnavailable:
    return SourceUnavailable(f"the query on data source {source_id} was stopped before its end", retry_after=1)
