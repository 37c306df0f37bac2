"""The amounts of a chart by place and series, as the test reads them from the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

from tests.dashboards.page.generated.data import Case, once
from tests.dashboards.page.generated.written import EXACT, exact, moment
from tests.dashboards.page.marks import Drawn, Mark

MOST_SERIES = 8
Labels = dict[str, Any]


@dataclass(frozen=True)
class Groups:
    """The amounts of a chart by place and series, in the order of the rows. A float where rows have doubles."""

    amounts: dict[Any, dict[Any, Any]]
    series: list[Any]

    def row(self, series: Any) -> list[Any]:
        return [each.get(series) for each in self.amounts.values()]


@once
def groups_of(case: Case) -> Groups:
    measures = case.view[case.view["kind"]]
    found: dict[Any, dict[Any, list[Any]]] = {}
    series: dict[Any, None] = {}
    for measure in [measures] if isinstance(measures, str) else measures:
        for x, kind, value in zip(case.values("x"), _kinds(case, measure), case.values(measure), strict=True):
            group = found.setdefault(moment(x) or x, {})
            series[kind] = None
            group.setdefault(kind, []).append(value)
    amounts = {
        x: {each: together(values, case.view.get("aggregate", "sum")) for each, values in group.items()}
        for x, group in found.items()
    }
    return Groups(amounts, list(series))


def _kinds(case: Case, measure: str) -> list[Any]:
    return case.values(case.view["color"]) if "color" in case.view else [measure] * len(case.lines)


def together(values: Sequence[Any], aggregate: str) -> Any:
    """What several rows of one place are."""
    there = [value for value in values if value is not None]
    if aggregate == "sum" or len(there) < 2:
        return total(there)
    if aggregate == "max":
        return max(there, key=exact)
    return float(exact(total(there)) / len(there)) if aggregate == "mean" else there[0]


def total(values: Sequence[Any]) -> Any:
    """Of those that are there; None where none is."""
    there = [value for value in values if value is not None]
    if not there or len(there) == 1:
        return there[0] if there else None
    if any(isinstance(value, float) for value in there):
        return math.fsum(float(value) for value in there)
    with localcontext(EXACT):
        return str(sum((exact(value) for value in there), Decimal(0)))


def stack_of(case: Case) -> str | None:
    """How it is drawn: parts of a whole that has something below nought are drawn as amounts."""
    stack: str | None = case.view.get("stack")
    if stack == "share" and any(float(value) < 0 for value in case.values("v") if value is not None):
        return "sum"
    return stack


def of_series(panel: Drawn, groups: Groups, series: Any, *kinds: str) -> list[Mark]:
    """The marks of a series, by its key: its name, or of None the one that no name has."""
    others = {str(each) for each in groups.series if each is not None}
    return [
        mark
        for mark in panel.of(*(kinds or ("bar",)))
        if (mark.series == str(series) if series is not None else mark.series not in others)
    ]


def without_unit(view: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in view.items() if key != "unit"}


def largest(values: list[Any]) -> Decimal:
    return max((abs(exact(value)) for value in values if value is not None), default=Decimal(0))
