"""Decides whether it makes sense to add up the values of a chart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tenantry.dashboards.definition.model import PanelKind

AGGREGATES: Final = ("sum", "mean", "max", "none")
"""Ways to combine several values of a chart into one. The default is ``sum``, but ``none`` for percentages and
averages."""
_KINDS: Final = frozenset({PanelKind.AREA, PanelKind.BAR, PanelKind.DONUT})
_WORD: Final = re.compile(r"[pP]\d\d(?!\d)|[A-Z]?[a-z]+|[A-Z]+")
_DOES_NOT_ADD: Final = re.compile(
    r"avg|average|mean|median|p\d\d|rate|ratio|share|percent|percentage|percentile|pct|per|max|maximum|minimum"
)
"""A word in the name of a column whose values must not be added: ``mean_delay``, ``delayAvg``, ``sales_per_day``."""


def aggregate_of(view: Mapping[str, Any]) -> str | None:
    """Return how a panel combines values: as the author of the panel chose, otherwise by the format and the names of
    the columns. Returns None if the panel never combines values."""
    kind = view["kind"]
    if kind not in _KINDS or kind not in view:
        return None
    given: str | None = view.get("aggregate")
    names = view[kind] if isinstance(view[kind], list) else [view[kind]]
    averages = view.get("format") == "percent" or any(map(_is_average, names))
    return given or ("none" if averages else "sum")


def adds_averages(view: Mapping[str, Any]) -> bool:
    """Whether the panel would stack values that must not be added, such as averages, or show them as parts of a
    whole."""
    return aggregate_of(view) not in (None, "sum") and ("stack" in view or view["kind"] == PanelKind.DONUT)


def _is_average(name: Any) -> bool:
    if not isinstance(name, str) or "{{" in name:  # with a variable, the name depends on the group
        return False
    return any(_DOES_NOT_ADD.fullmatch(word.lower()) for word in _WORD.findall(name))
