"""What stands in a table's place, in every form that a template can have."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.errors import MissingVariable, TemplateError
from tenantry.sql import DIALECTS, Query, SQLTemplate
from tenantry.sql.guarding import AppliedGuard, grammar, read_tables
from tests.sql.guarding.second_readers import read_again

TABLES = read_tables(
    {
        "tables": {
            "t": "tenant",
            "o": "tenant",
            "items": {"o_id": "o.id"},
            "main.m": "tenant",
            "countries": "shared",
            "visits": {"site": "in {{ user_group.properties.sites }}"},
            "notes": "owner = {{ user_group.id }} and not hidden",
            '"Order Items"': "tenant",
        },
        "functions": ["my_function", "stats.rate"],
    }
)
second_reader = pytest.fixture(autouse=True)(read_again)
GROUP = {"user_group": {"id": "acme", "properties": {"sites": ["a", "b"]}}}
NOW = datetime(2026, 11, 30, tzinfo=UTC)
T, ORDERS = "(select * from t where t.tenant = $1)", "(select * from o where o.tenant = $1)"
ITEMS = f"(select * from items where items.o_id in (select o.id from {ORDERS} as o))"


def bound(sql: str, dialect: str = "postgresql", **options: Any) -> str:
    params = options.pop("viewer", {})
    template = SQLTemplate(sql, dialect, **options).guarded(TABLES)
    return template.bind({**GROUP, "params": params}).sql


REWRITTEN = {
    "select * from t": f"select * from {T} as t",
    "select x.* from t as x, o y": f"select x.* from {T} as x, {ORDERS} y",
    "select * from T": f"select * from {T} as T",
    'select * from "t"': f'select * from {T} as "t"',
    "select * from items": f"select * from {ITEMS} as items",
    "select * from only t": "select * from (select * from only t where t.tenant = $1) as t",
    "select main.m.a, main.m.* from main.m": "select m.a, m.* from (select * from main.m where m.tenant = $1) as m",
    "select * from countries c": "select * from countries c",
    "select * from visits": "select * from (select * from visits where visits.site in ($1, $2)) as visits",
    "select * from notes": "select * from (select * from notes where owner = $1 and not hidden) as notes",
    "select * from t where id in (select t_id from o)": (
        f"select * from {T} as t where id in (select t_id from {ORDERS} as o)"
    ),
    "with a as (select * from t) select * from a": f"with a as (select * from {T} as t) select * from a",
    "with t as (select * from t) select * from t": f"with t as (select * from {T} as t) select * from t",
    "select my_function(1), stats.rate(id) from t": f"select my_function(1), stats.rate(id) from {T} as t",
    "select * from /* all */ t -- of it": f"select * from   {T} as t ",
    "select 'from o' from t": f"select 'from o' from {T} as t",
    "select extract(year from a), trim(both from b), substring(c from 1 for 2) from t": (
        f"select extract(year from a), trim(both from b), substring(c from 1 for 2) from {T} as t"
    ),
    "select a is distinct from b, a is not distinct from c from t": (
        f"select a is distinct from b, a is not distinct from c from {T} as t"
    ),
}


@pytest.mark.parametrize(("sql", "expected"), REWRITTEN.items(), ids=list(REWRITTEN))
def test_a_table_is_replaced(sql: str, expected: str) -> None:
    """The rest stays byte for byte. Red with an alias left out, and with ``main.`` kept in front of a column."""
    assert bound(sql) == expected


def test_one_quoted_name_of_bigquery_is_a_path() -> None:
    """Red with `p.d.t` read as three times the same name."""
    tables = read_tables({"tables": {"p.d.t": "tenant", '"p-x".d.o': "tenant"}})
    sql = "select t.id from `p.d.t` join `p-x.d.o` o on o.id = t.id"
    assert SQLTemplate(sql, "bigquery").guarded(tables).bind(GROUP, "qmark").sql == (
        "select t.id from (select * from p.d.t where t.tenant = ?) as `t` "
        "join (select * from `p-x`.d.o where o.tenant = ?) o on o.id = t.id"
    )


def test_clauses_and_choices_are_rewritten_in_place() -> None:
    """Red with ``combinations`` cut to its first."""
    sql = "select id from t where 1 = 1 [[ and id in (select t_id from o where qty = {{ params.q }}) ]]"
    assert bound(sql) == f"select id from {T} as t where 1 = 1 "
    assert bound(sql, viewer={"q": 5}).endswith(f"(select t_id from {ORDERS} as o where qty = $2) ")
    choice = "select count(*) from {{ params.s | one_of(t, o, c: countries) }} x"
    assert bound(choice, viewer={"s": "t"}) == f"select count(*) from {T} x"
    assert bound(choice, viewer={"s": "o"}) == f"select count(*) from {ORDERS} x"
    assert bound(choice, viewer={"s": "c"}) == "select count(*) from countries x"
    many = ", ".join(f"x{number}: o" for number in range(20))
    assert bound(f"select 1 from {{{{ params.s | one_of({many}, t) }}}} x", viewer={"s": "t"}) == f"select 1 from {T} x"


def test_fragments_and_filters_are_rewritten() -> None:
    """Red with -1 for each ``Text.offset``: its place is then another."""
    template = SQLTemplate(
        "with a as ({{> f }}) select * from a", "postgresql", fragments={"f": "select 1,\n {{ region }} as r\nfrom t"}
    )
    assert (
        template.guarded(TABLES)
        .bind({**GROUP, "region": "eu"})
        .sql.startswith("with a as (select 1,\n $1 as r\nfrom (")
    )
    (guard,) = template.guarded(TABLES).guards()
    assert (guard.file, guard.line, guard.column) == ("f", 3, 6)
    sql = "select id from t where {{ params.q | matches((select max(qty) from o)) }}"
    template = SQLTemplate(sql, "postgresql", params={"q": "integer"}).guarded(TABLES)
    sent = template.bind({**GROUP, "params": {"q": 7}}).sql
    assert sent == f"select id from {T} as t where (((select max(qty) from {ORDERS} as o)) = $2::bigint)"


def test_the_guards_are_shown_and_their_variables_are_not() -> None:
    """``variables`` lists the author's alone. Red with ``of_guard`` left out of the references."""
    query = Query(
        "/* ---\ntitle: x\n--- */\nselect c.name\nfrom t, countries c\nwhere a = {{ region }}", "q", file="q.sql"
    )
    template = query.guarded(TABLES)
    assert [each.path for each in template.variables] == ["region"]
    assert template.title == "x"
    assert query.guards() == ()
    assert template.guards() == (
        AppliedGuard("t", 5, 6, "q.sql", "t.tenant = {{ user_group.id }}",
                     "(select * from t where t.tenant = {{ user_group.id }}) as t", "guarded"),
        AppliedGuard("countries", 5, 9, "q.sql", "", "countries", "shared"),
    )  # fmt: skip


def test_what_is_shown_of_a_child_has_its_parents_guard() -> None:
    """What is shown is what is sent. Red when the condition was shown as it is declared: its ``o`` looked unguarded."""
    (guard,) = SQLTemplate("select price from items", "postgresql").guarded(TABLES).guards()
    assert guard.replacement.replace("{{ user_group.id }}", "$1") == f"{ITEMS} as items"
    assert guard.condition in guard.replacement


def test_a_property_that_the_group_lacks_is_said_with_its_table() -> None:
    """The table whose rule names it, also through a child; viewers do not read it. Red when the fix was a `params.*`,
    which the list refuses, and the place was the name of the table in the query."""
    declared = read_tables({"tables": {"a": {"x": "{{ user_group.properties.erp }}"}, "b": {"a_id": "a.id"}}})
    template = SQLTemplate("select 1 from b where c = {{ region }}", "sqlite").guarded(declared)
    with pytest.raises(MissingVariable) as caught:
        template.bind({"region": "eu", "user_group": {"id": "acme", "properties": {}}})
    assert caught.value.message == (
        "the group lacks what the guarded tables of this data source need: user_group.properties.erp for the table a. "
        "Give the group the property erp"
    )
    assert caught.value.public_message == "variables without a value: user_group.properties.erp"
    with pytest.raises(
        MissingVariable, match=r"property erp\. Also without a value: region \(missing at 1:27\)"
    ) as both:
        template.bind({"user_group": {"id": "acme", "properties": {}}})
    assert both.value.names == ("user_group.properties.erp", "region")


def test_placeholders_come_in_order() -> None:
    """Of the author and of the guards, with shared ones and without. Red with guards appended at the end."""
    sql = "select {{ a }} as a from t where b = {{ b }} and id in (select t_id from o where c = {{ c }})"
    template = SQLTemplate(sql, "sqlite").guarded(TABLES)
    values = {**GROUP, "a": 1, "b": 2, "c": 3}
    assert template.bind(values, "qmark").params == (1, "acme", "acme", 2, "acme", "acme", 3)
    template = SQLTemplate(sql, "postgresql").guarded(TABLES)
    assert template.bind(values, "format").params == (1, "acme", 2, "acme", 3)
    assert template.bind(values, "numeric_dollar").params == (1, "acme", 2, 3)


def test_a_group_without_the_value_is_an_error() -> None:
    """Never every row, also where the table is in a dropped clause. Red with ``required=False``."""
    template = SQLTemplate("select 1 [[ , (select max(id) from t where a = {{ params.a }}) ]]", "duckdb").guarded(
        TABLES
    )
    with pytest.raises(MissingVariable, match=r"user_group\.id"):
        template.bind({})
    assert template.bind(GROUP).reads_group


def test_a_rare_combination_is_proved_when_it_is_sent() -> None:
    """With the second clause alone, ``t`` is the table and not the CTE. Red with ``prove`` left out of the tree."""
    sql = "[[ with t as (select {{ params.a }} as id) ]] select 1 as x [[ , (select max(id) from t) + {{ params.b }} ]]"
    template = SQLTemplate(sql, "duckdb").guarded(TABLES)
    for viewer in ({}, {"a": 1}, {"a": 1, "b": 2}):
        template.bind({**GROUP, "params": viewer})
    with pytest.raises(
        TemplateError, match="with this choice of clauses, the query would read every group's rows of t"
    ):
        template.bind({**GROUP, "params": {"b": 2}})


MANY = ", ".join(f"k{number}: c{number}" for number in range(12))
CAPTURES = {
    "a choice of names": "with {{ params.a | one_of(x: c1, y: o) }} as (select 1 as id, 'acme' as tenant)"
    " select id from {{ params.b | one_of(y: items, x: t) }}",
    "in quotes": "with {{ params.a | one_of(x: c1, y: \"O\") }} as (select 1 as id, 'acme' as tenant)"
    " select id from {{ params.b | one_of(y: items, x: t) }}",
    "many names": f"with {{{{ params.a | one_of({MANY}, y: o) }}}} as (select 1 as id, 'acme' as tenant)"
    " select id from items",
    "a clause": "[[ with o as (select 1 as id, 'acme' as tenant, {{ params.a }} as z) ]] select id from"
    " {{ params.b | one_of(x: t, y: items) }}",
}


@pytest.mark.parametrize("sql", CAPTURES.values(), ids=list(CAPTURES))
def test_no_combination_lets_a_cte_hide_a_table_of_a_condition(sql: str) -> None:
    """Also one that was not read at load, and is proved when it is first sent. Red without the names of conditions in
    the proof: the rows of every tenant."""
    template = SQLTemplate(sql, "duckdb", params={"a": "text", "b": "text"}).guarded(TABLES)
    with pytest.raises(TemplateError, match="a `with` named o would hide the table o"):
        template.bind({**GROUP, "params": {"a": "y", "b": "y"}})


def test_a_condition_may_have_a_with_of_its_own() -> None:
    """Red when each CTE of a text counts as one of its author."""
    own = "id in (with q as (select t_id from o where qty > 0) select t_id from q)"
    tables = read_tables({"tables": {"t": own, "o": "tenant"}})
    SQLTemplate("with t as (select * from t) select id from t", "duckdb").guarded(tables).bind(GROUP)
    with pytest.raises(TemplateError, match="a `with` named q would hide the table q"):
        SQLTemplate("with q as (select 1 as t_id) select id from t", "duckdb").guarded(tables).check()


@pytest.mark.parametrize("name", ["\u0130tems", "ITEM\u017f", "items"])
def test_a_cte_hides_a_table_by_any_spelling_of_its_name(name: str) -> None:
    """MariaDB reads ``\u0130tems`` as ``items``, which ``str.lower`` does not. Red with ``str.lower``."""
    tables = read_tables({"tables": {"items": "tenant", "prices": {"item": "items.id"}}})
    template = SQLTemplate(f"with `{name}` as (select 1 as id) select * from prices", "mariadb").guarded(tables)
    if name == "ITEM\u017f":
        template.check()  # another name, on MariaDB too
        return
    with pytest.raises(TemplateError, match="would hide the table items"):
        template.check()


def test_clauses_that_change_what_a_name_means_are_refused() -> None:
    """Red with the comparison of edits taken out: the table is then read without its guard."""
    sql = "[[ with t as (select {{ params.a }} as id) ]] select id from t"
    with pytest.raises(TemplateError, match="the clauses around this decide which tables it names"):
        SQLTemplate(sql, "duckdb").guarded(TABLES).check()


def test_a_template_is_proved_once_for_each_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths of lists are no shapes. Red with the list's length in the text that is proved."""
    from tenantry.sql.guarding import reading

    monkeypatch.undo()  # the second reader would be counted
    read: list[str] = []
    before = reading.mask
    monkeypatch.setattr(reading, "mask", lambda sql, dialect: read.append(sql) or before(sql, dialect))
    template = SQLTemplate(
        "select id from t where a in {{ xs }} [[ and b = {{ params.b }} ]] [[ and c = {{ params.c }} ]]", "duckdb"
    ).guarded(TABLES)
    template.check()
    assert len(read) == 4
    for length in (0, 1, 5):
        template.bind({**GROUP, "xs": list(range(length)), "params": {}})
        template.bind({**GROUP, "xs": list(range(length)), "params": {"b": 1, "c": 2}})
    assert len(read) == 4
    template.bind({**GROUP, "xs": [1], "params": {"c": 2}})
    assert len(read) == 5


def test_the_proof_queries_read_each_guard() -> None:
    """With null for each value, of any type, and each shared table. Red with a table left out, and with another
    placeholder."""
    proofs = TABLES.proof_queries("postgresql")
    assert proofs[0].sql == f"select 1 from {T.replace('$1', 'null')} as t where 1 = 0"
    assert len(proofs) == 8
    assert [each.sql for each in proofs if each.entry.is_shared] == ["select 1 from countries where 1 = 0"]
    assert not [each.sql for each in proofs if "$" in each.sql or "{{" in each.sql]


FILTERS = """
select {{ params.unit | trunc((select max(at) from o)) }} from t where {{ params.period | within(at) }}
and {{ params.q | matches((select max(qty) from o)) }} and {{ params.names | excludes(name) }}
"""
DECLARED = {
    "unit": {"type": "choice", "choices": ["day", "week", "month"], "default": "day"},
    "period": {"type": "date range", "open": "both"},
    "q": "integer",
    "names": "list of text",
}
SENT: tuple[dict[str, Any], ...] = (
    {},
    {"unit": "week", "period": {"start": "2026-01-01"}, "q": 7, "names": ["a", "b"]},
    {"unit": "month", "period": {"start": "2026-01-01", "end": "2026-02-01"}},
    {"unit": "month", "period": {"end": "2026-02-01"}, "names": []},
)


@pytest.mark.parametrize("dialect", ["postgresql", "sqlite", "duckdb", "mysql", "mariadb", "clickhouse"])
def test_one_branch_of_a_filter_is_read_and_all_are_guarded(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branches name the same tables, so compiling parses two texts: the author's SQL and the guarded SQL. Red when
    it parses each branch (a dashboard took a second to open), and when a branch has no guard."""
    parsed: list[str] = []
    parse = grammar.parse
    TABLES.proof_queries(dialect)  # parses the guards

    def watched(sql: str, name: str) -> Any:
        parsed.append(sql)
        return parse(sql, name)

    monkeypatch.setattr(grammar, "parse", watched)
    template = SQLTemplate(FILTERS, params=DECLARED).guarded(TABLES)
    template.check(dialect)
    assert len(parsed) == 2, parsed
    for sent in SENT:
        sql = template.bind({**GROUP, "params": sent}, dialect=dialect, now=NOW).sql
        assert sql.count("from o where ") == sql.count("from o") > 0
        assert sql.count("from t where ") == 1


def test_sql_of_a_filter_is_proved_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also that of a branch that compiling did not read. Red without ``Proof.of_key``."""
    reads = replace(
        DIALECTS["sqlite"], time_buckets={**DIALECTS["sqlite"].time_buckets, "day": "(select max(at) from t)"}
    )
    monkeypatch.setitem(DIALECTS, "sqlite", reads)
    template = SQLTemplate(FILTERS, "sqlite", params=DECLARED).guarded(TABLES)
    template.bind({**GROUP, "params": {"unit": "week"}}, now=NOW)
    with pytest.raises(TemplateError, match="the query would read every group's rows of t"):
        template.bind({**GROUP, "params": {"unit": "day"}}, now=NOW)
