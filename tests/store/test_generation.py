"""The generation and the list of changes in SQL: trimmed, told to PostgreSQL's listeners, by the database's clock."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timedelta

import pytest

from tenantry.backends.memory import tables as memory_tables
from tenantry.backends.sql import SQLStore, time_of_day, write_journal
from tenantry.errors import TokenAlreadyRotated
from tenantry.groups import CHANNEL, Issued, Tag, read_notice, write_notice
from tenantry.groups import GroupDraft as Draft
from tenantry.ports import Store
from tenantry.testing import MemoryStore, make_token


async def _acme(store: Store, name: str = "acme") -> Issued:
    place = await store.environment("p") or await store.create_environment("p", Tag.CUSTOMER)
    return await store.get_or_create(place, Draft(name, "Acme"), make_token())


async def _rotate(store: Store, issued: Issued, grace_seconds: int = 0) -> Issued:
    nonce = secrets.token_bytes(16)
    return await store.rotate(
        issued.group.environment, issued.token, key_id="k1", nonce=nonce, grace_seconds=grace_seconds
    )


async def test_old_changes_are_trimmed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last changes are kept, and ``since`` says from where the list is unbroken.

    Red without the deletion, and when ``since`` is what was asked for: a reader would think that it has seen all.
    """
    monkeypatch.setattr(write_journal, "_TRIMMED_EVERY", 5)
    monkeypatch.setattr(write_journal, "KEPT_CHANGES", 7)
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


async def test_a_store_in_memory_trims_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of MemoryStore; and of the last changes only so many are told to who says no generation."""
    store = MemoryStore()
    monkeypatch.setattr(memory_tables, "LISTED_CHANGES", 4)
    store._tables.written = type(store._tables.written)(maxlen=7)
    issued = await _acme(store)
    for _ in range(20):
        issued = await _rotate(store, issued)
    assert (await store.changes(3)).since == 13
    assert [change.generation for change in (await store.changes(None)).changes] == [17, 18, 19, 20]


async def test_each_change_is_notified_in_its_own_transaction(postgres_url: str) -> None:
    """PostgreSQL tells its listeners of each committed change, once, and of nothing that was rolled back. The notice
    holds the store, the generation and the public handle.

    Red when the notice is not sent, or sent for a refused rotation.
    """
    import asyncpg

    store = SQLStore(postgres_url)
    issued = await _acme(store)
    heard: list[str] = []
    listener = await asyncpg.connect(postgres_url)
    await listener.add_listener(CHANNEL, lambda *notice: heard.append(notice[-1]))
    second = await _rotate(store, issued)
    with pytest.raises(TokenAlreadyRotated):
        await _rotate(store, issued)
    await _rotate(store, second)
    store_id = (await store.changes(None)).store_id
    async with asyncio.timeout(10):
        while len(heard) < 2:
            await asyncio.sleep(0.01)
    expected = [(store_id, generation, issued.token.handle) for generation in (1, 2)]
    assert [read_notice(text) for text in heard] == expected
    assert heard[0] == write_notice(*expected[0])
    await listener.close()
    await store.aclose()


@pytest.mark.parametrize("text", ["", "a", "a 1", "a x 00", "a -1 00", "a 1 zz", "a 1 00 b", "a ² 00", "a " + "9" * 40])
def test_what_is_no_notice_is_none(text: str) -> None:
    """Anybody with a login can notify: what cannot be read is nothing, and never an error."""
    assert read_notice(text) is None


async def test_a_grace_is_judged_by_the_database(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts whose clocks are two days apart agree on the end of a grace, for it is PostgreSQL's clock that counts.

    Red when the host's clock writes or judges ``grace_until``.
    """
    store = SQLStore(postgres_url)
    first = await _acme(store)
    now = time_of_day.utc_now

    def two_days_late() -> datetime:
        return now() + timedelta(days=2)

    monkeypatch.setattr(time_of_day, "utc_now", two_days_late)
    second = await _rotate(store, first, 60)
    assert second.group.grace_until is not None
    assert timedelta(0) < second.group.grace_until - now() < timedelta(seconds=120)
    reading = await store.look(first.token, fresh=True)
    assert reading.group == second.group
    assert reading.seconds is not None
    assert 0 < reading.seconds <= 60
    assert (await store.audit())[-1].at < two_days_late() - timedelta(days=1)
    assert (await store.changes(0)).changes[0].age < 60
    await store.aclose()
