"""Clicks that open another dashboard, which should show the same total as the clicked row."""

# A click passes on the panel's filters, and the page names the filters that the opened dashboard lacks.

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tenantry.dashboards.definition.model import Click, Control, DashboardFile, Panel
from tenantry.dashboards.definition.queries import parameters_filtering
from tenantry.errors import did_you_mean, misspelt
from tenantry.sql.parameters import TEXTS

if TYPE_CHECKING:
    from tenantry.dashboards.folder import SavedDashboard


@dataclass(frozen=True, slots=True)
class Link:
    """The filters that a click passes to the opened dashboard."""

    click: Click
    kept: tuple[str, ...]
    """The filters of the panel that the opened dashboard also has, so that the click passes them on."""
    dropped: tuple[str, ...]
    """Filters of the panel that do not exist on the opened dashboard. Their values are lost."""
    always: tuple[str, ...]
    """Filters for which the opened dashboard always applies its default: viewers cannot clear them, and the click does
    not set them."""
    controls: Mapping[str, Control]
    """The controls of the opened dashboard that filter rows."""
    other_days: bool
    """Whether the opened dashboard has ranges and their days differ, because its time zone or first day of the week
    differs."""

    def with_controls(self, seen: Mapping[str, Control]) -> Link:
        """Return this link for a group that sees only the controls ``seen`` of the opened dashboard."""
        hidden = {name for name in self.kept if name in self.controls and name not in seen}
        return replace(
            self,
            kept=tuple(name for name in self.kept if name not in hidden),
            dropped=tuple(sorted({*self.dropped, *hidden})),
            controls={name: each for name, each in self.controls.items() if name in seen},
        )

    @property
    def differences(self) -> Iterator[str]:
        """Yield sentences that say why the opened dashboard may show other totals than the clicked row."""
        opened = f"the dashboard {self.click.open}"
        if self.dropped:
            yield f"{opened} has no filter {', '.join(self.dropped)}, so it may show more rows than were clicked"
        if self.always:
            yield f"{opened} always filters by {', '.join(self.always)}, so it may show fewer rows than were clicked"
        if self.other_days:
            yield f"{opened} has another time zone or first day of the week, so its days differ from those of the row"


def find_link(saved: SavedDashboard, panel: Panel, click: Click, opened: SavedDashboard) -> Link:
    ours, theirs = saved.dashboard, opened.dashboard
    queries = saved.queries.panels[panel.id]
    read = queries.parameters & saved.settable
    filtering = {name for each in queries.templates for name in parameters_filtering(each)}
    both = {*kept_controls(ours, theirs), *(name for name in opened.settable if _is_text(name, ours, theirs))}
    kept = read & both
    given = click.values.keys() | {name for name in kept & ours.controls.keys() if _has_default(ours.controls[name])}
    set_there = opened.queries.filters | click.values.keys()
    filters = {name: each for name, each in theirs.controls.items() if name in set_there}
    always = [each for each in filters.values() if _has_default(each) and not each.parameter.clearable]
    ranges = any(each.parameter.is_range for each in theirs.controls.values())
    return Link(
        click=click,
        kept=tuple(sorted(kept)),
        dropped=tuple(sorted((read & filtering) - both - click.values.keys())),
        always=tuple(each.name for each in always if each.name not in given),
        controls=filters,
        other_days=ranges and ours.zone != theirs.zone,
    )


def _has_default(control: Control) -> bool:
    return control.parameter.default is not None


def _is_text(name: str, *dashboards: DashboardFile) -> bool:
    """Whether the parameter accepts any string, and at least one of the dashboards has no control for it."""
    controls = [each.controls[name] for each in dashboards if name in each.controls]
    return len(controls) < len(dashboards) and all(
        each.parameter.type in TEXTS and each.parameter.choices is None and not each.parameter.is_list
        for each in controls
    )


def check_open(dashboard: DashboardFile, names: Collection[str], settable: Callable[[str], Iterable[str]]) -> None:
    """Raise TemplateError if a click opens a dashboard that is not in ``names``, or sets a parameter that viewers
    cannot set there."""
    for panel in dashboard.panels:
        click = panel.click
        if click is None or not click.open:
            continue
        if click.open not in names:
            fix = f"{did_you_mean(click.open, names)}The dashboards: {', '.join(sorted(names))}"
            edit = misspelt(click.open, names)
            raise dashboard.source.error(click.offset, f"there is no dashboard {click.open}", fix, edit=edit)
        known = sorted(settable(click.open))
        for name in click.values:
            if name not in known:
                problem = f"the dashboard {click.open} does not read {name}"
                fix = f"{did_you_mean(name, known)}It reads: {', '.join(known) or 'nothing'}"
                raise dashboard.source.error(click.offset, problem, fix, edit=misspelt(name, known))


def kept_controls(dashboard: DashboardFile, opened: DashboardFile) -> tuple[str, ...]:
    """Return the names of the controls that a link can pass on. For each, ``opened`` has a control of the same name
    and kind that accepts all its values."""
    there = opened.controls
    return tuple(name for name, control in dashboard.controls.items() if name in there and _fits(control, there[name]))


def _fits(given: Control, taken: Control) -> bool:
    ours, theirs = given.parameter, taken.parameter
    if _kind(given) != _kind(taken):
        return False
    if theirs.choices is not None and not (ours.choices is not None and set(ours.choices) <= set(theirs.choices)):
        return False
    least = theirs.min is None or (ours.min is not None and ours.min >= theirs.min)
    return least and (theirs.max is None or (ours.max is not None and ours.max <= theirs.max))


def _kind(control: Control) -> tuple[str, bool]:
    parameter = control.parameter
    return ("text" if parameter.type in TEXTS else str(parameter.type), parameter.is_list)
