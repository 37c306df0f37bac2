# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tenantry.errors import UnknownEnvironment
from tenantry.groups import Author, Environment, GroupDraft, HourlyUsage, Tag, Usage, UsageBatch, UsageKey
from tenantry.ports import Store
from tenantry.testing import make_token

HOUR = timedelta(hours=1)
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
FAR = datetime(9999, 1, 1, tzinfo=UTC)
DAY = 24 * HOUR
MIDNIGHT = NOON - NOON.hour * HOUR
ACME = UsageKey("production", "acme", "ds_1")
ANN = UsageKey("production", "acme", "", "ann 😀'")
BOB = ANN._replace(viewer="bob")
WRITER = b"w" * 16
MANY = 500


def batch(number: int, *rows: HourlyUsage, writer: bytes = WRITER) -> UsageBatch:
    return UsageBatch(writer, number, rows)


def used(
    key: UsageKey = ACME,
    hour: datetime = NOON,
    *,
    queries: int = 0,
    rows: int = 0,
    seconds: float = 0,
    resolves: int = 0,
) -> HourlyUsage:
    return HourlyUsage(hour, key, Usage(queries, rows, seconds, resolves))


async def sums(store: Store, since: datetime = NOON, until: datetime = FAR) -> dict[UsageKey, Usage]:
    return dict(await store.usage.sums(since, until))


async def viewers(store: Store, since: datetime = MIDNIGHT, until: datetime = FAR) -> dict[UsageKey, Usage]:
    return dict(await store.usage.sums(since, until, by_viewer=True))


async def make_group(store: Store, *, viewer_usage: bool) -> Environment:
    production = await store.environments.create("production", Tag.CUSTOMER)
    await store.usage.set_viewer_usage(production, viewer_usage)
    await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
    return production


class UsageContract:
    async def test_usage_adds_up(self, store: Store) -> None:
        assert await sums(store) == {}
        other = UsageKey("production", "zoo 😀'\"", "")
        await store.usage.add(batch(1, used(queries=3, rows=10**12, seconds=0.1), used(other, resolves=7)))
        await store.usage.add(batch(2, used(queries=1, rows=1, seconds=0.2)))
        await store.usage.add(batch(1, used(queries=5, seconds=1e6), writer=b"x" * 16))
        assert await sums(store) == {ACME: Usage(9, 10**12 + 1, 1_000_000.3, 0), other: Usage(resolves=7)}

    async def test_no_batch_is_added_twice(self, store: Store) -> None:
        first = batch(1, used(queries=3))
        for _ in range(3):
            await store.usage.add(first)
        await store.usage.add(batch(2, used(queries=1)))
        await store.usage.add(first)
        assert await sums(store) == {ACME: Usage(queries=4)}

    async def test_a_batch_that_is_sent_twice_at_once_is_added_once(self, store: Store) -> None:
        await asyncio.gather(*(store.usage.add(batch(1, used(queries=3))) for _ in range(8)))
        assert await sums(store) == {ACME: Usage(queries=3)}

    async def test_many_writers_add_to_the_same_rows(self, store: Store) -> None:
        # Fails on PostgreSQL if batches lock rows in different orders.
        rows: Sequence[HourlyUsage] = [used(UsageKey("production", f"g{each}", ""), resolves=1) for each in range(MANY)]
        orders = [rows if writer % 2 else rows[::-1] for writer in range(8)]
        batches = [batch(1, *order, writer=bytes([at]) * 16) for at, order in enumerate(orders)]
        await asyncio.gather(*map(store.usage.add, batches))
        found = await sums(store)
        assert len(found) == MANY
        assert set(found.values()) == {Usage(resolves=8)}

    async def test_usage_is_of_hours_and_of_whom_is_named(self, store: Store) -> None:
        elsewhere = UsageKey("other", "acme", "ds_1")
        zoo = UsageKey("production", "zoo", "")
        hours = [NOON - HOUR, NOON, NOON + HOUR]
        rows = [used(key, hour, queries=1) for key in (zoo, ACME, elsewhere) for hour in hours]
        await store.usage.add(batch(1, *rows))
        assert await store.usage.oldest() == NOON - HOUR
        one, two = Usage(queries=1), Usage(queries=2)
        assert list((await sums(store, NOON, NOON + HOUR)).items()) == [(elsewhere, one), (ACME, one), (zoo, one)]
        assert dict(await store.usage.sums(NOON, FAR, environment="production")) == {ACME: two, zoo: two}
        assert dict(await store.usage.sums(NOON, FAR, group="acme")) == {elsewhere: two, ACME: two}
        assert dict(await store.usage.sums(NOON, FAR, environment="production", group="zoo")) == {zoo: two}
        assert dict(await store.usage.sums(NOON, FAR, environment="production", group="nobody")) == {}

    async def test_usage_outlives_its_group(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        for number in (1, 2):
            await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
            await store.usage.add(batch(number, used(queries=1)))
            await store.groups.delete(production, "acme")
            assert await sums(store) == {ACME: Usage(queries=number)}

    async def test_old_usage_is_pruned(self, store: Store) -> None:
        await store.usage.add(batch(1, *(used(hour=NOON + each * HOUR, queries=1) for each in range(4))))
        assert await store.usage.prune(NOON + 2 * HOUR, author=Author("ann")) == 2
        assert await store.usage.prune(NOON + 2 * HOUR, author=Author("ann")) == 0
        assert await store.usage.oldest() == NOON + 2 * HOUR
        assert await sums(store) == {ACME: Usage(queries=2)}
        (entry,) = [each for each in await store.audit.list() if each.action == "usage.pruned"]
        assert (entry.author.name, entry.details) == ("ann", {"before": "2026-11-02T14:00+00:00", "rows": "2"})
        assert await store.usage.prune(FAR) == 2
        assert await store.usage.oldest() is None

    async def test_viewers_are_counted_where_the_environment_asks_for_it(self, store: Store) -> None:
        production = await make_group(store, viewer_usage=False)
        await store.usage.add(batch(1, used(queries=1), used(ANN, MIDNIGHT, queries=1)))
        assert (await viewers(store), await store.usage.environments_with_viewer_usage()) == ({}, set())
        await store.usage.set_viewer_usage(production, True, author=Author("ann"))
        assert await store.usage.environments_with_viewer_usage() == {"production"}
        (entry,) = [each for each in await store.audit.list() if each.details == {"viewer_usage": "on"}]
        assert (entry.action, entry.author.name) == ("environment.viewer_usage_set", "ann")
        nobody = ANN._replace(group="nobody")
        for writer in (WRITER, b"x" * 16):
            rows = [used(ANN, MIDNIGHT, queries=2, seconds=0.1), used(BOB, MIDNIGHT + DAY, resolves=3)]
            for _ in range(2):
                await store.usage.add(batch(2, *rows, used(nobody, MIDNIGHT, queries=1), writer=writer))
        assert list((await viewers(store)).items()) == [(ANN, Usage(4, 0, 0.2)), (BOB, Usage(resolves=6))]
        assert await viewers(store, MIDNIGHT, MIDNIGHT + DAY) == {ANN: Usage(4, 0, 0.2)}
        assert dict(await store.usage.sums(MIDNIGHT, FAR, environment="other", by_viewer=True)) == {}
        filters = {"environment": "production", "group": "acme"}
        assert len(await store.usage.sums(MIDNIGHT, FAR, by_viewer=True, **filters)) == 2
        assert await sums(store) == {ACME: Usage(queries=1)}
        with pytest.raises(UnknownEnvironment):
            await store.usage.set_viewer_usage(Environment(77, "production", Tag.CUSTOMER), True)

    async def test_usage_of_viewers_ends_with_the_group(self, store: Store) -> None:
        production = await make_group(store, viewer_usage=True)
        await store.groups.get_or_create(production, GroupDraft("zoo", "Zoo"), make_token())
        zoo = ANN._replace(group="zoo")
        await store.usage.add(batch(1, used(queries=1), used(ANN, MIDNIGHT, queries=1), used(zoo, MIDNIGHT, queries=1)))
        await store.groups.delete(production, "acme")
        await store.usage.add(batch(2, used(ANN, MIDNIGHT, queries=1)))
        await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
        assert await viewers(store) == {zoo: Usage(queries=1)}
        assert await sums(store) == {ACME: Usage(queries=1)}

    async def test_days_of_viewers_are_pruned_when_they_have_ended(self, store: Store) -> None:
        await make_group(store, viewer_usage=True)
        await store.usage.add(batch(1, *(used(ANN, MIDNIGHT + each * DAY, queries=1) for each in range(3))))
        assert await store.usage.oldest() == MIDNIGHT
        assert await store.usage.prune(NOON + DAY) == 1
        assert await store.usage.prune(NOON + DAY) == 0
        assert await viewers(store) == {ANN: Usage(queries=2)}
