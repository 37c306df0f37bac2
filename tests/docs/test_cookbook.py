"""docs/sql-cookbook.md on PostgreSQL. Its blocks run on DuckDB with all others; here the same answers come from a real
server, for the same files: what differs between the two is the dialect's business, and nobody's who writes a query."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from engines.postgres import Postgres
from tenantry.sql import Query
from tests.docs.blocks import blocks

PAGE = Path(__file__).parents[2] / "docs" / "sql-cookbook.md"
AT_LEAST = 30
NOW = datetime(2026, 2, 10, 12, tzinfo=UTC)

BLOCKS = blocks(PAGE)
FILES = {
    found[1]: block.text
    for block in BLOCKS
    if block.language == "sql" and (found := re.search(r'title="(\w+)\.sql"', block.info))
}
QUERIES = {name: text for name, text in FILES.items() if name != "tables"}


def test_there_are_so_many_queries_and_each_is_asked() -> None:
    """Red with a query that no block asks."""
    python = "".join(block.text for block in BLOCKS if block.language == "python")
    assert len(QUERIES) >= AT_LEAST
    assert [name for name in QUERIES if f'"{name}"' not in python] == []


@pytest.mark.parametrize("name", QUERIES)
def test_each_select_has_the_condition_of_the_customer(name: str) -> None:
    """As often as a table is read. Red when the condition is taken out of one side of a join."""
    tables = re.findall(r"(?:from|join)\s+(?:customers|orders|events|budget)\b", QUERIES[name])
    conditions = re.findall(r"tenant = \{\{ user_group\.id \}\}", QUERIES[name])
    assert len(conditions) == len(tables) or "{{> " in QUERIES[name]


class Server:
    """Answers as ``ask`` of the page does, from a database of PostgreSQL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.fragments: dict[str, Query] = {}
        self.asked: set[str] = set()

    def ask(self, name: str, tenant: str = "acme", **params: Any) -> list[tuple[Any, ...]]:
        self.asked.add(name)
        query = Query(FILES[name], name, dialect="postgresql", fragments=self.fragments)
        bound = query.bind({"user_group": {"id": tenant}, "params": params}, now=NOW)
        rows = asyncio.run(_fetch(self._url, bound.sql, bound.params))
        return [tuple(map(_plain, row.values())) for row in rows]


async def _fetch(url: str, sql: str, params: Any) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(sql, *params))
    finally:
        await connection.close()


def _plain(value: Any) -> Any:
    """PostgreSQL gives exact numbers where DuckDB gives floats, and a time with a zone for a date that was cut."""
    if isinstance(value, Decimal):
        return float(value)
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def test_postgresql_gives_the_same_answers(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every assertion of the page, with a server in place of DuckDB. Red with DuckDB's own spelling in one query."""
    url = postgres.create_database()
    postgres.execute(FILES["tables"], url=url)
    server = Server(url)
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / f"{name}.sql").write_text(text)
    names: dict[str, Any] = {}
    for block in BLOCKS:
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(PAGE), "exec"), names)
            names["ask"] = server.ask  # the first block makes that of DuckDB
            server.fragments = names["FRAGMENTS"]
    names["warehouse"].close()
    assert server.asked == set(QUERIES) - {"recent_orders"}
