"""The groups that use most, as metrics."""

from __future__ import annotations

import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import InvalidSettings
from tenantry.server.metrics import metrics_app
from tenantry.server.metrics.top_groups import TopGroups
from tests.server.metrics.conftest import CANARY, Metered, samples, scrape


async def test_the_usage_of_groups_is_shown_when_it_is_asked_for(metered: Metered) -> None:
    """Hits too, before they are sent to the store; what is beyond ``top_groups`` is one series. No value is in it.

    Red when a scrape does not collect the hits."""
    recorder = metered.store.usage_recorder
    app = metrics_app(resolver=metered.resolver, usage=recorder, top_groups=2)
    for number in range(4):
        token = await metered.token(f"g{number}")
        await metered.resolver.resolve(token)
        assert metered.resolver.peek(token.encode()) is not None
    recorder.add("production", "g0", source="ds_1", queries=2, rows=30, seconds=0.5)
    text = (await scrape(app)).text
    found = {key: value for key, value in samples(text).items() if key[0].startswith("tenantry_group")}
    for name, *numbers in (
        ("query_seconds", 0.5, 0, 0),
        ("queries", 2, 0, 0),
        ("resolves", 2, 2, 4),
        ("rows", 30, 0, 0),
    ):
        labels = [("production", "g0"), ("production", "g1"), ("", "(others)")]
        for (environment, group), number in zip(labels, numbers, strict=True):
            key = f"tenantry_group_{name}_total", (("environment", environment), ("group", group))
            assert found.pop(key) == number
    assert found == {}
    assert samples(text)["tenantry_usage_waiting_rows", ()] == 5
    assert CANARY not in text
    assert "tenantry_group" not in (await scrape(metrics_app(resolver=metered.resolver))).text


def test_names_change_once_an_hour_and_no_count_goes_down() -> None:
    """Those that used most in the last hour have the names; one that was idle keeps its name while nobody needs it.

    Red when what a group used before it had a name is taken from the others."""
    now = [0.0]
    top = TopGroups(2, lambda: now[0])
    for group, seconds in (("a", 1.0), ("b", 2.0), ("c", 5.0), ("d", 0.5)):
        top.add("production", group, queries=1, seconds=seconds)
    assert {key[1] for key in top.named} == {"a", "b"}
    assert top.others == [5_500_000, 2, 0, 0]
    now[0] = 3_600.0
    top.add("production", "c", resolves=1)
    assert {key[1]: counts for key, counts in top.named.items()} == {"c": [0, 0, 1, 0], "b": [2_000_000, 1, 0, 0]}
    now[0] = 7_200.0
    top.add("production", "d", resolves=1)
    assert {key[1] for key in top.named} == {"c", "b"}
    assert top.others == [5_500_000, 2, 1, 0]


def test_less_than_one_group_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="top_groups"):
        metrics_app(usage=MemoryStore().usage_recorder, top_groups=0)
