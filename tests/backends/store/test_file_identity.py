"""The SQLite file itself: moved, replaced, not to be reached. No store goes on in a file that nobody finds again."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from sqlalchemy import Connection

from tenantry.backends.sql import SQLStore
from tenantry.backends.sql.change_log import WriteContext
from tenantry.database.migrations import migrate
from tenantry.errors import StoreUnavailable
from tenantry.groups import UNNAMED, GroupDraft, Tag
from tenantry.testing import make_token


def _path(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


@pytest.mark.parametrize("how", ["deleted", "replaced"])
async def test_a_file_that_was_taken_away_is_neither_read_nor_written(
    sqlite_url: str, tmp_path: Path, how: str
) -> None:
    """After its file was deleted, or a backup was moved to its path, an open store refuses until it is closed.

    Red without the look at the file's number: the write was acknowledged and lost, and a token that was rotated in
    the new file stayed good for whoever had the old one open.
    """
    store = SQLStore(sqlite_url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    issued = await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
    migrate(f"sqlite:///{tmp_path}/backup.db")
    _path(sqlite_url).unlink()
    if how == "replaced":
        (tmp_path / "backup.db").rename(_path(sqlite_url))
    for call in (
        store.find(issued.token),
        store.api_tokens.get_with_group(b"d" * 32, "acme"),
        store.changes(0),
        store.groups.get(production, "acme"),
        store.environments.create("b", Tag.CUSTOMER),
        store.ready(),
    ):
        with pytest.raises(StoreUnavailable, match=r"store\.db was moved, deleted or replaced.*start them again"):
            await call
    await store.aclose()


async def test_no_connection_is_opened_to_the_other_file(sqlite_url: str, tmp_path: Path) -> None:
    """A look-up that has to connect anew does not read the file that came there meanwhile.

    Red when only the first connection knows which file it opened: the look-up found no group and no fault.
    """
    store = SQLStore(sqlite_url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    issued = await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
    assert await store.find(issued.token) == issued.group
    store._runner._engine._close_reader()  # type: ignore[attr-defined]  # of SQLiteEngine, as after a fault of the disk
    migrate(f"sqlite:///{tmp_path}/backup.db")
    (tmp_path / "backup.db").rename(_path(sqlite_url))
    with pytest.raises(StoreUnavailable, match="moved, deleted or replaced"):
        await store.find(issued.token)
    await store.aclose()


async def test_a_file_written_over_is_read_again(sqlite_url: str, tmp_path: Path) -> None:
    """A broken file that was repaired where it is serves again, without a restart."""
    store = SQLStore(sqlite_url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    await store.aclose()
    shutil.copy(_path(sqlite_url), tmp_path / "good")
    _path(sqlite_url).write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreUnavailable):
        await store.environments.list()
    shutil.copy(tmp_path / "good", _path(sqlite_url))
    assert list(await store.environments.list()) == [production]
    await store.aclose()


async def test_a_full_disk_is_unavailable_and_loses_nothing(sqlite_url: str) -> None:
    """A write that finds no space is refused with the reason; what was there is still read, and the next write may fit.

    Red when SQLITE_FULL is not among the codes of an unusable file.
    """
    store = SQLStore(sqlite_url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    runner = store._runner

    def fill(connection: Connection, context: WriteContext) -> None:
        pages = connection.exec_driver_sql("pragma page_count").scalar_one()
        connection.exec_driver_sql(f"pragma max_page_count = {pages}")

    await runner.write(fill, WriteContext(UNNAMED, store._clock), runner.deadline())
    big = GroupDraft("acme", "Acme", {"text": "x" * 30_000})
    with pytest.raises(StoreUnavailable, match="no space left"):
        await store.groups.get_or_create(production, big, make_token())
    assert await store.groups.get(production, "acme") is None
    assert list(await store.environments.list()) == [production]
    assert (await store.groups.get_or_create(production, big, make_token())).created
    await store.aclose()


_UNPRIVILEGED = """
import asyncio, os, sys
from tenantry.backends.sql import SQLStore
from tenantry.errors import StoreUnavailable
from tenantry.groups import Tag
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)  # nothing is closed to root
async def main():
    store = SQLStore(sys.argv[1])
    for call in (store.environments.list(), store.environments.create("b", Tag.CUSTOMER)):
        try:
            await call
        except StoreUnavailable as error:
            print(error.message)
    await store.aclose()
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "reason"),
    [(0o444, 0o555, "is read-only"), (0o000, 0o555, "permission denied"), (0o444, 0o000, "permission denied")],
)
def test_a_file_without_the_rights_is_unavailable(file_mode: int, folder_mode: int, reason: str) -> None:
    """A file or folder without the rights is StoreUnavailable for reads and writes, with the reason.

    Red for the folder when the look at the path is outside the try: a bare PermissionError came.
    """
    folder = Path(tempfile.mkdtemp(prefix="tenantry-rights-"))  # tmp_path lies in a folder that is closed to others
    url = f"sqlite:///{folder}/store.db"
    try:
        migrate(url)
        (folder / "store.db").chmod(file_mode)
        folder.chmod(folder_mode)
        done = subprocess.run([sys.executable, "-c", _UNPRIVILEGED, url], capture_output=True, text=True, check=True)
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)
    assert [reason in line for line in done.stdout.splitlines()] == [True, True], done.stdout


def test_a_call_gives_up_before_its_deadline(sqlite_url: str) -> None:
    """What may be waited for ends before ``deadline`` does, so that its answer is in time too (503 within 2 s).

    Red when the whole of it is waited: the answer then came at 2.01 s.
    """
    store = SQLStore(sqlite_url, deadline=2)
    assert store._runner.deadline() <= time.monotonic() + 1.95
