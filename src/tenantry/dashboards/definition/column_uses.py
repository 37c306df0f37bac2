"""The columns that a panel names, each where it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tenantry.dashboards.definition.column_values import ALL, AllOr, Named
from tenantry.dashboards.definition.model import ColumnUse
from tenantry.dashboards.definition.values import ColumnName, Key, Listed, TemplateText, ValueKind
from tenantry.sql.header import YamlNode

_COLUMNS: Final = Listed(ColumnName(), 5)
SORT: Final = "sort"
"""The key whose column orders the rows of a table."""


def column_uses(keys: Iterable[Key], nodes: Mapping[str, YamlNode]) -> Iterator[ColumnUse]:
    """Those of ``nodes``, the values of a panel that were read by ``keys``: first that of its kind."""
    for key in keys:
        for name, offset in _named(key, nodes[key.name]) if key.name in nodes else ():
            yield ColumnUse(key.name, name, offset)


def _named(key: Key, node: YamlNode) -> Iterator[tuple[str, int]]:
    """Each name, and where it stands."""
    if key.name == "click" and isinstance(node.value, dict):  # each control takes the column of its own name
        for each in (node.value[name] for name in ("filter", "with") if name in node.value):
            yield from _names(_COLUMNS, each)
    elif key.name == SORT and isinstance(key.kind, TemplateText):  # that of a table; the marks of a chart have words
        yield from ((name.removeprefix("-"), offset) for name, offset in _names(ColumnName(), node))
    else:
        yield from _names(key.kind, node)


def _names(kind: ValueKind, node: YamlNode) -> Iterator[tuple[str, int]]:
    """Those in a value of some kind: of a column, of several, or of columns and what is said of them."""
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
