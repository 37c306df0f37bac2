"""Single-use codes: random, hashed at rest, for one purpose, once."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.dashboards.single_use_codes import CODE_LENGTH, SECONDS, Purpose, SingleUseCodes
from tenantry.database.migrations import migrate
from tenantry.testing import FrozenClock, MemoryStore


@pytest.mark.parametrize("purpose", Purpose)
async def test_a_code_lives_as_long_as_its_purpose_says(purpose: Purpose) -> None:
    """A minute, ten for a preview and a link of the editor, and eight hours for an author's session. Red when every
    purpose has the same."""
    clock = FrozenClock()
    codes = SingleUseCodes(MemoryStore(clock=clock).codes)
    longer = dict.fromkeys((Purpose.PREVIEW, Purpose.PREVIEW_SESSION, Purpose.EDITOR), 600)
    assert SECONDS[purpose] == (longer | {Purpose.EDITOR_SESSION: 8 * 3_600}).get(purpose, 60)
    first, second = [await codes.issue(purpose, "x") for _ in range(2)]
    clock.advance(SECONDS[purpose] - 1)
    assert await codes.redeem(purpose, first) == "x"
    clock.advance(1)
    assert await codes.redeem(purpose, second) is None


async def test_what_is_no_code_is_nothing() -> None:
    """Other lengths and other letters never reach the store; and no two codes are alike."""
    codes = SingleUseCodes(MemoryStore().codes)
    issued = {await codes.issue(Purpose.EMBED, "x") for _ in range(50)}
    assert {len(code) for code in issued} == {CODE_LENGTH}
    assert len(issued) == 50
    for wrong in ("", "x", "ü" * CODE_LENGTH, "x" * 10_000, next(iter(issued)) + "="):
        assert await codes.redeem(Purpose.EMBED, wrong) is None


async def test_the_code_is_not_in_the_store(tmp_path: Path) -> None:
    """Only its hash is; the payload shows that the search reads the right bytes. Red when the code is the key."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    store = SQLStore(url)
    code = await SingleUseCodes(store.codes).issue(Purpose.EMBED, "a payload")
    content = b"".join(each.read_bytes() for each in tmp_path.glob("store.db*"))
    await store.aclose()
    assert b"a payload" in content
    assert code.encode() not in content


async def test_who_guesses_a_code_writes_nothing(tmp_path: Path) -> None:
    """Another program holds the database's one write lock, and the answer comes all the same. Red when a code is
    deleted before it was read, and when a session is looked up in a transaction of writes: both wait for the lock."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    store = SQLStore(url)
    codes = SingleUseCodes(store.codes)
    good = await codes.issue(Purpose.PREVIEW_SESSION, "x")
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as writer:
        writer.execute("begin immediate")
        assert await codes.redeem(Purpose.DOWNLOAD, "x" * CODE_LENGTH) is None
        assert await codes.redeem(Purpose.DOWNLOAD, good) is None
        assert await codes.read(Purpose.PREVIEW_SESSION, "x" * CODE_LENGTH) is None
        assert await codes.read(Purpose.PREVIEW_SESSION, good) == "x"
        writer.execute("rollback")
    await store.aclose()


async def test_one_of_many_redeems_what_all_have_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deletion decides. Red when the payload that was read first is given."""
    store = MemoryStore()
    codes = SingleUseCodes(store.codes)
    code, all_read = await codes.issue(Purpose.EMBED, "x"), asyncio.Barrier(5)
    read = store.codes.purpose

    async def read_together(digest: bytes) -> str | None:
        found = await read(digest)
        await all_read.wait()
        return found

    monkeypatch.setattr(store.codes, "purpose", read_together)
    found = await asyncio.gather(*(codes.redeem(Purpose.EMBED, code) for _ in range(5)))
    assert sorted(found, key=str) == [None] * 4 + ["x"]
