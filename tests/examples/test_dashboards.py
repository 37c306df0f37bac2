"""The dashboards of examples/dashboards and their data."""

from __future__ import annotations

import runpy
from pathlib import Path

from engines.terminal import Terminal, folder, terminal

__all__ = ["folder", "terminal"]

DASHBOARDS = Path(__file__).parents[2] / "examples" / "dashboards"
PLACES = ("hill", "east", "edo")


def test_the_engine_takes_each_query(terminal: Terminal, folder: Path) -> None:
    """For each of the three customers. Red when a query reads the column `at`, which is a word of DuckDB."""
    runpy.run_path(str(DASHBOARDS / "make_data.py"))["write"](folder / "data.duckdb")
    terminal("keys", "new")
    terminal("migrate")
    terminal("environment", "create", "production", "--tag", "Customer")
    tables = ("--tables", str(DASHBOARDS / "tables.yaml"))
    there = ("--environment", "production")
    terminal("data-source", "create", "data", *there, "--url", "duckdb:///data.duckdb", *tables)
    for place in PLACES:
        terminal("group", "create", place, *there, "--map", "main=data", "--property", f"place={place}")
    checked = terminal("dashboards", "check", str(DASHBOARDS / "dashboards"), "--groups")
    assert "20 queries, 20 guarded, 20 explained by their engine, 3 groups: nothing found" in checked.err
