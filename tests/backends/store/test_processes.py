"""Several processes on one database: races have one winner, and an acknowledged write survives kill -9."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.groups import Change, GroupDraft, Tag
from tenantry.testing import make_token
from tests.backends.store.worker import work

pytestmark = pytest.mark.slow

PROCESSES = get_context("forkserver")
"""Each is a fork of one process that has imported what they need and opened nothing: to import takes longer than all
that they do."""
PROCESSES.set_forkserver_preload([work.__module__, "sqlalchemy.dialects.postgresql.psycopg"])


@contextmanager
def _workers(verb: str, url: str, count: int) -> Iterator[list[tuple[ForkServerProcess, Connection]]]:
    """Processes that have opened the database and now go, all at once."""
    go = PROCESSES.Event()
    workers = []
    try:
        for _ in range(count):
            ours, theirs = PROCESSES.Pipe(duplex=False)
            process = PROCESSES.Process(target=work, args=(theirs, go, verb, url))
            process.start()
            theirs.close()
            workers.append((process, ours))
        for _, pipe in workers:
            assert pipe.recv() == "ready"
        go.set()
        yield workers
    finally:
        for process, pipe in workers:
            process.kill()
            process.join()
            pipe.close()


def _rest(pipe: Connection) -> Iterator[dict[str, Any]]:
    """What it sends until it has ended."""
    try:
        while True:
            yield pipe.recv()
    except EOFError:
        return


def _race(verb: str, url: str) -> list[list[dict[str, Any]]]:
    with _workers(verb, url, 4) as workers:
        said = [list(_rest(pipe)) for _, pipe in workers]
        for process, _ in workers:
            process.join()
        assert [process.exitcode for process, _ in workers] == [0] * 4
    return said


async def test_four_processes_create_each_group_once(url: str) -> None:
    """Four processes get-or-create the same 20 groups: one group, one token, one ``created`` for each.

    Red when the write does not use ON CONFLICT (PostgreSQL) or begins without the lock (SQLite).
    """
    store = SQLStore(url)
    await store.environments.create("production", Tag.CUSTOMER)
    for answers in zip(*_race("create", url), strict=True):
        assert len({(answer["id"], answer["nonce"]) for answer in answers}) == 1
        assert sum(answer["created"] for answer in answers) == 1
    await store.aclose()


async def test_four_processes_redeem_each_code_once(url: str) -> None:
    """Four processes redeem the same 20 codes: each payload is given out once. Red when it is read before it is
    deleted (PostgreSQL)."""
    store = SQLStore(url)
    await store.environments.create("production", Tag.CUSTOMER)
    for number in range(20):
        digest = sha256(f"{number:043}".encode()).digest()
        await store.codes.add(digest, purpose="embed", payload=str(number), lifetime=600)
    for number, answers in enumerate(zip(*_race("redeem", url), strict=True)):
        assert sorted(str(answer["payload"]) for answer in answers) == sorted(["None"] * 3 + [str(number)])
    await store.aclose()


async def test_of_four_rotating_processes_one_wins_each_version(url: str) -> None:
    """Four processes rotate the token that they see: no version is ever won twice, and none is skipped.

    Red when ``rotate`` reads without FOR UPDATE and writes without comparing the revision.
    """
    store = SQLStore(url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
    won = [answer["version"] for answers in _race("rotate", url) for answer in answers if answer["won"]]
    assert sorted(won) == list(range(2, len(won) + 2))
    last = await store.groups.get(production, "acme")
    assert last is not None
    assert last.token.version == max(won)
    await store.aclose()


async def test_a_follower_of_four_processes_misses_no_change(url: str) -> None:
    """Four processes rotate four groups, 40 times each, while another polls: it sees 160 changes, each once, in order.

    Red when the generation is counted in a transaction of its own or by a sequence: a change that commits later than
    its number was drawn is passed by.
    """
    store = SQLStore(url, deadline=30)
    await store.environments.create("production", Tag.CUSTOMER)
    seen: list[Change] = []
    at = 0
    with _workers("rotate-own", url, 4) as workers:
        while at < 160:
            listed = await store.changes(at)
            assert listed.since == at
            seen += listed.changes
            at = listed.generation
            assert not any(process.exitcode for process, _ in workers)
            await asyncio.sleep(0.001)
        reported = Counter(said["handle"] for _, pipe in workers for said in _rest(pipe))
    assert [change.generation for change in seen] == list(range(1, 161))
    handles = Counter(change.handle.hex() for change in seen)
    assert handles == reported
    assert sorted(handles.values()) == [40] * 4
    await store.aclose()


async def test_acknowledged_rotations_survive_kill_9(sqlite_url: str) -> None:
    """Five times a process is killed while it rotates: what it has acknowledged is there, and at most one version more.

    Red when the transaction is acknowledged before its commit.
    """
    store = SQLStore(sqlite_url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
    await store.aclose()
    for _ in range(5):
        with _workers("rotate-for-ever", sqlite_url, 1) as ((process, pipe),):
            said = [pipe.recv() for _ in range(20)]
            process.kill()
            acknowledged = [*said, *_rest(pipe)][-1]
        kept = await store.groups.get(production, "acme")
        assert kept is not None
        assert kept.token.version - acknowledged["version"] in (0, 1)
        if kept.token.version == acknowledged["version"]:
            assert kept.token.nonce.hex() == acknowledged["nonce"]
        await store.aclose()
