"""What must hold for the texts of a panel: figures, cells, tooltips, the notes of a legend."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.dashboards.page.generated.checks import Groups, Labels, groups_of, stack_of, total, without_unit
from tests.dashboards.page.generated.data import Case
from tests.dashboards.page.generated.written import (
    NAMELESS,
    NOTHING,
    exact,
    moment,
    number_fault,
    plain,
    texts_of,
    whole_fault,
)
from tests.dashboards.page.marks import Cell, Drawn

NEAR = 1.0


def largest(values: list[Any]) -> Decimal:
    return max((abs(exact(value)) for value in values if value is not None), default=Decimal(0))


def check_texts(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    kind = case.view["kind"]
    if kind == "figure":
        yield from _figure(case, labels)
    elif kind == "table" and case.lines:
        yield from _table(case, panel, labels)
    elif case.view.get("horizontal") and panel.amounts:
        yield from _ends(case, panel)
    elif kind == "heatmap" and labels["key"]:
        yield from _key(case, labels)


def _figure(case: Case, labels: Labels) -> Iterator[str]:
    (value,) = case.values("v")
    view = without_unit(case.view)
    if fault := number_fault(labels["figure"]["text"], value, view):
        yield f"a figure: {fault}"
    if value is not None and (fault := whole_fault(labels["figure"]["whole"], value, view)):
        yield f"a figure: {fault}"
    if "compare" in case.more and labels["change"] is not None:
        before = case.more["compare"]["rows"][0][0]
        yield from _change(labels["change"], value, before, view)


def _change(text: str, now: Any, before: Any, view: dict[str, Any]) -> Iterator[str]:
    if now is None or before is None:
        if text != "No value before":
            yield f"{text!r} without a value before"
        return
    word = "As before" if exact(now) == exact(before) else "Up" if exact(now) > exact(before) else "Down"
    if not text.startswith(word):
        yield f"{text!r} for {now} after {before}"
    if word != "As before":
        _, _, after = text.rpartition(" from ")
        if fault := number_fault(after.removesuffix(" before"), before, view):
            yield f"a change: {fault}"


def _table(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    for place, column in enumerate(case.view["columns"]):
        values = case.values(column["name"])
        cells = [row[place] for row in labels["cells"]]
        if len(cells) != len(values):
            yield f"{len(cells)} rows of {len(values)}"
            return
        if column["name"] in {"v", "w"}:
            most = largest(values)
            for cell, value in zip(cells, values, strict=True):
                if fault := number_fault(cell["text"], value, column, most):
                    yield f"a cell: {fault}"
                elif value is not None and (fault := whole_fault(cell["whole"], value, column)):
                    yield f"a cell: {fault}"
            if column.get("bar"):
                yield from _data_bars([row[place] for row in panel.cells], values)
            continue
        for cell, value in zip(cells, values, strict=True):
            expected = (
                {NOTHING if value is None else value}
                if value in NAMELESS
                else texts_of(value, case.columns[column["name"]])
            )
            if plain(cell["whole"]) not in (expected or ()):
                yield f"a cell says {cell['text']!r} of {value!r}"


def _data_bars(cells: list[Cell], values: list[Any]) -> Iterator[str]:
    """From a nought that all share, as long as the number is large, on the side of its sign, and within the cell."""
    known = [
        (float(value), cell) for value, cell in zip(values, cells, strict=True) if value is not None and float(value)
    ]
    bars = [(value, cell.bar, cell) for value, cell in known if cell.bar is not None]
    if not bars or not cells[0].width:
        return
    far, _, _ = max(((abs(value), bar.width, 0) for value, bar, _ in bars), key=lambda each: each[0])
    widest = max(bar.width for _, bar, _ in bars)
    noughts = [bar.right if value < 0 else bar.x for value, bar, _ in bars]
    both = {value < 0 for value, _, _ in bars} == {True, False}
    for (value, bar, cell), nought in zip(bars, noughts, strict=True):
        if bar.x < -NEAR or bar.right > cell.width + NEAR:
            yield f"a data bar beyond its cell: {bar}"
        if abs(bar.width - abs(value) / far * widest) > NEAR:
            yield f"a data bar of {bar.width} for {value}, where {far} has {widest}"
        if both and abs(nought - noughts[0]) > NEAR:
            yield f"data bars with two noughts, {nought} and {noughts[0]}"


def _ends(case: Case, panel: Drawn) -> Iterator[str]:
    """The number at the end of a lying bar is the sum of its group."""
    groups = groups_of(case)
    sums = [total(list(group.values())) for group in groups.amounts.values()]
    if case.view.keys() & {"sort", "limit"}:
        return
    if len(sums) != len(panel.amounts):
        yield f"{len(panel.amounts)} numbers beside {len(sums)} bars"
        return
    most = largest(case.values("v"))
    for text, value in zip(panel.amounts, sums, strict=True):
        if fault := number_fault(text, value, without_unit(case.view), most):
            yield f"beside a bar: {fault}"


def _key(case: Case, labels: Labels) -> Iterator[str]:
    values = [value for value in case.values("v") if value is not None]
    ends = sorted(values, key=exact)
    expected = [ends[0], ends[-1]]
    if case.view["diverging"]:
        far = max(expected, key=lambda value: abs(exact(value)))
        if not float(far):
            return
        expected = [-abs(float(far)), abs(float(far))]
    for text, value in zip(labels["key"], expected, strict=True):
        if fault := number_fault(text, value, without_unit(case.view), largest(values)):
            yield f"in the key: {fault}"


# --- tooltips ---------------------------------------------------------------------------------------------------------


def check_tips(case: Case, tips: list[dict[str, Any]]) -> Iterator[str]:
    """Each tooltip names a place of the rows, and says the amounts that are there."""
    kind = case.view["kind"]
    if kind in {"scatter", "heatmap"}:
        return
    groups = groups_of(case)
    values = [value for group in groups.amounts.values() for value in group.values()]
    in_time = case.view["kind"] == "bar" and any(moment(str(key)) for key in groups.amounts)
    for tip in tips:
        if (tip["title"] or "").startswith("Other ("):
            continue
        found = [key for key in groups.amounts if _names(tip["title"], key, case)]
        if not found:
            if not (in_time and all(_is_nothing(text or "", case) for _, text in tip["lines"])):
                yield f"a tooltip of {tip['title']!r}, which no row has"
        elif all(list(_amounts(case, groups, key, tip["lines"], largest(values))) for key in found):
            yield from list(_amounts(case, groups, found[0], tip["lines"], largest(values)))[:1]


def _names(title: str, key: Any, case: Case) -> bool:
    value = key.isoformat() if hasattr(key, "isoformat") else key
    texts = texts_of(value, case.columns["x"])
    if texts is None:
        return number_fault(title, key, {}, largest(case.values("x"))) is None
    if moment(value) is not None and case.columns["x"] == "text":
        texts |= texts_of(value, "date") or set()
    return plain(title).removesuffix(", so far").removesuffix(", in part") in texts


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
        faults = [_said(text or "", group[each], case, most) for each in of]
        if all(faults):
            yield f"a tooltip says {faults[0]}"


def _is_nothing(text: str, case: Case) -> bool:
    """What stands for a bucket without a row."""
    return NOTHING in text or number_fault(text, 0, case.view) is None or text.startswith("0.0% (")


def _said(text: str, value: Any, case: Case, most: Decimal) -> str | None:
    if stack_of(case) == "share":
        _, _, text = text.rstrip(")").partition(" (")
    return number_fault(text, value, case.view, most)


def _words(series: Any, case: Case) -> str:
    if "color" in case.view:
        return NAMELESS.get(series, str(series))
    return str(series).replace("_", " ").capitalize()
