"""Chart: a Vega-Lite definition with a group's variables and rows in it, and the table of the same rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tenantry.dashboards.definition import Definition
from tenantry.demo.period import FIRST_DAY
from tenantry.demo.tables import Column, Table, table

if TYPE_CHECKING:
    from tenantry.demo.period import Period
    from tenantry.demo.queries import Rows
    from tenantry.groups import Record

BUSIEST = 10
"""How many routes the chart shows; the list below has all."""

BAR_PIXELS, MARGIN_PIXELS = 27, 14
"""The height of one route's bar with its gap, and of what is around them: one route gives one bar, not a wall."""

MONTH_COLUMNS = (
    Column("name", "Month"),
    Column("mean_delay", "Mean delay, min", "decimal"),
    Column("flights", "Flights", "integer"),
)
ROUTE_COLUMNS = (Column("route", "Route"), Column("flights", "Flights", "integer"))

ARROW = "\N{RIGHTWARDS ARROW}"

SHORT = 4
"""How many bars fit into a short chart."""


@dataclass(frozen=True, slots=True)
class Chart:
    """What the element <tenantry-chart> is given. ``short``: half the height is enough."""

    definition: Any
    table: Table
    short: bool = False


def _load(name: str) -> Definition:
    return Definition(json.loads((files("tenantry.demo") / "charts" / f"{name}.json").read_text(encoding="utf-8")))


MONTHS, ROUTES = _load("months"), _load("routes")


def months_chart(rows: Rows, variables: Record, period: Period) -> Chart:
    """The mean delay of each month of the year, with the months of the period marked."""
    shown = [
        {
            "month": FIRST_DAY.replace(month=row["month"]).isoformat(),
            "name": f"{FIRST_DAY.replace(month=row['month']):%B}",
            "flights": row["flights"],
            "mean_delay": None if row["mean_delay"] is None else round(row["mean_delay"], 1),
            "chosen": period.touches(row["month"]),
        }
        for row in rows
    ]
    return _chart(MONTHS, variables, shown, "Mean departure delay by month", MONTH_COLUMNS)


def routes_chart(rows: Rows, variables: Record) -> Chart:
    """The busiest routes."""
    shown = [{"route": route(row), "flights": row["flights"]} for row in rows[:BUSIEST]]
    chart = _chart(ROUTES, variables, shown, "Busiest routes", ROUTE_COLUMNS)
    height = len(shown) * BAR_PIXELS + MARGIN_PIXELS
    return replace(chart, definition={**chart.definition, "height": height}, short=len(shown) <= SHORT)


def route(row: dict[str, Any]) -> str:
    """EWR → SFO"""
    return f"{row['origin']} {ARROW} {row['dest']}"


def _chart(definition: Definition, variables: Record, rows: Rows, caption: str, columns: tuple[Column, ...]) -> Chart:
    # The rows come after the substitution: a value from a data source is never read as a template.
    filled = {**definition.substitute(variables), "data": {"values": rows}}
    return Chart(filled, table(caption, columns, rows))
