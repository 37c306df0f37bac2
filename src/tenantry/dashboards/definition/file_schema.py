"""The keys of a dashboard's file, for ``read_dashboard``, and the JSON Schema of such files, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from tenantry.dashboards.definition.columns import AllOr, Named
from tenantry.dashboards.definition.conditions import WHEN
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
from tenantry.sql import Source
from tenantry.sql.header import YamlNode
from tenantry.sql.parameters import WEEK_START, WEEK_STARTS

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MAX_ROWS: Final = 100
"""Maximum rows of a dashboard."""
MAX_IN_ROW: Final = 6
"""Maximum panels in a row."""
MAX_SERIES: Final = 12
"""Maximum measures of a chart."""
MAX_TABLE_COLUMNS: Final = 60
FORMATS: Final = (
    *("number", "integer", "decimal", "percent", "currency", "compact"),
    *("date", "month", "year", "time", "datetime", "duration", "bytes", "id", "text"),
)
"""Formats of values. ``percent`` shows 0.12 as 12 %, ``currency`` uses the group's currency, ``duration`` takes
seconds, ``id`` and ``year`` have no thousands separators."""

QUERY_NAME: Final = Word("a query file", r"[^\W\d_][\w-]*(?:/[^\W\d_][\w-]*)*")
CONTROL_NAME: Final = Word("a control", r"[^\W\d_]\w*")
_DASHBOARD_NAME: Final = Word("a dashboard", r"[^\W\d_][\w-]*(?:/[^\W\d_][\w-]*)*")
_SCHEMA_ID: Final = TemplateText(200)

QUERY: Final = Either(
    QUERY_NAME,
    Fields("a query", (Key("sql", Statement(), "the statement itself", required=True),)),
    lambda name: {"name": name},
)
"""The key ``query``: the ``NAME`` of a query file, or ``{sql: select …}``."""

_FORMAT: Final = Key("format", OneOf(FORMATS), f"how values are written: {', '.join(FORMATS)}")
_DIGITS: Final = Key("digits", Number(0, 6), "digits after the decimal point")
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
    Key("refresh", Duration(1, 86_400), "how often the page refreshes it: 30 s, 5 min"),
    Key("cache", Duration(0, 86_400), "the maximum age of cached rows; 0 runs the query each time"),
    Key("show_query", Flag(), "whether viewers may read the query"),
    Key("empty", TemplateText(200), "the text to show if there are no rows"),
)
_CLICK: Final = Key(
    "click",
    Fields(
        "click",
        (
            Key(
                "filter",
                Listed(CONTROL_NAME, 5),
                "controls of this page to set, each from the column with its name",
            ),
            Key("open", _DASHBOARD_NAME, "another dashboard to open"),
            Key(
                "with",
                Listed(CONTROL_NAME, 5),
                "controls of the other dashboard to set, each from the column with its name",
            ),
        ),
    ),
    "what a click does: {filter: route} filters this page, {open: route, with: [route]} opens another",
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
_LIMIT: Final = Key("limit", Number(1, 500), "maximum number of marks; the others are summed up as one")
_MEASURES: Final = Listed(ColumnName(), MAX_SERIES)
_BY: Final = Key("by", ColumnName(), "the column of the axis: a time, a number or a category", required=True)
_COLOR: Final = Key("color", ColumnName(), "the column of the series")
_STACK: Final = Key("stack", OneOf(("sum", "share")), "series on top of one another; share: as parts of the whole")
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
                Key("hide", Number(1, 60), "the order in which columns are dropped on narrow screens: 1 first"),
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
            Key("compare", OneOf((PREVIOUS_PERIOD,)), "show the change against the same part of the period before"),
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
                "the columns shown, in this order; all, or without this key: every column of the query",
            ),
            Key("page", Number(5, 500), "rows of a page"),
            Key("sort", TemplateText(200), "the column of the initial order; -name: descending"),
            _CLICK,
        ),
        PanelKind.LINE: _panel(PanelKind.LINE, _MEASURES, "the columns drawn", *_CHART, _BY, _COLOR, _FILL, _REFERENCE),
        PanelKind.AREA: _panel(
            PanelKind.AREA, _MEASURES, "the columns drawn", *_CHART, _BY, _COLOR, _STACK, _FILL, _REFERENCE
        ),
        PanelKind.BAR: _panel(
            PanelKind.BAR,
            _MEASURES,
            "the columns drawn",
            *_CHART,
            _BY,
            _COLOR,
            _STACK,
            _FILL,
            _SORT,
            _LIMIT,
            _REFERENCE,
            Key("horizontal", Flag(), "horizontal bars, with room for long names"),
        ),
        PanelKind.DONUT: _panel(PanelKind.DONUT, ColumnName(), "the column drawn", *_CHART, _BY, _SORT, _LIMIT),
        PanelKind.SCATTER: _panel(
            PanelKind.SCATTER,
            ColumnName(),
            "the column of the height",
            *_CHART,
            _BY,
            _COLOR,
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

MAX_CONTROLS: Final = 40
MAX_PRESETS: Final = 12
_RANGE_NAME: Final = Word("a relative range", r"[\w +-]+")
_PROPERTY: Final[Schema] = {"type": "object", "required": ["property"], "properties": {"property": {"type": "string"}}}


class _Given:
    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        return {"anyOf": [{"type": ["string", "number", "boolean", "array", "null"]}, _PROPERTY]}


class _Choices:
    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        by_query = {"type": "object", "required": ["query"], "properties": {"query": QUERY_NAME.schema()}}
        return {"anyOf": [{"type": "array", "minItems": 1}, by_query, {"type": "object", "minProperties": 1}]}


_GIVEN: Final = _Given()
_SHARED: Final = (
    Key("label", TemplateText(100), "the label for viewers; default: the name"),
    Key("description", TemplateText(500), "a sentence about the control"),
    Key("default", _GIVEN, "the value until a viewer chooses; {property: region} takes the group's"),
    Key("required", Flag(), "whether a viewer must choose before the queries run"),
)
CONTROL_KEYS: Final[Mapping[str, tuple[Key, ...]]] = MappingProxyType(
    {
        "range": (
            Key("range", _GIVEN, "a range of days; the value is the default, as last-30-days"),
            *_SHARED,
            Key("presets", Listed(_RANGE_NAME, MAX_PRESETS), "relative ranges to choose from"),
            Key("min", _GIVEN, "the first day"),
            Key("max", _GIVEN, "the last day"),
        ),
        "choices": (
            Key("choices", _Choices(), "the values: a list, a mapping to their labels, or {query: NAME}"),
            *_SHARED,
            Key("many", Flag(), "whether several may be chosen"),
        ),
        "text": (Key("text", _GIVEN, "any text; the value is the default"), *_SHARED),
        "number": (
            Key("number", _GIVEN, "a number; the value is the default"),
            *_SHARED,
            Key("min", _GIVEN, "the smallest"),
            Key("max", _GIVEN, "the greatest"),
        ),
        "date": (
            Key("date", _GIVEN, "a day; the value is the default"),
            *_SHARED,
            Key("min", _GIVEN, "the first day"),
            Key("max", _GIVEN, "the last day"),
        ),
    }
)
"""The keys of each kind of control. The first key has the name of the kind."""

DASHBOARD: Final = (
    Key("title", TemplateText(200), "the title of the dashboard", required=True),
    Key("description", TemplateText(), "a sentence below the title"),
    Key("schema", _SCHEMA_ID, "the schema of panels that name none; default: main"),
    Key("refresh", Duration(1, 86_400), "how often panels refresh, unless they set their own interval"),
    Key("cache", Duration(0, 86_400), "the maximum age of a panel's rows, unless the panel sets its own"),
    Key(TIMEZONE, ZoneName(), "the time zone of groups without the property timezone; default: UTC"),
    Key(WEEK_START, OneOf(WEEK_STARTS), "the first day of weeks, for groups without the property week_start"),
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
