"""What must hold for the texts of a panel: figures, cells, tooltips, the notes of a legend."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.dashboards.page.generated.data import Case
from tests.dashboards.page.generated.groups import Labels, groups_of, largest, total, without_unit
from tests.dashboards.page.generated.written import (
    EXACT,
    NOTHING,
    exact,
    number_fault,
    plain,
    texts_of,
    whole_fault,
)
from tests.dashboards.page.marks import Cell, Drawn

NEAR = 1.0


def check_texts(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    kind = case.view["kind"]
    if kind == "figure":
        yield from _figure(case, labels)
    elif kind == "table" and case.lines:
        yield from _table(case, panel, labels)
    elif panel.lying and panel.amounts:
        yield from _ends(case, panel)
    elif kind == "heatmap" and labels["key"]:
        yield from _key(case, labels)


def _figure(case: Case, labels: Labels) -> Iterator[str]:
    (value,) = case.values("v")
    view = without_unit(case.view)
    before = case.more["compare"]["rows"][0][0] if "compare" in case.more else None
    most = max(abs(exact(each)) for each in (value, before, 0) if each is not None)  # both have its digits
    if fault := number_fault(labels["figure"]["text"], value, view, most):
        yield f"a figure: {fault}"
    if value is not None and (fault := whole_fault(labels["figure"]["whole"], value, view)):
        yield f"a figure: {fault}"
    if "compare" in case.more and labels["change"] is not None:
        yield from _change(labels["change"], value, before, view, most)


def _change(text: str, now: Any, before: Any, view: dict[str, Any], most: Decimal) -> Iterator[str]:
    if before is None:
        if text != "No value before":
            yield f"{text!r} without a value before"
        return
    if now is None:
        if fault := number_fault(text.removesuffix(" before"), before, view, most):
            yield f"what was before: {fault}"
        return
    one, other = exact(now), exact(before)
    word = "As before" if one == other else "Up" if one > other else "Down"
    if word == "As before" or not text.startswith(word):
        yield from [] if text.startswith(word) else [f"{text!r} for {now} after {before}"]
        return
    much, _, after = text.removeprefix(word).strip().removesuffix(" before").partition("from ")
    if fault := number_fault(after, before, view, most):
        yield f"a change: {fault}"
    if other and (fault := _much(much.strip(), one, other, view, most)):
        yield f"a change from {before} to {now}: {fault}"


def _much(text: str, now: Decimal, before: Decimal, view: dict[str, Any], most: Decimal) -> str | None:
    """In points for shares; as an amount where one is below nought; else in percent."""
    apart = abs(EXACT.subtract(now, before))
    if view.get("format") == "percent":
        points = text.removesuffix(" points")
        return (
            number_fault(points, str(apart * 100), {"format": "integer"}) if points != text else f"{text!r}, not points"
        )
    if now < 0 or before < 0:
        return number_fault(text, float(apart), view, most)
    return number_fault(text, float(EXACT.divide(apart, before)), {"format": "percent"})


def _table(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    for place, column in enumerate(case.view["columns"]):
        values = case.values(column["name"])
        cells = [row[place] for row in labels["cells"]]
        if len(cells) != len(values):
            yield f"{len(cells)} rows of {len(values)}"
            return
        number = column["name"] in {"v", "w"}
        most = largest(values) if number else Decimal(0)
        for cell, value in zip(cells, values, strict=True):
            fault = _of_number(cell, value, column, most) if number else _of_word(cell, value, case, column["name"])
            if fault:
                yield f"a cell: {fault}"
        if column.get("bar"):
            yield from _data_bars([row[place] for row in panel.cells], values)


def _of_number(cell: dict[str, str], value: Any, column: dict[str, Any], most: Decimal) -> str | None:
    fault = number_fault(cell["text"], value, column, most)
    return fault or (whole_fault(cell["whole"], value, column) if value is not None else None)


def _of_word(cell: dict[str, str], value: Any, case: Case, column: str) -> str | None:
    expected = {None: {NOTHING}, "": {""}}.get(value) or texts_of(value, case.columns[column]) or set()
    return None if plain(cell["whole"]) in expected else f"{cell['text']!r} of {value!r}"


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
