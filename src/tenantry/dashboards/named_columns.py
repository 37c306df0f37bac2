"""The columns of a panel's query that leave the server: in the answer to its page, in its file, and as an order."""

from __future__ import annotations

from typing import TypeAlias

from tenantry.dashboards.definition.column_uses import SORT
from tenantry.dashboards.definition.model import Panel
from tenantry.dashboards.definition.vega_columns import vega_fields
from tenantry.datasources.results import Result
from tenantry.groups import Record

Columns: TypeAlias = frozenset[str] | None
"""The names of columns; None for all."""


def named_columns(panel: Panel, variables: Record) -> Columns:
    """The columns that the panel names anywhere but in ``sort``, and that its Vega-Lite specification names; None where
    it takes all. Raises MissingVariable and UnbindableValue for a variable in a name."""
    if panel.all_columns:
        return None
    written = panel.named.substitute(variables)
    uses = zip(panel.columns, written["columns"], strict=True)
    named = [name for use, name in uses if use.key != SORT]
    names = (*named, *written["expressions"], *vega_fields(written["vega"]))
    return frozenset(name for name in names if isinstance(name, str))  # a property of another type names no column


def small_line(rows: Result, measure: str) -> Result:
    """The columns that a key figure's small line draws: its measure, and the first other one, which is its axis."""
    along = [name for name in rows.names if name != measure][:1]
    return rows.only([measure, *along] if measure in rows.names else [])
