"""What a dashboard's file says, once it is read: controls, and rows of panels.

Offsets are those of the file's text, so that what is found out later (a query that is not there) can be shown in it.
"""

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
"""Columns of the grid that the panels of a row share."""
PREVIOUS_PERIOD: Final = "previous-period"
"""What a key figure may be compared with: the same query, for the range of the same length just before."""


class PanelKind(StrEnum):
    """What a panel shows. The key of the same name says of what."""

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
    """The query of a panel: the ``name`` of a file of the query folder, or ``sql``, written into the dashboard."""

    name: str = ""
    sql: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Control:
    """What a viewer chooses. Queries read it as ``params.NAME``; its ``parameter`` says what it takes.

    ``presets`` are names of relative ranges that stand beside a range. ``choices_query`` fills the choices.
    """

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
    """What a click on a mark or a row does: it sets controls of this dashboard, or of the one that it opens.

    ``values``: the name of a control -> the column whose value it takes. ``open``: the name of a dashboard, or empty.
    """

    values: Mapping[str, str]
    open: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A column of the query that a panel names in the value of a ``key``, as ``by``."""

    key: str
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel. ``view`` is what the page draws, with the group's variables in its texts; all else is the server's.

    ``id`` is its place, ``row-number`` from 1. ``sparkline`` is the query of a key figure's small line. ``width``
    counts columns of the grid; 0: an equal share. ``refresh`` and ``max_age`` are seconds: how often a page asks
    again, and how old an answer of the cache may be. ``show_query``: a viewer may read the query's text.
    ``columns`` are those of the query that the file names. ``named`` has their names, in their order, as ``columns``,
    and of a Vega-Lite panel the specification as ``vega`` and the names in its ``expressions``, with variables.
    ``all_columns``: the file says ``columns: all``, or has no ``columns`` in a table, which ``columns_left_out`` tells.
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
    """One dashboard. ``texts`` are its ``title`` and ``description``, which may hold variables, as the ``view`` of each
    panel. ``schema`` and ``max_age`` are for the queries that fill its controls."""

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
        """The paths of the group's variables that the texts name, each once."""
        definitions: list[Definition] = [self.texts, *(panel.view for panel in self.panels)]
        return tuple(dict.fromkeys(path.text for each in definitions for path in each.paths))
