"""Few rows made of many: what is held meanwhile, and what the reduction gets."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.datasources import DataSources
from tenantry.datasources.driver import as_result
from tenantry.datasources.pool.streamed_reduction import Reduction, _RowCollector
from tenantry.datasources.results import Result
from tenantry.errors import TooManyBytes
from tests.datasources.conftest import Directory, group, sqlite_file

MIB = 1024 * 1024
TEXT = (
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000) "
    "select i, hex(zeroblob(512)) as text from n"
)
"""13 MB."""


def every(result: Result) -> Result:
    return result


def tenth(result: Result) -> Result:
    """Every tenth row of the query, however often it is thinned."""
    return Result(result.names, [row for row in result.rows if row[0] % 10 == 0])


@pytest.fixture
def sources(tmp_path: Path, directory: Directory, open_sources: Callable[..., DataSources]) -> DataSources:
    """An answer may take 3 MiB."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    return open_sources(max_bytes=3 * MIB, pool_size=6)


async def test_a_reduction_holds_no_more_than_an_answer(sources: DataSources) -> None:
    """Six of 13 MB at once, of which a tenth stays. Red when the rows are thinned at the end only."""
    tracemalloc.start()
    try:
        queries = [f"{TEXT} where i > -{number}" for number in range(6)]
        reduction = Reduction("tenth", tenth, tenth)
        found = await asyncio.gather(
            *(sources.query(group(main="ds_1"), "main", each, reduction=reduction) for each in queries)
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [[row[0] for row in each.rows] for each in found] == [[*range(10, 12001, 10)]] * 6
    assert peak < 6 * 5 * MIB


async def test_rows_that_cannot_be_thinned_are_too_many_bytes(sources: DataSources) -> None:
    """Red without the limit."""
    with pytest.raises(TooManyBytes, match="select fewer rows"):
        await sources.query(group(main="ds_1"), "main", TEXT, reduction=Reduction("all", every, every))


async def test_few_rows_are_not_thinned(sources: DataSources) -> None:
    def never(result: Result) -> Result:
        raise AssertionError

    found = await sources.query(
        group(main="ds_1"), "main", TEXT.replace("12000", "1000"), reduction=Reduction("few", never, tenth)
    )
    assert len(found) == 100


def test_rows_are_thinned_with_those_before() -> None:
    """In their order, and not for each few rows. Red when what was kept is lost, or left out of the next thinning."""
    thinned: list[int] = []

    def thin(result: Result) -> Result:
        thinned.append(len(result))
        return tenth(result)

    collector = _RowCollector(Reduction("", thin, tenth), as_result, 32 * 1000).begin(("n",), None)
    for start in range(0, 5_000, 100):
        assert collector.write([(n,) for n in range(start, start + 100)]) == b""
    collector.end()
    assert [row[0] for row in collector.found[0].rows] == [*range(0, 5_000, 10)]
    assert thinned[:2] == [1_100, 1_010]
    assert max(thinned) <= 1_100
    assert len(thinned) < 10


def test_a_lost_connection_begins_again() -> None:
    """Red when the rows of the lost one stay."""
    collector = _RowCollector(Reduction("", every, every), as_result, MIB).begin(("n",), None)
    collector.write([(1,)])
    collector.begin(("n",), None).write([(2,)])
    collector.end()
    assert list(collector.found[0].rows) == [(2,)]


def test_a_step_that_goes_on_when_its_viewer_has_left_keeps_no_rows() -> None:
    """Red when they are kept; and the step ends."""
    collector = _RowCollector(Reduction("", every, every), as_result, MIB).begin(("n",), None)
    collector.write([(1,)])
    collector.drop()
    assert collector.write([(2,)] * 5)
    collector.end()
    assert (collector._rows, collector.found) == ([], [])
