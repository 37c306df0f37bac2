"""What the command line loads, and what it says when a package is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engines.warm_python import run
from tenantry.database.migrations import migrate


def _python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)


def test_help_and_keys_load_no_database(tmp_path: Path) -> None:
    """``--help`` and ``keys`` load neither SQLAlchemy nor a web server. Red when a command imports them at its top."""
    code = """
import sys
from tenantry.cli import commands
loaded = lambda: [name for name in ("sqlalchemy", "alembic", "uvicorn", "duckdb", "starlette") if name in sys.modules]
commands(["--help"], standalone_mode=False)
print(loaded(), "pydantic" in sys.modules, file=sys.stderr)
commands(["keys", "new"], standalone_mode=False)
print(loaded(), file=sys.stderr)
"""
    result = _python(code, tmp_path).stderr.splitlines()
    assert result[0] == "[] False"
    assert result[-1] == "[]"


def test_the_commands_on_groups_load_no_templates(tmp_path: Path) -> None:
    """Red when ``group sync`` imported at its top what reads its file: a seventh of the time of ``group list``."""
    code = "import sys, tenantry.cli.group; print([name for name in sys.modules if name.startswith('tenantry.sql')])"
    assert _python(code, tmp_path).stdout == "[]\n"


def test_a_store_on_sqlite_loads_no_other_engine(tmp_path: Path) -> None:
    """Red when engine.py imported SQLAlchemy's dialect of PostgreSQL at its top: 70 ms of each start."""
    code = """
import asyncio, sys
from tenantry.backends.sql import SQLStore
from tenantry.groups import Tag
async def main():
    store = SQLStore("sqlite:///none.db")
    try:
        await store.environments.create("production", Tag.CUSTOMER)
    except Exception as error:
        print(type(error).__name__)
asyncio.run(main())
print([name for name in sys.modules if "postgresql" in name or "psycopg" in name])
"""
    assert _python(code, tmp_path).stdout.splitlines() == ["MigrationNeeded", "[]"]


def test_a_server_on_a_store_that_is_up_to_date_loads_no_alembic_and_no_documents(tmp_path: Path) -> None:
    """Each start of ``tenantry serve`` looks. Red when ``check`` or ``migrate`` asked alembic, a tenth of the time of a
    start, and when the server's modules made the schemas of the OpenAPI documents, a twentieth."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    code = f"""
import sys
import tenantry.server.workers
from tenantry.database.migrations import check, migrate
check({url!r})
migrate({url!r})
print([name for name in sys.modules if name.partition(".")[0] in ("alembic", "mako") or ".openapi" in name])
"""
    done = _python(code, tmp_path)
    assert done.stdout.splitlines() == ["[]"], done.stderr


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [
        ("pydantic_settings", ["keys", "list"], "server"),
        pytest.param("alembic", ["migrate"], "server", marks=pytest.mark.slow),
        pytest.param("uvicorn", ["demo"], "server", marks=pytest.mark.slow),
        ("duckdb", ["demo", "--port", "0"], "duckdb"),
        ("psycopg", ["migrate", "--database", "postgresql://u@127.0.0.1:1/d"], "postgres"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    module: str, arguments: list[str], extra: str, tmp_path: Path
) -> None:
    """Each command names the extra that brings what it lacks. Red when one extra is named for all of them."""
    code = (
        f"import sys; sys.modules[{module!r}] = None\nfrom tenantry.cli import commands\n"
        f"commands({arguments!r}, prog_name='tenantry')"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert f"pip install 'tenantry[{extra}]'" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
