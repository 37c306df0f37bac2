from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Final, TypeVar

from tenantry.editor.drafts import DraftedQueries, QueryDrafts
from tenantry.editor.requests import TextBody
from tenantry.sql import Query

_THREADS: Final = 2
_KEPT: Final = 32

T = TypeVar("T")


class Compiler:
    """Compiles typed queries in separate threads. It keeps the last queries, because a page sends each one to several
    endpoints."""

    def __init__(self, queries: QueryDrafts) -> None:
        self.queries: Final = queries
        self._threads = ThreadPoolExecutor(_THREADS, "tenantry-editor")
        self._kept: OrderedDict[tuple[str, str, str | None], tuple[DraftedQueries, Query]] = OrderedDict()
        self._lock = Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """Call ``work`` in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def query(self, body: TextBody, dialect: str | None = None) -> Query:
        """Return the query that was typed. Call it in a thread. Raises TemplateError for a bad header; the query
        compiles when it is first used."""
        drafts = self.queries.with_drafts(body.drafts)
        key = (body.path, body.text, dialect)
        with self._lock:
            kept, found = self._kept.pop(key, (None, None))
            if found is None or kept is not drafts:
                found = drafts.typed(self.queries.name_of(body.path) or "", body.path, body.text, dialect)
            self._kept[key] = drafts, found
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found
