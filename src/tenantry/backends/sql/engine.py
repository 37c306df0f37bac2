"""Engine: the little that SQLStore needs of a database."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from tenantry.backends.sql.queries import Query
from tenantry.backends.sql.rows import Row

T = TypeVar("T")


class Engine(Protocol):
    """One database. A ``deadline`` is a moment of ``time.monotonic()`` by which the caller wants its answer: it covers
    waiting in a queue, for a lock and for a connection."""

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        """All rows of a read, straight from the driver. Raises StoreUnavailable, MigrationNeeded."""
        ...

    def look_up(self, handle: bytes, deadline: float) -> Awaitable[Row]:
        """The row of ``queries.LOOK_UP`` for this handle, read after the call. Raises as ``read`` does."""
        ...

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[T | None], None]) -> T:
        """Runs ``work`` in one transaction and commits it.

        Raises StoreUnavailable when nothing was changed, and OutcomeUnknown when the commit was under way; in the
        second case ``late`` is called, in this event loop, if the end of that commit is ever heard of: with what
        ``work`` gave, or None if nothing was changed.
        """
        ...

    async def aclose(self) -> None: ...


def remaining(deadline: float) -> float:
    """Seconds until ``deadline``; 0 when it has passed."""
    return max(0.0, deadline - time.monotonic())
