"""Queries as people write them in Metabase, Superset, Grafana, Redash, Lightdash, Evidence, Cluvio and dbt: each of the
corpus is written in our language, or named with the reason why not (``wild_spellings``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import duckdb
import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.datasources.statement import mysql_refusal, refusal
from tenantry.errors import TemplateError
from tenantry.sql import BoundSQL, SQLTemplate
from tests.sql.wild_spellings import MORE, SPELLINGS, TABLES, Refused, Spelling

AT_LEAST = 52
NOW = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
WRITTEN = [(index, each) for index, each in SPELLINGS.items() if isinstance(each, Spelling)]
REFUSED = [(index, each) for index, each in SPELLINGS.items() if isinstance(each, Refused)]
each_written = pytest.mark.parametrize(("index", "spelling"), WRITTEN, ids=[str(index) for index, _ in WRITTEN])


def run_by(dialect: str) -> pytest.MarkDecorator:
    chosen = [(index, each) for index, each in WRITTEN if each.dialect == dialect and each.runs]
    return pytest.mark.parametrize(("index", "spelling"), chosen, ids=[str(index) for index, _ in chosen])


def template(spelling: Spelling) -> SQLTemplate:
    if not spelling.fragments:
        return SQLTemplate(spelling.sql, spelling.dialect, params=spelling.params)
    return SQLTemplate(spelling.sql, spelling.dialect, params=spelling.params, fragments=spelling.fragments)


def bind(spelling: Spelling, paramstyle: str | None = None) -> BoundSQL:
    role = {"id": "acme", "properties": dict(spelling.properties)}
    variables: Mapping[str, Any] = {**spelling.properties, "user_group": role, "params": dict(spelling.values)}
    return template(spelling).bind(variables, paramstyle, now=NOW)


def test_the_corpus_is_covered(corpus: Path) -> None:
    """Each query has its spelling or its reason, under its number and for its feature. Red with one entry taken out,
    and with two of them exchanged."""
    lines = (corpus / "wild_queries" / "queries.jsonl").read_text("utf-8").splitlines()
    assert {index: json.loads(line)["feature"] for index, line in enumerate(lines)} == {
        index: each.feature for index, each in SPELLINGS.items()
    }


def test_at_least_so_many_can_be_written() -> None:
    """The figure that was promised. Red with ``AT_LEAST = 60``."""
    assert len(SPELLINGS) == 61
    assert len(WRITTEN) >= AT_LEAST


@each_written
def test_it_compiles_and_binds(index: int, spelling: Spelling) -> None:
    """For values as an address holds them, and none of them is in the text. Red for each feature that is lost."""
    bound = bind(spelling)
    assert "{{" not in bound.sql
    assert "[[" not in bound.sql
    for value in spelling.values.values():
        assert not isinstance(value, str) or len(value) < 4 or value in {"orders", "lead"} or value not in bound.sql


@pytest.mark.parametrize(("index", "refused"), REFUSED, ids=[str(index) for index, _ in REFUSED])
def test_a_refusal_is_named(index: int, refused: Refused) -> None:
    """What cannot be written says why. Red when one of them compiles."""
    assert refused.reason
    if refused.by == "template":
        with pytest.raises(TemplateError, match=refused.message):
            SQLTemplate(refused.sql, refused.dialect)
    else:
        SQLTemplate(refused.sql, refused.dialect)  # a text that a program's own driver may run
        reason = mysql_refusal(refused.sql) if refused.dialect == "mysql" else refusal(refused.sql)
        assert reason is not None
        assert refused.message in reason


@pytest.fixture(scope="module")
def postgres_tables(postgres: Postgres) -> str:
    url = postgres.create_database()
    postgres.execute(TABLES + MORE["postgresql"], url=url)
    return url


@pytest.fixture(scope="module")
def mariadb_tables(mariadb: MariaDB) -> str:
    name = mariadb.create_database()
    for statement in TABLES.strip().removesuffix(";").split(";"):
        mariadb.execute(statement, database=name)
    return name


@pytest.fixture
def duckdb_tables() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect(":memory:")) as connection:
        connection.execute((TABLES + MORE["duckdb"]).replace(" at timestamp", ' "at" timestamp'))  # a word of DuckDB
        yield connection


@run_by("postgresql")
async def test_postgresql_runs_it(index: int, spelling: Spelling, postgres_tables: str) -> None:
    """The real server takes the text and the types of the values."""
    bound = bind(spelling)
    connection = await asyncpg.connect(postgres_tables)
    try:
        await connection.fetch(bound.sql, *(bound.params or ()))
    finally:
        await connection.close()


@run_by("duckdb")
def test_duckdb_runs_it(index: int, spelling: Spelling, duckdb_tables: duckdb.DuckDBPyConnection) -> None:
    bound = bind(spelling)
    duckdb_tables.execute(bound.sql, bound.params)


@run_by("mysql")
def test_mariadb_runs_it(index: int, spelling: Spelling, mariadb: MariaDB, mariadb_tables: str) -> None:
    bound = bind(spelling)
    assert not isinstance(bound.params, dict)
    mariadb.execute(bound.sql, bound.params or (), database=mariadb_tables)
