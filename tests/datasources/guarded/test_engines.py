"""A forgetful query on each engine: only the rows of the group come out. (chDB: tests/datasources/test_chdb.py.)"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.datasources import DataSources, fetch_page
from tests.datasources.conftest import Directory, group
from tests.datasources.databases import create_database
from tests.datasources.guarded.shop import ACME, FORGETFUL, GLOBEX, STATEMENTS, TABLES, owned


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "mariadb"])
def guarded(request: pytest.FixtureRequest, tmp_path: Path, directory: Directory) -> str:
    """The engine of the guarded source ``ds_1``."""
    name: str = request.param
    url = create_database(name, STATEMENTS, tmp_path, request, scheme="mariadb")
    directory.add(1, url, tables=TABLES)
    return name


async def test_only_the_rows_of_the_group(guarded: str, open_sources: Callable[..., DataSources]) -> None:
    """Also without ``ACME``, which MariaDB's ``=`` finds. Red when ``bind_query`` binds the author's template."""
    sources = open_sources(timeout=60.0)
    for name, rows in (("acme", ACME), ("globex", GLOBEX)):
        mine = group(name, main="own_1")
        assert owned(await sources.fetch(mine, "main", FORGETFUL)) == rows
        assert owned((await sources.query(mine, "main", FORGETFUL)).dicts()) == rows
        page = await fetch_page(sources, mine, "main", FORGETFUL, order=["id"], size=10, total="exact")
        assert (owned(page.rows), page.total) == (rows, len(rows))
