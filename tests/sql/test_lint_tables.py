"""Checks by a declaration of guarded tables, and without one; with the corpus of slips and of correct queries."""

from __future__ import annotations

import json
import sys
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from tenantry.errors import TemplateError
from tenantry.groups import PropertySchema
from tenantry.sql import Query, SQLTemplate
from tenantry.sql.checks import Severity, reads_every_customer
from tenantry.sql.checks.lint import lint
from tenantry.sql.guarding import grammar, named_tables, read_tables

TABLES = read_tables(
    {
        "tables": {
            "t": "tenant",
            "o": "tenant",
            "items": {"o_id": "o.id"},
            "countries": "shared",
            "tenants": "id",
        }
    }
)
REFUSED = {
    39: "put the data that the query needs in a table",  # information_schema
    50: "is not declared",  # a path in backticks, on BigQuery, of which there is no engine
}
"""Correct queries that the guard refuses, with a word of the fix or of the problem."""
NOT_COMPILED = {23, 24}
"""The group's variable is in an optional clause there."""


def template(entry: dict[str, Any], dialect: str) -> SQLTemplate:
    options = {
        key: literal_eval(value) if isinstance(value, str) else value for key, value in entry.get("options", {}).items()
    }
    return SQLTemplate(entry["sql"], dialect, params=entry["params"], **options)


def test_no_correct_query_is_flagged(corpus: Path) -> None:
    """Of the corpus, with the declaration of its schema. Each refusal tells its fix. Red when a guard's own variables
    were taken for unknown ones of the group, and when an `or` beside a predicate failed the check."""
    checked = 0
    for entry in json.loads((corpus / "tenant_slips" / "correct.json").read_text("utf-8")):
        try:
            made = template(entry, entry["dialect"])
        except TemplateError:
            assert entry["id"] in NOT_COMPILED, entry
            continue
        found = [each for each in lint(made, tables=TABLES) if each.severity is not Severity.NOTE]
        assert bool(found) is (entry["id"] in REFUSED), (entry, found)
        for each in found:
            assert each.code == "unguarded"
            assert REFUSED[entry["id"]] in each.message + each.fix
            assert each.fix
            assert "^" in each.excerpt
        checked += 1
    assert checked >= 20


def test_every_slip_is_harmless_or_flagged(corpus: Path) -> None:
    """With the declaration a slip is refused, or each table in it is guarded (tests/sql/guarding runs them all).
    Without it, those that name nothing of the group are found. Red when a table was left as it was."""
    alone = 0
    for entry in json.loads((corpus / "tenant_slips" / "slips.json").read_text("utf-8")):
        made = template(entry, "duckdb")
        codes = {each.code for each in lint(made, tables=TABLES)}
        if "unguarded" not in codes:
            guards = made.guarded(TABLES).guards()
            assert guards, entry
            assert {each.why for each in guards} == {"guarded"}, entry
        alone += reads_every_customer(made) is not None
    assert alone >= 15


def test_an_or_is_a_note_where_tables_are_guarded() -> None:
    """It lets no row of another group through. Red when it failed the check with a declaration, too."""
    made = SQLTemplate("select id from t where tenant = {{ tenant }} and a or b", "postgresql")
    assert [(each.code, each.severity) for each in lint(made)] == [("or-beside-guarded", Severity.ERROR)]
    assert [(each.code, each.severity) for each in lint(made, tables=TABLES)] == [("or-beside-guarded", Severity.NOTE)]


def test_a_refusal_has_its_place_and_its_fix() -> None:
    """In the file, after its header. Red when only the first line was said."""
    made = Query("/* ---\ntitle: x\n--- */\nselect id\nfrom t, secrets", "q", file="q.sql", dialect="postgresql")
    (found,) = lint(made, tables=TABLES)
    assert (found.code, found.severity, found.file) == ("unguarded", Severity.ERROR, "q.sql")
    assert (found.line, found.column) == (5, 9)
    assert found.excerpt == "from t, secrets\n        ^"
    assert found.fix.startswith("add secrets to `tables`")


def test_properties_that_a_guard_names_are_those_of_the_query() -> None:
    """At the place of the table: one that no group has, and one that a group may lack. Red when only the tags that the
    author wrote counted."""
    tables = read_tables({"tables": {"t": {"erp": "{{ user_group.properties.erp }}"}}})
    made = SQLTemplate("select *\nfrom t", "postgresql")
    (found,) = lint(made, tables=tables, properties=["epr"])
    assert (found.code, found.line, found.column, found.fix) == ("unknown-variable", 2, 6, "did you mean epr?")
    schema = PropertySchema({"properties": {"erp": {"type": "object"}}})
    assert [each.code for each in lint(made, tables=tables, schema=schema)] == ["missing-property", "property-type"]
    assert lint(made, tables=tables, properties=["erp"]) == ()


@pytest.mark.parametrize(
    "sql",
    [
        "select * from t",
        "select * from t where tenant = {{ params.tenant }}",
        "select * from t [[ where tenant = {{ tenant }} ]]",
        "with a as (select * from t) select 1",
        "select (select count(*) from t)",
        "pivot t on a using sum(b)",
        "from t",
        "select {{ params.m | one_of(a: (select max(x) from t), b: 1) }}",
        "select 1 [[ , (select max(x) from t where b > {{ params.b }} * {{ rate | not_a_filter }}) ]]",
    ],
)
def test_a_query_that_names_nothing_of_the_group(sql: str) -> None:
    """What a viewer sends, what may be absent, and what restricts nothing is no name of the group. Red when each
    `{{ }}` counted."""
    made = SQLTemplate(sql, "duckdb", optional={"tenant"})
    found = reads_every_customer(made)
    assert found is not None
    assert (found.code, found.severity) == ("every-customer", Severity.ERROR)
    assert "reads every customer's rows" in found.message
    assert "tables.yaml" in found.fix
    assert "tenant:" not in found.fix, "only a file has a header"


@pytest.mark.parametrize(
    "sql",
    [
        "select 1",
        "select * from t where tenant = {{ tenant }}",
        "select * from t where tenant = {{ params.locked }}",
        "select * from generate_series(1, 5) g",
        "with a as (select 1 as x) select * from a",
        "select 1 where {{ params.a }} = 2",
    ],
)
def test_a_query_that_names_the_group_or_reads_no_table(sql: str) -> None:
    """Red when a function or a CTE was taken for a table."""
    params = {"locked": {"type": "text", "locked": True, "default": {"property": "tenant"}}, "a": {"type": "text"}}
    assert reads_every_customer(SQLTemplate(sql, "postgresql", params=params)) is None


def test_a_header_says_why_a_query_needs_no_tenant() -> None:
    """With a reason. It lifts no guard: with a declaration the table is refused. Red when the header alone let an
    undeclared table through."""
    text = "/* ---\ntenant: {none: countries are public}\n--- */\nselect * from secrets"
    made = Query(text, "q", dialect="postgresql")
    assert reads_every_customer(made) is None
    assert [each.code for each in lint(made, tables=TABLES)] == ["unguarded"]
    found = reads_every_customer(Query("/* ---\ntitle: x\n--- */\nselect * from secrets", "q", file="q.sql"))
    assert found is not None
    assert (found.file, found.line) == ("q.sql", 4)
    assert found.fix.endswith("`tenant: {none: REASON}`")


@pytest.mark.parametrize(
    "value", ["none", "{}", "{none: }", '{none: "  "}', "{some: x}", "{none: x, more: y}", "[none]"]
)
def test_the_reason_is_required(value: str) -> None:
    """Red when `tenant: none` was taken without one."""
    with pytest.raises(TemplateError, match="why every group may read every row") as caught:
        Query(f"/* ---\ntenant: {value}\n--- */\nselect 1", "q")
    assert caught.value.location is not None
    assert caught.value.location.line == 2
    assert caught.value.fix == "write the reason, as in `tenant: {none: countries are public}`"


def test_the_names_of_tables_are_those_of_a_declaration() -> None:
    """Each once, quoted as the query does, also in choices and clauses. Red when only the first choice was read."""
    made = SQLTemplate(
        'with c as (select * from main.t) select * from c, "Order Items", {{ params.t | one_of(a, b) }} x '
        "where 1 = 1 [[ and c.id in (select id from z where k = {{ params.k }}) ]]",
        "postgresql",
    )
    assert sorted(named_tables(made)) == ['"Order Items"', "a", "b", "main.t", "z"]
    many = [f"t{number}" for number in range(20)]
    made = SQLTemplate(f"select * from {{{{ params.t | one_of({', '.join(many)}) }}}} x", "postgresql")
    assert sorted(named_tables(made)) == sorted(many)


def test_without_sqlglot_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a query that reads tables is still found, by its words. Red when nothing was found without the library, and
    when a declaration that was read before led to a traceback."""
    declared = read_tables({"tables": {"t": "shared"}})
    monkeypatch.setitem(sys.modules, "sqlglot", None)  # what blocks an import
    grammar.types.cache_clear()
    made = SQLTemplate("select * from t", "postgresql")
    with pytest.raises(TemplateError, match=r"pip install 'tenantry\[guard\]'"):
        named_tables(made)
    with pytest.raises(TemplateError, match=r"pip install 'tenantry\[guard\]'"):
        made.guarded(declared).check()
    assert reads_every_customer(made) is not None
    assert reads_every_customer(SQLTemplate("select 1", "postgresql")) is None
