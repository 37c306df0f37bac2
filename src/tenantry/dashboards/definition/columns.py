from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tenantry.dashboards.definition.model import ColumnUse, Panel, PanelKind
from tenantry.dashboards.definition.value_kinds import ColumnName, Key, Listed, Schema, TemplateText, ValueKind, refuse
from tenantry.dashboards.definition.vega_columns import vega_fields
from tenantry.datasources.results import Result
from tenantry.groups import Record
from tenantry.sql import Source
from tenantry.sql.header import YamlNode

AGGREGATES: Final = ("sum", "mean", "max", "none")
"""Ways to combine several values of a chart into one. The default is ``none`` for percentages and averages, otherwise
``sum``."""
_COMBINING: Final = frozenset({PanelKind.AREA, PanelKind.BAR, PanelKind.DONUT})
_WORD_OF_NAME: Final = re.compile(r"[pP]\d\d(?!\d)|[A-Z]?[a-z]+|[A-Z]+")
_DOES_NOT_ADD: Final = re.compile(
    r"avg|average|mean|median|p\d\d|rate|ratio|share|percent|percentage|percentile|pct|per|max|maximum|minimum"
)
"""A word in the name of a column whose values must not be added: ``mean_delay``, ``delayAvg``, ``sales_per_day``."""


def aggregate_of(view: Mapping[str, Any]) -> str | None:
    """Return how a panel combines values: its key ``aggregate``, or a default that depends on the format and the names
    of the columns. Returns None if the panel never combines values."""
    kind = view["kind"]
    if kind not in _COMBINING or kind not in view:
        return None
    given: str | None = view.get("aggregate")
    names = view[kind] if isinstance(view[kind], list) else [view[kind]]
    averages = view.get("format") == "percent" or any(map(_is_average, names))
    return given or ("none" if averages else "sum")


def adds_averages(view: Mapping[str, Any]) -> bool:
    # See `Panel.adds_averages`.
    return aggregate_of(view) not in (None, "sum") and ("stack" in view or view["kind"] == PanelKind.DONUT)


def _is_average(name: Any) -> bool:
    if not isinstance(name, str) or "{{" in name:  # with a variable, the name depends on the group
        return False
    return any(_DOES_NOT_ADD.fullmatch(word.lower()) for word in _WORD_OF_NAME.findall(name))


ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class AllOr(ValueKind):
    """A list, or the word ``all``, which is read as None."""

    some: Listed

    def read(self, node: YamlNode, source: Source) -> Any:
        return None if node.value == ALL else self.some.read(node, source)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": ALL}, self.some.schema()]}


@dataclass(frozen=True, slots=True)
class Named(ValueKind):
    """A name, such as ``route``, or a mapping of one name to its options, such as ``{share: percent}``."""

    name: ValueKind
    about: ValueKind

    def read(self, node: YamlNode, source: Source) -> dict[str, Any]:
        if not isinstance(node.value, dict):
            return {"name": self.name.read(node, source)}
        if len(node.value) != 1:
            fix = "write `- name: percent` or `- name: {format: percent, title: …}`, one item for each name"
            raise refuse(source, node, "this must be one name with its options", fix)
        ((name, value),) = node.value.items()
        found = {"name": self.name.read(YamlNode(name, node.keys[name]), source)}
        return found if value.value is None else found | self.about.read(value, source)

    def schema(self) -> Schema:
        one = {"minProperties": 1, "maxProperties": 1}
        return {"anyOf": [self.name.schema(), {"type": "object", "additionalProperties": self.about.schema()} | one]}


_COLUMNS: Final = Listed(ColumnName(), 5)
SORT: Final = "sort"
"""The key for a table's sort column."""


def column_uses(keys: Iterable[Key], nodes: Mapping[str, YamlNode]) -> Iterator[ColumnUse]:
    for key in keys:
        for name, offset in _named(key, nodes[key.name]) if key.name in nodes else ():
            yield ColumnUse(key.name, name, offset)


def _named(key: Key, node: YamlNode) -> Iterator[tuple[str, int]]:
    if key.name == "click" and isinstance(
        node.value, dict
    ):  # a click sets each control from the column of the same name
        for each in (node.value[name] for name in ("filter", "with", "event") if name in node.value):
            yield from _names(_COLUMNS, each)
    elif key.name == SORT and isinstance(key.kind, TemplateText):  # a table's sort is a column, a chart's is a word
        yield from ((name.removeprefix("-"), offset) for name, offset in _names(ColumnName(), node))
    else:
        yield from _names(key.kind, node)


def _names(kind: ValueKind, node: YamlNode) -> Iterator[tuple[str, int]]:
    if isinstance(kind, AllOr):
        yield from () if node.value == ALL else _names(kind.some, node)
    elif isinstance(kind, Listed):
        for each in node.value if isinstance(node.value, list) else [node]:
            yield from _names(kind.kind, each)
    elif isinstance(kind, Named) and isinstance(node.value, dict):
        for name, offset in node.keys.items():
            yield from _names(kind.name, YamlNode(name, offset))
    elif isinstance(kind, Named):
        yield from _names(kind.name, node)
    elif isinstance(kind, ColumnName) and isinstance(node.value, str):
        yield node.value, node.offset


def unique_columns(kind: PanelKind, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Compute ``Panel.unique_by``."""
    # Only lines, areas, heat maps, and bars of values that must not be added have such columns. A stacked area has
    # none, because its values are added. A panel has none if the name of a column depends on the group.
    keys = {PanelKind.LINE: ("by", "color"), PanelKind.AREA: ("by", "color"), PanelKind.HEATMAP: ("by", "rows")}
    if kind is PanelKind.BAR and aggregate_of({"kind": kind, **values}) == "none":
        keys[PanelKind.BAR] = ("by", "color")
    names = tuple(values[key] for key in keys.get(kind, ()) if key in values)
    return () if "stack" in values or any("{{" in name for name in names) else names


Columns: TypeAlias = frozenset[str] | None
"""Names of columns; None for all."""


def named_columns(panel: Panel, variables: Record) -> Columns:
    """Return the columns that the panel names in keys other than ``sort``, or None if the panel uses all columns.
    Raises MissingVariable or UnbindableValue for a variable in a name."""
    if panel.all_columns:
        return None
    written = panel.named.substitute(variables)
    uses = zip(panel.columns, written["columns"], strict=True)
    named = [name for use, name in uses if use.key != SORT]
    names = (*named, *written["expressions"], *vega_fields(written["vega"]))
    return frozenset(name for name in names if isinstance(name, str))  # a property may have a value of another type


def small_line(rows: Result, measure: str) -> Result:
    """Keep the two columns of a sparkline: ``measure``, and the first of the other columns."""
    along = [name for name in rows.names if name != measure][:1]
    return rows.only([measure, *along] if measure in rows.names else [])
