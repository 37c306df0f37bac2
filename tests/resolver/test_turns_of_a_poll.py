"""What a poll does in one turn of the event loop, with a store that never waits: SQLite's."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tenantry.backends.sql import SQLStore, rows
from tenantry.backends.sql import store as sql_store
from tenantry.cache.slots import SharedSlots
from tenantry.database.migrations import migrate
from tenantry.resolver import Resolver
from tests.resolver.fake import KEYS, PATIENT

PAGES = 3


class Turns:
    """In which turns of the loop each of some functions was called."""

    def __init__(self) -> None:
        self.now = 0
        self.of: dict[str, list[int]] = defaultdict(list)

    def noted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **values: Any) -> Any:
            self.of[name].append(self.now)
            return function(*args, **values)

        return call

    async def count(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.now += 1


async def test_a_page_is_read_in_a_turn_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first read after a write takes longest, for SQLite forgets what it knew of the file: beside it there is
    neither the copy of the versions nor the putting together of what it brings. Each later page has another turn.

    Red without the sleep in ``_page``, and without that before ``changes`` in ``Poller._poll_once``.
    """
    database = tmp_path / "tenantry.db"
    migrate(f"sqlite:///{database}")
    store = SQLStore(f"sqlite:///{database}", run_dir=tmp_path / "run")
    resolver = Resolver(store, keys=KEYS, staleness=PATIENT, patience=PATIENT)
    poller = resolver._poller
    assert poller is not None
    await poller.poll()  # of nothing: opens the file and the versions
    count = PAGES * sql_store.PAGE
    with closing(sqlite3.connect(database)) as other, other:
        listed = [(number, number.to_bytes(8, "big"), 1) for number in range(1, count + 1)]
        other.executemany("insert into changes (generation, handle, written_at) values (?, ?, ?)", listed)
        other.execute("update generation set number = ?", (count,))
    turns = Turns()
    monkeypatch.setattr(store._runner, "read", turns.noted("read", store._runner.read))
    monkeypatch.setattr(rows, "changes", turns.noted("put together", rows.changes))
    monkeypatch.setattr(SharedSlots, "copy", turns.noted("versions", SharedSlots.copy))
    counting = asyncio.create_task(turns.count())
    await asyncio.create_task(poller.poll())
    counting.cancel()
    assert resolver._cache.change_log.known == count
    assert len(turns.of["read"]) == len(set(turns.of["read"])) == PAGES
    assert turns.of["read"][0] not in turns.of["versions"] + turns.of["put together"]
    assert len(turns.of["put together"]) == PAGES
    assert len(turns.of["versions"]) == 1
    await resolver.aclose()
    await store.aclose()
