"""Which values add up: what the author says, else the format and the names of columns."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.dashboards.definition.columns import aggregate_of
from tenantry.dashboards.definition.reader import read_dashboard

AVERAGES = ("avg_price", "AveragePrice", "priceAvg", "p95", "sales per day", "rate", "max_delay")
AMOUNTS = ("means_of_travel", "permits", "operated", "delay_min", "p9500", "Wert")


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ({"bar": ["flights"]}, "sum"),
        ({"bar": ["flights"], "format": "percent"}, "none"),
        ({"bar": ["flights"], "format": "percent", "aggregate": "sum"}, "sum"),
        ({"bar": ["flights"], "aggregate": "max"}, "max"),
        ({"bar": ["flights", "mean_delay"]}, "none"),
        *(({"donut": name}, "none") for name in AVERAGES),
        *(({"donut": name}, "sum") for name in AMOUNTS),
        ({"area": ["{{ params.rate }}"]}, "sum"),
        ({"line": ["mean_delay"]}, None),
        ({"table": "mean_delay"}, None),
    ],
)
def test_the_aggregate_of_a_view(view: dict[str, Any], expected: str | None) -> None:
    """Words of a name count, and no parts of words. Red when a mean is summed up unless the author forbids it."""
    assert aggregate_of({"kind": next(iter(view)), **view}) == expected


@pytest.mark.parametrize(
    ("panel", "expected"),
    [
        ("bar: share, by: d, stack: share", True),
        ("area: share, by: d, stack: sum", True),
        ("donut: mean_delay, by: d", True),
        ("donut: share, by: d, aggregate: sum", False),
        ("bar: share, by: d, limit: 3", False),
        ("area: share, by: d", False),
        ("line: share, by: d", False),
    ],
)
def test_a_stack_of_averages_is_known(panel: str, expected: bool) -> None:
    """Red when a share of means is drawn as a share of anything else."""
    (found,) = read_dashboard(f"title: A\nrows: [{{{panel}, query: q}}]", "a").panels
    assert found.adds_averages is expected


def test_bars_of_averages_have_one_row_each() -> None:
    """So that the check finds two. Sums may have several. Red when the first of two means is drawn and nobody knows."""
    found = read_dashboard("title: A\nrows: [[{bar: rate, by: d, color: k, query: q}, {bar: n, by: d, query: q}]]", "a")
    assert [panel.unique_by for panel in found.panels] == [("d", "k"), ()]
