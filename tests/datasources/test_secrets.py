"""No password and no tenant value leaves through an error, a repr, a traceback or the log."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from tenantry.datasources import DataSources
from tenantry.errors import DataSourceError, TenantryError
from tenantry.groups import UserGroup
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file

PASSWORD = "pa55-c4n4ry"
VALUE = "v4lue-c4n4ry"

BAD = [
    "select * from absent where a = {{ v }}",
    "select cast({{ v }} as integer) as a, 1 as a",
    "select json_extract('{}', {{ v }}) as a",
    "select {{ v }} as a, {{ v }} as a",
    "select cast(cast({{ v }} as text) as integer) as a, 1 as b",
    "select upper({{ v }}, {{ v }}, {{ v }}) as a",
    "delete from orders where owner = {{ v }}",
]


@pytest.fixture
def urls(tmp_path: Path, postgres) -> dict[str, str]:
    """One source of each engine that runs here."""
    server = postgres.create_database().replace("postgres@", f"postgres:{PASSWORD}@")
    return {
        "sqlite": sqlite_file(tmp_path / "a.db", "acme"),
        "duckdb": duckdb_file(tmp_path / "a.duckdb", "acme"),
        "postgresql": server,
        "unreachable": f"postgresql://u:{PASSWORD}@127.0.0.1:1/db",
        "unreachable mysql": f"mysql://u:{PASSWORD}@127.0.0.1:1/db",
        "broken": f"postgresql://u:x@{PASSWORD}@h/db",
        "untrusted": f"oracle://u:{PASSWORD}@h/db",
    }


async def _failure(sources: DataSources, asking: UserGroup, sql: str) -> TenantryError | None:
    try:
        await sources.fetch(asking, "main", sql, {"v": VALUE})
    except TenantryError as error:
        return error
    return None


async def test_no_canary_leaves(
    urls: dict[str, str], directory: Directory, open_sources, caplog: pytest.LogCaptureFixture
) -> None:
    """Seven ways to fail on seven sources: neither canary is in message, repr, traceback or log.

    Red when ``failure`` of SQLite or DuckDB, or ``_failure`` of PostgreSQL, passed the engine's own message on.
    """
    caplog.set_level(logging.DEBUG)
    sources = open_sources(timeout=2)
    seen = []
    for number, url in enumerate(urls.values()):
        source = directory.add(number, url)
        seen.append(repr(source))
        for sql in BAD:
            error = await _failure(sources, group(main=f"ds_{number}"), sql)
            if error is None:
                continue
            assert isinstance(error, DataSourceError) or error.code == "unbindable_value"
            assert error.__cause__ is None
            seen += [str(error), repr(error), "".join(traceback.format_exception(error)), repr(error.__context__)]
    assert len(seen) > 4 * 45
    seen += [repr(sources), repr(vars(sources)), caplog.text]
    text = "\n".join(seen)
    assert PASSWORD not in text
    assert VALUE not in text
