from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime, tzinfo
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

from tenantry.clock import clock_shift, steady_time
from tenantry.dashboards.charts.chart_rows import ChartRows
from tenantry.dashboards.charts.m4 import Plot
from tenantry.dashboards.definition.columns import Columns, named_columns, small_line
from tenantry.dashboards.definition.model import DashboardFile, Panel, PanelKind
from tenantry.dashboards.definition.queries import chosen_unit, ends_within_days, parameters_read, range_controls
from tenantry.dashboards.definition.zones import declared_zone, zone_for
from tenantry.dashboards.folder import SavedDashboard
from tenantry.dashboards.panels.periods import Days, Periods, periods
from tenantry.dashboards.panels.tables import fetch_table
from tenantry.dashboards.protocol.answer_budget import Encode, HeldLine, OpenAnswer
from tenantry.dashboards.protocol.panel_errors import internal_error, viewer_error
from tenantry.dashboards.protocol.panel_lines import choices_line, error_line, rows_line
from tenantry.dashboards.protocol.panel_request import WantedPanel
from tenantry.datasources import DataSources, WrappedTemplate
from tenantry.datasources.results import Result
from tenantry.errors import TenantryError, error_location
from tenantry.groups import Record, UserGroup, extend
from tenantry.sql import SQLTemplate
from tenantry.sql.parameters import UTC_ZONE, WEEK_STARTS, PropertyReference, weeks_from_sunday

_REDUCED: Final = frozenset({PanelKind.LINE, PanelKind.AREA})
"""Kinds of panels whose rows are reduced to the visible ones, unless their series are stacked."""

FRESH: Final = 5.0
"""Maximum age in seconds of rows after a refresh. With a result cache, viewers who refresh within this time share one
query."""

_log = logging.getLogger("tenantry.dashboards")


class _Clock(NamedTuple):
    zone: tzinfo | None
    sent: dict[str, str | None]
    """The fields ``now``, ``zone`` and ``week_start`` of a panel's line."""


class PanelRunner:
    """Runs the panels of a dashboard for one viewer. A failing or slow panel does not affect the others. ``fresh``: use
    only rows that are at most ``FRESH`` seconds old."""

    def __init__(
        self,
        saved: SavedDashboard,
        group: UserGroup,
        sources: DataSources,
        charts: ChartRows,
        params: Mapping[str, Any],
        *,
        fresh: bool = False,
    ) -> None:
        self._saved = saved
        self._group = group
        self._sources = sources
        self._charts = charts
        self._params: Final = dict(params)
        self._fresh = fresh
        self._now: Final = datetime.now(UTC)  # one time for all panels, so that today is the same day in each
        self._clock_shift = clock_shift()
        self._certain_until = sources.changes.certain_until()
        self._ranges = range_controls(saved.dashboard)
        self.variables: Final[Record] = extend(group.variables, "params", self._params)
        """The group's variables and ``params``, for queries and texts."""

    def panel(self, panel: Panel, wanted: WantedPanel, answer: OpenAnswer) -> Coroutine[Any, Any, HeldLine]:
        """Return the panel's line. If the panel fails, the line contains the error."""
        return self._line("panel", panel.id, partial(self._rows, panel, wanted), answer)

    def choices(self, control: str, answer: OpenAnswer) -> Coroutine[Any, Any, HeldLine]:
        return self._line("choices", control, partial(self._choices, control), answer)

    async def _line(self, kind: str, name: str, fetch: Callable[[], Awaitable[Encode]], answer: OpenAnswer) -> HeldLine:
        dashboard = self._saved.dashboard.name
        try:
            return await answer.line((dashboard, kind, name), fetch)
        except TenantryError as error:
            level = logging.ERROR if error.status >= 500 else logging.INFO
            _log.log(level, "%s %s of dashboard %s: %s: %s", kind, name, dashboard, error.code, error)
            shown = viewer_error(error)
        except Exception as error:  # noqa: BLE001  # a mistake in one panel does not affect the others
            _log.error("%s %s of dashboard %s: %s", kind, name, dashboard, error_location(error))
            shown = internal_error()
        return HeldLine(deque([error_line(kind, name, shown, self._certain_until)]), 0)

    async def _rows(self, panel: Panel, wanted: WantedPanel) -> Encode:
        view = panel.view.substitute(self.variables)  # raises for a missing variable
        queries = self._saved.queries.panels[panel.id]
        if queries.rows is None:
            return partial(rows_line, panel.id, Result((), ()), None)
        named = named_columns(panel, self.variables)
        if panel.kind is PanelKind.TABLE:
            return await self._table(panel, queries.rows, view, named, wanted)
        found = self._periods(queries.rows)
        plot = _plot(panel, view, wanted.plot_width)
        if plot is not None:
            return await self._chart(panel, queries.rows, named, plot, found)
        compared = found if panel.compare else None
        ends_later = compared is not None and compared.shown != compared.whole
        rows, (before, so_far, small) = await _together(
            self._ask(panel, queries.rows),
            self._of_days(panel, queries.rows, compared and compared.before),
            # Rows of the future, such as planned ones, must not count in the change.
            self._of_days(panel, queries.rows, compared.shown if compared is not None and ends_later else None),
            self._ask(panel, queries.sparkline) if queries.sparkline is not None else None,
        )
        more: dict[str, tuple[Result, Columns]] = {}
        if before is not None:
            more["compare"] = before, named
        if so_far is not None:
            more["so_far"] = so_far, named
        if small is not None:
            more["sparkline"] = small_line(small, view[panel.kind]), None
        zone, about = self._about(queries.rows, found, rows, before, so_far, small)
        return partial(rows_line, panel.id, rows, named, zone, about, more)

    async def _table(
        self, panel: Panel, template: SQLTemplate, view: Mapping[str, Any], named: Columns, wanted: WantedPanel
    ) -> Encode:
        found = await fetch_table(partial(self._ask, panel), template, view, named, wanted.page, wanted.sort)
        zone, about = self._about(template, self._periods(template), found.rows, total=found.total)
        more = {} if found.extremes is None else {"extremes": (found.extremes, named)}
        return partial(rows_line, panel.id, found.rows, named, zone, about, more)

    async def _chart(
        self, panel: Panel, template: SQLTemplate, named: Columns, plot: Plot, found: Periods | None
    ) -> Encode:
        rows, reduced = await self._charts.fetch(
            self._group, panel.schema, template, self.variables, plot, self._max_age(panel), self._now
        )
        zone, about = self._about(template, found, rows, reduced=reduced)
        return partial(rows_line, panel.id, rows, named, zone, about)

    def _of_days(self, panel: Panel, template: SQLTemplate, days: Days | None) -> Coroutine[Any, Any, Result] | None:
        if days is None:
            return None
        params = self._params | {self._range(template): days.value(self._clock(template).zone or UTC_ZONE)}
        return self._ask(panel, template, extend(self.variables, "params", params))

    def _range(self, template: SQLTemplate) -> str | None:
        if not self._ranges:
            return None
        read = parameters_read(template)
        names = [name for name in self._ranges if name in read]
        return names[0] if len(names) == 1 else None

    def _periods(self, template: SQLTemplate) -> Periods | None:
        name = self._range(template)
        if name is None:
            return None
        zone = self._clock(template).zone or UTC_ZONE
        parameter = template.parameters[name]
        return periods(parameter, self.variables, self._now, zone, by_time=ends_within_days(template, parameter))

    async def _choices(self, control: str) -> Encode:
        rows = await self._ask(self._saved.dashboard, self._saved.queries.choices[control])
        return partial(choices_line, control, rows)

    def _ask(
        self, asker: Panel | DashboardFile, template: SQLTemplate | WrappedTemplate, variables: Record | None = None
    ) -> Coroutine[Any, Any, Result]:
        given = self.variables if variables is None else variables
        return self._sources.query(
            self._group, asker.schema, template, given, max_age=self._max_age(asker), now=self._now
        )

    def _clock(self, template: SQLTemplate) -> _Clock:
        of_dashboard = self._saved.dashboard.zone
        declared = declared_zone(template, of_dashboard)
        return self._clock_of_dashboard if declared is of_dashboard else self._clock_in(declared)

    @cached_property
    def _clock_of_dashboard(self) -> _Clock:
        return self._clock_in(self._saved.dashboard.zone)

    def _clock_in(self, declared: tzinfo | PropertyReference) -> _Clock:
        zone = zone_for(declared, self.variables)
        local = self._now.astimezone(zone or UTC_ZONE).replace(tzinfo=None, microsecond=0)
        week_start = WEEK_STARTS[weeks_from_sunday(self._saved.dashboard.zone, self.variables)]
        return _Clock(zone, {"now": local.isoformat(), "zone": str(zone) if zone else None, "week_start": week_start})

    def _about(
        self,
        template: SQLTemplate,
        found: Periods | None,
        *results: Result | None,
        total: int | None = None,
        reduced: bool = False,
    ) -> tuple[tzinfo | None, dict[str, Any]]:
        zone, sent = self._clock(template)
        age, as_of = None, self._certain_until
        asked = [result.as_of for result in results if result is not None and result.as_of is not None]
        if asked:
            oldest = min(asked).timestamp() - self._clock_shift
            age, as_of = max(0.0, round(steady_time() - oldest, 1)), max(oldest, as_of)
        return zone, {
            "total": total,
            "reduced": reduced,
            "age": age,
            "as_of": as_of,
            **sent,
            "unit": chosen_unit(template, self.variables, self._now),
            "periods": found and found.sent(),
        }

    def _max_age(self, asker: Panel | DashboardFile) -> float | None:
        if not self._fresh:
            return asker.max_age
        return FRESH if asker.max_age is None else min(FRESH, asker.max_age)


def _plot(panel: Panel, view: Mapping[str, Any], width: int) -> Plot | None:
    if panel.kind not in _REDUCED or view.get("stack"):
        return None
    shown = view[panel.kind]
    measures = (shown,) if isinstance(shown, str) else tuple(shown)
    return Plot(view["by"], measures, view.get("color"), width, filled=view.get("fill") == 0)


async def _together(first: Awaitable[Result], *others: Awaitable[Result] | None) -> tuple[Result, list[Result | None]]:
    if not any(others):  # saves the task
        return await first, [None for _ in others]
    main = asyncio.ensure_future(first)
    tasks = [None if each is None else asyncio.ensure_future(each) for each in others]
    running = [main, *(task for task in tasks if task is not None)]
    try:
        await asyncio.gather(*running)
        return main.result(), [None if task is None else task.result() for task in tasks]
    finally:
        for task in running:
            task.cancel()
