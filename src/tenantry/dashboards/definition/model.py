"""A dashboard file's data, with offsets to locate later errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from tenantry.dashboards.definition.variables import Definition
from tenantry.sql import Source
from tenantry.sql.parameters import Parameter

COLUMNS: Final = 12
"""Columns of the grid that a row's panels share."""
PREVIOUS_PERIOD: Final = "previous-period"
"""Compares a key figure with the range of the same length just before."""


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
    """A control, read by queries as ``params.NAME``.

    ``presets``: relative ranges. ``choices_query`` fills the choices.
    """

    parameter: Parameter
    offset: int
    presets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def label(self) -> str:
        """The viewer's label."""
        return self.parameter.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Click:
    """Sets controls or opens another dashboard. ``values``: control to column. ``open``: a name, or empty."""

    values: Mapping[str, str]
    open: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A query column that a panel names in a ``key``, such as ``by``."""

    key: str
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    ``view`` is drawn by the page; other data stays on the server. ``id``: ``row-number``, from 1. ``sparkline``: the
    query of a small line. ``width``: grid columns; 0: an equal share. ``refresh`` and ``max_age``: seconds.
    ``columns``: named in the file; ``named``: their names, with variables. ``all_columns``: ``columns: all``, or a
    table without ``columns``.
    """

    id: str
    kind: PanelKind
    view: Definition
    offset: int
    query: QueryUse | None = None
    sparkline: QueryUse | None = None
    schema: str = "main"
    compare: str = ""
    click: Click | None = None
    width: int = 0
    refresh: float | None = None
    max_age: float | None = None
    show_query: bool = False
    columns: tuple[ColumnUse, ...] = ()
    named: Definition = field(default_factory=lambda: Definition({"columns": [], "expressions": [], "vega": None}))
    all_columns: bool = False
    columns_left_out: bool = False


@dataclass(frozen=True, slots=True)
class DashboardFile:
    """One dashboard. ``texts``: ``title`` and ``description``. ``schema`` and ``max_age`` are for controls."""

    name: str
    source: Source
    texts: Definition
    rows: tuple[tuple[Panel, ...], ...]
    schema: str = "main"
    max_age: float | None = None
    controls: Mapping[str, Control] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def panels(self) -> Iterator[Panel]:
        return (panel for row in self.rows for panel in row)

    def panel(self, panel_id: str) -> Panel | None:
        return next((panel for panel in self.panels if panel.id == panel_id), None)

    @property
    def variables(self) -> tuple[str, ...]:
        """The paths of the variables in its texts, each once."""
        definitions: list[Definition] = [self.texts, *(panel.view for panel in self.panels)]
        return tuple(dict.fromkeys(path.text for each in definitions for path in each.paths))
