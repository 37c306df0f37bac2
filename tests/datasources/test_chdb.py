"""chDB: the embedded engine, in a process of its own for all tests of this file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from engines.clickhouse import require_chdb
from engines.warm_python import run
from tenantry.datasources.engines.chdb import ChDBDriver
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.url import file_path, memory_bytes, parse_url
from tenantry.errors import InvalidSource, SourceUnavailable
from tests.datasources.clickhouse_cases import CANARY, CASES, ENGINE_ALONE, PATIENCE
from tests.datasources.conftest import Directory


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the child says of all that it ran."""
    require_chdb()
    folder = tmp_path_factory.mktemp("chdb")
    command = [sys.executable, "-m", "tests.datasources.clickhouse_cases", str(folder)]
    child = run(command, capture_output=True, text=True, timeout=300, check=False)
    assert child.returncode == 0, child.stderr
    answer: dict[str, Any] = json.loads(child.stdout)
    return answer


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number].sql[:40])
def test_what_it_answers(number: int, found: dict[str, Any]) -> None:
    """The table that a server answers too. Red without each rule that it names: without ``readonly``, with the columns
    of an empty answer as the engine gives them (none), and without the check of the text ``file()`` gave the file."""
    case, answer = CASES[number], found["cases"][number]
    if case.sql == "select * from sales.typed":  # chDB drops the zone of a column and gives UTC (clickhouse-connect)
        assert answer.split(": ", 1)[0] == case.outcome.split(": ", 1)[0]
        return
    assert answer.startswith(case.outcome)
    assert CANARY not in answer


def test_the_engine_itself_refuses_what_writes(found: dict[str, Any]) -> None:
    """With no check of the text at all. Red without ``readonly``: the row was written."""
    assert len(found["engine alone"]) == len(ENGINE_ALONE)
    for answer in found["engine alone"]:
        assert answer.startswith("NotOneStatement: data source ds_1 does not run this query: the database refused it")
    assert found["still there"] == CASES[0].outcome


def test_queries_whose_viewers_left_are_stopped(found: dict[str, Any]) -> None:
    """They would run for hours, and hold all connections. Red without ``interrupt``: 100 s."""
    assert found["stop"]["served"] < 20
    assert found["stop"]["stopped"] < PATIENCE


def test_a_stream_has_its_own_limits_and_stops(found: dict[str, Any]) -> None:
    """Its only connection serves the next query. Red when the rows are read as a whole: 70,000 were too many, and a
    stream without end gave nothing."""
    assert found["stream"] == {
        "select number from numbers(70000)": 70_001,
        "select 1 as a where 0": 1,
        "show tables from sales": 3,
        "first": '{"number":0}',
        "left": [{"a": 1}],
    }


def test_one_folder_at_a_time(found: dict[str, Any]) -> None:
    """A second one is refused in plain words, and not by its path; a missing one is not made."""
    assert found["ds_2"].startswith("SourceUnavailable: data source ds_2 cannot be reached")
    assert "this process has another chDB folder open" in found["ds_2"]
    assert found["ds_3"] == "SourceUnavailable: the folder of data source ds_3 does not exist"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """Red without the look into it: the engine makes a database of any folder."""
    require_chdb()
    driver = ChDBDriver(Directory().add(1, f"chdb:///{tmp_path}"), Limits())
    with pytest.raises(InvalidSource, match="contains no chDB database"):
        driver.open()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SourceUnavailable, match="does not exist"):
        ChDBDriver(Directory().add(1, f"chdb:///{tmp_path / 'missing'}"), Limits()).open()
    driver.shutdown()


def test_the_url_is_that_of_a_folder() -> None:
    """Its rules are those of other files, and its option that of DuckDB."""
    url = parse_url("chdb:////data/sales?memory_limit=1.5GiB")
    assert (file_path(url), memory_bytes(url)) == (Path("/data/sales"), 3 * 2**29)
    assert memory_bytes(parse_url("chdb:////data/sales?memory_limit=2MB")) == 2_000_000
    assert memory_bytes(parse_url("chdb:////data/sales")) == 2**30


def test_guarded_tables(found: dict[str, Any]) -> None:
    """A query that forgets the tenant. Red when ``bind_query`` binds the author's template."""
    assert found["guarded"] == ["id integer, owner text: [(1, 'acme')]", "id integer, owner text: [(2, 'globex')]"]
