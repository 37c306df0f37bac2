"""Rows reduced to what a plot's pixels show."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tenantry.dashboards.charts.m4 import COLUMNS_PER_PIXEL, Plot, reduce_rows, thin_rows
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


@pytest.mark.parametrize("color", [None, "c"])
@pytest.mark.parametrize("reduce", [reduce_rows, thin_rows])
def test_rows_without_a_place_are_put_aside(reduce: Callable[..., Result | None], color: str | None) -> None:
    """They stay, for the page counts them, and the others are reduced as without them, wherever they are among them.
    Red when a NULL on the axis left all rows as they were: a line of 20,000 rows was "more than can be shown"."""
    placed = [(START + timedelta(minutes=n), math.sin(n), "ab"[n % 2]) for n in range(3_000)]
    nulls = [(None, float(n), "b") for n in range(3)]
    plot = Plot("at", ("v",), color, WIDTH)
    alone = reduce(Result(("at", "v", "c"), placed), plot)
    among = reduce(Result(("at", "v", "c"), [nulls[0], *placed[:900], nulls[1], *placed[900:], nulls[2]]), plot)
    assert alone is not None
    assert among is not None
    assert [row for row in among.rows if row[0] is None] == nulls
    assert [row for row in among.rows if row[0] is not None] == [*alone.rows]
    assert len(among.rows) < 1_000


LEFT: dict[str, list[tuple[Any, Any]]] = {
    "few": [(n, n) for n in range(20)],
    "out of order": [(-n, n) for n in range(1_000)],
    "NULL alone on the axis": [(None, n) for n in range(1_000)],
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


def thinned(rows: Sequence[tuple[Any, ...]], plot: Plot, size: int) -> list[tuple[Any, ...]]:
    """Thinned again and again, as the rows come."""
    kept: list[tuple[Any, ...]] = []
    for start in range(0, len(rows), size):
        found = thin_rows(Result(("at", "v", "w", "c"), [*kept, *rows[start : start + size]]), plot)
        assert found is not None
        kept = [*found.rows]
    return kept


@pytest.mark.parametrize("scale", SCALES)
def test_thinning_in_parts_keeps_the_rows_of_thinning_at_once(scale: str) -> None:
    """So nothing is lost, however often rows are thinned: for each kind of axis, with gaps, two series and measures.
    Red when the columns of a longer axis cut those of a shorter one."""
    dice = random.Random(7)
    rows = [
        (SCALES[scale](n), None if n % 97 < 5 else dice.gauss(0, 100), dice.random(), "ab"[n % 2]) for n in range(6_000)
    ]
    plot = Plot("at", ("v", "w"), "c", WIDTH)
    whole = thinned(rows, plot, len(rows))
    assert plot.columns * 2 < len(whole) < len(rows) / 2
    for size in (6_000, 1_711, 700):
        assert thinned(rows, plot, size) == whole


def test_thinned_rows_draw_the_same_line() -> None:
    """No extreme is lost that its neighbours do not hide, and most are exact."""
    dice = random.Random(7)
    rows = [(n, dice.gauss(0, 100), 0, "a") for n in range(30_000)]
    plot = Plot("at", ("v",), None, WIDTH)
    reduced = reduce_rows(Result(("at", "v", "w", "c"), thinned(rows, plot, 5_000)), plot)
    assert reduced is not None
    assert len(reduced) <= 4 * plot.columns
    before, after = columns([row[:2] for row in rows], 0, 29_999), columns([row[:2] for row in reduced.rows], 0, 29_999)
    assert before.keys() == after.keys()
    exact = 0
    for number, values in before.items():
        near = [value for each in range(number - 1, number + 2) for value in after.get(each, ())]
        assert min(near) <= min(values) <= max(values) <= max(near)
        exact += (max(values), min(values)) == (max(after[number]), min(after[number]))
    assert exact > len(before) / 2


@pytest.mark.parametrize("kind", [each for each in LEFT if each != "few"])
def test_other_rows_cannot_be_thinned(kind: str) -> None:
    assert thin_rows(Result(("x", "v"), LEFT[kind]), Plot("x", ("v",), None, 20)) is None
