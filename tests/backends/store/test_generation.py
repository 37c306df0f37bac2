"""The generation and the list of changes in SQL: trimmed, sent to PostgreSQL's listeners, by the database's clock."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timedelta
from typing import Any

import pytest

from tenantry.backends import stored
from tenantry.backends.memory import tables as memory_tables
from tenantry.backends.sql import SQLStore, change_log
from tenantry.backends.sql import store as sql_store
from tenantry.backends.sql.change_log import WriteContext
from tenantry.backends.sql.engine import first_of
from tenantry.backends.sql.sqlite import SQLiteEngine
from tenantry.backends.stored import StoreClock
from tenantry.errors import TokenAlreadyRotated
from tenantry.groups import CHANNEL, UNNAMED, Issued, Tag, read_notice, write_notice
from tenantry.groups import GroupDraft as Draft
from tenantry.ports import Store
from tenantry.testing import MemoryStore, make_token

_CONTEXT = WriteContext(UNNAMED, StoreClock(None))


async def _acme(store: Store, name: str = "acme") -> Issued:
    environment = await store.environments.get("p") or await store.environments.create("p", Tag.CUSTOMER)
    return await store.groups.get_or_create(environment, Draft(name, "Acme"), make_token())


async def _rotate(store: Store, issued: Issued, grace_seconds: int = 0) -> Issued:
    nonce = secrets.token_bytes(16)
    return await store.groups.rotate(
        issued.group.environment, issued.token, key_id="k1", nonce=nonce, grace_seconds=grace_seconds
    )


async def test_a_store_in_memory_tells_its_listeners() -> None:
    """As a store in a database does: of a rotation with its generation, and not of a group that nobody has cached yet.
    Red when the write has no generation: a bus would be silent."""
    told: list[tuple[bytes, int]] = []

    class Listener:
        def changed(self, handle: bytes, generation: int) -> None:
            told.append((handle, generation))

    store = MemoryStore()
    store.subscribe(Listener())
    issued = await _acme(store)
    await _acme(store)
    assert told == []
    await _rotate(store, issued)
    assert told == [(issued.group.handle, (await store.changes(None)).generation)]


async def test_old_changes_are_trimmed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last changes are kept, and ``since`` is from where the list is unbroken.

    Red without the deletion, and when ``since`` is what was asked for: a reader would think that it has seen all.
    """
    monkeypatch.setattr(change_log, "_TRIMMED_EVERY", 5)
    monkeypatch.setattr(change_log, "RETAINED_CHANGES", 7)
    store = SQLStore(url)
    issued = await _acme(store)
    for _ in range(20):
        issued = await _rotate(store, issued)
    listed = await store.changes(3)
    assert (listed.since, listed.generation) == (13, 20)
    assert [change.generation for change in listed.changes] == list(range(14, 21))
    assert (await store.changes(15)).since == 15
    assert (await store.changes(None)).since == 13
    await store.aclose()


async def test_a_long_list_is_read_in_pages(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No page is left out or listed twice, others have their turn between pages, and a list that would be too long
    begins later than it was asked for.

    Red when it is read in one piece, when only the first page is, and without the limit.
    """
    monkeypatch.setattr(sql_store, "PAGE", 3)
    store = SQLStore(url)
    issued = await _acme(store)
    for _ in range(20):
        issued = await _rotate(store, issued)
    pages = 0
    read = store._runner.read

    async def counted(*query: Any, **values: Any) -> Any:
        nonlocal pages
        pages += 1
        return await read(*query, **values)

    monkeypatch.setattr(store._runner, "read", counted)
    for since in (-1, 0, 1, 17, 20, None):
        listed = await store.changes(since)
        assert (listed.since, listed.generation) == (max(0, since or 0), 20)
        assert [change.generation for change in listed.changes] == list(range(max(0, since or 0) + 1, 21))
    assert pages == 7 + 7 + 7 + 1 + 1 + 7
    await store.aclose()


async def test_little_is_forgotten_in_the_event_loop(sqlite_url: str) -> None:
    """The first read after a write drops the pages that SQLite keeps: they are few.

    Red with 16 MB: 1.7 ms.
    """
    store = SQLStore(sqlite_url)
    await store.changes(None)
    engine = store._runner._engine
    assert isinstance(engine, SQLiteEngine)
    assert -2_000 <= engine._read("pragma cache_size", ())[0][0] < 0  # in KiB, where it is negative
    await store.aclose()


async def test_changes_made_while_the_pages_are_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are listed or not, but none is skipped; and what is trimmed between two pages makes the list begin later.

    Red when the list goes on after a gap, or when the generation is one that the list does not reach to.
    """
    monkeypatch.setattr(sql_store, "PAGE", 3)
    store = SQLStore(url)
    issued = await _acme(store)
    for _ in range(9):
        issued = await _rotate(store, issued)
    read, trim = store._runner.read, "delete from changes where generation <= 7"

    async def interrupted(*query: Any, **values: Any) -> Any:
        nonlocal issued
        found = await read(*query, **values)
        if values["since"] <= 0:
            issued = await _rotate(store, issued)
            await store._runner.write(lambda connection, context: first_of(connection, trim, ()), _CONTEXT, 9e9)
        return found

    monkeypatch.setattr(store._runner, "read", interrupted)
    listed = await store.changes(0)
    assert listed.since == 7
    assert [change.generation for change in listed.changes] == list(range(8, listed.generation + 1))
    assert listed.generation >= 9
    await store.aclose()


async def test_a_list_has_an_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was away for more than the last 10,000 changes gets those alone, however many are kept.

    Red without the lower bound: 100,000 rows were put together in the event loop of an app.
    """
    store = SQLStore(url)
    count = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 10010)"
    rows = f"{count} select i, (select handle from user_groups), 1 from n"
    fill = f"insert into changes (generation, handle, written_at) {rows}"
    await _acme(store)
    for text in (fill, "update generation set number = 10010"):
        await store._runner.write(lambda connection, context, text=text: first_of(connection, text, ()), _CONTEXT, 9e9)
    for since in (None, 0, 5):
        listed = await store.changes(since)
        assert (listed.since, listed.generation, len(listed.changes)) == (10, 10_010, 10_000)
    assert len((await store.changes(10_000)).changes) == 10
    await store.aclose()


async def test_a_store_in_memory_trims_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of MemoryStore; and of the last changes only so many are listed."""
    store = MemoryStore()
    monkeypatch.setattr(memory_tables, "LISTED_CHANGES", 4)
    store._tables.written = type(store._tables.written)(maxlen=7)
    issued = await _acme(store)
    for _ in range(20):
        issued = await _rotate(store, issued)
    assert (await store.changes(3)).since == 16
    assert (await store.changes(18)).since == 18
    assert [change.generation for change in (await store.changes(None)).changes] == [17, 18, 19, 20]


async def test_each_change_is_notified_in_its_own_transaction(postgres_url: str) -> None:
    """PostgreSQL notifies its listeners of each committed change, once, and of nothing that was rolled back. The notice
    holds the store, the generation and the public handle.

    Red when the notice is not sent, or sent for a refused rotation.
    """
    import asyncpg

    store = SQLStore(postgres_url)
    issued = await _acme(store)
    notices: list[str] = []
    listener = await asyncpg.connect(postgres_url)
    await listener.add_listener(CHANNEL, lambda *notice: notices.append(notice[-1]))
    second = await _rotate(store, issued)
    with pytest.raises(TokenAlreadyRotated):
        await _rotate(store, issued)
    await _rotate(store, second)
    store_id = (await store.changes(None)).store_id
    async with asyncio.timeout(120):
        while len(notices) < 2:
            await asyncio.sleep(0.01)
    expected = [(store_id, generation, issued.token.handle) for generation in (1, 2)]
    assert [read_notice(text) for text in notices] == expected
    assert notices[0] == write_notice(*expected[0])
    await listener.close()
    await store.aclose()


@pytest.mark.parametrize("text", ["", "a", "a 1", "a x 00", "a -1 00", "a 1 zz", "a 1 00 b", "a ² 00", "a " + "9" * 40])
def test_what_is_no_notice_is_none(text: str) -> None:
    """Anybody with a login can notify: what cannot be read is nothing, and never an error."""
    assert read_notice(text) is None


async def test_a_grace_goes_by_the_clock_of_the_database(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts whose clocks are two days apart agree on the end of a grace, for it is PostgreSQL's clock that counts.

    Red when the host's clock writes or compares ``grace_until``.
    """
    store = SQLStore(postgres_url)
    first = await _acme(store)
    now = stored.utc_now

    def two_days_late() -> datetime:
        return now() + timedelta(days=2)

    monkeypatch.setattr(stored, "utc_now", two_days_late)
    second = await _rotate(store, first, 60)
    assert second.group.grace_until is not None
    assert timedelta(0) < second.group.grace_until - now() < timedelta(seconds=120)
    reading = await store.read_at_snapshot(first.token, fresh=True)
    assert reading.group == second.group
    assert reading.seconds is not None
    assert 0 < reading.seconds <= 60
    assert (await store.audit.list())[-1].at < two_days_late() - timedelta(days=1)
    assert (await store.changes(0)).changes[0].age < 60
    await store.aclose()
