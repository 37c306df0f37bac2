"""explain_dashboard: for each panel its source, its text, and the origin of each value. Nothing is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from tenantry.dashboards.definition.model import Panel, QueryUse
from tenantry.dashboards.definition.variables import Definition
from tenantry.dashboards.explanation.origins import reference_origin, text_origin
from tenantry.dashboards.filters import read_filters
from tenantry.dashboards.folder import SavedDashboard
from tenantry.dashboards.protocol.panel_errors import viewer_error
from tenantry.datasources import DataSources, ExplainedQuery
from tenantry.errors import MissingVariable, TenantryError, UnbindableValue
from tenantry.groups import Record, UserGroup, extend
from tenantry.sql import SQLTemplate

_NO_FILTERS: Final[Mapping[str, Any]] = {}


async def explain_dashboard(
    saved: SavedDashboard,
    group: UserGroup,
    sources: DataSources,
    *,
    filters: Mapping[str, Any] = _NO_FILTERS,
    values: bool = False,
) -> dict[str, Any]:
    """Why ``group`` sees what it sees in a dashboard of a DashboardFolder, as JSON. No query is run.

    ``filters`` are a viewer's, as a page sends them. With ``values`` it is for operators: it has the values, the texts
    and the full messages of errors; without it there is no value of the group's or of a viewer's in it.
    ``age`` of a query: seconds since its answer was asked for that this process keeps, of several the oldest, or null.
    Raises InvalidParameter for filters that the dashboard does not have, StoreUnavailable.
    """
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
        "texts": explainer.texts(dashboard.texts),
        "choices": [await explainer.choices(name) for name in saved.queries.choices],
        "panels": [await explainer.panel(panel) for panel in dashboard.panels],
    }


async def explain_panel(
    saved: SavedDashboard, group: UserGroup, sources: DataSources, panel_id: str, filters: Mapping[str, Any]
) -> dict[str, Any] | None:
    """One panel of ``explain_dashboard``, without values, and without the text of a query that its author does not
    show. None where the dashboard has no such panel. Raises as ``explain_dashboard`` does."""
    panel = next((each for each in saved.dashboard.panels if each.id == panel_id), None)
    if panel is None:
        return None
    found = await _Explainer(saved, group, sources, read_filters(saved, filters), values=False).panel(panel)
    if not panel.show_query:
        for query in found["queries"]:
            query.pop("sql", None)
    return found


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

    async def choices(self, control: str) -> dict[str, Any]:
        parameter = self._saved.dashboard.controls[control].parameter
        template = self._saved.queries.choices[control]
        use = QueryUse(parameter.choices_query or "")
        return {"control": control, **await self._query("choices", use, self._saved.dashboard.schema, template)}

    def texts(self, definition: Definition) -> list[dict[str, Any]]:
        """What the texts of a definition read."""
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
            "placeholders": list(self._placeholders(explained, template)),
            "age": None if explained.age is None else round(explained.age, 1),
        }

    def _placeholders(self, explained: ExplainedQuery, template: SQLTemplate) -> Iterator[dict[str, Any]]:
        """One for each tag: a list has a placeholder for each of its items."""
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


def _plain(value: Any) -> Any:
    """A bound value as JSON."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
