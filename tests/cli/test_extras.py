"""Commands where packages of an extra are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.cli.one_process import run_all

SERVER = ("alembic", "pydantic_settings", "uvicorn")
DASHBOARDS = ("msgspec", "sqlglot", "yaml")
ALL = {
    "dashboards check dashboards": "dashboards",
    "dashboards explain sales --group a": "server,dashboards",
    "dashboards serve dashboards": "server,dashboards",
    "edit .": "server,dashboards",
}


def without(modules: tuple[str, ...]) -> str:
    return f"import sys; sys.modules.update(dict.fromkeys({modules}))\n"


@pytest.mark.parametrize("tables", ["{}", "{orders: region}"])
def test_a_missing_sqlglot_is_named_wherever_tables_are_declared(ready: Terminal, folder: Path, tables: str) -> None:
    """Also where the declaration lists no table. Red when the reader looked for sqlglot only for listed tables: a
    traceback."""
    ready("group", "create", "a")
    ready("dashboards", "new", "sales")
    (folder / "tables.yaml").write_text(f"tables: {tables}\n")
    refused = run_all(
        folder,
        "sql check queries",
        "sql render queries/sales.sql --group a",
        "data-source create main --url sqlite:///x.db --no-check --tables tables.yaml",
        before=without(("sqlglot",)),
    )
    for each in refused:
        assert each.code == 1
        assert "fix: pip install 'tenantry[guard]'" in each.err


@pytest.mark.parametrize(("missing", "named"), [(SERVER, "server"), (DASHBOARDS, "dashboards")])
def test_a_command_names_all_that_it_lacks_before_it_begins(
    terminal: Terminal, folder: Path, missing: tuple[str, ...], named: str
) -> None:
    """Red when `edit` started without the extra, and when `dashboards check` named one extra after the other."""
    terminal("dashboards", "new", "sales")
    both = run_all(folder, *ALL, before=without(SERVER + DASHBOARDS))
    for each, extras in zip(both, ALL.values(), strict=True):
        assert each.code == 1
        assert each.err.endswith(f"not installed: pip install 'tenantry[{extras}]' [invalid_settings]\n")
    lines = [line for line, extras in ALL.items() if named in extras]
    for each in run_all(folder, *lines, before=without(missing)):
        assert each.err.endswith(f"pip install 'tenantry[{named}]' [invalid_settings]\n")
