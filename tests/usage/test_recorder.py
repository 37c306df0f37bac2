"""UsageRecorder: what it counts, when it sends it, and that it is neither lost nor sent twice."""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenantry import DataSources, Resolver
from tenantry.aio.loop_local import silence_destroy_warning
from tenantry.backends.memory.store import MemoryStore, MemoryUsage
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.datasources import GroupUsage
from tenantry.errors import InvalidSettings, OutcomeUnknown, QueryFailed, StoreUnavailable
from tenantry.groups import OTHER_GROUPS, GroupDraft, SourceDraft, Tag, Token, Usage, UsageBatch, UsageKey, UserGroup
from tenantry.server.metrics import TimedBackend
from tenantry.tokens import KeyRing, SigningKey, draft_token
from tenantry.usage import UsageRecorder, recorder, recorder_of
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.datasources.settings import data_sources

KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
EVER = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
SOON = 60.0
ACME = UsageKey("production", "acme", "")


class FlakyUsage(MemoryUsage):
    """Loses its answers, or does not do what it is asked, as long as it is told to."""

    def __init__(self, tables: MemoryTables) -> None:
        super().__init__(tables)
        self.loses_answers = self.is_away = False
        self.batches: list[UsageBatch] = []

    async def add(self, batch: UsageBatch) -> None:
        self.batches.append(batch)
        if self.is_away:
            raise StoreUnavailable("the store does not answer: try again")
        await super().add(batch)
        await asyncio.sleep(0)
        if self.loses_answers:
            raise OutcomeUnknown("the connection broke during a commit")


class FlakyStore(MemoryStore):
    """``usage`` is a FlakyUsage."""

    def __init__(self, part: type[FlakyUsage] = FlakyUsage) -> None:
        super().__init__()
        self.usage: FlakyUsage = part(self._tables)
        self.usage_recorder = UsageRecorder(self.usage)


async def kept(store: MemoryStore) -> dict[UsageKey, Usage]:
    """All that the store has."""
    return dict(await store.usage.sums(*EVER))


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(SOON):
        while not true():
            await asyncio.sleep(0.002)


@pytest.fixture
def store() -> FlakyStore:
    return FlakyStore()


async def test_what_a_group_uses_is_kept(store: FlakyStore, tmp_path: Path) -> None:
    """Each token that was resolved, from the cache, from the store and while others waited; each query with its rows
    and seconds, for its source. Exactly, once the data sources are closed, and no value or token is in it.

    Red when hits are not collected, and without the flush of ``aclose``."""
    production = await store.environments.create("production", Tag.CUSTOMER)
    url = sqlite_file(tmp_path / "orders.db", "canary")
    await store.sources.create(production, "ds_1", SourceDraft("warehouse", url))
    tokens = {name: draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes) for name in ("acme", "zoo")}
    for name, token in tokens.items():
        draft = GroupDraft(name, name, {"region": "eu", "secret": "canary"}, {"main": "warehouse"})
        await store.groups.get_or_create(production, draft, token)
    resolver, sources = Resolver(TimedBackend(store), keys=KEYS, staleness=600), DataSources(store)
    raw = KEYS.mint(tokens["acme"]).encode()
    first = await asyncio.gather(*(resolver.resolve(raw) for _ in range(4)))
    for _ in range(300):
        assert resolver.peek(raw) is not None
    await resolver.resolve(KEYS.mint(tokens["zoo"]))
    for _ in range(2):
        await sources.fetch(first[0], "main", "select * from orders where region = {{ region }}")
    with pytest.raises(QueryFailed):
        await sources.fetch(first[0], "main", "select * from nowhere")
    assert await kept(store) == {}
    await sources.aclose()
    found = await kept(store)
    seconds = found[ACME._replace(source="ds_1")].seconds
    assert found == {
        ACME: Usage(resolves=304),
        ACME._replace(source="ds_1"): Usage(3, 6, seconds, 0),
        ACME._replace(group="zoo"): Usage(resolves=1),
    }
    assert 0 < seconds < SOON
    assert resolver.peek(raw) is not None
    await resolver.aclose()
    assert (await kept(store))[ACME] == Usage(resolves=305)
    sent = repr(store.usage.batches)
    assert not [canary for canary in ("canary", raw.decode(), "eu'", tokens["acme"].nonce.hex()) if canary in sent]


async def test_seconds_are_kept_to_the_microsecond(store: FlakyStore) -> None:
    """Also of a long query: its bill is not wrong by a millionth. Red when the factor is not exactly a million."""
    store.usage_recorder.add("production", "acme", queries=1, seconds=0.000_001)
    store.usage_recorder.add("production", "acme", queries=1, seconds=7_200.5)
    await store.usage_recorder.flush()
    assert await kept(store) == {ACME: Usage(queries=2, seconds=7_200.500_001)}


async def test_it_is_sent_by_itself(store: FlakyStore) -> None:
    """After a while, and no timer runs while nothing is counted."""
    counted = UsageRecorder(store.usage, 0.05)
    handles: list[Any] = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    before = len(handles)
    for number in (1, 2):
        counted.add("production", "acme", resolves=1)
        await until(lambda number=number: len(store.usage.batches) == number)
    await until(lambda: counted.waiting == 0)
    assert await kept(store) == {ACME: Usage(resolves=2)}
    assert len([each for each in handles if not each.cancelled()]) <= before


async def test_a_lost_answer_counts_nothing_twice(store: FlakyStore, caplog: pytest.LogCaptureFixture) -> None:
    """The batch is sent again as it was, and what was counted meanwhile is another one. It is said once in the log.

    Red when a batch that failed is added to the next one."""
    counted = UsageRecorder(store.usage, 3_600)
    store.usage.loses_answers = True
    for number in range(3):
        counted.add("production", "acme", queries=1, rows=10, seconds=0.1)
        await counted.flush()
        assert (await kept(store))[ACME] == Usage(1, 10, 0.1), number
    store.usage.loses_answers = False
    await counted.flush()
    await counted.flush()
    assert await kept(store) == {ACME: Usage(3, 30, 0.3)}
    assert [batch.number for batch in store.usage.batches] == [1, 1, 1, 1, 2]
    assert [record.message[:40] for record in caplog.records] == [
        "the usage of groups cannot be written to",
        "the usage of groups can be written to th",
    ]


async def test_a_store_that_is_away_loses_nothing(store: FlakyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is bounded: the groups beyond are summed up, and the sums are exact. The timer tries again.

    Red without the bound, and when a failed flush sets no timer."""
    monkeypatch.setattr(recorder, "MAX_ROWS", 5)
    counted = UsageRecorder(store.usage, 0.02)
    store.usage.is_away = True
    for number in range(20):
        counted.add("production", f"g{number}", queries=1)
    assert counted.waiting == 6
    await until(lambda: len(store.usage.batches) >= 3)
    counted.add("production", "g0", queries=1)
    store.usage.is_away = False
    await until(lambda: counted.waiting == 0)
    found = await kept(store)
    assert found.pop(UsageKey(*OTHER_GROUPS, "")) == Usage(queries=15)
    assert found == {UsageKey("production", f"g{at}", ""): Usage(queries=2 if at == 0 else 1) for at in range(5)}


async def test_many_groups_are_sent_at_once(store: FlakyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before the hour is over, in batches. Red without ``hurries``."""
    monkeypatch.setattr(recorder, "MANY_ROWS", 12)
    monkeypatch.setattr(recorder, "BATCH_ROWS", 5)
    counted = UsageRecorder(store.usage, 3_600)
    for number in range(12):
        counted.add("production", f"g{number}", resolves=1)
    await until(lambda: counted.waiting == 0)
    assert [len(batch.rows) for batch in store.usage.batches] == [5, 5, 2]
    assert len(await kept(store)) == 12


async def test_a_store_that_hangs_is_asked_once(store: FlakyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much comes meanwhile: what is sent next is sent when that is over. Red when a flush is planned while one
    is under way: a task for each turn of the loop, each of which would try in turn when the store fails."""
    monkeypatch.setattr(recorder, "MANY_ROWS", 2)
    hangs, adding = asyncio.Event(), store.usage.add

    async def hang(batch: UsageBatch) -> None:
        await hangs.wait()
        await adding(batch)

    monkeypatch.setattr(store.usage, "add", hang)
    counted = UsageRecorder(store.usage, 3_600)
    for number in range(200):
        counted.add("production", f"g{number}", queries=1)
        await asyncio.sleep(0.001)
    assert len(counted._tasks) == 1
    hangs.set()
    await until(lambda: counted.waiting < 2)


def test_a_loop_that_was_closed_while_it_sent(store: FlakyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cancelling its tasks, as ``asyncio.run`` does: the next loop sends the rest, nothing twice. Red with a
    lock that the task holds, which nobody lets go."""
    adding = store.usage.add

    async def hang(batch: UsageBatch) -> None:
        await adding(batch)
        await asyncio.Event().wait()

    monkeypatch.setattr(store.usage, "add", hang)
    counted = UsageRecorder(store.usage, 3_600)
    counted.add("production", "acme", queries=1)
    loop = asyncio.new_event_loop()
    task = loop.create_task(counted.flush())
    silence_destroy_warning(task)
    loop.run_until_complete(asyncio.sleep(0.01))
    assert len(store.usage.batches) == 1
    loop.close()
    monkeypatch.undo()
    counted.add("production", "acme", queries=2)
    asyncio.run(counted.flush())
    assert asyncio.run(kept(store)) == {ACME: Usage(queries=3)}
    assert counted.waiting == 0


class Entry:
    """Of the cache."""

    def __init__(self, of: UserGroup) -> None:
        self.group, self.hits = of, 0


def test_a_hit_during_a_write_is_written_when_the_loop_ends(store: FlakyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a flush lets go of the event loop although a hit came meanwhile."""
    counted, entry, adding = UsageRecorder(store.usage, 3_600), Entry(group("acme")), store.usage.add

    async def hit_meanwhile(batch: UsageBatch) -> None:
        if not store.usage.batches:
            counted.count_hit(entry)
        await adding(batch)

    async def work() -> None:
        counted.add("production", "acme", queries=1)
        await counted.flush()

    monkeypatch.setattr(store.usage, "add", hit_meanwhile)
    asyncio.run(work())
    assert asyncio.run(kept(store)) == {ACME: Usage(queries=1, resolves=1)}


async def test_a_count_is_of_the_hour_in_which_it_was_made(store: FlakyStore) -> None:
    """However late it comes into the store; hits too. Red when hits are put together in the hour that it is then."""
    now = [7_199.0]
    counted = UsageRecorder(store.usage, 3_600, clock=lambda: now[0])
    entry, other = Entry(group("acme")), Entry(group("zoo"))
    counted.add("production", "acme", resolves=1)
    for _ in range(5):
        counted.count_hit(entry)
    now[0] = 7_200.0
    counted.count_hit(other)
    assert entry.hits == 0
    counted.add("production", "acme", resolves=1)
    await counted.flush()
    hour = datetime(1970, 1, 1, 1, tzinfo=UTC)
    assert dict(await store.usage.sums(hour, hour + timedelta(hours=1))) == {ACME: Usage(resolves=6)}
    later = dict(await store.usage.sums(hour + timedelta(hours=1), EVER[1]))
    assert later == {ACME: Usage(resolves=1), ACME._replace(group="zoo"): Usage(resolves=1)}


async def test_threads_count_exactly_while_it_is_sent(store: FlakyStore) -> None:
    """Red without the lock of ``add`` or ``count_hit``: counts that come while a row is taken are lost."""
    counted = UsageRecorder(store.usage, 3_600)
    entry = Entry(group("acme"))

    def count() -> None:
        for _ in range(3_000):
            counted.add("production", "acme", queries=1, seconds=0.001)
            counted.count_hit(entry)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that they take turns within ``add``
    try:
        threads = [threading.Thread(target=count) for _ in range(3)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            await counted.flush()
            await asyncio.sleep(0)
    finally:
        sys.setswitchinterval(before)
    await counted.flush()
    assert await kept(store) == {ACME: Usage(9_000, 0, 9.0, 9_000)}


async def test_other_backends_are_served_as_before(tmp_path: Path) -> None:
    """One that only finds, as the IntrospectionBackend, keeps no usage: tokens are resolved all the same, from the
    cache too, and the data sources count in memory."""
    found = group("acme", main="ds_1")

    class FindOnly:
        async def find(self, token: Token) -> UserGroup | None:
            return found if token.handle == found.handle else None

    resolver = Resolver(FindOnly(), keys=KEYS)
    raw = KEYS.mint(Token(Tag.CUSTOMER, "k1", found.handle, 1, bytes(16))).encode()
    for _ in range(3):
        assert await resolver.resolve(raw) is found
    directory = Directory()
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    async with DataSources(directory) as sources:
        await sources.fetch(found, "main", "select * from orders", {})
        counted = sources.activity.usage
        assert isinstance(counted, GroupUsage)
        assert counted.take()["production", "acme"][:2] == (1, 3)
    await resolver.aclose()


async def test_a_counter_of_your_own_has_the_queries(store: FlakyStore) -> None:
    """Then the store is not given them."""
    own = GroupUsage()
    async with data_sources(store, usage=own) as sources:
        assert sources.activity.usage is own
    behind = (store, TimedBackend(store), RedisBackend(store, "redis://nowhere.invalid:1/0"))
    assert [recorder_of(each) for each in behind] == [store.usage_recorder] * 3


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_seconds_that_are_none_are_refused(store: FlakyStore, seconds: float) -> None:
    with pytest.raises(InvalidSettings, match="usage_seconds"):
        UsageRecorder(store.usage, seconds)


def test_what_no_database_takes_is_not_in_the_way(store: FlakyStore, caplog: pytest.LogCaptureFixture) -> None:
    """An app may make its groups up. Outside of a loop nothing is sent, and nothing fails; the error of a store that
    is not ours is told by its type and line alone, for its text may hold a password."""

    class Broken(FlakyUsage):
        async def add(self, batch: UsageBatch) -> None:
            self.batches.append(batch)
            raise ValueError("canary-password")

    broken = FlakyStore(Broken)
    counted = UsageRecorder(broken.usage, 3_600)
    counted.add("production", "a\0b\ud800" + "x" * 300, queries=1)
    counted.add("production", "ab?" + "x" * 400, queries=2)  # the same as text, and PostgreSQL takes a row once
    with caplog.at_level(logging.WARNING):
        asyncio.run(counted.flush())
    (row,) = broken.usage.batches[0].rows
    assert row.key.group == "ab?" + "x" * 252
    assert row.usage.queries == 3
    assert "builtins.ValueError" in caplog.text
    assert "canary" not in caplog.text
