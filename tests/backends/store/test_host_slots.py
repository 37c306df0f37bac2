"""The versions of this host around each write: odd at the commit, another file noticed, no file no write."""

from __future__ import annotations

import asyncio
import gc
import secrets
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore, write_groups
from tenantry.backends.sql.change_log import WriteContext, WriteResult
from tenantry.cache import slot_index
from tenantry.errors import OutcomeUnknown, StoreUnavailable
from tenantry.groups import UNNAMED, Environment, GroupChanges, GroupDraft, Issued, Tag, UserGroup
from tenantry.testing import make_token


async def _acme(store: SQLStore) -> Issued:
    production = await store.environments.create("production", Tag.CUSTOMER)
    return await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())


async def _rotate(store: SQLStore, issued: Issued) -> Issued:
    return await store.groups.rotate(issued.group.environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))


def _version(store: SQLStore, issued: Issued) -> int:
    assert store.slots is not None
    return store.slots.versions[slot_index(issued.token.handle)]


async def test_the_version_is_odd_in_the_transaction(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the write itself the version is odd, for another store of this host too; after it even and another.

    Red when the transaction is not within ``slots.writing``.
    """
    store, other = SQLStore(url), SQLStore(url)
    issued = await _acme(store)
    for each in (store, other):
        await each.changes(None)
    before, within = _version(other, issued), []
    delete = write_groups.delete

    def look_and_delete(connection: Connection, context: WriteContext, *args: Environment, **rest: object) -> object:
        within.append(_version(other, issued))
        return delete(connection, context, *args, **rest)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(write_groups, "delete", look_and_delete)
    gone: UserGroup = await store.groups.delete(issued.group.environment, "acme")
    assert gone == issued.group
    assert [version & 1 for version in within] == [1]
    assert not _version(other, issued) & 1
    assert _version(other, issued) != before
    for each in (store, other):
        await each.aclose()


async def test_without_the_versions_nobody_writes_and_everybody_reads(url: str, tmp_path: Path) -> None:
    """A run folder that cannot be used: a write that others must see is refused with its path, and nothing is
    changed; there is no lease; but what is asked of the store itself is answered.

    Red when the write goes on without them: a cache of this host would show the old token for X.
    """
    (tmp_path / "taken").write_text("a file where the folder should be")
    good, store = SQLStore(url), SQLStore(url, run_dir=tmp_path / "taken")
    issued = await _acme(store)
    environment = issued.group.environment
    for refused in (
        _rotate(store, issued),
        store.groups.update(environment, "acme", GroupChanges(name="New")),
        store.groups.delete(environment, "acme"),
        store.changes(None),
    ):
        with pytest.raises(StoreUnavailable, match="taken"):
            await refused
    assert store.slots is None
    reading = await store.read_at_snapshot(issued.token, fresh=True)
    assert (reading.group, reading.generation) == (issued.group, 0)
    assert (await good.changes(None)).generation == 0
    for each in (store, good):
        await each.aclose()


async def test_a_file_of_versions_that_was_taken_away_is_made_again(url: str, tmp_path: Path) -> None:
    """After the file was deleted the next write and the next ``changes`` each go on with the file that is there then.

    Red when the file is opened once and for all: writer and reader would look at different versions.
    """
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    writer, reader = SQLStore(url, run_dir=folder), SQLStore(url, run_dir=folder)
    issued = await _acme(writer)
    issued = await _rotate(writer, issued)
    await reader.changes(None)
    first = reader.slots
    (file,) = folder.glob("*.slots")
    file.unlink()
    issued = await _rotate(writer, issued)
    await reader.changes(None)
    assert reader.slots is not first
    before = _version(reader, issued)
    await _rotate(writer, issued)
    assert _version(reader, issued) != before
    for each in (writer, reader):
        await each.aclose()


async def test_two_spellings_of_a_url_share_their_slots(sqlite_url: str, tmp_path: Path) -> None:
    """The file is found by the id in the store, not by the URL. Red when its name is made of the URL."""
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    one, two = SQLStore(sqlite_url), SQLStore(f"sqlite:///{tmp_path}/link/store.db")
    issued = await _acme(one)
    await two.changes(None)
    before = _version(two, issued)
    await _rotate(one, issued)
    assert _version(two, issued) != before
    for each in (one, two):
        await each.aclose()


async def test_another_store_at_the_url_is_noticed_by_the_write(postgres_url: str, postgres: Postgres) -> None:
    """When another database has come to the URL, the write is begun again under that one's versions.

    Red when the id is read once: the writes would go under the versions of a store that nobody asks any more.
    """
    store, reader = SQLStore(postgres_url), SQLStore(postgres_url)
    issued = await _acme(store)
    issued = await _rotate(store, issued)
    before = store.slots
    postgres.execute(f"update generation set store_id = '{secrets.token_hex(16)}'", url=postgres_url)
    await reader.changes(None)
    version = _version(reader, issued)
    second = await _rotate(store, issued)
    assert second.token.version == 3
    assert store.slots is not before
    assert _version(reader, issued) != version
    assert (await store.changes(None)).generation == 2
    for each in (store, reader):
        await each.aclose()


async def test_a_refused_write_ends_what_it_announced(url: str) -> None:
    """An error of any kind in the write leaves the version even. Red when only a success does."""
    store = SQLStore(url)
    issued = await _acme(store)
    await store.changes(None)

    def broken(connection: Connection, context: WriteContext) -> WriteResult[None]:
        raise ZeroDivisionError

    runner = store._runner
    with pytest.raises(ZeroDivisionError):
        await runner.write_to((issued.token.handle,), broken, WriteContext(UNNAMED, store._clock), runner.deadline())
    assert not _version(store, issued) & 1
    await store.aclose()


async def test_an_unknown_outcome_leaves_its_version_odd(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nobody will ever tell how a commit ended, the version stays odd, whatever is collected, until its repair.

    Red when ``SlotTable.writing`` is a generator: its ``finally`` runs when it is collected.
    """
    store = SQLStore(sqlite_url)
    issued = await _acme(store)
    await store.changes(None)

    async def silent(*_: object) -> None:
        raise OutcomeUnknown("the line broke")

    monkeypatch.setattr(store._runner._engine, "write", silent)
    with pytest.raises(OutcomeUnknown):
        await _rotate(store, issued)
    await asyncio.sleep(0)  # this very step was woken by the error, and holds it
    gc.collect()
    odd = _version(store, issued)
    assert odd & 1
    assert store.slots is not None
    store.slots.repair(slot_index(issued.token.handle), odd)
    assert not _version(store, issued) & 1
    await store.aclose()
