"""What is shown of a resolver and its backend, read as Prometheus reads it."""

from __future__ import annotations

import re

import httpx2
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from tenantry.backends.buses.subscription import BusCounters, BusStatus
from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.redis.second_level import RedisBackend, RedisCounters
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import Changes, SourceDraft, Token, UserGroup
from tenantry.resolver import Resolver
from tenantry.server.metrics import ApiMetrics, TimedBackend, metrics_app
from tests.server.metrics.conftest import CANARY, Metered, samples, scrape


async def test_every_token_is_counted_once(metered: Metered) -> None:
    """A read, a hit, a forgery and a refusal, each under its name. Red when an outcome is mapped to another counter."""
    token = await metered.token()
    await metered.resolver.resolve(token)
    assert metered.resolver.peek(token.encode()) is not None
    for _ in range(2):
        with pytest.raises(InvalidToken):
            await metered.resolver.resolve("ugtc_nonsense")
    assert await metered.number("tenantry_tokens_total", outcome="read") == 1
    assert await metered.number("tenantry_tokens_total", outcome="hit") == 1
    assert await metered.number("tenantry_tokens_total", outcome="forged") == 2
    assert await metered.number("tenantry_tokens_total", outcome="joined") == 0
    assert await metered.number("tenantry_backend_reads_total", outcome="found") == 1
    assert await metered.number("tenantry_cached_tokens") == 1
    metered.resolver.counters.stale, metered.resolver.counters.loads = 2, 4
    assert await metered.number("tenantry_backend_reads_total", outcome="found") == 2, "a stale read was repeated"


async def test_the_lease_is_shown(metered: Metered) -> None:
    """How old it is, how much is left and what it is at most. Red when age and rest are exchanged."""
    await metered.resolver.resolve(await metered.token())
    metered.now[0] += 2
    bound = await metered.number("tenantry_staleness_bound_seconds")
    age, left = await metered.number("tenantry_lease_age_seconds"), await metered.number("tenantry_lease_left_seconds")
    assert (bound, age, left) == (5, 2, 3)
    assert await metered.number("tenantry_polls_total", outcome="answered") >= 1


async def test_without_a_lease_nothing_is_left(metered: Metered, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that gives no changes gives no lease: 0, and not an age. Red when minus infinity gets out."""
    assert "tenantry_lease" not in await metered.text()  # nobody has asked yet

    async def down(since: int | None) -> Changes:
        raise StoreUnavailable("down")

    monkeypatch.setattr(metered.store, "changes", down)
    await metered.resolver.resolve(await metered.token())
    assert await metered.number("tenantry_lease_left_seconds") == 0
    assert await metered.number("tenantry_polls_total", outcome="failed") >= 1
    assert "tenantry_lease_age_seconds" not in await metered.text()


async def test_a_call_of_the_backend_is_timed(metered: Metered) -> None:
    """One read is one observation, and the last bucket holds all. Red when a bucket holds only its own."""
    await metered.resolver.resolve(await metered.token())
    assert await metered.number("tenantry_backend_duration_seconds_count", call="look") == 1
    assert await metered.number("tenantry_backend_duration_seconds_bucket", call="look", le="+Inf") == 1
    assert await metered.number("tenantry_backend_duration_seconds_bucket", call="look", le="5.0") == 1
    assert await metered.number("tenantry_backend_duration_seconds_sum", call="look") > 0


async def test_a_backend_that_only_finds_is_cached_as_without_it(metered: Metered) -> None:
    """One read, then hits for the staleness bound, and it is timed too. Red when the one between seems to know of
    changes: the resolver waits for a lease that never comes, and each request is a read."""

    class Finding:
        async def find(self, token: Token) -> UserGroup | None:
            return await metered.store.find(token)

    timed = TimedBackend(Finding())
    resolver = Resolver(timed, keys=metered.keys)
    token = await metered.token()
    for _ in range(3):
        await resolver.resolve(token)
    assert (resolver.counters.loads, resolver.counters.hits) == (1, 2)
    shown = samples((await scrape(metrics_app(resolver=resolver, backend=timed))).text)
    assert shown["tenantry_backend_duration_seconds_count", (("call", "find"),)] == 1
    await resolver.aclose()


async def test_data_sources_share_the_lease_of_a_resolver_that_is_timed(metered: Metered) -> None:
    """A registration is cached as without the one between. Red when it does not pass the lease on: each query asks."""
    store = metered.store
    made = await store.sources.create(metered.production, "ds_1", SourceDraft("own", "sqlite:///a.db"))
    cache = store.sources.source_cache
    assert cache is not None
    assert cache is metered.timed.sources.source_cache
    assert await cache.read_source(store.sources, metered.production, "own") == made
    assert cache.peek_source(metered.production, "own") == made
    await metered.resolver.aclose()
    assert store.sources.source_cache is None


async def test_groups_are_named_up_to_a_number(metered: Metered) -> None:
    """The third of two is counted with the others, so labels stay bounded. Red when the bound is not looked at."""
    for provided_id in ("one", "two", "three", "four"):
        await metered.resolver.resolve(await metered.token(provided_id))
    shown = {
        dict(labels)["group"]: value
        for (name, labels), value in samples(await metered.text()).items()
        if name == "tenantry_group_reads_total"
    }
    assert shown == {"one": 1, "two": 1, "(others)": 2}


async def test_no_secret_is_shown(metered: Metered) -> None:
    """No token, handle, nonce or property, whatever was asked. Red when the token is a label."""
    token = await metered.token()
    await metered.resolver.resolve(token)
    handle = metered.keys.read(token).handle.hex()
    text = await metered.text()
    assert "acme" in text  # a public id, since it was asked for
    for canary in (token, token[-20:], handle, CANARY, "ugtc_"):
        assert canary not in text


async def test_the_names_are_as_prometheus_wants_them(metered: Metered) -> None:
    """Help, type, base units, ``_total`` on counters and nothing else, no label of Prometheus's own."""
    await metered.resolver.resolve(await metered.token())
    families = list(text_string_to_metric_families(await metered.text()))
    assert len(families) >= 10
    for family in families:
        assert re.fullmatch(r"tenantry_[a-z_]*[a-z]", family.name)
        assert family.documentation.endswith(".")
        assert family.type in {"counter", "gauge", "histogram"}
        assert not re.search(r"_(ms|millis|milliseconds|us|count|sum|bucket|info)$", family.name)
        names = {sample.name for sample in family.samples}
        assert (family.type == "counter") == all(name.endswith("_total") for name in names)
        if "duration" in family.name or "lease" in family.name or "staleness" in family.name:
            assert family.name.endswith("_seconds")
        for sample in family.samples:
            assert not {"job", "instance", "__name__"} & set(sample.labels)


async def test_what_the_cache_and_the_buses_count_is_shown() -> None:
    """Each counter under its name, and two buses of one class together. Red when one hides the other."""

    class Bus:
        def __init__(self, counters: BusCounters) -> None:
            self.counters = counters

    second = RedisBackend(MemoryStore(), "redis://127.0.0.1:1/0")
    second.counters = RedisCounters(hits=1, misses=2, refused=3, errors=4, skipped=5, writes=6, lost_writes=7)
    well = BusCounters(heard=1, ignored=2, held_back=3, losses=4, deaf=1, status=BusStatus.RECEIVING)
    buses = [Bus(well), Bus(BusCounters(heard=10, losses=40, deaf=2, status=BusStatus.DEAF))]
    shown = samples((await scrape(metrics_app(second_level=second, buses=buses))).text)
    looks = {"hit": 1, "miss": 2, "refused": 3, "error": 4, "skipped": 5}
    for outcome, count in looks.items():
        assert shown["tenantry_second_level_looks_total", (("outcome", outcome),)] == count
    assert shown["tenantry_second_level_writes_total", (("outcome", "taken"),)] == 6
    assert shown["tenantry_second_level_writes_total", (("outcome", "lost"),)] == 7
    assert shown["tenantry_bus_losses_total", (("bus", "Bus"),)] == 44
    assert shown["tenantry_bus_deaf_total", (("bus", "Bus"),)] == 3
    assert shown["tenantry_bus_receiving", (("bus", "Bus"),)] == 0
    buses[1].counters.status = BusStatus.RECEIVING
    shown = samples((await scrape(metrics_app(second_level=second, buses=buses))).text)
    assert shown["tenantry_bus_receiving", (("bus", "Bus"),)] == 1
    buses[1].counters.status = BusStatus.IDLE  # nobody follows it
    assert samples((await scrape(metrics_app(buses=buses))).text)["tenantry_bus_receiving", (("bus", "Bus"),)] == 1
    for outcome, count in {"heard": 11, "ignored": 2, "held_back": 3}.items():
        assert shown["tenantry_bus_notices_total", (("bus", "Bus"), ("outcome", outcome))] == count


async def test_it_answers_as_it_is_asked(metered: Metered) -> None:
    """OpenMetrics for who wants it, no body for others than GET, and nothing is kept by a cache."""
    app = metrics_app(resolver=metered.resolver, backend=metered.timed, api=ApiMetrics())
    answer = await scrape(app, accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert list(parse_openmetrics(answer.text))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://metrics.test") as client:
        refused = await client.post("/metrics")
    assert (refused.status_code, refused.headers["allow"], refused.text) == (405, "GET, HEAD", "")
