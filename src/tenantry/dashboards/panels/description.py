"""Describes a dashboard to the page: texts, controls and panels.

The description contains no schemas. It contains a query only if the panel has ``show_query``. Of the group's
properties, it contains only ``locale``, ``currency``, ``timezone``, ``theme``, ``accent`` and those that the file
names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from tenantry.dashboards.definition.columns import aggregate_of
from tenantry.dashboards.definition.controls import sent_value
from tenantry.dashboards.definition.model import Click, Control, DashboardFile, Panel
from tenantry.dashboards.definition.queries import parameters_read
from tenantry.dashboards.folder import SavedDashboard
from tenantry.dashboards.links import Link
from tenantry.errors import MissingVariable, UnbindableValue
from tenantry.groups import Record, extend, thaw
from tenantry.sql.parameters import (
    UTC_ZONE,
    Parameter,
    ParameterType,
    RelativeRange,
    parse_relative,
    spell,
    typed_value,
    zone_of_group,
)

_COLOURS: Final = ("accent", "good", "warn", "bad", "background", "surface")
_THEME: Final = (*_COLOURS, "logo", "font", "corner", "density", "mode")
"""Keys of the group's property ``theme`` that are strings. The accent may also be the property ``accent``."""


def describe(saved: SavedDashboard, variables: Record) -> dict[str, Any]:
    dashboard = saved.dashboard
    properties = thaw(variables["user_group"]["properties"])
    return {
        "name": dashboard.name,
        **_texts(dashboard, variables),
        "locale": _text(properties, "locale"),
        "currency": _text(properties, "currency"),
        "timezone": _zone(dashboard, variables),
        "theme": _theme(properties),
        "colors": dict(dashboard.colors),
        "controls": [_control(saved, control, variables) for control in dashboard.controls.values()],
        "rows": [[_panel(saved, panel, variables) for panel in row] for row in dashboard.rows],
    }


def _zone(dashboard: DashboardFile, variables: Record) -> str | None:
    try:
        return str(zone_of_group(dashboard.zone, variables) or UTC_ZONE)
    except UnbindableValue:  # each panel's own line reports the error
        return None


def _texts(dashboard: DashboardFile, variables: Record) -> dict[str, str]:
    try:
        texts = dashboard.texts.substitute(variables)
    except (MissingVariable, UnbindableValue):
        return {"title": readable_name(dashboard.name), "description": ""}
    return {"title": str(texts["title"]), "description": str(texts.get("description", ""))}


def readable_name(name: str) -> str:
    return name.rpartition("/")[2].replace("_", " ").replace("-", " ").capitalize()


def _theme(properties: Mapping[str, Any]) -> dict[str, Any]:
    given = properties.get("theme")
    theme = {"accent": properties.get("accent"), **(given if isinstance(given, dict) else {})}
    shown = {name: theme[name] for name in _THEME if isinstance(theme.get(name), str)}
    palette = theme.get("palette")
    fits = isinstance(palette, list) and all(isinstance(color, str) for color in palette)
    return shown | ({"palette": palette} if fits else {})


def _text(properties: Mapping[str, Any], name: str) -> str | None:
    value = properties.get(name)
    return value if isinstance(value, str) else None


# --- panels -----------------------------------------------------------------------------------------------------------


def _panel(saved: SavedDashboard, panel: Panel, variables: Record) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": panel.id, "kind": str(panel.kind), "width": panel.width}
    try:
        shown["view"] = view = panel.view.substitute(variables)
        if (aggregate := aggregate_of(view)) not in (None, "sum"):
            view["aggregate"] = aggregate
    except (MissingVariable, UnbindableValue):  # the panel's own line reports the error
        shown["view"] = {"kind": str(panel.kind)}
    if panel.click is not None:
        shown["click"] = _click(panel.click, saved.links.get(panel.id))
    if panel.refresh is not None:
        shown["refresh"] = panel.refresh
    if panel.compare:
        shown["compare"] = panel.compare
    queries = saved.queries.panels[panel.id]
    shown["reads"] = sorted(queries.parameters)
    rows = queries.rows
    if panel.show_query and rows is not None:
        shown["query"] = rows.text[rows.definition.header.end :].strip()
    return shown


def _click(click: Click, link: Link | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"values": dict(click.values), "open": click.open}
    if click.event:
        shown["event"] = list(click.event)
    if link is None:
        return shown
    controls = [
        {
            "name": each.name,
            "label": each.label,
            "kind": _kind(each.parameter),
            "many": each.parameter.is_list,
            "has_default": each.parameter.default is not None,
            "clearable": each.parameter.clearable,
        }
        for each in link.controls.values()
    ]
    return shown | {
        "keeps": list(link.kept),
        "drops": list(link.dropped),
        "controls": controls,
        "other_days": link.other_days,
    }


# --- controls ---------------------------------------------------------------------------------------------------------


def _control(saved: SavedDashboard, control: Control, variables: Record) -> dict[str, Any]:
    parameter = control.parameter
    by_query = saved.queries.choices.get(control.name)
    return {
        "name": control.name,
        "kind": _kind(parameter),
        "label": control.label,
        "description": parameter.description,
        "many": parameter.is_list,
        "required": parameter.required,
        "default": _default(parameter, variables),
        "presets": [_preset(parse_relative(name)) for name in control.presets],
        "choices": None if parameter.choices is None else _choices(parameter),
        "min": sent_value(parameter.min),
        "max": sent_value(parameter.max),
        "clearable": parameter.clearable,
        "open": sorted(parameter.open),
        "depends": sorted(parameters_read(by_query) & saved.dashboard.controls.keys()) if by_query is not None else [],
    }


_KINDS: Final[Mapping[ParameterType, str]] = {
    ParameterType.DATE_RANGE: "range",
    ParameterType.DECIMAL: "number",
    ParameterType.DATE: "date",
    ParameterType.CHOICE: "choices",
}


def _kind(parameter: Parameter) -> str:
    return "choices" if parameter.choices_query is not None else _KINDS.get(parameter.type, "text")


def _choices(parameter: Parameter) -> list[dict[str, str]]:
    values = parameter.choices or ()
    labels: Sequence[str] = parameter.labels or [spell(value) for value in values]
    return [{"value": spell(value), "label": label} for value, label in zip(values, labels, strict=True)]


def _default(parameter: Parameter, variables: Record) -> Any:
    if isinstance(parameter.default, RelativeRange):
        return {"preset": _preset(parameter.default)}
    if parameter.required:
        return None
    try:
        value = typed_value(parameter, extend(variables, "params", {}), datetime.now(UTC))
    except (MissingVariable, UnbindableValue):
        return None
    return sent_value(value)


def _preset(relative: RelativeRange) -> str:
    return str(relative).replace(" ", "-")
