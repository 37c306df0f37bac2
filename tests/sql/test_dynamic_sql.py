"""Functions that run a text as SQL: found in a template, and in a finished text, whatever their spelling."""

from __future__ import annotations

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.parsing.dynamic_sql import has_dynamic_sql

CALLS = [
    ("postgresql", "select * from ts_stat({{ x }})"),
    ("postgresql", 'select * from "ts_stat"({{ x }})'),
    ("postgresql", "select * from pg_catalog . TS_Stat -- words\n ({{ x }})"),
    ("postgresql", "select * from ts_stat/*+ a hint */({{ x }})"),
    ("postgresql", "select * from ts_stat/*+ a /* nested */ hint */({{ x }})"),
    ("postgresql", 'select * from U&"\\0074s_stat"({{ x }})'),
    ("postgresql", "select * from pg_catalog.u&\"t!0073_stat\" uescape '!' ({{ x }})"),
    ("postgresql", 'select s.word from (select {{ x }}::text as q) t, lateral U&"\\0074s_stat"(t.q) s'),
    ("postgresql", "select s.word from (select {{ x }}::text as q) t, lateral ts_stat(t.q) s"),
    ("postgresql", "select (t.q).ts_stat from (select {{ x }}::text as q) t"),
    ("postgresql", 'select ({{ x }}::text)."ts_stat"'),
    ("postgresql", "select query_to_xml('select 1', true, true, ''), {{ x }} as v"),
    ("postgresql", "select cursor_to_xml({{ x }}, 1, true, true, '')"),
    ("postgresql", "select * from dblink_send_query('c', {{ x }})"),
    ("postgresql", "select * from pgr_dijkstra({{ x }}, 1, 2)"),
    ("postgresql", "select pg_read_file({{ x }})"),
    ("postgresql", "select 'it''s' || $$'$$ || '{{ x }}', query_to_xml(a, true, true, '') from t"),
    ("duckdb", "from query({{ x }})"),
    ("duckdb", 'from system.main."Query" /* c */ ({{ x }})'),
    ("duckdb", "from `query`({{ x }})"),
    ("duckdb", "from query/*+ a /* nested */ hint */({{ x }})"),
    ("duckdb", "from query\u200b({{ x }})"),
    ("duckdb", "from query\u3000({{ x }})"),
    ("duckdb", "from query_table([{{ x }}])"),
    ("duckdb", "select E'\\' --', '{{ x }}' as v from query_table('a')"),
    ("duckdb", "call postgres_execute('db', {{ x }})"),
    ("mysql", "select load_file({{ x }})"),
    ("mysql", "select `load_file` /* c */ ({{ x }})"),
    ("mysql", "call sys.execute_prepared_stmt({{ x }})"),
    ("mysql", "execute immediate concat('select ', {{ x }})"),
    ("mysql", "EXECUTE /* c */ IMMEDIATE(concat('select ', {{ x }}))"),
    ("mysql", "prepare `s` from concat('select ', {{ x }})"),
    ("mysql", "begin not atomic set @q = {{ x }}; prepare s from @q; execute s; end"),
    ("mysql", "begin not atomic declare q text default {{ x }}; execute immediate q; end"),
    ("sqlite", "select [eval]({{ x }})"),
    ("sqlite", "select load_extension({{ x }})"),
    ("sqlite", "select name from main . 'FSDIR' /* c */ ({{ x }})"),
    ("sqlite", "select sha3_query({{ x }}, 256)"),
    ("postgresql", "select st_mapalgebra(rast, 1, null, {{ x }}) from maps"),
    ("postgresql", "select * from _pgr_dijkstra({{ x }}, 1, 2)"),
]
NO_CALLS = [
    ("postgresql", "select crosstab from t where crosstab = {{ x }} -- ts_stat(1)"),
    ("postgresql", "select 'ts_stat(1)', E'\\'dblink(1)', $a$crosstab(1)$a$, {{ x }} as v"),
    ("postgresql", 'select "a ts_stat (1)", my_ts_stat({{ x }}), ts_statistics(1) from t'),
    ("postgresql", "select U&'\\0061' || {{ x }}, u & {{ x }} from t"),
    ("duckdb", "select query, t.query, f({{ x }}) from my_query({{ x }}) t where query in (1)"),
    ("duckdb", "select {'query': {{ x }}}, 'query(1)', \"a query (1)\""),
    ("mysql", 'select "load_file(1)", load_file from t where a = {{ x }}'),
    ("mysql", "select immediate, prepare from t where execute = {{ x }}"),
    ("sqlite", "select query({{ x }}), evaluate({{ x }})"),
    ("postgresql", "select prepare p from t where a = {{ x }}"),
    ("sqlite", "select {{ x }} in ('eval'), 'eval', (1), x'0a' from 'fsdir' where 'eval' = 'a (' and b in ('fsdir')"),
    ("postgresql", "select 'ts_stat', {{ x }} v where a in ('dblink') and b.c = 'dblink'"),
]


@pytest.mark.parametrize(("dialect", "text"), CALLS)
def test_a_call_beside_a_variable_is_refused(dialect: str, text: str) -> None:
    """Between its parentheses or anywhere else in the statement, for a value comes to it by a column as well. Red for
    the quoted, escaped, commented and dotted spellings when names are looked for in the text by a pattern."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(text, dialect)
    assert "variable" in caught.value.message
    assert has_dynamic_sql(text.replace("{{ x }}", "?"), dialect), "and so would the finished text be"


@pytest.mark.parametrize(("dialect", "text"), CALLS)
def test_a_call_without_variables_is_the_authors_own(dialect: str, text: str) -> None:
    """Nothing could become SQL there."""
    plain = text.replace("'{{ x }}'", "''").replace("{{ x }}", "'a'")
    assert SQLTemplate(plain, dialect).bind({}).params in ((), None)


@pytest.mark.parametrize(("dialect", "text"), NO_CALLS)
def test_what_only_looks_like_a_call(dialect: str, text: str) -> None:
    """Strings, comments, columns and longer names."""
    assert "x" in {variable.path for variable in SQLTemplate(text, dialect).variables}
    assert not has_dynamic_sql(text.replace("{{ x }}", "?"), dialect)


@pytest.mark.parametrize(
    "text",
    [
        "execute [[ {{ params.x }} ]] immediate [[ {{ params.x }} ]] 'a'",
        "select * from ts_stat [[ ({{ params.x }}) ]]",
        "select * from ts_stat [[ , {{ params.x }} ]] ('a')",
        "select * [[ , {{ params.x }} as v from ts_stat ]] ('a')",
        "select * [[ , {{ params.x }} as v [[ , {{ params.y }} as v from ts_stat ]] ]] ('a')",
        "select ({{ params.x }}::text). [[ a, {{ params.y }} ]] ts_stat",
        "select [[ ({{ params.x }}::text). ]] ts_stat",
    ],
)
def test_an_optional_clause_puts_no_call_together(text: str) -> None:
    """What is on either side of a clause, or of its brackets, can become neighbours. Red when the brackets
    end a name."""
    with pytest.raises(TemplateError, match="runs a string as SQL"):
        SQLTemplate(text, "postgresql")


def test_the_error_points_at_the_name() -> None:
    """Line and column of what has to be taken out, and how else to write it."""
    with pytest.raises(TemplateError, match=r'write it plainly: "name"') as caught:
        SQLTemplate('select {{ x }} as v,\n  U&"\\0061"', "postgresql")
    assert caught.value.location is not None
    assert (caught.value.location.line, caught.value.location.column) == (2, 3)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("select {'a': {'b': ?}}, '{{', '{% x' from query(?)", True),
        ("select {'a': {'b': ?}}, '{{ query(1)', '{%' from t -- query", False),
        ("select '{{' || query", False),
        ("select 'no end, query(", True),
        ("select '" + "a" * 300_000 + "', query(?)", True),
        ("select '" + "a" * 300_000 + "', ?", False),
    ],
)
def test_a_finished_text_is_read_as_it_is(text: str, runs: bool) -> None:
    """Its braces are the author's own; what cannot be read, or is too long to be, is no safe text."""
    assert has_dynamic_sql(text, "duckdb") is runs


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("select * from ts_stat(?)", True),
        ("select (t.q).ts_stat from (select ? as q) t", True),
        ('select * from "QUERY" (?)', True),
        ("select dbms_xmlgen.getxml(?) from dual", True),
        ("select * from identifier(?)", True),
        ("select t.query, dbms_lob.substr(a, 10) from t where b = ?", False),
    ],
)
def test_any_other_engine_has_all_lists(text: str, runs: bool) -> None:
    """A trusted source's engine is not known: the functions of every dialect are refused there."""
    assert has_dynamic_sql(text, None) is runs
