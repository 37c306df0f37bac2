"""A dashboard's file as data. Offsets locate later errors in its text."""

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
    """The kind of a panel, also the key of its value."""

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
    """The query of a panel: the ``name`` of a query file, or inline ``sql``."""

    name: str = ""
    sql: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Control:
    """A choice, read by queries as ``params.NAME``. ``presets``: offered relative ranges. ``choices_query`` fills the
    choices."""

    parameter: Parameter
    offset: int
    presets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name, in the address and in ``params``."""
        return self.parameter.name

    @property
    def label(self) -> str:
        """What a viewer reads."""
        return self.parameter.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Click:
    """Sets controls of this dashboard or opens another. ``values``: control to column. ``open``: a name, or empty."""

    values: Mapping[str, str]
    open: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A column of the query that a panel names in a ``key``, as ``by``."""

    key: str
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel. ``view`` is drawn by the page; the rest stays on the server. ``id`` is ``row-number``, from 1.
    ``sparkline``: the query of a small line. ``width``: grid columns; 0: an equal share. ``refresh`` and ``max_age``:
    seconds. ``columns``: those that the file names; ``named``: their names, with variables. ``all_columns``: ``columns:
    all``, or a table without ``columns`` (``columns_left_out``)."""

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
        """All panels, row after row."""
        return (panel for row in self.rows for panel in row)

    def panel(self, panel_id: str) -> Panel | None:
        """The panel of this id."""
        return next((panel for panel in self.panels if panel.id == panel_id), None)

    @property
    def variables(self) -> tuple[str, ...]:
        """The paths of the group's variables in its texts, each once."""
        definitions: list[Definition] = [self.texts, *(panel.view for panel in self.panels)]
        return tuple(dict.fromkeys(path.text for each in definitions for path in each.paths))
