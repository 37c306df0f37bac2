"""Page: the one dashboard that every airline sees."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tenantry.demo.accent import accent_of
from tenantry.demo.panels import (
    Chart,
    Column,
    Figure,
    Table,
    day,
    figures,
    months_chart,
    number,
    route,
    routes_chart,
    table,
)
from tenantry.demo.period import FIRST_DAY, LAST_DAY, Period, read_choice
from tenantry.demo.queries import KEY_FIGURES, MONTHS, ROUTES, Asker, Failure, Rows
from tenantry.html import HTMLTemplate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tenantry.datasources import DataSources
    from tenantry.groups import Record, UserGroup

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
    group: UserGroup, variables: Record, sources: DataSources, addresses: Mapping[str, str]
) -> tuple[int, str]:
    """Status and HTML. ``addresses`` are those of the assets by name. Raises what the template raises."""
    choice = read_choice(variables["params"])
    view = None if choice.problem else await _view(Asker(sources, group, variables), choice.period)
    failures = view.failures if view else []
    status = 422 if choice.problem else max((failure.status for failure in failures), default=200)
    # four panels that fail for one reason say it once
    failure = failures[0] if view and len(failures) == _PANELS and len(set(failures)) == 1 else None
    html = TEMPLATE.render(
        variables,
        accent_colour=accent_of(variables),
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
    return View(
        figures=_figures(now, before),
        compared=f"than in the {earlier.length} before" if earlier else "",
        months=months if isinstance(months, Failure) else months_chart(months, asker.variables, period),
        routes=routes if isinstance(routes, Failure) else routes_chart(routes, asker.variables),
        listing=routes if isinstance(routes, Failure) else _listing(routes),
        flights=0 if isinstance(now, Failure) else now[0]["flights"],
        whole_year=all(period.touches(month) for month in range(1, 13)),
    )


def _figures(now: Rows | Failure, before: Rows | Failure) -> list[Figure] | Failure:
    if isinstance(now, Failure):
        return now
    return figures(now[0], before[0] if not isinstance(before, Failure) and before else None)


def _listing(rows: Rows) -> Table:
    shown: list[dict[str, Any]] = [{**row, "route": route(row)} for row in rows]
    return table("All routes", LISTING, shown)
