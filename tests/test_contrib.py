"""What the distributions of contrib/ may know of the core: its public names, and nothing of the modules behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module

import pytest

from scripts.distributions import DISTRIBUTIONS, ROOT

PUBLIC = (
    "tenantry",
    "tenantry.datasources",
    "tenantry.datasources.engines",
    "tenantry.errors",
    "tenantry.groups",
    "tenantry.results",
    "tenantry.sql",
    "tenantry.sql.inspect",
)
"""The modules that a tool may import from."""

CONTRIB = {name: folder for name, folder in DISTRIBUTIONS.items() if folder.parent == ROOT / "contrib"}


def hidden(text: str) -> Iterator[str]:
    """The imports from ``tenantry`` of a module's text that are not public names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.partition(".")[0] == "tenantry")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "tenantry":
            public = import_module(str(node.module)).__all__ if node.module in PUBLIC else ()
            yield from (f"{node.module}:{each.name}" for each in node.names if each.name not in public)


@pytest.mark.parametrize("name", CONTRIB)
def test_a_distribution_imports_public_names_only(name: str) -> None:
    """So a module of the core may move, and its users see nothing. Red with ``from tenantry.sql.template import
    SQLTemplate`` in tenantry-convert."""
    files = [*(CONTRIB[name] / "src").rglob("*.py")]
    assert files
    assert {str(path): found for path in files if (found := [*hidden(path.read_text("utf-8"))])} == {}


def test_what_is_hidden() -> None:
    """Control: the test above would see these."""
    assert [*hidden("import tenantry.cli\nfrom tenantry.sql import Query, lexing")] == [
        "tenantry.cli",
        "tenantry.sql:lexing",
    ]
    assert [*hidden("def f():\n  from tenantry.sql.source import Source")] == ["tenantry.sql.source:Source"]
    assert [*hidden("from tenantry.sql.inspect import lex\nfrom tenantry_convert import convert")] == []


def test_each_folder_is_a_distribution_of_its_name() -> None:
    """The Makefile and the build of a release go by folders. Red when ``distributions`` leaves contrib/ out: types,
    names and packaging of its folders would not be checked."""
    assert {folder.name for folder in (ROOT / "contrib").iterdir() if folder.is_dir()} == {*CONTRIB}


def test_the_core_does_not_import_contrib() -> None:
    """Found by entry points alone. Red when a module of the core imports one."""
    packages = {name.replace("-", "_") for name in CONTRIB}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert packages.isdisjoint(name.partition(".")[0] for name in names), path
