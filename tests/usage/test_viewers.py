"""Usage by viewer: opt-in for an environment, bounded, by day, and in no metric or log."""

from __future__ import annotations

import logging
import secrets
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tenantry import DataSources, Resolver, mint_pass
from tenantry.groups import OTHER_GROUPS, OTHER_VIEWERS, Environment, GroupDraft, SourceDraft, Tag, Usage, UsageKey
from tenantry.server.metrics.top_groups import UsageCollector
from tenantry.tokens import draft_token
from tenantry.usage import UsageRecorder, recorder
from tests.datasources.conftest import sqlite_file
from tests.usage.test_recorder import EVER, KEYS, FlakyStore, kept

ANN = UsageKey("production", "acme", "", "ann-canary")
GROUP = ANN._replace(viewer="")
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC).timestamp()
MOST = 1_000


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


async def by_viewer(store: FlakyStore) -> dict[UsageKey, Usage]:
    return dict(await store.usage.sums(*EVER, by_viewer=True))


async def of_everyone(store: FlakyStore) -> Usage:
    """The usage of the group, of all its sources."""
    total = Usage()
    for used in (await kept(store)).values():
        total = total.plus(used)
    return total


async def make_environment(store: FlakyStore, *, counts_viewers: bool) -> tuple[Environment, str]:
    """Also creates the group, and gives its token."""
    production = await store.environments.create("production", Tag.CUSTOMER)
    if counts_viewers:
        await store.usage.set_viewer_usage(production, True)
    token = draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)
    await store.groups.get_or_create(production, GroupDraft("acme", "Acme", mapping={"main": "warehouse"}), token)
    return production, KEYS.mint(token)


async def use(store: FlakyStore, token: str, tmp_path: Path) -> None:
    """Five resolves by ann, two without a viewer, and three queries with six rows by each."""
    production = await store.environments.get("production")
    assert production is not None
    url = sqlite_file(tmp_path / "orders.db", "canary")
    await store.sources.create(production, "ds_1", SourceDraft("warehouse", url))
    resolver, sources = Resolver(store, keys=KEYS, staleness=600), DataSources(store)
    for raw, times in ((mint_pass(token, ANN.viewer), 5), (token, 1), (mint_pass(token), 1)):
        group = [await resolver.resolve(raw) for _ in range(times)][-1]
        for _ in range(3):
            await sources.fetch(group, "main", "select 1 union select 2")
    await sources.aclose()
    await resolver.aclose()


async def test_viewers_are_counted_beside_their_group(store: FlakyStore, tmp_path: Path) -> None:
    """A token, and a pass without an id, are counted for the group alone. No log, metric or observer has the id.

    Red when ``counted`` leaves the viewer out: four resolves. Red when the label of a query has no viewer."""
    _, token = await make_environment(store, counts_viewers=True)
    collector = UsageCollector(store.usage_recorder, 20)
    await use(store, token, tmp_path)
    seconds = (found := await by_viewer(store))[ANN].seconds
    assert found == {ANN: Usage(3, 6, seconds, 5)}
    everyone = await of_everyone(store)
    assert (everyone.queries, everyone.rows, everyone.resolves) == (9, 18, 7)
    assert 0 < seconds < everyone.seconds
    shown = repr([*collector.collect()])
    assert "acme" in shown
    assert ANN.viewer not in shown


async def test_no_viewer_is_stored_by_default(
    store: FlakyStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """None is sent to the store either. Red when the rows that were counted before the first answer are kept."""
    caplog.set_level(logging.DEBUG)
    _, token = await make_environment(store, counts_viewers=False)
    await use(store, token, tmp_path)
    assert (await of_everyone(store))[:2] == (9, 18)
    assert "canary" not in repr(store._tables.usage) + repr(store.usage.batches) + caplog.text


async def test_a_switch_is_seen_by_the_next_flush(store: FlakyStore) -> None:
    """On and off. Red when the store is asked only once."""
    production, _ = await make_environment(store, counts_viewers=False)
    counted = UsageRecorder(store.usage, 3_600, clock=Clock())
    for is_on in (False, True, True, False, False):
        await store.usage.set_viewer_usage(production, is_on)
        counted.add("production", "acme", viewer=ANN.viewer, queries=1)
        await counted.flush()
    assert await by_viewer(store) == {ANN: Usage(queries=1)}
    assert await kept(store) == {GROUP: Usage(queries=5)}


async def test_viewers_beyond_a_thousand_are_others(store: FlakyStore) -> None:
    """For each group and day, however often it is sent meanwhile. Red when the viewers are forgotten at a flush, and
    when a viewer who is known becomes another one."""
    production, _ = await make_environment(store, counts_viewers=True)
    token = draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)
    await store.groups.get_or_create(production, GroupDraft("zoo", "Zoo"), token)
    clock = Clock()
    counted = UsageRecorder(store.usage, 3_600, clock=clock)
    for _ in range(2):
        for number in range(MOST + 5):
            counted.add("production", "acme", viewer=f"v{number}", queries=1)
        await counted.flush()
    counted.add("production", "zoo", viewer="v9999", queries=1)
    await counted.flush()
    found = await by_viewer(store)
    assert found.pop(GROUP._replace(viewer=OTHER_VIEWERS)) == Usage(queries=10)
    assert found.pop(UsageKey("production", "zoo", "", "v9999")) == Usage(queries=1)
    assert found == {GROUP._replace(viewer=f"v{number}"): Usage(queries=2) for number in range(MOST)}
    clock.now += 24 * 3_600
    counted.add("production", "acme", viewer="new", queries=1)
    await counted.flush()
    assert (await by_viewer(store))[GROUP._replace(viewer="new")] == Usage(queries=1)


async def test_a_viewers_row_is_of_a_day(store: FlakyStore) -> None:
    """Two hours of a day make one row, which begins at midnight; the group has one for each hour.

    Red when a viewer's row is of the hour."""
    await make_environment(store, counts_viewers=True)
    clock = Clock()
    counted = UsageRecorder(store.usage, 3_600, clock=clock)
    for _ in range(2):
        counted.add("production", "acme", viewer=ANN.viewer, queries=1)
        clock.now += 3_600
    await counted.flush()
    midnight = datetime(2026, 11, 2, tzinfo=UTC)
    assert store._tables.usage.pop((midnight, ANN)) == Usage(queries=2)
    assert [(hour.hour, key) for hour, key in store._tables.usage] == [(12, GROUP), (13, GROUP)]


async def test_too_many_rows_leave_the_sums_of_groups_exact(store: FlakyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a viewer's row beyond the bound is added to that of further groups: it would count twice."""
    monkeypatch.setattr(recorder, "MAX_ROWS", 3)
    await make_environment(store, counts_viewers=True)
    counted = UsageRecorder(store.usage, 3_600)
    for number in range(5):
        counted.add("production", f"g{number}", viewer=ANN.viewer, queries=1)
    await counted.flush()
    assert (await of_everyone(store)).queries == 5
    assert UsageKey(*OTHER_GROUPS, "") in await kept(store)


@pytest.fixture
def store() -> FlakyStore:
    return FlakyStore()
