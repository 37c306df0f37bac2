"""Another user creates the run folder first: its name cannot be foreseen, and a known one is given up."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
from pathlib import Path

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.cache import slot_index
from tenantry.cache.slots import folder
from tenantry.errors import StoreUnavailable
from tenantry.groups import GroupDraft, Issued, Tag
from tenantry.testing import make_token


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the part of /dev/shm."""
    base = tmp_path / "shm"
    base.mkdir()
    base.chmod(0o1777)
    monkeypatch.delenv("TENANTRY_RUN_DIR", raising=False)
    monkeypatch.setattr(folder, "_BASES", (base,))
    return base


async def _groups(url: str, count: int) -> list[Issued]:
    store = SQLStore(url)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    made = [
        await store.groups.get_or_create(environment, GroupDraft(f"g{n}", f"G{n}"), make_token()) for n in range(count)
    ]
    await store.aclose()
    return made


async def _rotate(store: SQLStore, issued: Issued) -> Issued:
    return await store.groups.rotate(issued.group.environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))


def _take(path: Path) -> None:
    """What a local user can do once he knows the name and nothing is there: a link to a folder of his."""
    path.symlink_to("/nonexistent")


async def _path(url: str) -> Path:
    """Where the run folder of this store is; removed again, as when the machine was started anew."""
    store = SQLStore(url)
    await store.changes(None)
    assert store.slots is not None
    path: Path = store.slots.path
    await store.aclose()
    path.unlink()
    path.parent.rmdir()
    return path.parent


async def test_its_name_cannot_be_foreseen(url: str, shared: Path) -> None:
    """Red when it is made of the user id alone, or of the store's id, which other hosts' run folders show."""
    path = await _path(url)
    assert re.fullmatch(rf"tenantry-{os.geteuid()}-[0-9a-f]{{16}}", path.name)
    assert path.parent == shared


async def test_who_takes_a_known_name_stops_nothing(url: str, shared: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Four writers find the path taken at once: all write, under one and the same new name, and a reader who had none
    finds it by his next poll. Red when the name is not changed (503 until root cleans up), or when each writer takes a
    name of his own."""
    groups = await _groups(url, 4)
    taken = await _path(url)
    _take(taken)
    stores = [SQLStore(url) for _ in groups]
    with caplog.at_level(logging.WARNING):
        await asyncio.gather(*(_rotate(*pair) for pair in zip(stores, groups, strict=True)))
    assert str(taken) in caplog.text
    reader = SQLStore(url)
    await reader.changes(None)
    assert reader.slots is not None
    for store, issued in zip(stores, groups, strict=True):
        found = await store.groups.get(issued.group.environment, issued.group.provided_id)
        assert found is not None
        again = await _rotate(store, found)
        assert store.slots is not None
        assert store.slots.path == reader.slots.path
        slot = slot_index(again.token.handle)
        assert store.slots.versions[slot] == reader.slots.versions[slot]
    assert reader.slots.path.parent != taken
    assert len(list(shared.glob("*/*.slots"))) == 1
    for store in (*stores, reader):
        await store.aclose()


async def test_a_writer_of_another_name_waits_for_whoever_is_left_behind(url: str, shared: Path) -> None:
    """A host on which the path was not taken: its worker still reads the table of the old name when a writer has
    read the new one. The writer does not return before that worker's lease has run out, or it is announced there.

    Red when a write under the old name goes through: the writer's versions would be read by nobody.
    """
    (issued,) = await _groups(url, 1)
    worker, writer, elsewhere = SQLStore(url), SQLStore(url), SQLStore(url)
    await worker.changes(None, lease=1.0)
    await writer.changes(None)
    old = worker.slots
    assert old is not None
    before = old.versions[slot_index(issued.token.handle)]
    runner = elsewhere._runner
    identity = await runner._identity(runner.deadline())
    renamed = await runner._rename(identity, runner.deadline())
    assert renamed.run_name != identity.run_name
    begun = asyncio.get_running_loop().time()
    await _rotate(writer, issued)
    announced = old.versions[slot_index(issued.token.handle)] != before
    assert announced or asyncio.get_running_loop().time() - begun >= 1.0
    assert writer.slots is not None
    assert writer.slots.path != old.path
    await worker.changes(None)
    assert worker.slots is not None
    assert worker.slots.path == writer.slots.path
    for store in (worker, writer, elsewhere):
        await store.aclose()


async def test_two_names_at_once_are_one(url: str, shared: Path) -> None:
    """Red when the name is set whatever it is by now: two who want another would each take one."""
    store = SQLStore(url)
    runner = store._runner
    identity = await runner._identity(runner.deadline())
    first, second = [await runner._rename(identity, runner.deadline()) for _ in range(2)]
    assert first == second != identity
    await store.aclose()


async def test_a_folder_that_the_operator_named_is_not_given_up(
    url: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting holds for every process, so no other name would be found. It is refused, with what to do."""
    (issued,) = await _groups(url, 1)
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(shared / "named"))
    _take(shared / "named")
    store = SQLStore(url)
    with pytest.raises(StoreUnavailable, match="symbolic link"):
        await _rotate(store, issued)
    await store.aclose()


async def test_a_path_that_is_taken_again_and_again_is_not_renamed_without_end(url: str, shared: Path) -> None:
    """One name a minute from one process. Red when each write takes another: all hosts would move for each of them."""
    (issued,) = await _groups(url, 1)
    _take(await _path(url))
    store = SQLStore(url)
    issued = await _rotate(store, issued)
    assert store.slots is not None
    path = store.slots.path
    path.unlink()
    path.parent.rmdir()
    _take(path.parent)
    with pytest.raises(StoreUnavailable, match="symbolic link"):
        await _rotate(store, issued)
    await store.aclose()
