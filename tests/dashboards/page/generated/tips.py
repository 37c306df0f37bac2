"""What must hold for the tooltips of a chart of a generated data set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.dashboards.page.generated.data import Case, once
from tests.dashboards.page.generated.groups import Groups, groups_of, largest, stack_of
from tests.dashboards.page.generated.written import NAMELESS, NOTHING, moment, number_fault, plain, texts_of

REST = re.compile(r"(Other|Mean of others|Largest of others) \(")
"""What sums up the places beyond a limit."""


def check_tips(case: Case, tips: list[dict[str, Any]]) -> Iterator[str]:
    """Each tooltip names a place of the rows, and says the amounts that are there."""
    kind = case.view["kind"]
    if kind in {"scatter", "heatmap"}:
        return
    groups = groups_of(case)
    most = largest([value for group in groups.amounts.values() for value in group.values()])
    in_time = case.view["kind"] == "bar" and any(moment(str(key)) for key in groups.amounts)
    for tip in tips:
        if REST.match(tip["title"] or ""):
            continue
        found = _named(tip["title"], case)
        if not found:
            if not (in_time and all(_is_nothing(text or "", case) for _, text in tip["lines"])):
                yield f"a tooltip of {tip['title']!r}, which no row has"
        elif all(list(_amounts(case, groups, key, tip["lines"], most)) for key in found):
            yield from list(_amounts(case, groups, found[0], tip["lines"], most))[:1]


def _named(title: str, case: Case) -> list[Any]:
    """The places that a tooltip may mean by its title."""
    text = plain(title).removesuffix(", not over").removesuffix(", in part")
    most = largest(case.values("x")) if None in _titles(case).values() else Decimal(0)
    return [
        key
        for key, texts in _titles(case).items()
        if (text in texts if texts is not None else number_fault(title, key, {}, most) is None)
    ]


@once
def _titles(case: Case) -> dict[Any, set[str] | None]:
    """How each place may be written; None for a number."""
    found = {}
    for key in groups_of(case).amounts:
        value = key.isoformat() if hasattr(key, "isoformat") else key
        texts = texts_of(value, case.columns["x"])
        if texts is not None and moment(value) is not None and case.columns["x"] == "text":
            texts |= texts_of(value, "date") or set()
        found[key] = texts
    return found


def _amounts(case: Case, groups: Groups, key: Any, lines: list[list[str | None]], most: Decimal) -> Iterator[str]:
    group = groups.amounts[key]
    if case.view["kind"] == "donut":
        lines = lines[:1]
    for name, text in lines:
        of = [each for each in group if name in {None, "", _words(each, case)}]
        if name is not None and name.startswith("Other ("):
            continue
        if not of:
            if not _is_nothing(text or "", case):
                yield f"a tooltip says {name!r} {text!r}, which no row has"
            continue
        shared = stack_of(case) == "share" and any(group.values())  # a whole of nothing has no shares
        faults = [_said(text or "", group[each], case, most, shared=shared) for each in of]
        if all(faults):
            yield f"a tooltip says {faults[0]}"


def _is_nothing(text: str, case: Case) -> bool:
    """What stands for a bucket without a row."""
    return NOTHING in text or number_fault(text, 0, case.view) is None or text.startswith("0.0% (")


def _said(text: str, value: Any, case: Case, most: Decimal, *, shared: bool) -> str | None:
    if shared and value is not None:
        _, _, text = text.rstrip(")").partition(" (")
    return number_fault(text, value, case.view, most)


def _words(series: Any, case: Case) -> str:
    if "color" in case.view:
        return NAMELESS.get(series, str(series))
    return str(series).replace("_", " ").capitalize()
