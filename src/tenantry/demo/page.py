"""The one dashboard that every airline sees: key figures with their change in words, tables, and charts with the table
of the same rows.

Numbers and dates are written in American English; the page's script writes them again in the group's locale.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tenantry.dashboards.definition import Definition
from tenantry.demo.queries import (
    FIRST_DAY,
    KEY_FIGURES,
    LAST_DAY,
    MONTHS,
    ROUTES,
    Asker,
    Failure,
    Period,
    Rows,
    read_choice,
)
from tenantry.html import HTMLTemplate

if TYPE_CHECKING:
    from tenantry.datasources import DataSources
    from tenantry.groups import Record, UserGroup

# --- tables -----------------------------------------------------------------------------------------------------------

FORMATS: dict[str, Callable[[float], str]] = {
    "integer": "{:,.0f}".format,
    "decimal": "{:,.1f}".format,
    "percent": "{:.1%}".format,
    "money": "${:,.0f}".format,
}
"""Name (as in ``data-format``) -> text. dashboard.js has the same four."""


def number(value: float, style: str) -> str:
    """``number(0.8123, "percent")`` is ``81.2%``. Raises KeyError for another style."""
    return FORMATS[style](value)


def day(value: date) -> str:
    """July 1, 2013"""
    return f"{value:%B} {value.day}, {value.year}"


NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """``format`` is one of FORMATS, or empty for text. ``sorted`` says which way the rows come sorted by it.

    ``spare``: a narrow screen does without it.
    """

    field: str
    title: str
    format: str = ""
    sorted: str = ""
    spare: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """``value`` is None for text; ``text`` is what a reader without scripts sees."""

    text: str
    value: float | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The first column names its row."""

    caption: str
    columns: tuple[Column, ...]
    lines: list[list[Cell]]


def table(caption: str, columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> Table:
    """Rows of a query as a table. Beside a chart it is for readers who cannot see that."""
    return Table(caption, columns, [[_cell(row[column.field], column.format) for column in columns] for row in rows])


def _cell(value: Any, style: str) -> Cell:
    if value is None:
        return Cell(NOTHING)
    return Cell(number(value, style), value, style) if style else Cell(str(value))


# --- key figures ------------------------------------------------------------------------------------------------------

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FigureChange:
    """How a figure moved: ``amount`` (never negative), in ``format``, and the words after it. ``tone`` is a class."""

    amount: float
    format: str
    words: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` None: there is nothing to show. ``format`` is one of FORMATS."""

    title: str
    value: float | None
    format: str
    unit: str = ""
    change: FigureChange | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """The texts of a column of key_figures.sql. ``more`` and ``less`` are (words, tone) for the two directions."""

    column: str
    title: str
    format: str
    more: tuple[str, str]
    less: tuple[str, str]
    unit: str = ""
    relative: bool = False
    points: bool = False


KINDS = (
    Kind("flights", "Flights", "integer", ("more", ""), ("fewer", ""), relative=True),
    Kind("on_time_share", "On time", "percent", ("points better", "good"), ("points worse", "bad"), points=True),
    Kind("mean_delay", "Mean departure delay", "decimal", ("min longer", "bad"), ("min shorter", "good"), unit="min"),
    Kind("cancelled_share", "Cancelled", "percent", ("points more", "bad"), ("points fewer", "good"), points=True),
)


def figures(now: Row, before: Row | None) -> list[Figure]:
    """The key figures of a period; without ``before``, or with no flights in it, they have no change."""
    known = before if before is not None and before["flights"] else None
    return [
        Figure(kind.title, now[kind.column], kind.format, kind.unit, _change(kind, now, known) if known else None)
        for kind in KINDS
    ]


def _change(kind: Kind, now: Row, before: Row) -> FigureChange | None:
    new, old = now[kind.column], before[kind.column]
    if new is None or old is None:
        return None
    moved = (new - old) / old if kind.relative else (new - old) * (100 if kind.points else 1)
    style = "percent" if kind.relative else "decimal"
    if round(abs(moved) * (100 if kind.relative else 1), 1) == 0:
        return FigureChange(0, "", "no change")
    words, tone = kind.more if moved > 0 else kind.less
    return FigureChange(abs(moved), style, words, tone)


# --- charts -----------------------------------------------------------------------------------------------------------

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


MONTHS_CHART, ROUTES_CHART = _load("months"), _load("routes")


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
    return _chart(MONTHS_CHART, variables, shown, "Mean departure delay by month", MONTH_COLUMNS)


def routes_chart(rows: Rows, variables: Record) -> Chart:
    """The busiest routes."""
    shown = [{"route": route(row), "flights": row["flights"]} for row in rows[:BUSIEST]]
    chart = _chart(ROUTES_CHART, variables, shown, "Busiest routes", ROUTE_COLUMNS)
    height = len(shown) * BAR_PIXELS + MARGIN_PIXELS
    return replace(chart, definition={**chart.definition, "height": height}, short=len(shown) <= SHORT)


def route(row: dict[str, Any]) -> str:
    """EWR → SFO"""
    return f"{row['origin']} {ARROW} {row['dest']}"


def _chart(definition: Definition, variables: Record, rows: Rows, caption: str, columns: tuple[Column, ...]) -> Chart:
    # The rows come after the substitution: a value from a data source is never read as a template.
    filled = {**definition.substitute(variables), "data": {"values": rows}}
    return Chart(filled, table(caption, columns, rows))


TEMPLATE = HTMLTemplate((files("tenantry.demo") / "templates" / "dashboard.html").read_text(encoding="utf-8"))

LISTING = (
    Column("route", "Route"),
    Column("airport", "Destination", spare=True),
    Column("distance", "Distance, mi", "integer"),
    Column("flights", "Flights", "integer", sorted="descending"),
    Column("on_time_share", "On time", "percent"),
    Column("mean_delay", "Mean delay, min", "decimal"),
    Column("cancelled_share", "Cancelled", "percent"),
    Column("delay_cost", "Cost of delays", "money"),
)


@dataclass(frozen=True, slots=True)
class View:
    """What the template shows of one group and period. A panel is what it shows, or why it cannot."""

    figures: list[Figure] | Failure
    compared: str
    months: Chart | Failure
    routes: Chart | Failure
    listing: Table | Failure
    flights: int
    whole_year: bool

    @property
    def failures(self) -> list[Failure]:
        """Those of the panels."""
        panels = (self.figures, self.months, self.routes, self.listing)
        return [panel for panel in panels if isinstance(panel, Failure)]


async def render(
    group: UserGroup, variables: Record, sources: DataSources, addresses: Mapping[str, str], accent: str
) -> tuple[int, str]:
    """Status and HTML. ``addresses`` are those of the assets by name, ``accent`` six hex digits. Raises what the
    template raises."""
    choice = read_choice(variables["params"])
    view = None if choice.problem else await _view(Asker(sources, group, variables), choice.period)
    failures = view.failures if view else []
    status = 422 if choice.problem else max((failure.status for failure in failures), default=200)
    # four panels that fail for one reason say it once
    failure = failures[0] if view and len(failures) == _PANELS and len(set(failures)) == 1 else None
    html = TEMPLATE.render(
        variables,
        accent_colour=accent,
        addresses=addresses,
        choice=choice,
        view=view,
        failure=failure,
        first_day=FIRST_DAY,
        last_day=LAST_DAY,
        is_failure=lambda panel: isinstance(panel, Failure),
        number=number,
        day=day,
    )
    return status, html


_PANELS = 4


async def _view(asker: Asker, period: Period) -> View:
    earlier = period.before()
    now, before, months, routes = await asyncio.gather(
        asker.rows(KEY_FIGURES, period),
        asker.rows(KEY_FIGURES, earlier) if earlier else asyncio.sleep(0, []),
        asker.rows(MONTHS, period),
        asker.rows(ROUTES, period),
    )
    earlier_row = before[0] if not isinstance(before, Failure) and before else None
    listed = [] if isinstance(routes, Failure) else [{**row, "route": route(row)} for row in routes]
    return View(
        figures=now if isinstance(now, Failure) else figures(now[0], earlier_row),
        compared=f"than in the {earlier.length} before" if earlier else "",
        months=months if isinstance(months, Failure) else months_chart(months, asker.variables, period),
        routes=routes if isinstance(routes, Failure) else routes_chart(routes, asker.variables),
        listing=routes if isinstance(routes, Failure) else table("All routes", LISTING, listed),
        flights=0 if isinstance(now, Failure) else now[0]["flights"],
        whole_year=all(period.touches(month) for month in range(1, 13)),
    )
