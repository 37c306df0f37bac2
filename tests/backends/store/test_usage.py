"""Usage by group in a database: of several processes, of one that is killed, and of those that close nothing."""

from __future__ import annotations

import asyncio
import gc
import http.client
import os
import secrets
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engines.ports import free_port
from engines.warm_python import Popen, run
from tenantry.backends.sql import SQLStore
from tenantry.backends.stored import PRUNED_AT_ONCE
from tenantry.database.migrations import migrate
from tenantry.errors import StoreUnavailable
from tenantry.groups import Environment, GroupDraft, HourlyUsage, Tag, Usage, UsageBatch, UsageKey
from tenantry.tokens import draft_token
from tenantry.tokens.keys import SigningKeys, create_key_file

ROOT = Path(__file__).parents[3]
EVER = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
ACME = UsageKey("production", "acme", "")
STARTED = 180.0


async def kept(url: str) -> dict[UsageKey, Usage]:
    """All that the store has, as another process sees it."""
    store = SQLStore(url, deadline=30)
    try:
        return await kept_by(store)
    finally:
        await store.aclose()


async def kept_by(store: SQLStore) -> dict[UsageKey, Usage]:
    return dict(await store.usage.sums(*EVER))


@contextmanager
def counting(url: str, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes of tests/backends/store/usage_worker.py."""
    command = [sys.executable, "-m", "tests.backends.store.usage_worker", url]
    processes = [
        Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def tell(process: subprocess.Popen[str], *words: str) -> list[int]:
    """Has it do these things; gives how many rows waited after each."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{word}\n" for word in words))
    process.stdin.flush()
    return [int(process.stdout.readline()) for word in words if word != "end"]


def test_processes_add_up_and_a_killed_one_loses_what_it_had_not_sent(url: str) -> None:
    """Two count for the same group. One is killed: what it had flushed stays, and nothing is there twice. The other
    ends as its loop does, without having closed its store.

    Red when the keeper of the loop does not flush."""
    with counting(url, 2) as (first, second):
        assert tell(first, "5", "flush", "3") == [1, 0, 1]
        assert tell(second, "7", "flush", "11") == [1, 0, 1]
        assert asyncio.run(kept(url)) == {ACME: Usage(queries=12)}
        first.kill()
        first.wait()
        tell(second, "end")
        assert second.wait(STARTED) == 0
    assert asyncio.run(kept(url)) == {ACME: Usage(queries=23)}


async def make_acme(store: SQLStore) -> Environment:
    """Its environment counts viewers."""
    production = await store.environments.create("production", Tag.CUSTOMER)
    await store.usage.set_viewer_usage(production, True)
    token = draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)
    await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), token)
    return production


async def test_no_viewer_of_a_deleted_group_is_in_the_database(sqlite_url: str) -> None:
    """Red when the group is deleted alone: a report does not show the rows, but they are there."""
    store = SQLStore(sqlite_url, deadline=30)
    production, counted = await make_acme(store), store.usage_recorder
    assert counted is not None
    found = []
    for _ in range(2):
        counted.add("production", "acme", viewer="ann", queries=1)
        await counted.flush()
        with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as database:
            found += database.execute("select count(*) from usage_by_viewer").fetchone()
        if await store.groups.get(production, "acme"):
            await store.groups.delete(production, "acme")
    await store.aclose()
    assert found == [1, 0]


async def test_many_rows_of_viewers_are_deleted_in_short_writes(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A year of 1,000 viewers a day takes SQLite two seconds, which is the deadline. Red when all are one write."""
    store = SQLStore(url, deadline=30)
    production, writes, write = await make_acme(store), 0, store.groups._write
    keys = [ACME._replace(viewer=f"v{at}") for at in range(PRUNED_AT_ONCE * 2 + 1)]
    await store.usage.add(UsageBatch(b"w" * 16, 1, [HourlyUsage(EVER[0], key, Usage(1)) for key in keys]))

    async def counted(*given: Any) -> Any:
        nonlocal writes
        writes += 1
        return await write(*given)

    monkeypatch.setattr(store.groups, "_write", counted)
    await store.groups.delete(production, "acme")
    assert writes == 2
    await store.aclose()


def test_processes_add_up_by_viewer(url: str) -> None:
    """To the same row of the day. Red when a row that is there is left as it is."""

    async def prepare() -> None:
        store = SQLStore(url, deadline=30)
        await make_acme(store)
        await store.aclose()

    async def by_viewer() -> dict[UsageKey, int]:
        store = SQLStore(url, deadline=30)
        found = await store.usage.sums(*EVER, by_viewer=True)
        await store.aclose()
        return {key: used.queries for key, used in found.items()}

    asyncio.run(prepare())
    with counting(url, 2) as processes:
        for process in processes:
            assert tell(process, "ann:5", "bob:1", "3", "flush") == [2, 3, 3, 0]
        tell(processes[0], "ann:7", "flush")
    assert asyncio.run(by_viewer()) == {ACME._replace(viewer="ann"): 17, ACME._replace(viewer="bob"): 2}
    assert asyncio.run(kept(url)) == {ACME: Usage(queries=25)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_counts_for_itself(sqlite_url: str) -> None:
    """What its parent had counted is the parent's, and its batches are not taken for the parent's.

    Red without ``register_at_fork``: all is there twice, or the child's batches are refused."""
    run([sys.executable, "-m", "tests.backends.store.usage_worker", sqlite_url, "fork"], cwd=ROOT, check=True)
    assert asyncio.run(kept(sqlite_url)) == {ACME: Usage(queries=5 + 7 + 100)}


@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")  # of sqlite3, since Python 3.13
def test_a_loop_that_ends_sends_what_it_counted(url: str) -> None:
    """Nobody holds the store any more, and nobody has closed it. On PostgreSQL before the connections of the loop are
    closed.

    Red when that is left out: one is opened anew, and a connection that nobody has closed is a warning."""

    async def main() -> None:
        store = SQLStore(url, deadline=30)
        await store.environments.list()
        assert store.usage_recorder is not None
        store.usage_recorder.add("production", "acme", resolves=3)
        await store.usage_recorder.flush()
        store.usage_recorder.add("production", "acme", resolves=4)

    asyncio.run(main())
    gc.collect()
    assert asyncio.run(kept(url)) == {ACME: Usage(resolves=7)}


def test_a_server_that_is_told_to_stop_loses_nothing(sqlite_url: str, tmp_path: Path) -> None:
    """uvicorn gets SIGTERM; the app has no lifespan and closes nothing. Every request is counted, exactly; and no value
    and no token is in the tables."""
    keys_file = tmp_path / "tenantry.keys"
    key_id = create_key_file(keys_file).id
    keys = SigningKeys.from_file(keys_file)
    token = draft_token(Tag.CUSTOMER, key_id, secrets.token_bytes)

    async def prepare() -> None:
        store = SQLStore(sqlite_url, deadline=30)
        production = await store.environments.create("production", Tag.CUSTOMER)
        await store.groups.get_or_create(production, GroupDraft("acme", "Acme", {"secret": "canary-value"}), token)
        await store.aclose()

    asyncio.run(prepare())
    raw, port = keys.mint(token), free_port()
    environment = {**os.environ, "USAGE_STORE": sqlite_url, "USAGE_KEYS": str(keys_file)}
    command = [sys.executable, "-m", "uvicorn", "tests.backends.store.usage_app:app", "--port", str(port)]
    server = Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for(port)
        for _ in range(25):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=STARTED)
            connection.request("GET", "/", headers={"X-User-Group-Token": raw})
            assert connection.getresponse().read() == b"Acme"
            connection.close()
        server.terminate()
        _, log = server.communicate(timeout=STARTED)
    finally:
        server.kill()
        server.wait()
    assert asyncio.run(kept(sqlite_url)) == {ACME: Usage(resolves=25)}, log
    database = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    rows = [row for table in ("usage_by_hour", "usage_writers") for row in database.execute(f"select * from {table}")]
    database.close()
    assert len(rows) == 2
    assert not [canary for canary in ("canary", raw, token.nonce.hex(), repr(token.nonce)) if canary in repr(rows)]


def _wait_for(port: int) -> None:
    end = time.monotonic() + STARTED
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            return


async def test_a_store_without_the_tables_is_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A worker that is newer than its database counts all the same, and has it kept once that is migrated."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    database = sqlite3.connect(tmp_path / "store.db")
    database.execute("alter table usage_by_hour rename to away")
    database.commit()
    store = SQLStore(url, deadline=30)
    assert store.usage_recorder is not None
    store.usage_recorder.add("production", "acme", resolves=3)
    await store.usage_recorder.flush()
    assert "migration_needed" in caplog.text
    database.execute("alter table away rename to usage_by_hour")
    database.close()
    await store.aclose()
    assert await kept(url) == {ACME: Usage(resolves=3)}


async def test_a_store_that_keeps_no_usage(sqlite_url: str) -> None:
    """``usage_seconds=None``: nothing is counted for it, and what is there can be read."""
    store = SQLStore(sqlite_url, usage_seconds=None)
    assert store.usage_recorder is None
    assert dict(await store.usage.sums(*EVER)) == {}
    await store.aclose()


async def test_a_report_may_take_longer_than_a_request(postgres_url: str) -> None:
    """It waits while another call gives up. Red without a deadline of its own."""
    import asyncpg

    store = SQLStore(postgres_url, deadline=0.4)
    other = await asyncpg.connect(postgres_url)
    async with other.transaction():
        await other.execute("lock table usage_by_hour in access exclusive mode")
        with pytest.raises(StoreUnavailable):
            await store.usage.oldest()
        report = asyncio.create_task(kept_by(store))
        await asyncio.sleep(1.5)
    assert await report == {}
    await other.close()
    await store.aclose()
