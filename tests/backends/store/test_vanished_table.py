"""The table of versions vanishes under the processes of a host, just before one of them writes.

Real processes: a worker that has a group in its cache, and a writer that comes later and never saw the table that the
worker reads. What the worker accepts after the write has returned is the breach.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engines.warm_python import Popen
from tenantry.backends.sql import SQLStore, write_groups
from tenantry.cache import slot_index
from tenantry.groups import Environment, GroupDraft, Issued, Tag
from tenantry.testing import make_token
from tests.backends.store.reader import KEYS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
STALENESS = 1.0
ROUNDS = 3


@contextmanager
def _reader(url: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.backends.store.reader", url, str(STALENESS)]
    pipe = subprocess.PIPE
    with Popen(command, cwd=ROOT, env=dict(os.environ), stdin=pipe, stdout=pipe, text=True) as reader:
        try:
            yield reader
        finally:
            reader.kill()


def _send(reader: subprocess.Popen[str], token: str) -> None:
    assert reader.stdin is not None
    reader.stdin.write(f"{token}\n")
    reader.stdin.flush()


async def _receive(reader: subprocess.Popen[str]) -> str:
    assert reader.stdout is not None
    return (await asyncio.to_thread(reader.stdout.readline)).strip()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run folder of this test, for its processes too."""
    folder = tmp_path / "run"
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(folder))
    return folder


async def _groups(url: str, count: int) -> tuple[Environment, list[Issued]]:
    store = SQLStore(url)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    made = [
        await store.groups.get_or_create(environment, GroupDraft(f"g{n}", f"G{n}"), make_token()) for n in range(count)
    ]
    await store.aclose()
    return environment, made


async def _rotate(url: str, issued: Issued) -> float:
    """Rotates as another process does, which has opened nothing yet; when that returned."""
    store = SQLStore(url)
    await store.groups.rotate(issued.group.environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    returned = time.monotonic()
    await store.aclose()
    return returned


def _file(run: Path) -> None:
    for path in run.glob("*.slots"):
        path.unlink()


def _folder(run: Path) -> None:
    shutil.rmtree(run)


@pytest.mark.parametrize("vanish", [_file, _folder])
async def test_what_vanished_before_a_rotation_lets_no_old_token_live(
    url: str, run: Path, vanish: Callable[[Path], None]
) -> None:
    """Red when ``wait_until_visible`` does not wait: the worker uses the file that is gone until its next poll, and
    takes the old token for up to a fifth of the staleness bound after the rotation returned."""
    _, groups = await _groups(url, ROUNDS)
    late = []
    with _reader(url) as reader:
        for issued in groups:
            _send(reader, KEYS.mint(issued.token))
            assert await _receive(reader) == "cached"
            vanish(run)
            begun = time.monotonic()
            returned = await _rotate(url, issued)
            assert returned - begun < STALENESS + 30
            late.append(float(await _receive(reader)) - returned)
    assert max(late) < 0, late


async def test_the_first_write_of_a_store_waits_for_nobody(url: str, run: Path) -> None:
    """Nobody ever asked for a lease: there is no one who could go by another table. Red when every new table is waited
    for: the first rotation of a command line would take seconds. The quickest of some is looked at: a busy machine may
    hold up one of them."""
    _, groups = await _groups(url, 5)
    took: list[float] = []
    for issued in groups:
        shutil.rmtree(run, ignore_errors=True)
        begun = time.monotonic()
        took.append(await _rotate(url, issued) - begun)
        if took[-1] < STALENESS:
            break
    assert min(took) < STALENESS


async def test_the_first_worker_of_a_store_holds_up_no_write(url: str, run: Path) -> None:
    """The worker makes the table, and no lease was given before. Red when ``Runner.open_slots`` does not settle it."""
    _, (issued,) = await _groups(url, 1)
    store = SQLStore(url)
    await store.changes(None, lease=60.0)
    assert store.slots is not None
    begun = time.monotonic()
    returned = await _rotate(url, issued)
    assert returned - begun < 30
    await store.aclose()


async def test_a_lease_is_noted_before_it_is_used(url: str, run: Path) -> None:
    """A worker with a longer staleness than any before reports it to the store, and a writer who finds no table waits
    for that long. Red when the note is left out: the wait would be that of the others."""
    _, (issued,) = await _groups(url, 1)
    store = SQLStore(url)
    await store.changes(None, lease=0.5)
    await store.changes(None, lease=3.0)
    await store.changes(None, lease=1.0)
    _file(run)
    begun = time.monotonic()
    returned = await _rotate(url, issued)
    assert 2.9 < returned - begun < 30
    await store.aclose()


async def test_a_table_that_vanishes_within_a_write(
    sqlite_url: str, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file goes while the write is under way, and a worker makes another and keeps what it reads before the commit.

    Red when the file is not looked at after the commit: the worker's version would never change."""
    _, (issued,) = await _groups(sqlite_url, 1)
    worker = SQLStore(sqlite_url)
    await worker.changes(None, lease=0.5)
    rotate, made = write_groups.rotate, []

    def vanish(*args: Any, **rest: Any) -> Any:  # on the thread that writes
        _file(run)
        other = SQLStore(sqlite_url)
        asyncio.run(other.changes(None))
        assert other.slots is not None
        made.append((other, other.slots, other.slots.versions[slot_index(issued.token.handle)]))
        return rotate(*args, **rest)

    monkeypatch.setattr(write_groups, "rotate", vanish)
    begun = time.monotonic()
    returned = await _rotate(sqlite_url, issued)
    ((other, slots, before),) = made
    assert slots.versions[slot_index(issued.token.handle)] != before
    assert returned - begun > 0.4
    await other.aclose()
    await worker.aclose()
