from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tenantry.dashboards.definition.columns import adds_averages, column_uses, unique_columns
from tenantry.dashboards.definition.controls import read_controls
from tenantry.dashboards.definition.file_schema import DASHBOARD, MAX_IN_ROW, MAX_ROWS, PANELS
from tenantry.dashboards.definition.model import (
    COLUMNS,
    Click,
    Control,
    DashboardFile,
    Panel,
    PanelKind,
    QueryUse,
)
from tenantry.dashboards.definition.value_kinds import mapping, read_keys, refuse
from tenantry.dashboards.definition.variables import Definition
from tenantry.dashboards.definition.vega_columns import is_field, vega_expression_columns
from tenantry.dashboards.definition.zones import zone_reference
from tenantry.errors import did_you_mean, misspelt
from tenantry.sql import Source
from tenantry.sql.header import YamlNode, read_yaml
from tenantry.sql.parameters import ParameterType

DEFAULT_SCHEMA: Final = "main"
_TOP: Final = (*(key.name for key in DASHBOARD), "controls", "rows")
_SERVER: Final = frozenset(
    {"query", "sparkline", "schema", "refresh", "cache", "show_query", "click", "compare", "width", "when"}
)
"""Keys that are not part of ``Panel.view``."""
_ADDRESSES: Final = frozenset({"url", "href", "src"})
"""Keys of a Vega-Lite specification whose values a browser would load."""


def read_dashboard(text: str, name: str, file: str = "") -> DashboardFile:
    """Read a dashboard's file: YAML 1.2 (core schema) or JSON. Raises TemplateError at the first mistake."""
    source = Source(text, file or name)
    root = read_yaml(source, 0, len(text))
    return _FileReader(source, name).read(root)


class _FileReader:
    def __init__(self, source: Source, name: str) -> None:
        self._source = source
        self._name = name

    def read(self, root: YamlNode) -> DashboardFile:
        nodes = mapping(root, self._source, "a dashboard", _TOP)
        top = read_keys(nodes, root, self._source, "a dashboard", DASHBOARD)
        if "rows" not in nodes:
            fix = "write `rows:` and, below it, `- {figure: …, query: …}` for each row"
            raise refuse(self._source, root, "a dashboard has no rows", fix)
        zone = zone_reference(top)
        controls = read_controls(nodes["controls"], self._source, zone) if "controls" in nodes else {}
        rows = self._rows(nodes["rows"], top, controls)
        texts = Definition({key: top[key] for key in ("title", "description") if key in top})
        schema = top.get("schema", DEFAULT_SCHEMA)
        dashboard = DashboardFile(
            self._name, self._source, texts, rows, schema, top.get("cache"), zone=zone, when=top.get("when")
        )
        return replace(dashboard, controls=controls, colors=top.get("colors", {}))

    def _rows(
        self, node: YamlNode, top: Mapping[str, Any], controls: Mapping[str, Control]
    ) -> tuple[tuple[Panel, ...], ...]:
        nodes = node.value
        if not isinstance(nodes, list) or not nodes:
            raise refuse(self._source, node, "rows must be a list", "write `- {figure: …, query: …}` for each row")
        if len(nodes) > MAX_ROWS:
            raise refuse(self._source, nodes[MAX_ROWS], f"there are more than {MAX_ROWS} rows", "make two dashboards")
        return tuple(self._row(number, each, top, controls) for number, each in enumerate(nodes, 1))

    def _row(
        self, row: int, node: YamlNode, top: Mapping[str, Any], controls: Mapping[str, Control]
    ) -> tuple[Panel, ...]:
        nodes = node.value if isinstance(node.value, list) else [node]
        if not nodes:
            raise refuse(self._source, node, "this row has no panel", "add one, or remove the row")
        if len(nodes) > MAX_IN_ROW:
            problem = f"a row holds at most {MAX_IN_ROW} panels"
            raise refuse(self._source, nodes[MAX_IN_ROW], problem, "start another row with `-`")
        panels = tuple(self._panel(f"{row}-{n}", each, top, controls) for n, each in enumerate(nodes, 1))
        taken = sum(panel.width for panel in panels)
        if taken > COLUMNS or (taken == COLUMNS and not all(panel.width for panel in panels)):
            problem = f"the panels with a width take {taken} of this row's {COLUMNS} columns"
            raise refuse(self._source, node, problem, "make them narrower")
        return panels

    def _panel(self, panel_id: str, node: YamlNode, top: Mapping[str, Any], controls: Mapping[str, Control]) -> Panel:
        kind = self._kind(node)
        keys = PANELS[kind]
        what = f"a panel with {kind}"
        if kind is PanelKind.TABLE and "query" in node.keys:
            fix = "`table:` already names the query: write it there, as in {table: orders}, and remove `query`"
            raise self._source.error(node.keys["query"], f"{what} has no key query", fix)
        nodes = mapping(node, self._source, what, [key.name for key in keys])
        values = read_keys(nodes, node, self._source, what, keys)
        query = "table" if kind is PanelKind.TABLE else "query"
        left_out = kind is PanelKind.TABLE and "columns" not in values
        columns = values.pop("columns", None if left_out else [])  # None: all columns of the query
        shown = {key: value for key, value in values.items() if key not in _SERVER and key != query}
        if kind is PanelKind.TABLE and columns is not None:
            shown["columns"] = columns
        uses = tuple(column_uses(keys, nodes))
        if kind is PanelKind.VEGA:
            self._check_addresses(nodes[kind])
        panel = Panel(
            id=panel_id,
            kind=kind,
            view=Definition({"kind": str(kind), **shown}),
            offset=node.offset,
            query=_query_use(values.get(query), nodes.get(query)),
            sparkline=_query_use(values.get("sparkline"), nodes.get("sparkline")),
            schema=values.get("schema", top.get("schema", DEFAULT_SCHEMA)),
            compare=values.get("compare", ""),
            click=self._click(values.get("click"), nodes.get("click")),
            width=values.get("width", 0),
            refresh=values.get("refresh", top.get("refresh")),
            max_age=values.get("cache", top.get("cache")),
            show_query=values.get("show_query", False),
            columns=uses,
            named=Definition(
                {
                    "columns": [use.name for use in uses],
                    "expressions": [*vega_expression_columns(values.get(PanelKind.VEGA))],
                    "vega": values.get(PanelKind.VEGA),
                }
            ),
            all_columns=columns is None,
            unique_by=unique_columns(kind, values),
            adds_averages=adds_averages({"kind": kind, **values}),
            columns_left_out=left_out,
            when=values.get("when"),
        )
        self._check_chosen_columns(panel, nodes[kind], values.get(PanelKind.VEGA), controls)
        return panel

    def _kind(self, node: YamlNode) -> PanelKind:
        if not isinstance(node.value, dict):
            fix = "write {figure: flights, query: key_figures}, {table: routes} or another kind"
            raise refuse(self._source, node, "a panel must be a mapping", fix)
        kinds = [kind for kind in PanelKind if kind in node.value]
        if len(kinds) == 1:
            return kinds[0]
        if kinds:
            at = node.keys[kinds[1]]
            raise self._source.error(at, f"this panel is {' and '.join(kinds)} at once", "make two panels")
        near = "".join(did_you_mean(name, list(PanelKind)) for name in node.value)
        fix = f"{near}One of: {', '.join(PanelKind)}"
        edits = (misspelt(name, list(PanelKind)) for name in node.value)
        raise refuse(self._source, node, "this panel has no kind", fix, next(filter(None, edits), None))

    def _click(self, value: dict[str, Any] | None, node: YamlNode | None) -> Click | None:
        if value is None or node is None:
            return None
        target = value.get("open", "")
        if bool(target) + ("filter" in value) + ("event" in value) != 1:
            problem = "a click either filters this page, opens another dashboard, or sends an event to the host's page"
            fix = "write {filter: route}, {open: route, with: [route]} or {event: [id]}"
            raise refuse(self._source, node, problem, fix)
        if "with" in value and not target:
            fix = "write {open: route, with: [route]}"
            raise refuse(self._source, node, "the key 'with' needs the key 'open'", fix)
        names = value.get("filter") or value.get("with", [])
        return Click({name: name for name in names}, target, node.offset, tuple(value.get("event", ())))

    def _check_chosen_columns(
        self, panel: Panel, node: YamlNode, specification: Any, controls: Mapping[str, Control]
    ) -> None:
        paths = [(path, use.offset) for use in panel.columns for path in Definition(use.name).paths]
        expressions = Definition([*vega_expression_columns(specification)]).paths
        fields = [path for path in Definition(specification).paths if is_field(path.pointer)]
        for path, offset in [*paths, *((each, node.offset) for each in (*expressions, *fields))]:
            name = str(path.steps[1]) if path.steps[0] == "params" and len(path.steps) > 1 else ""
            if name in controls and controls[name].parameter.type is ParameterType.TEXT:
                problem = f"params.{name} takes any text, so a viewer could name any column of the query here"
                fix = f"give the control fixed choices: `{name}: {{choices: {{COLUMN: Label, …}}}}`"
                raise self._source.error(offset, problem, fix)

    def _check_addresses(self, node: YamlNode) -> None:
        if isinstance(node.value, dict):
            for key, each in node.value.items():
                if key in _ADDRESSES:
                    fix = "remove it: the data are the rows of the query"
                    raise self._source.error(node.keys[key], "a specification must not have addresses", fix)
                self._check_addresses(each)
        elif isinstance(node.value, list):
            for each in node.value:
                self._check_addresses(each)


def _query_use(value: Any, node: YamlNode | None) -> QueryUse | None:
    if value is None or node is None:
        return None
    return QueryUse(value.get("name", ""), value.get("sql", ""), node.offset)
