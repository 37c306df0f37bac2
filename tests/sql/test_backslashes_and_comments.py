"""A backslash before a variable in a string, and tags in comments."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import asyncpg
import duckdb
import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.errors import TemplateError
from tenantry.sql import DIALECTS, SQLTemplate
from tenantry.sql.parsing.parser import parse
from tenantry.sql.source import Source
from tests.sql.each_dialect import each_dialect

TEXT = r"select 'CORP\\{{ x }}' as a, '{{ x }}\\\\{{ x }}' as b, 'c\{{ x }}' as c, 'd\\\{{ x }}' as d"
ROW = ("CORP\\alice", "alice\\\\alice", "c{{ x }}", "d\\{{ x }}")


async def test_two_backslashes_before_a_tag_are_one(postgres: Postgres, mariadb: MariaDB) -> None:
    """On each engine, whether backslashes escape there or not; one backslash makes the tag characters. Red when the
    pair is read as in the engine's own strings alone: PostgreSQL, SQLite and DuckDB then have no such spelling."""

    def bound(dialect: str) -> Any:
        return SQLTemplate(TEXT, dialect).bind({"x": "alice"})

    with closing(sqlite3.connect(":memory:")) as lite, duckdb.connect() as duck:
        found = bound("sqlite")
        assert lite.execute(found.sql, found.params).fetchall() == [ROW]
        found = bound("duckdb")
        assert duck.execute(found.sql, found.params).fetchall() == [ROW]
    found = bound("mysql")
    assert mariadb.execute(found.sql, found.params) == (ROW,)
    found = bound("postgresql")
    connection = await asyncpg.connect(postgres.create_database())
    try:
        assert tuple(await connection.fetchrow(found.sql, *found.params)) == ROW
    finally:
        await connection.close()


@each_dialect
def test_tags_in_comments_do_nothing_and_are_listed(dialect: str) -> None:
    """They go with the comment; in a hint, which goes to the engine, they are refused."""
    text = "select 1 -- {{ a }} {% b %}\n/* {{ c | nothing(x }} [[ \\{{ d }} */ + {{ x }}"
    tree = parse(Source(text), DIALECTS[dialect])
    assert [each.text for each in tree.inert_tags] == ["{{ a }}", "{{ c | nothing(x }}"]
    assert text[tree.inert_tags[1].offset :].startswith("{{ c")
    assert [each.path for each in tree.references] == ["x"]
    with pytest.raises(TemplateError, match="inside a hint"):
        parse(Source("select /*+ {{ a }} */ 1"), DIALECTS[dialect])
