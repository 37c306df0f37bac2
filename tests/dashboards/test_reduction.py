"""Rows reduced to what a plot's pixels show."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tenantry.dashboards.charts.point_reduction import CELL, MOST_POINTS
from tenantry.dashboards.charts.reduction import COLUMNS_PER_PIXEL, Plot, reduce_rows, reduced_rows
from tenantry.datasources.results import Result

START = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
SCALES: dict[str, Callable[[int], Any]] = {
    "integer": lambda n: n * 3,
    "float": lambda n: n / 7 - 100,
    "decimal": lambda n: Decimal(n) / 10,
    "datetime": lambda n: START + timedelta(seconds=37 * n),
    "date": lambda n: date(1900, 1, 1) + timedelta(days=n),
    "time as text": lambda n: (START + timedelta(minutes=n)).isoformat(),
    "SQLite's text": lambda n: (START + timedelta(minutes=n)).strftime("%Y-%m-%d %H:%M:%S"),
    "date as text": lambda n: (date(1900, 1, 1) + timedelta(days=n)).isoformat(),
}
WIDTH = 20


def position(value: Any) -> float:
    """Where a value lies on the axis."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).timestamp()
    return float(value.toordinal() if isinstance(value, date) else value)


def columns(rows: Sequence[tuple[Any, ...]], first: float, last: float) -> dict[int, list[Any]]:
    """The values of each column of pixels: where they lie is calculated by itself."""
    found: dict[int, list[Any]] = {}
    for place, value, *_ in rows:
        number = int((position(place) - first) / (last - first) * COLUMNS_PER_PIXEL * WIDTH)
        found.setdefault(min(number, COLUMNS_PER_PIXEL * WIDTH - 1), []).append(value)
    return found


@pytest.mark.parametrize("scale", SCALES)
def test_each_column_keeps_its_first_last_least_and_greatest(scale: str) -> None:
    """Exactly, for each kind of axis, against columns that are calculated in another way. Red when the greatest is left
    out, and when a column's last row is the next one's first."""
    dice = random.Random(7)
    rows = [(SCALES[scale](n), dice.gauss(0, 100)) for n in range(3_000)]
    reduced = reduce_rows(Result(("at", "v"), rows), Plot("at", ("v",), None, WIDTH))
    assert reduced is not None
    assert len(reduced.rows) <= 4 * COLUMNS_PER_PIXEL * WIDTH
    assert set(reduced.rows) <= set(rows)
    assert list(reduced.rows) == sorted(reduced.rows, key=lambda row: rows.index(row)), "in their order"
    ends = position(rows[0][0]), position(rows[-1][0])
    before, after = columns(rows, *ends), columns(reduced.rows, *ends)
    assert before.keys() == after.keys()
    off = 0
    for number, values in before.items():
        kept = after[number]
        exact = (values[0], values[-1], min(values), max(values)) == (kept[0], kept[-1], min(kept), max(kept))
        off += not exact
    assert off <= (2 if "float" in scale else 0)  # an edge that falls on a row, by the last digit


def test_each_series_and_measure_is_reduced_by_itself() -> None:
    """Rows of several series come mixed; each keeps its own. Red when the series are one: the least of one hides the
    others'."""
    rows = [(n, color, n % 97 if color == "a" else -(n % 89), n % 83) for n in range(4_000) for color in ("a", "b")]
    result = Result(("x", "c", "v", "w"), rows)
    reduced = reduce_rows(result, Plot("x", ("v", "w"), "c", 10))
    assert reduced is not None
    for color in ("a", "b"):
        alone = reduce_rows(
            Result(("x", "c", "v", "w"), [r for r in rows if r[1] == color]), Plot("x", ("v", "w"), None, 10)
        )
        assert alone is not None
        assert set(alone.rows) <= set(reduced.rows)
        assert max(r[2] for r in reduced.rows if r[1] == color) == max(r[2] for r in rows if r[1] == color)


def test_a_gap_stays_a_gap() -> None:
    """NULL and NaN are no values: they are neither the least nor the greatest, and one of each column stays."""
    rows = [(n, None if 500 <= n < 700 else math.nan if n == 50 else float(n % 10)) for n in range(1_000)]
    reduced = reduce_rows(Result(("x", "v"), rows), Plot("x", ("v",), None, 5))
    assert reduced is not None
    there = {row[0] for row in reduced.rows}
    assert 50 in there
    assert {500, 600} <= there
    assert max(v for _, v in reduced.rows if v is not None and v == v) == 9.0


LEFT: dict[str, list[tuple[Any, Any]]] = {
    "few": [(n, n) for n in range(20)],
    "out of order": [(-n, n) for n in range(1_000)],
    "a NULL on the axis": [(n or None, n) for n in range(1_000)],
    "categories": [(f"c{n:04}", n) for n in range(1_000)],
    "values of several types": [(n, "x" if n == 5 else n) for n in range(1_000)],
    "aware and not": [(START if n else START.replace(tzinfo=None), n) for n in range(1_000)],
}


@pytest.mark.parametrize("kind", LEFT)
def test_other_rows_stay_as_they_are(kind: str) -> None:
    """Red when rows out of order are reduced: the picture would be another one."""
    assert reduce_rows(Result(("x", "v"), LEFT[kind]), Plot("x", ("v",), None, 20)) is None


def test_a_column_that_is_not_there_is_the_pages_to_say() -> None:
    """The rows are sent as they are."""
    result = Result(("x", "v"), [(n, n) for n in range(1_000)])
    assert reduce_rows(result, Plot("x", ("w",), None, 20)) is None
    assert reduce_rows(result, Plot("x", ("v",), "c", 20)) is None


def layered() -> Result:
    """Three series over 2,000 places, in an order of their own, as text too."""
    dice = random.Random(7)
    rows = [(n, f"s{k}", round(dice.gauss(30, 9), 3)) for k in range(3) for n in range(2_000)]
    return Result(("x", "c", "v"), rows)


@pytest.mark.parametrize("stack", ["sum", "share"])
def test_layers_have_all_their_rows_at_each_place_that_is_kept(stack: str) -> None:
    """And the edges are exact: the first, the last, the least and the greatest of each column, calculated in another
    way. Red when each series keeps places of its own, and when the least and greatest are those of the rows."""
    result = layered()
    reduced = reduce_rows(result, Plot("x", ("v",), "c", WIDTH, "sum" if stack == "sum" else "share"))
    assert reduced is not None
    assert len(reduced) < len(result) / 2
    assert list(reduced.rows) == [row for row in result.rows if row in set(reduced.rows)], "in their order"
    before, after = edges(result, stack), edges(reduced, stack)
    for number in range(3):
        ends = columns([(x, edge[number]) for x, edge in before.items()], 0, 1_999)
        kept = columns([(x, edge[number]) for x, edge in after.items()], 0, 1_999)
        for column, values in ends.items():
            found = kept[column]
            assert (values[0], values[-1], min(values), max(values)) == (found[0], found[-1], min(found), max(found))


def edges(result: Result, stack: str) -> dict[int, list[float]]:
    """The upper edge of each of three layers, by place; of a place without all of them there is none."""
    found: dict[int, dict[str, float]] = {}
    for x, color, value in result.rows:
        found.setdefault(x, {})[color] = max(0.0, value)
    places = {x: [sum(list(each.values())[: n + 1]) for n in range(3)] for x, each in found.items() if len(each) == 3}
    assert len(places) == len(found)
    if stack == "share":
        return {x: [each[0] / each[2], each[1] / each[2], 1.0] for x, each in places.items()}
    return places


def test_more_layers_than_a_page_draws() -> None:
    """The smallest are one; each has its row at each place that is kept. Gaps and texts of times do no harm."""
    rows = [
        ((START + timedelta(minutes=n)).isoformat(), f"s{k}", None if n % 50 == 3 else k * 10.0 + n % 7)
        for n in range(2_000)
        for k in range(15)
    ]
    reduced = reduce_rows(Result(("x", "c", "v"), rows), Plot("x", ("v",), "c", 5, "sum"))
    assert reduced is not None
    places = Counter(row[0] for row in reduced.rows)
    assert set(places.values()) == {15}
    assert len(places) < 600


def scattered(count: int) -> list[tuple[Any, ...]]:
    dice = random.Random(7)
    return [(dice.random(), dice.random(), "ab"[n % 2], 900 if n % 1_000 == 77 else n % 9) for n in range(count)]


@pytest.mark.parametrize("size", [None, "size"])
def test_of_points_those_remain_that_can_be_seen(size: str | None) -> None:
    """In any order of the rows: those that lie alone, the outermost and the largest. Red when the rows of
    cells are all that is kept, and when a size says nothing."""
    rows = [*scattered(60_000), (2.0, -1.0, "a", 1), (None, 1.0, "a", 1), (1.0, math.nan, "b", 1)]
    reduced = reduce_rows(Result(("x", "y", "c", "size"), rows), Plot("x", ("y",), "c", 600, points=True, size=size))
    assert reduced is not None
    kept = set(reduced.rows)
    assert len(kept) < 25_000
    assert (2.0, -1.0, "a", 1) in kept
    assert all(row[0] is not None and row[1] == row[1] for row in kept)
    there = [row for row in rows if row[0] is not None and row[1] == row[1]]
    for place in (0, 1):
        for best in (min, max):
            assert best(there, key=lambda row: row[place]) in kept
    assert {row for row in there if row[3] == 900} <= kept or size is None
    for color in "ab":
        assert max(row[1] for row in kept if row[2] == color) == max(row[1] for row in there if row[2] == color)


def test_points_have_a_most() -> None:
    """Whatever the number of series: then the cells are larger. Red without it: 118,000 circles stop a browser."""
    dice = random.Random(7)
    rows = [(dice.random(), dice.random(), n % 40) for n in range(120_000)]
    reduced = reduce_rows(Result(("x", "y", "c"), rows), Plot("x", ("y",), "c", 2_560, points=True))
    assert reduced is not None
    assert len(reduced) < MOST_POINTS + 40 * 2 * 2_560 / CELL


def test_the_rows_of_other_plots_stay_as_they_are() -> None:
    """Names on the axis have no columns; values of several types no order."""
    names = Result(("x", "v"), [(f"n{n}", n) for n in range(1_000)])
    mixed = Result(("x", "v"), [(n, "x" if n == 5 else n) for n in range(1_000)])
    for result in (names, mixed):
        assert reduce_rows(result, Plot("x", ("v",), None, 20, points=True)) is None
        assert reduce_rows(result, Plot("x", ("v",), None, 20, "sum")) is None


async def test_a_result_is_reduced_once_for_each_width() -> None:
    """While a cache has it. Red without the table."""
    result = Result(("x", "v"), [(n, n) for n in range(1_000)])
    plot = Plot("x", ("v",), None, 20)
    first = await reduced_rows(result, plot)
    assert await reduced_rows(result, plot) is first
    assert await reduced_rows(result, Plot("x", ("v",), None, 40)) is not first


async def test_few_widths_of_a_result_are_kept() -> None:
    """A request says the width. Red when all are kept: one viewer could ask for 8,192 of each result of a cache."""
    result = Result(("x", "v"), [(n, n) for n in range(1_000)])
    first = await reduced_rows(result, Plot("x", ("v",), None, 20))
    for width in range(21, 60):
        await reduced_rows(result, Plot("x", ("v",), None, width))
    assert await reduced_rows(result, Plot("x", ("v",), None, 20)) is not first
