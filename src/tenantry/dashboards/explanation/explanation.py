from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from tenantry.dashboards.access import NO_DASHBOARD, Access
from tenantry.dashboards.definition.conditions import When
from tenantry.dashboards.definition.model import Panel, QueryUse
from tenantry.dashboards.definition.variables import Definition
from tenantry.dashboards.definition.zones import TIMEZONE
from tenantry.dashboards.folder import SavedDashboard
from tenantry.dashboards.panels.filters import read_filters
from tenantry.dashboards.protocol.panel_errors import viewer_error
from tenantry.dashboards.source_zones import in_zone_of_source
from tenantry.datasources import DataSources, ExplainedQuery
from tenantry.errors import MissingVariable, NotFound, TenantryError, UnbindableValue
from tenantry.groups import Record, UserGroup, extend
from tenantry.sql import AppliedGuard, SQLTemplate, VariableReference, is_absent, look_up
from tenantry.sql.parameters import (
    CALENDAR_NAMES,
    INSTANTS,
    RANGE_ENDS,
    Parameter,
    PropertyReference,
    RelativeRange,
    is_empty,
    parse_relative,
)

_GROUP: Final = "user_group."
_PROPERTIES: Final = "user_group.properties."
_PARAMS: Final = "params."
_VIEWER: Final = "viewer."


class Origin(StrEnum):
    """Where a value comes from. PASS: the pass of the viewer. CLOCK: the current time, for a relative range such as
    ``last 30 days``."""

    PROPERTY = "property"
    GROUP = "group"
    DEFAULT = "default"
    VIEWER = "viewer"
    PASS = "pass"  # noqa: S105  # no password
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    path: str
    origin: Origin
    of: str = ""
    """The property, the field of the group or viewer, or the relative range that gave the value."""
    by: Origin | None = None
    """DEFAULT or VIEWER: whether the relative range is the control's default or the viewer's choice."""
    zone: str = ""
    """The property that names the time zone."""

    def as_dict(self) -> dict[str, str]:
        given = {"path": self.path, "origin": str(self.origin), "of": self.of, "zone": self.zone}
        return {name: text for name, text in given.items() if text} | ({} if self.by is None else {"by": str(self.by)})


def group_origin(path: str) -> ValueOrigin:
    if path.startswith(_GROUP) and not path.startswith(_PROPERTIES):
        return ValueOrigin(path, Origin.GROUP, path.removeprefix(_GROUP))
    if path.startswith(_VIEWER):
        return ValueOrigin(path, Origin.PASS, path.removeprefix(_VIEWER))
    return ValueOrigin(path, Origin.PROPERTY, path.removeprefix(_PROPERTIES))


def text_origin(path: str) -> ValueOrigin:
    return ValueOrigin(path, Origin.VIEWER) if path.startswith(_PARAMS) else group_origin(path)


def reference_origin(
    reference: VariableReference, parameters: Mapping[str, Parameter], variables: Mapping[str, Any] | Record
) -> ValueOrigin:
    path = reference.path
    if path.startswith(_PARAMS):
        return _chosen(path, parameters, variables)
    if reference.never_absent and is_absent(look_up(variables, path)):
        return ValueOrigin(path, Origin.DEFAULT)
    return group_origin(path)


def _chosen(path: str, parameters: Mapping[str, Parameter], variables: Mapping[str, Any] | Record) -> ValueOrigin:
    name, params = path.split(".")[1], variables["params"]
    parameter = parameters.get(name)
    if name in CALENDAR_NAMES:
        is_default = is_absent(look_up(variables, f"{_PROPERTIES}{TIMEZONE}"))
        return ValueOrigin(path, Origin.DEFAULT) if is_default else ValueOrigin(path, Origin.PROPERTY, TIMEZONE)
    sent = [params[key] for key in (name, *(f"{name}.{end}" for end in RANGE_ENDS)) if key in params]
    given = next((value for value in sent if not is_empty(value)), None)
    if parameter is None:
        return ValueOrigin(path, Origin.DEFAULT if given is None else Origin.VIEWER)
    zone = _zone(parameter, variables)
    if parameter.locked or given is None:
        return _default(path, parameter.default, zone)
    relative = _relative(given) if parameter.is_range else None
    if relative is not None:
        return ValueOrigin(path, Origin.CLOCK, relative, Origin.VIEWER, zone)
    return ValueOrigin(path, Origin.VIEWER, zone=zone)


def _zone(parameter: Parameter, variables: Mapping[str, Any] | Record) -> str:
    zone = parameter.zone
    if not isinstance(zone, PropertyReference) or is_absent(look_up(variables, f"user_group.properties.{zone.path}")):
        return ""
    return zone.path if parameter.is_range or parameter.type in INSTANTS else ""


def _default(path: str, default: Any, zone: str) -> ValueOrigin:
    if isinstance(default, PropertyReference):
        return ValueOrigin(path, Origin.PROPERTY, default.path, zone=zone)
    if isinstance(default, RelativeRange):
        return ValueOrigin(path, Origin.CLOCK, str(default), Origin.DEFAULT, zone)
    return ValueOrigin(path, Origin.DEFAULT, zone=zone)


def _relative(given: Any) -> str | None:
    try:
        return str(parse_relative(given)) if isinstance(given, str) else None
    except ValueError:
        return None


_NO_FILTERS: Final[Mapping[str, Any]] = {}


async def explain_dashboard(
    saved: SavedDashboard,
    group: UserGroup,
    sources: DataSources,
    *,
    filters: Mapping[str, Any] = _NO_FILTERS,
    values: bool = False,
) -> dict[str, Any]:
    """Return, as JSON, the data sources and SQL of a dashboard's panels for a group, and the origin of each value. No
    query runs.

    Without ``values``, the explanation has only the panels that the group sees. It shows no values of properties and
    filters, except relative ranges such as ``last 30 days``. With ``values``, which is for operators, it has all
    panels, all values, full errors, and whether each ``when`` holds.

    The ``age`` of a query is the number of seconds since its oldest cached result was fetched, or null if none is
    cached. Raises InvalidParameter if the dashboard does not accept a filter. Without ``values``, raises NotFound if
    the group may not see the dashboard because of ``when`` or the scope of its pass.
    """
    if not values:
        saved = _as_seen(saved, group)
    saved = await in_zone_of_source(saved, group, sources)
    explainer = _Explainer(saved, group, sources, read_filters(saved, filters), values)
    dashboard = saved.dashboard
    return {
        "dashboard": dashboard.name,
        "group": {
            "id": group.provided_id,
            "name": group.name,
            "environment": group.environment.name,
            "revision": group.revision,
        },
        **explainer.condition(dashboard.when),
        "texts": explainer.texts(dashboard.texts),
        "choices": [await explainer.choices(name) for name in saved.filled],
        "panels": [await explainer.panel(panel) for panel in dashboard.panels],
    }


async def explain_panel(
    saved: SavedDashboard, group: UserGroup, sources: DataSources, panel_id: str, filters: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Explain one panel as ``explain_dashboard`` does without ``values``. ``saved``: a dashboard from ``Access``,
    passed through ``in_zone_of_source``. Leaves out the SQL unless the panel has ``show_query``. Returns None for an
    unknown panel. Raises InvalidParameter if the dashboard does not accept a filter."""
    panel = saved.dashboard.panel(panel_id)
    if panel is None:
        return None
    found = await _Explainer(saved, group, sources, read_filters(saved, filters), values=False).panel(panel)
    if not panel.show_query:
        for query in found["queries"]:
            query.pop("sql", None)
            query.pop("guards", None)
    return found


def _as_seen(saved: SavedDashboard, group: UserGroup) -> SavedDashboard:
    name = saved.dashboard.name
    seen = Access({name: saved}).find(name, group)
    if seen is None:
        raise NotFound(NO_DASHBOARD)
    return seen


class _Explainer:
    def __init__(
        self, saved: SavedDashboard, group: UserGroup, sources: DataSources, params: Mapping[str, Any], values: bool
    ) -> None:
        self._saved = saved
        self._group = group
        self._sources = sources
        self._variables: Record = extend(group.variables, "params", dict(params))
        self._values = values

    async def panel(self, panel: Panel) -> dict[str, Any]:
        found: dict[str, Any] = {"id": panel.id, "kind": str(panel.kind), "schema": panel.schema}
        if panel.compare:
            found["compare"] = panel.compare
        found |= self.condition(panel.when)
        queries = self._saved.queries.panels[panel.id]
        asked = [("rows", panel.query, queries.rows), ("sparkline", panel.sparkline, queries.sparkline)]
        return found | {
            "texts": self.texts(panel.view),
            "queries": [
                await self._query(role, use, panel.schema, template)
                for role, use, template in asked
                if use is not None and template is not None
            ],
        }

    def condition(self, when: When | None) -> dict[str, Any]:
        if when is None or not self._values:
            return {}
        return {"when": {**when.as_dict(), "holds": when.holds(self._variables)}}

    async def choices(self, control: str) -> dict[str, Any]:
        parameter = self._saved.dashboard.controls[control].parameter
        template = self._saved.queries.choices[control]
        use = QueryUse(parameter.choices_query or "")
        return {"control": control, **await self._query("choices", use, self._saved.dashboard.schema, template)}

    def texts(self, definition: Definition) -> list[dict[str, Any]]:
        found = []
        for path in dict.fromkeys(each.text for each in definition.paths):
            about: dict[str, Any] = {"reads": [text_origin(path).as_dict()]}
            try:
                value = Definition(f"{{{{ {path} }}}}").substitute(self._variables)
            except (MissingVariable, UnbindableValue) as error:
                about["error"] = self._error(error)
            else:
                if self._values:
                    about["value"] = value
            found.append(about)
        return found

    async def _query(self, role: str, use: QueryUse, schema: str, template: SQLTemplate) -> dict[str, Any]:
        about = {"for": role, "name": use.name or None}
        try:
            explained = await self._sources.explain(self._group, schema, template, self._variables)
        except TenantryError as error:
            return about | {"error": self._error(error)}
        source = {"id": explained.source_id, "name": explained.provided_id, "engine": explained.engine}
        return about | {
            "source": source,
            "sql": explained.traced.bound.sql.strip(),
            "guards": [_guard(each) for each in explained.guards],
            "placeholders": list(self._placeholders(explained, template)),
            "age": None if explained.age is None else round(explained.age, 1),
        }

    def _placeholders(self, explained: ExplainedQuery, template: SQLTemplate) -> Iterator[dict[str, Any]]:
        params = explained.traced.bound.params or ()
        given = list(params.values()) if isinstance(params, dict) else list(params)
        made = enumerate(zip(explained.traced.references, given, strict=True), 1)
        for references, run in groupby(made, key=lambda each: each[1][0]):
            items = list(run)
            origins = (reference_origin(each, template.parameters, self._variables) for each in references)
            about: dict[str, Any] = {
                "number": items[0][0],
                "count": len(items),
                "reads": [origin.as_dict() for origin in origins],
            }
            if self._values:
                values = [_plain(value) for _, (_, value) in items]
                about["value"] = values[0] if len(values) == 1 else values
            yield about

    def _error(self, error: TenantryError) -> dict[str, str]:
        return {"code": error.code, "message": error.message} if self._values else viewer_error(error)


def _guard(guard: AppliedGuard) -> dict[str, Any]:
    about = {"table": guard.table, "line": guard.line, "column": guard.column, "why": guard.why}
    return about | ({"condition": guard.condition, "sql": guard.replacement} if guard.condition else {})


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
