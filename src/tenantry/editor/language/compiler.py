from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import tzinfo
from threading import Lock
from typing import Final, NamedTuple, TypeVar

from cachetools import LRUCache

from tenantry.dashboards.definition import DashboardFile
from tenantry.editor.drafts import DraftedQueries, QueryDrafts
from tenantry.editor.requests import TypedBody
from tenantry.sql import Query

_THREADS: Final = 2
_KEPT: Final = 500_000
"""Maximum size of the cache of queries, in characters. Each query counts with its length plus ``_LEAST``."""
_LEAST: Final = 4_096

T = TypeVar("T")


class _Key(NamedTuple):
    path: str
    text: str
    dialect: str | None
    zone: tzinfo | None


class _Compiled(NamedTuple):
    drafts: DraftedQueries
    dashboard: DashboardFile | None
    query: Query


class Compiler:
    """Compiles the queries that authors type, in separate threads. Keeps recent queries."""

    def __init__(self, queries: QueryDrafts) -> None:
        self.queries: Final = queries
        self._threads = ThreadPoolExecutor(_THREADS, "tenantry-editor")
        # A page sends each query to several endpoints.
        self._kept: LRUCache[_Key, _Compiled] = LRUCache(_KEPT, lambda each: _LEAST + len(each.query.text))
        self._lock = Lock()

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def query(self, body: TypedBody, dialect: str | None = None, zone: tzinfo | None = None) -> Query:
        """Like ``QueryDrafts.typed``, with the text of ``body``. Call this in a thread: the query compiles at its first
        use."""
        key, drafts = _Key(body.path, body.text, dialect, zone), self.queries.with_drafts(body.drafts)
        dashboard = self.queries.dashboard(body.path, body.drafts, body.dashboard)
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None or found.drafts is not drafts or found.dashboard is not dashboard:
                name = None if dashboard is None else dashboard.name
                query = self.queries.typed(
                    body.path, body.text, body.drafts, dashboard=name, dialect=dialect, zone=zone
                )
                found = _Compiled(drafts, dashboard, query)
            with suppress(ValueError):  # too long for the cache
                self._kept[key] = found
        return found.query
