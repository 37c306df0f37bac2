"""The second readers: each engine's own account of the tables that a text reads.

The search for leaks (test_attacks.py) asks one about every text that it sends. Before a new version of sqlglot is
allowed, all of them must pass.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engines.corpus import needs_corpus
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.guarding import read_tables
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.search import Search
from tests.sql.guarding.attacks.trial import Attack
from tests.sql.guarding.attacks.world import VARIABLES, declaration
from tests.sql.guarding.second_readers import PARSERS, StandIns, Unreadable, assert_only_guards, second_reader
from tests.sql.guarding.test_slips import template as slip_template

READ = {
    "select note from t": {"t"},
    "select count(*) from t": {"t"},
    "select t.note from t join o on o.t_id = t.id": {"t", "o"},
    "select note from t where id in (select id from o)": {"t", "o"},
    "with q as (select * from t) select note from q": {"t"},
    "with t as (select note from o) select note from t": {"o"},
    "select note from t union all select note from items": {"t", "items"},
}


def test_each_reader_sees_tables_and_not_ctes(attacked: Engine) -> None:
    """Red when one counts a CTE, or overlooks a table of which no column is read."""
    reader = second_reader(attacked)
    for text, tables in READ.items():
        assert reader.tables(SQLTemplate(text, attacked.dialect).bind({}, attacked.style)) == tables, text


def test_a_guard_is_replaced_and_nothing_else(attacked: Engine) -> None:
    """In the text with stand-ins, a table that is read beside its guard is seen. Red when all tables are replaced."""
    tables = read_tables(declaration(attacked.schema))
    text = "select i.note from items i join o on o.id = i.o_id join t on t.id = o.t_id cross join countries"
    bound = SQLTemplate(text, attacked.dialect).guarded(tables).bind(VARIABLES, attacked.style)
    stand_ins, reader = StandIns(attacked.dialect, attacked.style, tables), second_reader(attacked)
    guarded = {"guarded_items", "guarded_o", "guarded_t", "countries"}
    assert reader.tables(stand_ins.replaced(bound)) == guarded
    beside = bound._replace(sql=f"{bound.sql} cross join vault")
    assert reader.tables(stand_ins.replaced(beside)) == guarded | {"vault"}


def test_a_difference_is_a_defect(attacked: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the search: a reader that sees another table makes it red."""
    search = Search(attacked)
    monkeypatch.setattr(type(search._reader), "tables", lambda *_: {"guarded_t", "o"})
    found = search.run([Attack("select note as x from t")])
    assert found.differences == 1
    assert "readers differ" in found.shown[0]


@pytest.mark.parametrize("dialect", PARSERS)
def test_a_table_beside_the_guards_is_found(dialect: str) -> None:
    """The control of the tests that ask a second reader. Red when ``%s`` was
    left in: pglast cannot read it."""
    tables, style = read_tables(declaration("main")), {"duckdb": "qmark", "postgresql": "format"}[dialect]
    bound = SQLTemplate("select note from t, countries", dialect).guarded(tables).bind(VARIABLES, style)
    assert_only_guards(bound, tables)
    besides = [", o"] if dialect == "postgresql" else [", o", ", histogram(o, note)"]
    for beside in besides:
        with pytest.raises(AssertionError):
            assert_only_guards(bound._replace(sql=bound.sql + beside), tables)


@needs_corpus
@pytest.mark.parametrize("attacked", PARSERS, indirect=True)
def test_the_corpus(attacked: Engine, corpus: Path) -> None:
    """Slips and correct queries, as they are sent with all that a viewer may send. Names of CTEs may be taken for
    tables, and no table for the name of a CTE."""
    tables = read_tables({"tables": {"t": "tenant", "o": "tenant", "items": {"o_id": "o.id"}, "countries": "shared"}})
    stand_ins, reader = StandIns(attacked.dialect, attacked.style, tables), second_reader(attacked)
    agreed = 0
    for entry in _entries(corpus):
        for viewer in entry.get("viewer", [{}]):
            try:
                template = slip_template(entry, attacked.dialect)
                given = {**VARIABLES, "rate": 2, "role": "fin", "params": viewer}
                text = stand_ins.replaced(template.guarded(tables).bind(given, attacked.style))
                theirs = reader.tables(text)
            except (TemplateError, Unreadable):  # refused, as most that another dialect writes
                continue
            ours = stand_ins.our_reading(text)
            assert theirs <= ours.tables <= theirs | ours.ctes, entry
            agreed += 1
    assert agreed > 60


def _entries(corpus: Path) -> list[dict[str, Any]]:
    folder = corpus / "tenant_slips"
    return [each for name in ("slips", "correct") for each in json.loads((folder / f"{name}.json").read_text("utf-8"))]
