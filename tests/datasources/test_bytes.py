"""A query may take so many bytes and no more, whatever its rows are: real engines, and the memory of a process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engines.postgres import Postgres
from engines.warm_python import run
from tenantry.datasources import DataSources, Limits
from tenantry.datasources.pool.query_limits import bytes_counter, take_result
from tenantry.errors import InvalidSettings, InvalidSource, QueryFailed, TooManyBytes, TooManyRows
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ROWS, SIZE = 400, 5_000_000

QUERIES = {
    "sqlite": f"with recursive n(i) as (select 1 union all select i + 1 from n where i < {ROWS}) "
    f"select i, hex(zeroblob({SIZE // 2})) as text from n",
    "duckdb": f"select i, repeat('x', {SIZE}) || i as text from range({ROWS}) r(i)",
    "postgresql": f"select i, repeat('x', {SIZE}) || i as text from generate_series(1, {ROWS}) i",
}


@pytest.fixture(params=sorted(QUERIES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The engine's name and a URL of it."""
    if request.param == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        return "postgresql", postgres.create_database()
    make = {"sqlite": sqlite_file, "duckdb": duckdb_file}[request.param]
    return request.param, make(tmp_path / "a.db", "acme")


def test_large_rows_take_little_memory(engine: tuple[str, str]) -> None:
    """400 rows of 5 MB, 2 GB in all: refused, and the process that asked for them has grown by no more than the limit
    and a row or two. Red when rows are counted after they were all read: 1.96 GB on SQLite and PostgreSQL."""
    name, url = engine
    url += "?memory_limit=256MiB" if name == "duckdb" else ""
    command = [sys.executable, "-m", "tests.datasources.big", url, QUERIES[name]]
    said = run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    code, grown = said[-2], int(said[-1])
    assert code == ("query_failed" if name == "duckdb" else "too_many_bytes"), said
    assert grown < (600 if name == "duckdb" else 200), said


def test_duckdb_gives_one_row_at_first(tmp_path: Path) -> None:
    """20 rows of 30 MB: DuckDB makes all of them before it gives the first, 600 MB that its ``memory_limit`` does not
    count. Python has two: the second is beyond ``max_bytes``. Red when 64 rows were taken at first: 1.2 GB."""
    url = duckdb_file(tmp_path / "a.db", "acme")
    command = [sys.executable, "-m", "tests.datasources.big", url, "select repeat('x', 30000000) as t from range(20)"]
    said = run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert said[-2] == "too_many_bytes", said
    assert int(said[-1]) < 900, said


async def test_a_connection_serves_the_next_query(
    engine: tuple[str, str], directory: Directory, open_sources: Callable[..., DataSources]
) -> None:
    """What is refused leaves the source usable, and what is just below the limit comes."""
    name, url = engine
    directory.add(1, url)
    sources, asked = open_sources(max_bytes=1_000_000), group(main="ds_1")
    text = {"sqlite": "hex(zeroblob({}))", "duckdb": "repeat('xx', {})", "postgresql": "repeat('xx', {})"}[name]
    for _ in range(3):
        with pytest.raises(TooManyBytes, match=r"0\.95"):
            await sources.fetch(asked, "main", f"select {text.format(600_000)} as text")
        (row,) = await sources.fetch(asked, "main", f"select {text.format(400_000)} as text")
        assert len(row["text"]) == 800_000


async def test_queries_beside_it_are_not_harmed(
    postgres: Postgres, directory: Directory, open_sources: Callable[..., DataSources]
) -> None:
    """Each connection counts its own. Red when the count is one of the source."""
    directory.add(1, postgres.create_database())
    sources, asked = open_sources(max_bytes=1_000_000), group(main="ds_1")
    below = [sources.fetch(asked, "main", "select repeat('x', 900000) as text") for _ in range(8)]
    above = sources.fetch(asked, "main", "select repeat('x', 1100000) as text")
    *good, bad = await asyncio.gather(*below, above, return_exceptions=True)
    assert isinstance(bad, TooManyBytes)
    assert all(isinstance(rows, list) and len(rows[0]["text"]) == 900_000 for rows in good)


def _limits(**given: int) -> Limits:
    return Limits(**given)  # type: ignore[arg-type]  # whole numbers


def test_large_rows_are_found_out_in_good_time() -> None:
    """Red when a cursor is read in pieces of one length: a piece of large rows is far above any limit."""
    read = []

    def cursor() -> Iterator[tuple[Any, ...]]:
        for number in range(100):
            read.append(number)
            yield number, "x" * 1_000

    with pytest.raises(TooManyBytes):
        take_result("ds_1", (), cursor(), _limits(max_bytes=10_000))
    assert len(read) < 12
    read.clear()
    with pytest.raises(TooManyRows):
        take_result("ds_1", (), cursor(), _limits(row_limit=3))
    assert len(read) == 4
    assert len(take_result("ds_1", (), cursor(), _limits(row_limit=100))) == 100


def test_pieces_grow_slowly_and_shrink_with_what_is_left() -> None:
    """A piece is at most 128 rows, twice the one before, and what is left would hold of rows twice as large. Red
    without each of the three bounds."""
    pieces: list[int] = []

    def count(rows: Sequence[Sequence[Any]]) -> int:
        pieces.append(len(rows))
        return sum(len(text) for (text,) in rows)

    assert len(take_result("ds_1", (), [("x" * 68,)] * 1_000, _limits(max_bytes=110_000), count=count)) == 1_000
    assert pieces[:9] == [1, 2, 4, 8, 16, 32, 64, 128, 128]
    assert all(later <= 2 * earlier for earlier, later in pairwise(pieces))
    assert pieces[-1] < 70
    pieces.clear()
    growing = (("x" * 68 * 2**number,) for number in range(30))
    with pytest.raises(TooManyBytes):
        take_result("ds_1", (), growing, _limits(max_bytes=110_000), count=count)
    assert pieces == [1, 2, 4, 8]


def test_values_of_sqlite_are_counted_by_marshal() -> None:
    """Texts and bytes, wherever they stand. Red when they are left out, as numbers are."""
    for value in ("x" * 50_000, "é" * 30_000, b"x" * 50_000):
        with pytest.raises(TooManyBytes):
            take_result("ds_1", (), [(1, 2.5, None, value)], _limits(max_bytes=49_000), count=None)
        assert len(take_result("ds_1", (), [(1, value)] * 9, _limits(max_bytes=700_000), count=None)) == 9


@pytest.mark.parametrize(
    "value", [["x" * 50_000], {"k": "x" * 50_000}, ({"k": ["x" * 50_000]},), "é" * 50_000, b"x" * 50_000, [1] * 50_000]
)
def test_what_is_inside_a_value_counts(value: object) -> None:
    """Red when only the list or struct itself is counted."""
    with pytest.raises(TooManyBytes):
        take_result("ds_1", (), [(value,)], _limits(max_bytes=49_000))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text", "x" * 50_000),
        ("bytes", b"x" * 50_000),
        ("decimal", Decimal("7" * 120_000)),
        ("json", ["x" * 50_000]),
        ("list", [b"x" * 50_000]),
        (None, {"k": "x" * 50_000}),
    ],
)
def test_a_column_is_counted_by_its_type(word: str | None, value: object) -> None:
    """Alone and beside None. Red when one of these types is left out, as numbers are, or what is in a value is."""
    count = bytes_counter(["integer", word], unbounded=["decimal"])
    for rows in ([(1, value)], [(1, None), (1, value)]):
        assert 49_000 < count(rows) < 130_000
    assert bytes_counter(["integer", "decimal"])([(1, value)]) == 0


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "1"])
def test_a_limit_is_a_whole_number(value: Any) -> None:
    with pytest.raises(InvalidSettings, match="max_bytes"):
        Limits(max_bytes=value)


async def test_duckdb_has_a_memory_limit(
    tmp_path: Path, directory: Directory, open_sources: Callable[..., DataSources]
) -> None:
    """Without the option 1 GiB, and no file to put what does not fit: DuckDB's own default is most of the machine."""
    directory.add(1, duckdb_file(tmp_path / "a.db", "acme"))
    directory.add(2, duckdb_file(tmp_path / "b.db", "acme") + "?memory_limit=64MiB")
    sources, asked = open_sources(), group(main="ds_1", small="ds_2")
    setting = "select current_setting('memory_limit') as a, current_setting('temp_directory') as b"
    assert await sources.fetch(asked, "main", setting) == [{"a": "1.0 GiB", "b": ""}]
    assert (await sources.fetch(asked, "small", setting))[0]["a"] == "64.0 MiB"
    with pytest.raises(QueryFailed, match=r"64MiB of memory.*memory_limit in the URL"):
        await sources.fetch(asked, "small", "select string_agg(repeat('x', 1000000) || i) as t from range(500) r(i)")


@pytest.mark.parametrize("option", ["memory_limit=lots", "memory_limit=0GiB", "memory_limit=1", "threads=4"])
def test_other_options_of_a_duckdb_url_are_refused(option: str) -> None:
    from tenantry.datasources import check_url

    with pytest.raises(InvalidSource):
        check_url(f"duckdb:////a.duckdb?{option}")
