from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, Concatenate, Final, Generic, TypeAlias

from tenantry.datasources.driver import C, Driver, attempt, query_error, unreachable_error
from tenantry.errors import SourceUnavailable, TenantryError

Work: TypeAlias = Callable[Concatenate[C, ...], Any]
"""A function that uses a connection. It may raise any exception."""
Shape: TypeAlias = Callable[[Any], Any]
Finish: TypeAlias = Callable[["PooledQuery[C]", Any], None]
"""Called in the event loop with the query and its outcome: the result of the work, or a TenantryError."""
Idle: TypeAlias = deque[tuple[float, C]]
"""Unused connections, each with the time when it became idle, the longest idle first."""


@dataclass(frozen=True, slots=True)
class Chunk:
    content: bytes
    is_last: bool


class PooledQuery(Generic[C]):
    """Runs a query, or the steps of a stream, on one connection."""

    # `close_rows` is called before the connection of a stopped stream closes.

    def __init__(
        self,
        driver: Driver[C],
        is_reusable: Callable[[C], bool] | None,
        idle: Idle[C],
        finish: Finish[C],
        check: Callable[[C], None] | None = None,
        close_rows: Callable[[], None] | None = None,
    ) -> None:
        self._driver = driver
        self._is_reusable = is_reusable
        self._idle = idle
        self._finish = finish
        self._check = check
        self._close_rows = close_rows
        self._loop = asyncio.get_running_loop()
        self.outcome: Final[asyncio.Future[Any]] = self._loop.create_future()
        self._lock = Lock()
        self._connection: C | None = None
        self._stopped = False

    def run(self, work: Work[C], arguments: tuple[Any, ...] = (), shape: Shape | None = None) -> None:
        """Run ``work`` and pass its result or error to ``finish``. Never raises an error."""
        # No caller would handle the error, and the error may quote a value.
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
                    # The server may have closed the idle connection. Queries only read, so send this one again.
                    opened = self._open()
                    outcome = opened if isinstance(opened, TenantryError) else self._attempt(opened, *how)
        except BaseException as error:  # noqa: BLE001  # whatever it is, the caller waits for an outcome
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
        except Exception as error:  # noqa: BLE001  # only the driver may read the text: it may quote a value
            outcome = self._driver.failure(error)
        if isinstance(outcome, Chunk) and not outcome.is_last:
            with self._lock:
                if not self._stopped:
                    return outcome
            outcome = self._stop_rows()
        failed = isinstance(outcome, TenantryError) if self._is_reusable is None else not self._is_reusable(connection)
        with self._lock:  # afterwards another query may use the connection; `stop` must not interrupt that query
            self._connection = None
            # A stopped connection is not kept: the engine may process the stop late and end the next query instead.
            is_kept = not (self._stopped or failed)
            if is_kept:
                self._idle.append((monotonic(), connection))
        if not is_kept:
            with suppress(Exception):
                self._driver.close(connection)
        return outcome

    def _stop_rows(self) -> TenantryError:
        if self._close_rows is not None:
            with suppress(Exception):
                self._close_rows()
        return stopped_error(self._driver.source_id)

    def _open(self) -> C | TenantryError:
        opened = attempt(self._driver.open, partial(unreachable_error, self._driver.source_id))
        if isinstance(opened, TenantryError) or self._check is None:
            return opened
        error = attempt(partial(self._check, opened), self._driver.failure)
        if error is None:
            return opened
        with suppress(Exception):
            self._driver.close(opened)
        return error

    def stop(self) -> None:
        """Interrupt the query and prevent further steps. Thread-safe."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                with suppress(Exception):
                    self._driver.interrupt(self._connection)


def stopped_error(source_id: str) -> SourceUnavailable:
    return SourceUnavailable(f"the query on data source {source_id} was stopped before its end")
