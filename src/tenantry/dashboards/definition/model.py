"""The content of a dashboard's file. ``offset``: an item's position in the file, for the errors of later checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from tenantry.dashboards.definition.conditions import When
from tenantry.dashboards.definition.variables import Definition
from tenantry.dashboards.definition.zones import zone_reference
from tenantry.sql import Source
from tenantry.sql.parameters import Parameter, ZoneOfGroup

COLUMNS: Final = 12
"""Number of columns in the grid. The panels of a row share them."""
PREVIOUS_PERIOD: Final = "previous-period"
"""A value of ``compare``: the panel shows the change since the same part of the previous period."""


class PanelKind(StrEnum):
    HEADING = "heading"
    TEXT = "text"
    FIGURE = "figure"
    TABLE = "table"
    LINE = "line"
    AREA = "area"
    BAR = "bar"
    DONUT = "donut"
    SCATTER = "scatter"
    HEATMAP = "heatmap"
    VEGA = "vega"


@dataclass(frozen=True, slots=True)
class QueryUse:
    """A panel's query: the ``name`` of a query file, or inline ``sql``."""

    name: str = ""
    sql: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Control:
    """A control. Queries read its value as ``params.NAME``."""

    parameter: Parameter
    offset: int
    presets: tuple[str, ...] = ()
    """The relative ranges that viewers can choose."""

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def label(self) -> str:
        return self.parameter.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Click:
    values: Mapping[str, str]
    """Control that a click sets -> column that gives its value."""
    open: str = ""
    """The dashboard that a click opens; empty if the click filters this page or sends an event."""
    offset: int = 0
    event: tuple[str, ...] = ()
    """The columns whose values a click sends to the host's page, in the event ``click``."""


@dataclass(frozen=True, slots=True)
class ColumnUse:
    key: str
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Panel:
    id: str
    """The number of the panel's row and of its position in the row: ``1-2`` is the second panel of the first row."""
    kind: PanelKind
    view: Definition
    """The keys that the page needs to draw the panel."""
    offset: int
    query: QueryUse | None = None
    sparkline: QueryUse | None = None
    """The query for the small line (sparkline) of a figure."""
    schema: str = "main"
    compare: str = ""
    click: Click | None = None
    width: int = 0
    """How many columns of the grid the panel takes; 0 for an equal share of the row."""
    refresh: float | None = None
    """Seconds after which the page refreshes the panel."""
    max_age: float | None = None
    """Maximum age of cached rows, in seconds."""
    show_query: bool = False
    columns: tuple[ColumnUse, ...] = ()
    """Where the file names columns."""
    named: Definition = field(default_factory=lambda: Definition({"columns": [], "expressions": [], "vega": None}))
    """The column names in ``columns`` and in the Vega-Lite specification. They may contain variables."""
    all_columns: bool = False
    """Whether the page gets every column: ``columns: all``, or a table without ``columns``."""
    unique_by: tuple[str, ...] = ()
    """Columns whose values, taken together, should differ from row to row, such as ``by`` and ``color`` of a line
    chart."""
    adds_averages: bool = False
    """Whether the panel would stack values that must not be added, such as averages, or show them as parts of a
    whole."""
    columns_left_out: bool = False
    """Whether the panel is a table without ``columns``."""
    when: When | None = None
    """The condition for groups that see the panel; None if all groups do."""


@dataclass(frozen=True, slots=True)
class DashboardFile:
    name: str
    source: Source
    texts: Definition
    """``title`` and ``description``."""
    rows: tuple[tuple[Panel, ...], ...]
    schema: str = "main"
    """The schema for the queries of controls."""
    max_age: float | None = None
    """Maximum age in seconds of the cached choices of controls."""
    controls: Mapping[str, Control] = field(default_factory=lambda: MappingProxyType({}))
    colors: Mapping[str, int | str] = field(default_factory=lambda: MappingProxyType({}))
    """The colour of each series, by name."""
    zone: ZoneOfGroup = field(default_factory=lambda: zone_reference({}))
    when: When | None = None
    """The condition for groups that may open the dashboard; None if all groups may."""

    @property
    def panels(self) -> Iterator[Panel]:
        return (panel for row in self.rows for panel in row)

    def panel(self, panel_id: str) -> Panel | None:
        return next((panel for panel in self.panels if panel.id == panel_id), None)

    @property
    def variables(self) -> tuple[str, ...]:
        definitions: list[Definition] = [self.texts, *(panel.view for panel in self.panels)]
        return tuple(dict.fromkeys(path.text for each in definitions for path in each.paths))
