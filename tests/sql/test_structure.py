"""No value changes what a real engine reads in a statement: a few templates of row S25, and its controls.

Red for every engine when the parser writes the placeholder of `'{{ x }}'` within its quotes; for SQLite, DuckDB and
ClickHouse when no space is put before a placeholder (drivers of the others put one themselves); for PostgreSQL and
ClickHouse without nested comments, and for ClickHouse without those that begin with `#` or `//`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from random import Random
from typing import Any

import pytest

from benchmarks.acceptance.structure.engines import ClickHouse, DuckDB, Engine, MariaDB, PostgreSQL, SQLite, splice
from benchmarks.acceptance.structure.generator import Generator
from benchmarks.acceptance.structure.proof import prove
from benchmarks.acceptance.structure.values import OWN_TEXTS, hostile_texts
from engines.clickhouse import ClickHouse as ClickHouseEngine
from engines.corpus import CORPUS
from engines.mariadb import MariaDB as MariaDBServer
from engines.postgres import Postgres
from tenantry.sql import BoundSQL, SQLTemplate
from tenantry.sql.filters.registry import _ARGUMENTS
from tenantry.sql.lexing.tags import NOT_A_FILTER

TEMPLATES = 60
FILTERS = [f"| {name}" for name in _ARGUMENTS if name != NOT_A_FILTER]
SEED = 20_261_122
BACKSLASHES = {"mysql", "clickhouse"}


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "mysql", "clickhouse"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with closing(_started(request.param, request.getfixturevalue)) as started:
        yield started


def _started(dialect: str, fixture: Callable[[str], Any]) -> Engine:
    if dialect == "sqlite":
        return SQLite()
    if dialect == "duckdb":
        return DuckDB()
    if dialect == "postgresql":
        server: Postgres = fixture("postgres")
        return PostgreSQL(server.create_database())
    if dialect == "clickhouse":
        clickhouse: ClickHouseEngine = fixture("clickhouse")
        return ClickHouse(clickhouse)
    mariadb: MariaDBServer = fixture("mariadb")
    return MariaDB(mariadb.connect(mariadb.create_database()))


def test_no_value_changes_the_structure(engine: Engine) -> None:
    """And most spliced statements are seen to be others."""
    proof = prove(engine, hostile_texts(Random(SEED), CORPUS / "sqli_payloads.txt"), Random(SEED), templates=TEMPLATES)
    assert proof.shown == []
    assert proof.templates == TEMPLATES
    assert proof.values > 9 * TEMPLATES, "a declared parameter may refuse a text, and seldom does"
    assert proof.controls > 0
    assert proof.ok
    assert proof.refused < TEMPLATES // 4, "templates that do not compile prove nothing"


def test_the_engine_sees_what_a_spliced_value_does(engine: Engine) -> None:
    """Each of our hostile texts that ends the literal it is in makes another statement, and as a literal none does."""
    template = SQLTemplate("select id from orders where tenant = {{ t }} and name = {{ u }}", engine.dialect)
    usual = template.bind({"t": "harmless", "u": "other"}, "format")
    for text in OWN_TEXTS:
        hostile = template.bind({"t": text, "u": "other"}, "format")
        first, pasted, spliced = engine.structures([engine.paste(usual), engine.paste(hostile), splice(hostile)])
        assert pasted == first, text
        assert (spliced != first) is _ends_a_literal(text, backslash=engine.dialect in BACKSLASHES), text


class _Splicing(SQLite):
    """Writes the quotes of one text as they are."""

    text = "' or 1 = 1 or '"
    spliced = 0

    def paste(self, bound: BoundSQL) -> str:
        pasted = super().paste(bound)
        found = pasted.replace(self.text.replace("'", "''"), self.text)
        self.spliced += found != pasted
        return found


def test_the_proof_finds_each_statement_with_a_spliced_value() -> None:
    """The control of the whole search: of many statements that an engine reads in one call, those are reported whose
    value was spliced, and no other. Red when answers are given to other statements than those that they are of."""
    with closing(_Splicing()) as engine:
        proof = prove(engine, [*OWN_TEXTS, engine.text], Random(SEED), templates=100)
    assert engine.spliced > 20
    assert proof.changed == engine.spliced
    assert all(f"{engine.text!r}, " in shown and "changed the structure" in shown for shown in proof.shown)


def _ends_a_literal(text: str, *, backslash: bool) -> bool:
    rest = re.sub(r"\\.", "x", text, flags=re.DOTALL) if backslash else text
    return "'" in rest.replace("''", "") or (backslash and rest.endswith("\\"))


def test_templates_have_every_construct() -> None:
    """The control of the generator: what it makes is the whole language, and the same for the same dice."""
    made = [Generator("postgresql", Random(SEED)).make().template.text for _ in range(2)]
    assert made[0] == made[1]
    generator = Generator("postgresql", Random(SEED))
    text = "\n".join(generator.make().template.text for _ in range(TEMPLATES))
    for part in (
        "[[ and",
        "in {{",
        "not in ({{",
        "like '",
        "}}'",
        "union all",
        "with mine",
        "exists (",
        "limit {{",
        "$$",
        "{{> ",
        *FILTERS,
    ):
        assert part in text, part
    assert any(line.count("[[") > 1 for line in text.splitlines()), "clauses within clauses"
