"""The names that ``make bench TABLES=…`` takes: each is a table or a group of tables, and docs/benchmarks.md has it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from benchmarks.micro.tables import GROUPS, TABLES, chosen

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "benchmarks" / "micro"
PAGE = ROOT / "docs" / "benchmarks.md"


def _measures(module: Path) -> bool:
    """Whether it has a function ``table``. It is read and not imported: what it compares with is not installed here."""
    body = ast.parse(module.read_text("utf-8")).body
    return any(isinstance(node, ast.FunctionDef) and node.name == "table" for node in body)


def test_each_table_is_a_module_and_each_that_measures_is_a_table() -> None:
    """Red for a name without a module, and for a module of a table that no name leads to."""
    assert sorted(path.stem for path in MODULES.glob("*.py") if _measures(path)) == sorted(TABLES)


def test_each_group_is_of_tables() -> None:
    """Red for a table that there is not, a table that is twice in a group, and a group named as a table."""
    for group, tables in GROUPS.items():
        assert group not in TABLES
        assert sorted(set(tables)) == sorted(tables)
        assert set(tables) <= set(TABLES)


def test_names_stand_for_tables() -> None:
    """Red when a group's tables are run twice beside one of them, or none is run where none is named."""
    assert chosen([]) == list(TABLES)
    for name in TABLES:
        assert chosen([name]) == [name]
    for group, tables in GROUPS.items():
        assert chosen([group]) == list(tables)
        assert chosen([tables[-1], group, "sql"]) == ["sql", *tables]
    with pytest.raises(KeyError, match="nothing"):
        chosen(["sql", "nothing"])


def test_the_page_has_the_command_of_each() -> None:
    """In the order of the tables, each once. Red for a table that the page does not show, and for an unknown name."""
    told = re.findall(r"`make bench TABLES=([^`]*)`", PAGE.read_text("utf-8"))
    assert [name for name in told if name not in GROUPS] == list(TABLES)
    assert {name for name in told if name in GROUPS} == set(GROUPS)
