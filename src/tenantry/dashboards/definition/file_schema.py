"""The keys of a dashboard's file, for ``read_dashboard``, and the JSON Schema of such files, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tenantry.dashboards.definition.colors import ColorsOfNames
from tenantry.dashboards.definition.columns import AGGREGATES, AllOr, Named
from tenantry.dashboards.definition.conditions import WHEN
from tenantry.dashboards.definition.controls import (
    CONTROL_KEYS,
    CONTROL_NAME,
    FILE_FIX,
    FILE_NAME,
    MAX_CONTROLS,
    QUERY_NAME,
)
from tenantry.dashboards.definition.model import COLUMNS, PREVIOUS_PERIOD, PanelKind
from tenantry.dashboards.definition.value_kinds import (
    Anything,
    ColumnName,
    Duration,
    Either,
    Fields,
    Flag,
    Key,
    Listed,
    Number,
    OneOf,
    Schema,
    Statement,
    TemplateText,
    ValueKind,
    Word,
    object_schema,
)
from tenantry.dashboards.definition.zones import TIMEZONE, ZoneName
from tenantry.sql.parameters import WEEK_START, WEEK_STARTS

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MAX_ROWS: Final = 100
"""Maximum number of rows in a dashboard."""
MAX_IN_ROW: Final = 6
"""Maximum number of panels in a row."""
MAX_SERIES: Final = 8
"""Maximum number of measures in a chart."""
MAX_TABLE_COLUMNS: Final = 60
FORMATS: Final = (
    *("number", "integer", "decimal", "percent", "currency", "compact"),
    *("date", "month", "year", "time", "datetime", "duration", "bytes", "id", "text"),
)
"""Formats of values. ``percent`` shows 0.12 as 12 %, ``currency`` uses the group's currency, ``duration`` takes
seconds, ``id`` and ``year`` have no thousands separators."""

_DASHBOARD_NAME: Final = Word("a dashboard", FILE_NAME, FILE_FIX)
_SCHEMA_ID: Final = TemplateText(200)

QUERY: Final = Either(
    QUERY_NAME,
    Fields("a query", (Key("sql", Statement(), "the statement itself", required=True),)),
    lambda name: {"name": name},
)
"""The value of the key ``query``: the name of a query file, or ``{sql: select …}``."""

_FORMAT: Final = Key("format", OneOf(FORMATS), "how values are written; default: by the column's type and name")
_DIGITS: Final = Key("digits", Number(0, 6), "digits after the decimal point; default: by the format")
_UNIT: Final = Key("unit", TemplateText(30), "the unit, written next to the title")

_COMMON: Final = (
    Key("title", TemplateText(200), "the title of the panel"),
    Key("description", TemplateText(), "a sentence below the title"),
    Key("width", Number(1, COLUMNS), f"the width in columns of {COLUMNS}; default: an equal share of the row"),
    WHEN,
)
_FED: Final = (
    *_COMMON,
    Key("schema", _SCHEMA_ID, "the schema of the panel's data source; default: the dashboard's"),
    Key("refresh", Duration(1, 86_400), "how often the page refreshes the panel; default: the dashboard's"),
    Key("cache", Duration(0, 86_400), "the maximum age of cached rows, 0: no cache; default: the dashboard's"),
    Key("show_query", Flag(), "whether viewers may read the query"),
    Key("empty", TemplateText(200), "the text to show if there are no rows; default: the page's own message"),
)
_CLICK: Final = Key(
    "click",
    Fields(
        "click",
        (
            Key(
                "filter",
                Listed(CONTROL_NAME, 5),
                "controls of this page to set, each from the column of the same name",
            ),
            Key("open", _DASHBOARD_NAME, "another dashboard to open"),
            Key(
                "with",
                Listed(CONTROL_NAME, 5),
                "controls of the other dashboard to set, each from the column of the same name",
            ),
            Key("event", Listed(ColumnName(), 20), "columns whose values the host's page gets with its event click"),
        ),
    ),
    "what a click does: {filter: route} filters this page, {open: route, with: [route]} opens another, "
    "{event: [id]} sends an event to the host's page",
)
_QUERY: Final = Key("query", QUERY, "the query: a file's name, or {sql: …}", required=True)
_REFERENCE: Final = Key(
    "reference",
    Either(
        Number(-1e15, 1e15, whole=False),
        Fields(
            "a reference line",
            (
                Key("value", Number(-1e15, 1e15, whole=False), "the value at which the line is drawn", required=True),
                Key("label", TemplateText(60), "its label"),
            ),
        ),
        lambda value: {"value": value},
    ),
    "a line across the chart: 15, or {value: 15, label: target}",
)
_SORT: Final = Key(
    "sort", OneOf(("query", "largest", "smallest", "name")), "the order of the marks; default: the query's"
)
_LIMIT: Final = Key(
    "limit", Number(1, 500), "maximum number of marks; the others are combined by aggregate; default: all"
)
_PART: Final = Key("by", ColumnName(), "the column with the names of the parts", required=True)
_PARTS: Final = Key("limit", Number(1, 500), "maximum number of parts; the others are combined; default: 7")
_MEASURES: Final = Listed(ColumnName(), MAX_SERIES)
_BY: Final = Key("by", ColumnName(), "the column of the axis: a time, a number or a category", required=True)
_COLOR: Final = Key("color", ColumnName(), "the column of the series")
_STACK: Final = Key(
    "stack", OneOf(("sum", "share")), "series on top of one another; share: as parts of the whole; default: no stack"
)
_AGGREGATE: Final = Key(
    "aggregate",
    OneOf(AGGREGATES),
    "how several values are combined: sum, mean, max, or none to leave the others out. Only sums can be stacked or "
    "shown as parts of a whole; default: sum, but none for percent and for columns named like averages",
)
_COLORS: Final = Key("colors", ColorsOfNames(), "the colour of each series, by name; overrides the dashboard's colors")
_SERIES: Final = (_BY, _COLOR, _COLORS)
_FILL: Final = Key(
    "fill", Number(0, 0), "0: hours, days, weeks, months or years without a row count as 0; default: a gap"
)
_FURTHER: Final = Key(
    "columns",
    AllOr(Listed(ColumnName(), MAX_TABLE_COLUMNS)),
    "further columns for the page and the file; all: every column of the query",
)
_CHART: Final = (*_FED, _QUERY, _UNIT, _FORMAT, _DIGITS, _CLICK, _FURTHER)

_TABLE_COLUMN: Final = Named(
    ColumnName(),
    Either(
        _FORMAT.kind,
        Fields(
            "a column",
            (
                Key("title", TemplateText(100), "its heading"),
                _FORMAT,
                _DIGITS,
                Key("bar", Flag(), "a bar behind the number"),
                Key(
                    "hide",
                    Number(1, 60),
                    "the order in which columns are dropped on narrow screens, 1 first; default: never",
                ),
            ),
        ),
        lambda name: {"format": name},
    ),
)


def _panel(kind: PanelKind, value: ValueKind, about: str, *keys: Key) -> tuple[Key, ...]:
    return (Key(kind, value, about, required=True), *keys)


PANELS: Final[Mapping[PanelKind, tuple[Key, ...]]] = MappingProxyType(
    {
        PanelKind.HEADING: _panel(PanelKind.HEADING, TemplateText(200), "a heading for the panels below", WHEN),
        PanelKind.TEXT: _panel(PanelKind.TEXT, TemplateText(10_000), "paragraphs for people", *_COMMON),
        PanelKind.FIGURE: _panel(
            PanelKind.FIGURE,
            ColumnName(),
            "the column of the number",
            *_CHART,
            Key("compare", OneOf((PREVIOUS_PERIOD,)), "show the change since the same part of the previous period"),
            Key("sparkline", QUERY, "a query with the same column over time, drawn as a small line"),
            Key("better", OneOf(("higher", "lower")), "which direction is good"),
        ),
        PanelKind.TABLE: _panel(
            PanelKind.TABLE,
            QUERY,
            "the query: a file's name, or {sql: …}",
            *_FED,
            _UNIT,
            Key(
                "columns",
                AllOr(Listed(_TABLE_COLUMN, MAX_TABLE_COLUMNS)),
                "the columns shown, in this order; default: all, every column of the query",
            ),
            Key("page", Number(5, 500), "rows of a page; default: 50"),
            Key(
                "sort",
                TemplateText(200),
                "the column of the initial order, with - before it: descending; default: the query's order",
            ),
            _CLICK,
        ),
        PanelKind.LINE: _panel(PanelKind.LINE, _MEASURES, "the columns drawn", *_CHART, *_SERIES, _FILL, _REFERENCE),
        PanelKind.AREA: _panel(
            PanelKind.AREA, _MEASURES, "the columns drawn", *_CHART, *_SERIES, _STACK, _AGGREGATE, _FILL, _REFERENCE
        ),
        PanelKind.BAR: _panel(
            PanelKind.BAR,
            _MEASURES,
            "the columns drawn",
            *_CHART,
            *_SERIES,
            _STACK,
            _AGGREGATE,
            _FILL,
            _SORT,
            _LIMIT,
            _REFERENCE,
            Key("horizontal", Flag(), "horizontal bars, with room for long names"),
        ),
        PanelKind.DONUT: _panel(
            PanelKind.DONUT, ColumnName(), "the column drawn", *_CHART, _PART, _COLORS, _AGGREGATE, _SORT, _PARTS
        ),
        PanelKind.SCATTER: _panel(
            PanelKind.SCATTER,
            ColumnName(),
            "the column of the height",
            *_CHART,
            *_SERIES,
            Key("size", ColumnName(), "the column of the size of a point"),
            Key("label", ColumnName(), "the column of the name of a point"),
        ),
        PanelKind.HEATMAP: _panel(
            PanelKind.HEATMAP,
            ColumnName(),
            "the column of the shade",
            *_CHART,
            _BY,
            Key("rows", ColumnName(), "the column of the other axis", required=True),
            Key("diverging", Flag(), "two colours on both sides of zero"),
        ),
        PanelKind.VEGA: _panel(
            PanelKind.VEGA,
            Anything("a Vega-Lite specification; its data are the rows of the query"),
            "a Vega-Lite specification without addresses",
            *_FED,
            _QUERY,
            _FURTHER,
        ),
    }
)
"""The keys of each kind of panel. The first key has the name of the kind."""

DASHBOARD: Final = (
    Key("title", TemplateText(200), "the title of the dashboard", required=True),
    Key("description", TemplateText(), "a sentence below the title"),
    Key("schema", _SCHEMA_ID, "the schema of panels that name none; default: main"),
    Key("refresh", Duration(1, 86_400), "how often panels refresh, unless they set their own interval; default: never"),
    Key(
        "cache",
        Duration(0, 86_400),
        "the maximum age of a panel's rows, unless the panel sets its own; default: that of the data source",
    ),
    Key(
        TIMEZONE,
        ZoneName(),
        "the time zone of groups without the property timezone; default: that of the data source, else UTC",
    ),
    Key("colors", ColorsOfNames(), "the colour of each series, by name: {Won: good, Lost: bad}"),
    Key(
        WEEK_START,
        OneOf(WEEK_STARTS),
        "the first day of weeks, for groups without the property week_start; default: monday",
    ),
    WHEN,
)
"""The keys at the top of the file, except ``controls`` and ``rows``."""


def _controls_schema() -> Schema:
    kinds = [object_schema(keys, required=[kind]) for kind, keys in CONTROL_KEYS.items()]
    return {
        "type": "object",
        "maxProperties": MAX_CONTROLS,
        "propertyNames": {"pattern": f"^(?:{CONTROL_NAME.pattern})$"},
        "additionalProperties": {"anyOf": kinds},
    }


def dashboard_schema() -> Schema:
    schema = object_schema(DASHBOARD, required=["title", "rows"])
    schema["properties"] |= {
        "controls": _controls_schema() | {"description": "choices of a viewer, read by queries as params.NAME"},
        "rows": {
            "description": "rows of panels: one panel, or a list of them",
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_ROWS,
            "items": {
                "anyOf": [
                    {"$ref": "#/$defs/panel"},
                    {"type": "array", "minItems": 1, "maxItems": MAX_IN_ROW, "items": {"$ref": "#/$defs/panel"}},
                ]
            },
        },
    }
    panels = {str(kind): object_schema(keys) for kind, keys in PANELS.items()}
    definitions = panels | {"panel": {"anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in panels]}}
    return {"$schema": _DIALECT, "title": "A dashboard of Tenantry", **schema, "$defs": definitions}
