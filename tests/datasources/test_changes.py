"""Who is told when the rows of a source have changed: here, and by another process."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from engines.valkey import Valkey
from tenantry import DataSources
from tenantry.datasources import RedisResults, ResultCache
from tenantry.datasources.changes import SourceChanges
from tests.datasources.conftest import PRODUCTION, Directory, sqlite_file

SOON = 60.0


async def test_a_listener_is_changed_without_a_cache_too(directory: Directory, tmp_path: Path) -> None:
    """Once for all changes that come together; nobody listens after the block."""
    directory.add(1, sqlite_file(tmp_path / "orders.db", "acme"))
    async with DataSources(directory) as sources:
        with sources.changes.listen() as inbox:
            await sources.changed(PRODUCTION, "own_1")
            await sources.changed(PRODUCTION, "ds_1")
            async with asyncio.timeout(SOON):
                assert await inbox.take() == {"1/ds_1"}
            assert len(sources.changes) == 1
        assert len(sources.changes) == 0


async def test_two_with_one_cache_hear_of_every_change(directory: Directory, tmp_path: Path) -> None:
    """Also of what the other one announces; one that was dropped without ``aclose`` is not kept by the cache. Red when
    the cache has one listener: the second DataSources takes the place of the first."""
    directory.add(1, sqlite_file(tmp_path / "orders.db", "acme"))
    cache = ResultCache()
    DataSources(directory, cache=cache)
    gc.collect()
    assert len(cache.listeners) == 0
    async with DataSources(directory, cache=cache) as one, DataSources(directory, cache=cache) as other:
        with one.changes.listen() as here, other.changes.listen() as there:
            for announcing in (one, other):
                await announcing.changed(PRODUCTION, "ds_1")
                async with asyncio.timeout(SOON):
                    assert (await here.take(), await there.take()) == ({"1/ds_1"}, {"1/ds_1"})


async def test_changes_that_come_together_are_told_together() -> None:
    """A load that fills ten tables is one request of each page, not ten. Red when each is told at once."""
    changes = SourceChanges()
    with changes.listen() as inbox:
        taking = asyncio.ensure_future(inbox.take())
        changes.notify("1/ds_1")
        for _ in range(5):
            await asyncio.sleep(0)
        changes.notify("1/ds_2")
        assert await taking == {"1/ds_1", "1/ds_2"}


def test_rows_may_be_old_by_when_their_source_was_asked() -> None:
    """Before a change of it, or of any source, or before this process could know of one. What is given out now counts
    as of a little earlier: so late may it be known what another process changed."""
    now = [100.0]
    changes = SourceChanges(clock=lambda: now[0])
    now[0] = 110.0
    changes.notify("1/ds_1")
    assert [changes.may_be_old("1/ds_1", at) for at in (99.9, 110.0, 110.1)] == [True, True, False]
    assert [changes.may_be_old("1/ds_2", at) for at in (99.9, 100.0)] == [True, False]
    now[0] = 120.0
    changes.notify(None)
    assert [changes.may_be_old("1/ds_2", at) for at in (120.0, 120.1)] == [True, False]
    assert changes.certain_until() == 115.0


async def test_a_change_in_another_process_is_changed(directory: Directory, valkey: Valkey, tmp_path: Path) -> None:
    """Though nobody asks anything here meanwhile. Red when what others changed is looked for only with a query."""
    valkey.execute("FLUSHALL")
    directory.add(1, sqlite_file(tmp_path / "orders.db", "acme"))
    one, other = (
        DataSources(directory, cache=ResultCache(shared=RedisResults(valkey.url, secret=b"s" * 32, budget=20.0)))
        for _ in range(2)
    )
    async with one, other:
        with other.changes.listen() as inbox:
            async with asyncio.timeout(SOON):
                assert await inbox.take() == {None}  # the first that is heard of the others: anything may have changed
            await one.changed(PRODUCTION, "ds_1")
            async with asyncio.timeout(SOON):
                assert await inbox.take() == {"1/ds_1"}
