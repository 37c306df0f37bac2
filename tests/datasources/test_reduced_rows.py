"""Rows that an engine chooses for a plot: the very rows that are chosen here, on PostgreSQL and DuckDB."""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from engines.postgres import Postgres
from tenantry.dashboards.charts.reduction import Plot, reduce_rows
from tenantry.datasources import DataSources
from tenantry.datasources.pool.many_rows import Reduction
from tenantry.datasources.results import Result
from tenantry.datasources.wrapped.reduced_rows import ColumnTypesTemplate, ReducedTemplate, reduced_answer
from tenantry.errors import InvalidSettings
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group

WIDTH = 20
BATCHES = 20
"""Of random rows, for each type of the axis."""
SPRING = datetime(2026, 3, 28, 23, 59, 59, tzinfo=UTC)
"""The clocks of Europe go forward an hour and a second later."""
PLACES: dict[str, Callable[[int], Any]] = {
    "number": lambda n: n * 3 - 50,
    "share": lambda n: n / 7 - 3.3,
    "amount": lambda n: Decimal(n) / 8,
    "day": lambda n: date(2024, 2, 1) + timedelta(days=n),
    "moment": lambda n: SPRING.replace(tzinfo=None) + timedelta(seconds=n, microseconds=n * 7 % 1000),
    "instant": lambda n: SPRING + timedelta(minutes=n, microseconds=n * 7 % 1000),
}
COLORS = (None, "", "a", "A", "\u00e1", "a\u0301", "b\\'\"")
COLUMNS = {
    "batch": "text",
    "line": "integer",
    "number": "bigint",
    "share": "float8",
    "amount": "decimal(14,3)",
    "day": "date",
    "moment": "timestamp",
    "instant": "timestamptz",
    "v": "float8",
    "whole": "bigint",
    "exact": "decimal(14,3)",
    "color": "text",
    "flag": "boolean",
}
TEMPLATE = SQLTemplate("select * from points where batch = {{ batch }} order by line -- of 100% of them")
NOTHING = Result((), ())
EVERY = Reduction("every row", lambda result: result)


def values(dice: random.Random) -> tuple[Any, ...]:
    """``v`` to ``flag``: with gaps, ties, values that are no numbers, and whole numbers that no float tells apart."""
    odd = [None, 0.0, -0.0, math.nan, math.inf, -math.inf, 1.5]
    v = dice.choice(odd) if dice.random() < 0.15 else dice.choice([dice.gauss(0, 50), float(dice.randrange(4))])
    whole = dice.choice([None, dice.randrange(-2, 3), 2**60 + dice.randrange(5)])
    exact = None if dice.random() < 0.1 else Decimal(dice.randrange(-2000, 2000)) / 1000
    return v, whole, exact, dice.choice(COLORS), dice.choice([True, False, None])


def batch(name: str, dice: random.Random) -> list[tuple[Any, ...]]:
    """Rows with ties and holes on the axis, in the order of all axes, and now and then in that of the series."""
    count = dice.choice([0, 1, 35, 41, 150, 600])
    spread = dice.choice([1, 3, 1000])
    steps = sorted(dice.randrange(count * spread + 1) for _ in range(count)) if dice.random() < 0.95 else [7] * count
    rows = [(*(make(step) for make in PLACES.values()), *values(dice)) for step in steps]
    if dice.random() < 0.3:
        rows.sort(key=lambda row: (str(row[-2]), row[0]))
    return [(name, number, *row) for number, row in enumerate(rows)]


def beyond(n: int) -> tuple[Any, ...]:
    """The place of the last row is no number."""
    return (n, n * 1.0 if n < 299 else math.inf, *(make(n) for make in [*PLACES.values()][2:]))


REFUSED: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "backwards": lambda n: tuple(make(900 - n) for make in PLACES.values()),
    "without a place": lambda n: tuple(make(n) if n != 70 else None for make in PLACES.values()),
    "beyond": beyond,
}
FIXED = {**REFUSED, "in order": lambda n: tuple(make(n) for make in PLACES.values())}


def every_row() -> list[tuple[Any, ...]]:
    dice = random.Random(20261123)
    rows = [row for number in range(BATCHES) for row in batch(f"{number}", dice)]
    for name, place in FIXED.items():
        rows += [(name, number, *place(number), number % 7.0, number, None, "a", True) for number in range(300)]
    return rows


NULL = "\\N"
TABLE = f"create table points ({', '.join(map(' '.join, COLUMNS.items()))})"


def csv_text() -> str:
    text = io.StringIO()
    csv.writer(text).writerows([NULL if value is None else value for value in row] for row in every_row())
    return text.getvalue()


def fill_postgresql(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(TABLE)
        with connection.cursor().copy(f"copy points from stdin (format csv, null '{NULL}')") as copy:
            copy.write(csv_text())


def fill_duckdb(folder: Path) -> str:
    file = folder / "points.csv"
    file.write_text(csv_text())
    with duckdb.connect(str(folder / "points.duckdb")) as connection:
        connection.execute(TABLE)
        connection.execute(f"copy points from '{file}' (format csv, header false, nullstr '{NULL}')")
    return f"duckdb:///{folder / 'points.duckdb'}"


@pytest.fixture(scope="module", params=["postgresql", "duckdb"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres: Postgres) -> str:
    """The batches, on each engine that chooses rows."""
    if request.param == "duckdb":
        return fill_duckdb(tmp_path_factory.mktemp("points"))
    made = postgres.create_database()
    fill_postgresql(made)
    return made


@pytest.fixture
def points(url: str, directory: Directory) -> None:
    """They are source ``ds_1``."""
    directory.add(1, url)


async def types_of(sources: DataSources, template: SQLTemplate = TEMPLATE) -> dict[str, str | None]:
    known = await sources.query(group(main="ds_1"), "main", ColumnTypesTemplate(template), {"batch": "0"})
    assert known.types is not None
    assert not known.rows
    return dict(zip(known.names, known.types, strict=True))


async def chosen(
    sources: DataSources, types: dict[str, str | None], name: str, plot: Plot, template: SQLTemplate = TEMPLATE
) -> Result:
    """By the engine."""
    reduced = ReducedTemplate(
        template, types, by=plot.by, measures=plot.measures, color=plot.color, columns=plot.columns
    )
    by_engine = Reduction("by the engine", reduced_answer)
    return await sources.query(group(main="ds_1"), "main", reduced, {"batch": name}, reduction=by_engine)


async def whole(sources: DataSources, name: str) -> Result:
    return await sources.query(group(main="ds_1"), "main", TEMPLATE, {"batch": name}, reduction=EVERY)


def shown(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """NaN is not equal to itself, and 0.0 is to -0.0."""
    return list(map(repr, rows))


PLOTS = [
    Plot("{}", ("v",), None, WIDTH),
    Plot("{}", ("whole", "exact"), None, WIDTH),
    Plot("{}", ("v", "exact"), "color", WIDTH),
    Plot("{}", ("whole",), "flag", WIDTH),
]


@pytest.mark.parametrize("by", PLACES)
async def test_the_engine_chooses_the_same_rows(points: None, by: str, open_sources: Any) -> None:
    """Row by row, with ties, gaps, NaN and infinity, several series and measures, on each type of axis. Red when equal
    values keep the last row in place of the first, when NaN counts as a value, and when a place is divided before it is
    multiplied."""
    sources = open_sources(row_limit=10)
    types = await types_of(sources)
    reduced = 0
    for number in range(BATCHES):
        rows = await whole(sources, str(number))
        for plot in (Plot(by, each.measures, each.color, each.width) for each in PLOTS):
            expected = reduce_rows(rows, plot)
            found = await chosen(sources, types, str(number), plot)
            if expected is None and len(rows) > plot.columns:
                assert found.names == (), "rows in the order of the series, in a plot without series"
                continue
            expected = expected or rows
            reduced += len(expected) < len(rows)
            assert (found.names, found.types) == (expected.names, expected.types)
            assert shown(found.rows) == shown(expected.rows), (number, plot)
    assert reduced > BATCHES


@pytest.mark.parametrize("name", REFUSED)
async def test_rows_without_an_order_are_not_chosen(points: None, name: str, open_sources: Any) -> None:
    """As they are not here. Red when nobody looks at the order, or at places that are none."""
    sources = open_sources(row_limit=10)
    types = await types_of(sources)
    for by in ["share"] if name == "beyond" else PLACES:
        plot = Plot(by, ("v",), None, WIDTH)
        assert reduce_rows(await whole(sources, name), plot) is None
        assert (await chosen(sources, types, name, plot)).names == ()


@pytest.mark.parametrize(("by", "measure", "color"), [("color", "v", None), ("day", "flag", None), ("day", "v", "v")])
async def test_other_types_are_not_the_engines(
    points: None, by: str, measure: str, color: str | None, open_sources: Any
) -> None:
    """They are said before anything runs; so are names that are no plain ones."""
    sources = open_sources()
    types = await types_of(sources)
    with pytest.raises(InvalidSettings, match="of the type"):
        await chosen(sources, types, "1", Plot(by, (measure,), color, WIDTH))
    with pytest.raises(InvalidSettings, match="of the name"):
        await chosen(sources, {**types, 'a"; drop table points --': "text"}, "1", Plot("day", ("v",), None, WIDTH))


async def test_names_are_quoted_and_values_are_bound(points: None, open_sources: Any) -> None:
    """Whatever the author's select is called like, and ends with. Red without the quotes."""
    sources = open_sources(row_limit=10)
    template = SQLTemplate(
        'with "from" as (select * from points) select day as "the Day 100% ? $1 :a", v as "Select" from "from" '
        "where batch = {{ batch }} order by line;\n-- the end"
    )
    types = await types_of(sources, template)
    plot = Plot("the Day 100% ? $1 :a", ("Select",), None, WIDTH)
    rows = await sources.query(group(main="ds_1"), "main", template, {"batch": "in order"}, reduction=EVERY)
    assert list(types) == list(rows.names) == [plot.by, "Select"]
    expected = reduce_rows(rows, plot)
    assert expected is not None
    assert shown((await chosen(sources, types, "in order", plot, template)).rows) == shown(expected.rows)


async def test_series_are_told_apart_whatever_the_collation(
    points: None, directory: Directory, open_sources: Any
) -> None:
    """To one that knows no case ``a`` and ``A`` are equal, and here they are two series. Red without the cast, on
    DuckDB; the PostgreSQL of the tests has no such collation."""
    if directory.registered[0].url.startswith("postgresql"):
        pytest.skip("it is built without ICU")
    sources = open_sources(row_limit=10)
    template = SQLTemplate(
        "select number, whole, case when line % 3 = 0 then 'a' else 'A' end collate nocase as color from points "
        "where batch = {{ batch }} order by line"
    )
    types = await types_of(sources, template)
    plot = Plot("number", ("whole",), "color", 3)
    rows = await sources.query(group(main="ds_1"), "main", template, {"batch": "in order"}, reduction=EVERY)
    expected = reduce_rows(rows, plot)
    assert expected is not None
    assert shown((await chosen(sources, types, "in order", plot, template)).rows) == shown(expected.rows)


async def test_disorder_within_a_column_shows_nothing(points: None, open_sources: Any) -> None:
    """Rows that go back and forth in half a pixel are drawn as one stroke; the engine chooses among them. Red when it
    compares each row with the one before."""
    sources = open_sources(row_limit=10)
    template = SQLTemplate("select number, v from points where batch = {{ batch }} order by line - 2 * (line % 2)")
    types = await types_of(sources, template)
    rows = await sources.query(group(main="ds_1"), "main", template, {"batch": "in order"}, reduction=EVERY)
    plot = Plot("number", ("v",), None, 3)
    assert reduce_rows(rows, plot) is None
    found = await chosen(sources, types, "in order", plot, template)
    assert 4 <= len(found) <= 4 * plot.columns


async def test_other_engines_choose_none(tmp_path: Path, directory: Directory, open_sources: Any) -> None:
    """They are told before anything runs."""
    directory.add(1, f"sqlite:///{tmp_path / 'a.db'}")
    with pytest.raises(InvalidSettings, match="not reduced on sqlite"):
        await types_of(open_sources())
    with pytest.raises(InvalidSettings, match="not reduced on sqlite"):
        await chosen(open_sources(), {"at": "integer", "v": "float"}, "0", Plot("at", ("v",), None, WIDTH))
