"""The rules by which a name is a table, and all that is refused: each with the leak that it closes.

tests/sql/guarding/attacks tries them on the engines; here each text has its own message and fix.
"""

from __future__ import annotations

import re
import time

import pytest
import sqlglot

from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tests.sql.guarding.second_readers import assert_only_guards
from tests.sql.guarding.stages import TABLES, VALUES, Stage, same


def refusal(sql: str, dialect: str) -> str:
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(sql, dialect).guarded(TABLES).check()
    assert caught.value.location is not None, "an error has its place"
    assert "\n  fix: " in caught.value.message
    return caught.value.message


def guards(sql: str, dialect: str) -> list[str]:
    return [each.table for each in SQLTemplate(sql, dialect).guarded(TABLES).guards()]


VISIBLE = {
    # 1. DuckDB reads the real table in a recursive CTE without a union. Red with `is_right_arm` true for every body.
    "with recursive t as (select * from t) select id from t": ["t"],
    "with recursive t as (select id from t union all select id + 1 from t where id < 9) select id from t": ["t"],
    "with recursive r as (select 1 as n union all select n + 1 from r where n < 9) select n from r, t": ["t"],
    "with t as (select * from t) select id from t": ["t"],
    "with t as (select 1 as id) select id from (with t as (select * from t) select * from t) x": ["t"],
    # PostgreSQL alone lets a CTE read a later one. Red with all names of a WITH visible at once.
    "with recursive a as (select * from t), t as (select 1 as id) select id from a": ["t"],
    # The spelling must be the same: engines fold case in different ways. Red with names compared in lower case.
    "with t as (select 1 as id) select id from T": ["t"],
    'with t as (select 1 as id) select id from "t"': ["t"],
    "with t as (select 1 as id) select id from t": [],
    "with t as (select 1 as id), u as (select * from t) select id from u": [],
    "with t as (select 1 as id) select (select max(id) from t) as x": [],
    "select (with t as (select 1 as id) select max(id) from t) as x from t": ["t"],
}


@pytest.mark.parametrize(("sql", "expected"), VISIBLE.items(), ids=list(VISIBLE))
def test_a_name_is_a_cte_only_where_every_engine_agrees(sql: str, expected: list[str]) -> None:
    assert guards(sql, "duckdb") == expected


REFUSED = [
    # 2. In ClickHouse a scalar is no CTE. Red with `is_query_cte` always true: all rows of `secret` are read.
    (
        "clickhouse",
        "with 1 as secret select * from secret",
        "the table secret is not declared",
        "add secret to `tables`",
    ),
    ("clickhouse", "with (select 1) as u select * from u", "the table u is not declared", "add u to `tables`"),
    # 3. In MariaDB an inner WITH does not see the names of the outer one. Red with `nested_with` true.
    (
        "mariadb",
        "with o as (select 1 as id) select * from (with x as (select * from o) select * from x) y",
        "inside a query that has a `with`",
        "into the outer one",
    ),
    (
        "mysql",
        "with x as (with o as (select 1) select * from o) select * from x",
        "this `with` is inside",
        "into the outer one",
    ),
    # In ClickHouse a WITH after union is that of one select, and hides the one before. Red without the check.
    (
        "clickhouse",
        "select 1 union all with t as (select 2) select * from t union all select id from t",
        "a `with` after `union`",
        "in brackets",
    ),
    (
        "clickhouse",
        "with t as (select 2) select * from t union all (with u as (select 1) select id from t)",
        "hides the outer `with`",
        "into the outer one",
    ),
    # 4. PostgreSQL and DuckDB read `values` as a table there. Red with the word check left out.
    ("postgresql", "select * from values t", "engines read a table here", "write (select * from …)"),
    ("duckdb", "select * from values (1), t", "engines read a table here", "write (select * from …)"),
    ("duckdb", "select * from t join values o on true", "engines read a table here", "write (select * from …)"),
    # Words that are names there, and do not end the list of tables. Red with them as its end: all rows of `values`.
    ("duckdb", "select x.* from t format, values x", "engines read a table here", "write (select * from …)"),
    ("postgresql", "select x.* from t settings, values x", "engines read a table here", "write (select * from …)"),
    ("sqlite", "select x.* from t as offset, values x", "engines read a table here", "write (select * from …)"),
    ("clickhouse", "select x.* from t as select, values x", "engines read a table here", "write (select * from …)"),
    (
        "postgresql",
        "select * from o join t on settings = 1, values v",
        "engines read a table here",
        "(select * from …)",
    ),
    ("duckdb", "select h.bin from t settings, histogram(o, id) h", "the function histogram", "`functions`"),
    (
        "duckdb",
        "select h.bin from (t join o on format = 1, histogram(o, id) h)",
        "the function histogram",
        "`functions`",
    ),
    ("duckdb", "select h.bin from (t format cross join histogram(o, id) h)", "the function histogram", "`functions`"),
    # 5. The CTE would stand in the place of `o` in the condition of `items`. Red with `reads` empty.
    (
        "sqlite",
        "with o as (select 1 as id, 'acme' as tenant) select * from items",
        "a `with` named o would hide the table o",
        "give the `with` a name other",
    ),
    ("postgresql", "with O as (select 1 as id) select * from items", "would hide the table o", "a name other"),
    # 6. SQLite and ClickHouse read a name after `in` as a table. Red with `field` in the arguments of In.
    ("sqlite", "select 1 in t", "a name after `in` is a table", "write `in (select … from …)`"),
    (
        "clickhouse",
        "select id from t where id not in o",
        "a name after `in` is a table",
        "write `in (select … from …)`",
    ),
    ("clickhouse", "select id from t where id in (o)", "a name after `in` as a table", "write `in (select … from …)`"),
    ("clickhouse", "select id from t where id in ((default.o))", "a name after `in` as a table", "write `in (select"),
    # 7. In ClickHouse a lambda with a name replaces a function, also `equals`, the = of a guard. Red without the check:
    # every row of t.
    ("clickhouse", "with (x, y) -> 1 as equals select * from t", "a lambda with a name", "as an argument"),
    ("clickhouse", "select ((x, y) -> 1) as equals, id from t", "a lambda with a name", "as an argument"),
    ("clickhouse", "with lambda(tuple(x, y), 1) as equals select * from t", "the function lambda", "`functions`"),
    # Names that are not declared.
    ("duckdb", "select * from v_t", "the table v_t is not declared", "add v_t to `tables` in the declaration"),
    ("duckdb", "select * from main.t", "the table main.t is not declared", "add main.t to `tables`"),
    ("postgresql", 'select * from "T"', 'the table "T" is not declared', 'add "T" to `tables`'),
    ("mariadb", "select * from T", "the table T is not declared", "add T to `tables`"),
    ("postgresql", "select * from information_schema.tables", "has data of every group", "in a table"),
    ("postgresql", "select * from pg_stats", "has data of every group", "in a table"),
    ("sqlite", "select * from sqlite_master", "has data of every group", "in a table"),
    # What is not one query.
    ("duckdb", "select 1 from t; select 2 from o", "one statement", "remove the other"),
    ("duckdb", "", "there is no query", "write a query"),
    ("postgresql", "-- select 1 from t\n;", "there is no query", "write a query"),
    ("duckdb", "delete from t", "only a query", "write a select"),
    ("duckdb", "summarize t", "only a query", "write a select"),
    ("duckdb", "describe t", "only a query", "write a select"),
    ("duckdb", "show tables", "only a query", "write a select"),
    ("duckdb", "pivot t on region using sum(amount)", "only a query", "write a select"),
    ("duckdb", "select * from (summarize t)", "summarize is not supported", "write (select * from …)"),
    ("postgresql", "with x as (delete from t returning *) select * from x", "only queries", "write a select"),
    ("postgresql", "select 1 into x from t", "into", "write (select * from …)"),
    ("postgresql", "select * from t for update", "for update is not supported", "write (select * from …)"),
    ("postgresql", "table t", "the command `table`", "write (select * from …)"),
    # What a derived table cannot take, or what engines read in different ways.
    ("duckdb", "select * from t pivot (sum(amount) for region in ('eu'))", "a pivot of a table", "(select * from …)"),
    ("clickhouse", "select * from t final", "final is not supported", "write (select * from …)"),
    ("clickhouse", "select * from t sample 0.1", "sample is not supported", "write (select * from …)"),
    ("postgresql", "select * from t tablesample system (1)", "sample is not supported", "write (select * from …)"),
    ("clickhouse", "select * from t prewhere id > 1", "`prewhere` is not supported", "write `where`"),
    ("clickhouse", "select * from t settings max_threads = 1", "settings is not supported", "remove it"),
    ("mariadb", "select * from t partition (p)", "partition is not supported", "write (select * from …)"),
    ("mariadb", "select * from t use index (i)", "hints is not supported", "write (select * from …)"),
    ("sqlite", "select * from t indexed by i", "indexed is not supported", "write (select * from …)"),
    ("postgresql", "select * from rows from (generate_series(1, 3)) x", "rows from is not", "write (select * from …)"),
    ("postgresql", "select * from t *", "a table with *", "remove the *"),
    ("duckdb", "select * from 't'", "a string cannot name a table", "without quotes"),
    ("sqlite", "select rowid from t", "rowid is NULL in a guarded table", "by its own name"),
    # Functions that may read tables.
    ("duckdb", "select tsum() from t", "the function tsum may read a table", "add tsum to `functions`"),
    ("duckdb", "select cuont(*) from t", "the function cuont may read a table", "did you mean count? Otherwise, if"),
    ("duckdb", "select * from query_table('t')", "the function query_table", "add query_table to `functions`"),
    ("duckdb", "select * from all_t()", "the function all_t", "add all_t to `functions`"),
    ("postgresql", "select stats.sum(id) from t", "the function stats.sum", "add stats.sum to `functions`"),
    ("postgresql", 'select "Lower"(owner) from t', "the function Lower", "`functions`"),
    ("clickhouse", "select joinGet('t', 'amount', 1)", "the function joinget", "`functions`"),
    # PostgreSQL calls a function for (value).name. Red without the check: ts_stat ran any SQL.
    ("postgresql", "select ('select 1'::text).ts_stat from t", "ts_stat can be a function", "add ts_stat to"),
    ("postgresql", "select (t).lower.label from t", "label can be a function", "add label to `functions`"),
    ("postgresql", "select (array[t])[1] . label from t", "label can be a function", "add label to `functions`"),
    ("postgresql", "select f.ts_stat from unnest(array['']) f", "ts_stat can be a function", "add ts_stat to"),
    ("postgresql", "select f.f from unnest(array['']) f(a)", "f can be a function", "add f to `functions`"),
    ("redshift", 'select (t)."label" from t', "label can be a function", "add label to `functions`"),
    ("clickhouse", "select * from merge('x', '^t$')", "the function merge", "`functions`"),
    ("sqlite", "select * from pragma_table_info('t')", "the function pragma_table_info", "`functions`"),
    ("trino", "select approx_set(id) from t", "the function approx_set", "`functions`"),
    # Characters that another lexer could read differently.
    ("duckdb", "select *\u00a0from t", "outside of quotes", "remove it"),
    ("postgresql", "select * from \u017felect", "outside of quotes", "remove it"),
    ("postgresql", "select 1from t", "engines read this number", "a space after the number"),
    ("postgresql", 'select * from "t""x"', "a quoted name cannot contain", "rename it"),
    ("postgresql", "select * from " + "x" * 64, "truncates a name of this length", "at most 63 bytes"),
    ("duckdb", "select * from main./**/t", "the table main.t is not declared", "add main.t"),
    ("duckdb", "select ( from t", "this SQL cannot be read", "plainer SQL"),
    # Names whose parts sqlglot cuts in other places than the engine. Red without the comparison of the two: p-x.d.t is
    # read as p.d.t.
    ("bigquery", "select * from p-x.d.t", "this name has several pieces", "each of its parts in quotes"),
    ("bigquery", "select * from `p.d`.t", "this name has several pieces", "each of its parts in quotes"),
    ("bigquery", "select * from `p.d.INFORMATION_SCHEMA.TABLES`", "the position of this name", "write it more plainly"),
    ("bigquery", "select * from `p.d.t`", 'the table "p"."d"."t" is not declared', 'add "p"."d"."t" to `tables`'),
]


@pytest.mark.parametrize(
    ("dialect", "sql", "problem", "fix"), REFUSED, ids=[f"{each[0]}: {each[1]}" for each in REFUSED]
)
def test_what_cannot_be_proved_is_refused_with_its_fix(dialect: str, sql: str, problem: str, fix: str) -> None:
    """Red when one of them compiles."""
    message = refusal(sql, dialect)
    first, _, last = message.partition("\n  fix: ")
    assert problem in first
    assert fix in last


ALLOWED = [
    ("duckdb", "select id, amount from t where id in (1, 2) group by id, amount having 1 = 1 order by id, amount"),
    ("duckdb", "select id, rank() over w, rank() over v from t window w as (order by id), v as (order by amount)"),
    ("duckdb", "select t.id from t join o on [t.id, 1] = [o.id, 1] where {'a': 1, 'b': 2} = {'a': 1, 'b': 2}"),
    ("duckdb", "select format, settings from (select 1 as format, 2 as settings from t) order by format, settings"),
    ("mariadb", "select id, amount from t limit 1, 2"),
    ("mariadb", "select * from (with a as (select id from t) select * from a) x, (with a as (select 1) select 2) y"),
    ("mysql", "(with a as (select id from t) select * from a) union (with b as (select id from o) select * from b)"),
    ("clickhouse", "select id, amount from t order by id, amount limit 1 by id, amount"),
    ("duckdb", "from t"),
    ("duckdb", "select count(*) from (from t) x"),
    ("duckdb", "select * from (values (1), (2)) v(x), t"),
    ("duckdb", "select list_filter([1, 2], x -> x > 1), {'a': 1}, [[1], [2]] from t"),
    ("duckdb", "select * exclude (id) replace (upper(owner) as owner) from t"),
    ("postgresql", "select distinct on (id) id, sum(amount) over w from t window w as (partition by owner)"),
    ("postgresql", "select * from t, lateral (select * from o where o.t_id = t.id limit 1) x"),
    ("postgresql", "select * from generate_series(1, 3) as g(x), unnest(array[1, 2]) with ordinality u(a, b)"),
    ("postgresql", "select amount::numeric(10, 2), cast(id as varchar(9)), interval '1 day' from t"),
    ("postgresql", "select count(*) filter (where id > 1), string_agg(owner, ',' order by id) from t"),
    ("postgresql", "(select id from t union all select id from o) order by 1 limit 5"),
    ("postgresql", "select id from t union values (1), (2)"),
    ("sqlite", "with v as (values (1)) select * from v, t"),
    ("postgresql", "select (owner).lower, (array[t.owner])[1], t.owner, o.* from t, o"),
    (
        "postgresql",
        "select g.g, u.b, u.ordinality from generate_series(1, 3) g, unnest(array[1]) with ordinality u(a, b)",
    ),
    (
        "postgresql",
        "select e.key, r.a, g.upper from jsonb_each('{}') e, json_to_record('{}') as r(a int), unnest(tags) g",
    ),
    ("duckdb", "select (s).owner from (select {'owner': owner} as s from t)"),
    ("clickhouse", "select id, x from t array join [1, 2] as x, [3] as y"),
    ("clickhouse", "select arrayMap(x -> x + 1, [id]), sumIf(amount, id > 1) from t group by id"),
    ("clickhouse", "select id from t where id global in (select t_id from o) limit 1 by owner"),
    ("mariadb", "select t.id from t straight_join o on o.t_id = t.id"),
    ("mariadb", "select `t`.`id` from `t` where date_add(placed, interval 1 day) > now()"),
    ("sqlite", "select [t].[id] from [t] where strftime('%Y', placed) = '2026'"),
    ("trino", "select count(*), sum(amount) from t cross join unnest(array[1]) as u(x)"),
    ("snowflake", "select count(*) from t where id in (select t_id from o)"),
]


@pytest.mark.parametrize(("dialect", "sql"), ALLOWED, ids=[f"{each[0]}: {each[1]}" for each in ALLOWED])
def test_what_people_write_is_guarded(dialect: str, sql: str) -> None:
    """Red with an argument taken out of the grammar."""
    SQLTemplate(sql, dialect).guarded(TABLES).check()


HOSTILE = {
    "brackets": "select " + "(" * 5_000 + "1" + ")" * 5_000 + " from t",
    "calls": "select " + "abs(" * 2_000 + "1" + ")" * 2_000 + " from t",
    "cases": "select " + "case when true then " * 1_000 + "1" + " end" * 1_000 + " from t",
    "queries": "select * from " + "(select * from " * 500 + "t" + ")" * 500,
    "joins": "select 1 from t" + ", t" * 9_000,
    "signs": "select " + "- " * 20_000 + "1 from t",
    "many tables": "select 1 from t" + ", t" * 1_900,  # their guards are too long
    "nots": "select " + "not " * 3_900 + "true from t",
}


@pytest.mark.parametrize("sql", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_nesting_is_refused_at_once(sql: str) -> None:
    """In 0.2 s of this process. Red with MAX_TOKENS = 1,000,000."""
    template = SQLTemplate(sql, "postgresql").guarded(TABLES)
    SQLTemplate("select 1 from t, items", "postgresql").guarded(TABLES).check()  # loads sqlglot
    template.definition.source.location(0)
    begin = time.process_time()
    with pytest.raises(TemplateError):
        template.check()
    assert time.process_time() - begin < 0.2 + plain_time(sql)


def test_a_refused_command_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """sqlglot logs the SQL, whose literals can be secrets; what a host logs of its own SQL stays. Red without the
    filter."""
    with pytest.raises(TemplateError):
        SQLTemplate("show tables like 'hush'", "postgresql").guarded(TABLES).check()
    assert not caplog.records
    sqlglot.parse("show tables like 'hush'", read="postgres")
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "mistake",
    [
        KeyError("t"),
        AttributeError("t"),
        AssertionError(),
        RuntimeError(),
        NameError("t"),
        StopIteration(),
        re.error("t"),
    ],
    ids=repr,
)
def test_sql_on_which_sqlglot_fails_is_refused(mistake: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a kind of mistake of its parser is not caught: the query would be an internal error."""

    def fail(*_: object, **__: object) -> None:
        raise mistake

    monkeypatch.setattr(sqlglot, "parse", fail)
    assert "this SQL cannot be read" in refusal("select 1 from t", "postgresql")


def plain_time(sql: str) -> float:
    begin = time.process_time()
    SQLTemplate(sql, "postgresql").check()
    return time.process_time() - begin


def test_a_shadowed_table_shows_no_row_of_another(stage: Stage) -> None:
    """Queries that mean something else from engine to engine show acme's rows on each of them."""
    for sql in VISIBLE:
        try:
            bound = SQLTemplate(sql, stage.dialect).guarded(TABLES).bind(VALUES, stage.paramstyle)
        except TemplateError:
            continue
        assert_only_guards(bound, TABLES)
        found = stage.answer(bound)
        assert found is None or same(found, stage.own(bound)), sql
