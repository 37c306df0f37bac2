"""What is shown of data sources, read as Prometheus reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tenantry.datasources import DataSources
from tenantry.errors import QueryFailed
from tenantry.server.metrics import metrics_app
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.server.metrics.conftest import samples, scrape


async def test_the_counters_of_sources(tmp_path: Path) -> None:
    """Each under its name and its source; no id of a group, no SQL and no value. Red when two are exchanged."""
    directory = Directory()
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    async with DataSources(directory) as sources:
        app = metrics_app(sources=sources)
        for _ in range(2):
            await sources.fetch(
                group("gr0up", main="ds_1"), "main", "select * from orders where id < {{ n }}", {"n": 2}
            )
        with pytest.raises(QueryFailed):
            await sources.fetch(group("gr0up", main="ds_1"), "main", "select c0lumn", {})
        counters = sources.activity.sources["ds_1"]
        counters.running, counters.waiting, counters.cache_hits, counters.joined, counters.bytes = 5, 6, 7, 8, 9
        text = (await scrape(app)).text
        strict = await scrape(app, accept="application/openmetrics-text; version=1.0.0")
    assert list(text_string_to_metric_families(strict.text))
    assert not any(part in text for part in ("gr0up", "c0lumn", "select"))
    shown = {name: value for (name, labels), value in samples(text).items() if labels == (("source", "ds_1"),)}
    assert {name: shown[f"tenantry_source_{name}"] for name in (
        "running", "waiting", "cache_hits_total", "joined_total", "bytes_total", "rows_total", "queue_seconds_count",
        "duration_seconds_count",
    )} == {
        "running": 5, "waiting": 6, "cache_hits_total": 7, "joined_total": 8, "bytes_total": 9, "rows_total": 4,
        "queue_seconds_count": 3, "duration_seconds_count": 3,
    }  # fmt: skip
    for name in ("queries", "executions"):
        for outcome, count in (("ok", 2), ("query_failed", 1)):
            labels = (("outcome", outcome), ("source", "ds_1"))
            assert samples(text)[f"tenantry_source_{name}_total", labels] == count
