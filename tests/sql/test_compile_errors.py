"""What a template may not hold: each error names the line, shows a caret and gives the fix."""

from __future__ import annotations

import duckdb
import pytest

from tenantry.errors import Location, TemplateError
from tenantry.sql import SQLTemplate
from tests.sql.each_dialect import each_dialect

EVERYWHERE = [
    ("select 1 /*+ {{ x }} */", "inside a hint"),
    ("select {{ x }}", "a constant, and names no column"),
    ("select a, {{ x }} from t", "a constant, and names no column"),
    ("select distinct {{ x }} from t", "a constant, and names no column"),
    ("select 1 where {{ x }}", "not a condition"),
    ("select 1 where a = 1 and {{ x }}", "not a condition"),
    ("select 1 where a between 1 and 2 and {{ x }} group by 1", "not a condition"),
    ("select 1 where not {{ x }} or a", "not a condition"),
    ("select 1 from a join b on {{ x }} where c", "not a condition"),
    ("select a from t group by a having {{ x }}", "not a condition"),
    ("select case when {{ x }} then 1 end as c", "not a condition"),
    ("select case when a then case b when 1 then 2 end when {{ x }} then 1 end as c", "not a condition"),
    ("select 1 where [[ {{ params.x }} ]]", "not a condition"),
    ("select x where a = date '{{ x }}'", "date '…'"),
    ("select x where a = timestamp with time zone '{{ x }}'", "timestamp '…'"),
    ("select interval '{{ x }} days'", "interval '…'"),
    ("select x'{{ x }}'", "literal of the form X'…'|part of a word"),
    ("select date {{ x }}", "`date` takes a literal"),
    ("select * from {{ x }}", "would name a table"),
    ("select * from a join {{ x }} on true", "would name a table"),
    ("insert into {{ x }} values (1)", "would name a table"),
    ("update {{ x }} set a = 1", "would name a table"),
    ("select * from '{{ x }}.csv'", "would name a table"),
    ("select 1 as '{{ x }}'", "an alias or a type"),
    ("select a from t order by '{{ x }}'", "is a constant and not a column"),
    ("select a from t limit '{{ x }}'", "takes a number"),
    ("select a from t limit 1, '{{ x }}'", "takes a number"),
    ("update t set {{ x }} = 1", "would name a column"),
    ("select 1 as {{ x }}", "an alias or a type"),
    ("attach {{ x }} as b", "would name a database"),
    ("do '{{ x }}'", "would name a program"),
    ("do language plpgsql '{{ x }}'", "would name a program"),
    ("execute immediate '{{ x }}'", "runs a string as SQL"),
    ("select 1 into outfile '{{ x }}'", "would name a file"),
    ("select a from t order by {{ x }}", "is a constant and not a column"),
    ("select a from t order by a, {{ x }} desc", "is a constant and not a column"),
    ("select a from t group by {{ x }}", "is a constant and not a column"),
    ("select sum(a) over (partition by b, {{ x }})", "is a constant and not a column"),
    ("select orders_{{ x }}", "part of a word"),
    ("select {{ x }}s", "part of a word"),
    ("select t.{{ x }}", "part of a name"),
    ("select {{ x }} . a", "part of a name"),
    ("select {{ x }}(1)", "name a function"),
    ("select a where b in '{{ x }}'", "takes a list, not a string"),
    ("select 'a' '{{ x }}'", "two adjacent literals"),
    ("select {% if x %} 1 {% end %}", "{% if %} is left out of the language on purpose"),
    ("select {{ x | default('a') }}", "x is a property of the group: with a default"),
    ("select {{ params.x | lower }}", "there is no filter lower"),
    ("select {{ params.x | one_off(a) }}", "did you mean one_of?"),
    ("select {{ params.x | one_of(a) y }}", "only filters can follow the path of a tag"),
    ("select {{ params.x | one_of(a, ')' }}", "this ( of a filter has no )"),
    ("select {{ params.x | }}", "only filters can follow the path of a tag"),
    ("select {{ }}", "this tag is empty"),
    ("select {{ x.items() }}", "one path"),
    ("select {{ x['a'] }}", "one path"),
    ("select {{ _x }}", "one path"),
    ("select {{ x.__class__ }}", "one path"),
    ("select {{ ''.__class__ }}", "one path"),
    ("select {{ x~y }}", "one path"),
    ("select {{- x -}}", "one path"),
    ("select {{ x", "has no }}"),
    ("select '{{ x'", "has no }}"),
    ("select {{ x from {{ y }}", "has no }}"),
    ("select 'abc", "has no end"),
    ("select /* abc", "has no end"),
    ("select 1\0", "NUL"),
    ("select '\ud800'", "lone surrogate"),
]


@each_dialect
@pytest.mark.parametrize(("text", "problem"), EVERYWHERE)
def test_refused_in_every_dialect(dialect: str, text: str, problem: str) -> None:
    """No tag is allowed where it would be inert, a name, or constant. Red without its check in lexer or positions."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(text, dialect)
    assert any(part in caught.value.message for part in problem.split("|"))


@pytest.mark.parametrize(
    ("text", "filter_"),
    [
        ("select 1 where {{created}}", "{{ name | matches(column) }}"),
        ("select * from {{ x }}", "{{ name | one_of(orders, archive: old.orders) }}"),
        ("select t.{{ x }}", "{{ name | one_of("),
        ("select {{ x }}", "{{ name | one_of("),
    ],
)
def test_the_fix_names_the_filter_that_does_it(text: str, filter_: str) -> None:
    """A reader who comes from another tool knows field filters and names to choose, not what they are called here. Red
    without the filter in the fix."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(text, "postgresql")
    assert filter_ in caught.value.message.partition("fix: ")[2]


@pytest.mark.parametrize(
    ("dialect", "text", "problem"),
    [
        ("postgresql", 'select "{{ x }}"', "quoted identifier"),
        ("sqlite", 'select "{{ x }}"', "quoted identifier"),
        ("duckdb", 'select "{{ x }}"', "quoted identifier"),
        ("sqlite", "select `{{ x }}`", "quoted identifier"),
        ("mysql", "select `{{ x }}`", "quoted identifier"),
        ("sqlite", "select [{{ x }}]", "quoted identifier"),
        ("postgresql", "select $$ {{ x }} $$", "dollar-quoted"),
        ("postgresql", "select $a$ {{ x }} $a$", "dollar-quoted"),
        ("duckdb", "select $$ {{ x }} $$", "dollar-quoted"),
        ("postgresql", "select $$ abc", "has no end"),
        ("postgresql", "select E'{{ x }}'", "literal of the form E'…'"),
        ("postgresql", "select U&'{{ x }}'", "literal of the form U&'…'"),
        ("postgresql", "select N'{{ x }}'", "literal of the form N'…'"),
        ("postgresql", "select E'a'\n'b\\' {{ x }} \\''", "continues an E'…'"),
        ("postgresql", "select e'a' -- c\n /* c */ 'b'\n'b\\' {{ x }} \\''", "continues an E'…'"),
        ("duckdb", "from query({{ x }})", "query() runs a string as SQL"),
        ("duckdb", "from query('select 1') where a = {{ x }}", "query() runs a string as SQL"),
        ("duckdb", "from Query /* c */ ('select 1 where a = ''{{ x }}%')", "query() runs a string as SQL"),
        ("duckdb", "from \"query\"((concat('select ', ({{ x }}))))", "query() runs a string as SQL"),
        ("duckdb", "from query_table([{{ x }}])", "query_table() runs a string as SQL"),
        ("duckdb", "from json_execute_serialized_sql(json_serialize_sql({{ x }}))", "runs a string as SQL"),
        ("duckdb", "select columns({{ x }}) from t", "would name a column"),
        ("duckdb", "select sum(\"Columns\" /* c */ (lower('{{ x }}%'))) from t", "would name a column"),
        ("duckdb", "select [[ {{ params.x }}, columns ]] ({{ x }}) from t", "would name a column"),
        ("duckdb", "select t.* , *columns(c -> c like {{ x }}) from t", "would name a column"),
        ("duckdb", "select columns {{ params.c | one_of(a: + 1, b: ({{ x }})) }} from t", "would name a column"),
        ("duckdb", "select columns {{ params.c | one_of(a: (b), b: [[ ({{ params.x }}) ]]) }}", "would name a column"),
        ("duckdb", "select columns [[ + {{ params.a }} ]] ({{ x }}) from t", "would name a column"),
        ("duckdb", "from query {{ params.c | one_of(a: + 1, b: ({{ x }})) }}", "query() runs a string as SQL"),
        ("postgresql", "select pg_catalog.query_to_xml('select {{ x }}', true, true, '')", "runs a string as SQL"),
        ("postgresql", "select * from dblink('db', {{ x }}) as t (a int)", "runs a string as SQL"),
        ("postgresql", "select * from ts_stat([[ {{ params.x }} ]])", "runs a string as SQL"),
        ("mysql", "select _utf8mb4'{{ x }}'", "part of a word"),
        ("mysql", "select /*!50000 1 */", "executable comment"),
        ("mysql", "select /*M! 1 */", "executable comment"),
        ("mysql", "select 5--{{ x }}", "two minus signs"),
        ("mysql", "select '\\0{{ x }}'", "NUL"),
        ("postgresql", "select interval {{ x }}", "`interval` takes a literal"),
        ("duckdb", "select interval {{ x }} day", "`interval` takes a literal"),
        ("postgresql", "select a is {{ x }}", "`is` takes no parameter"),
        ("postgresql", "select a is not {{ x }}", "`is` takes no parameter"),
        ("postgresql", "select {{ x }}::{{ y }}", "a type"),
        ("sqlite", "select 1 [[ and a = 1 ]]", "no ]] that encloses a variable"),
        ("mysql", "select 1 [[ and a = {{ params.x }} ]", "no ]] that encloses a variable"),
    ],
)
def test_refused_in_one_dialect(dialect: str, text: str, problem: str) -> None:
    """The dialect's own quoted regions and literals."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(text, dialect)
    assert problem in caught.value.message


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "select now() - interval {{ x }} day"),
        ("sqlite", "select a is {{ x }}"),
        ("sqlite", "select a is not {{ x }}"),
        ("postgresql", "select a is distinct from {{ x }}"),
        ("postgresql", "select extract(year from {{ x }})"),
        ("postgresql", "select trim(both 'x' from {{ x }})"),
        ("postgresql", "select trim(both 'x' from '{{ x }}')"),
        ("postgresql", "select position('a' in {{ x }})"),
        ("postgresql", "select now() at time zone '{{ x }}'"),
        ("postgresql", "select a from t order by b <-> {{ x }}"),
        ("postgresql", "select a from t order by case when b = {{ x }} then 1 end"),
        ("postgresql", "select a from t order by coalesce(b, {{ x }})"),
        ("postgresql", "select {{ x }}::date, cast({{ x }} as date), '{{ x }}'::date"),
        ("postgresql", "select a, {{ x }} c, b"),
        ("postgresql", "select t.date, {{ x }} c"),
        ("mysql", 'select "{{ x }}" as v'),
        ("duckdb", "select {'a': {{ x }}}"),
        ("duckdb", "select query, f({{ x }}) from my_query({{ x }})"),
        ("duckdb", "select columns(('a.*')), columns, f({{ x }}) from t where columns = {{ x }}"),
        ("postgresql", "select columns({{ x }})"),
        ("sqlite", "select query({{ x }})"),
        ("postgresql", "select E'a\\'' || 'b\\', {{ x }} c"),
        ("postgresql", 'select {{ x }} as c, {{ x }} d, {{ x }} "e" from t'),
        ("postgresql", "select a where b between {{ x }} and {{ x }} and c between d and {{ x }}"),
        ("postgresql", "select case a when {{ x }} then {{ x }} else {{ x }} end"),
        ("postgresql", "select case when a then case b when {{ x }} then 1 end end, count(distinct {{ x }})"),
        ("postgresql", "select a where {{ x }}::boolean and cast({{ x }} as boolean) and not {{ x }} = b"),
        ("postgresql", "select (a, {{ x }}), f(b, {{ x }}) from t join u on {{ x }} = v"),
        ("postgresql", "select a->>{{ x }}, b <{{ x }}, f(c => {{ x }})"),
    ],
)
def test_allowed(dialect: str, text: str) -> None:
    """Neighbours of the rules above that are good SQL, each bound as one value."""
    bound = SQLTemplate(text, dialect).bind({"x": "v"})
    assert set(bound.params or ()) == {"v"}


def test_the_message_shows_where_and_how() -> None:
    """Line and column count from 1; the caret is below the tag; tabs are kept so that it stays there."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate('select *\nfrom t\n\twhere a = "{{ region }}"\n', "sqlite")
    assert caught.value.location == Location(3, 13)
    lines = caught.value.message.split("\n")
    assert lines[0] == "3:13: a variable is not allowed inside a quoted identifier"
    assert lines[1] == '    \twhere a = "{{ region }}"'
    assert lines[2] == "    \t           ^"
    assert lines[3].startswith("  fix: ")
    assert caught.value.problem == "a variable is not allowed inside a quoted identifier"
    assert lines[3] == f"  fix: {caught.value.fix}"


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("select a from t where a in {{ params.day }}", "params.day"),
        ("select a from t where {{ params.day | within(b) }}", "params.day"),
        ("select {{ x y }}", ""),
    ],
)
def test_an_error_names_its_variable(text: str, variable: str) -> None:
    """Red when the error of a declared parameter's use leaves it out: a dashboard then cannot name the control."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(text, "postgresql", params={"day": "date"}).check()
    assert caught.value.variable == variable


@pytest.mark.parametrize(
    ("before", "blank"), [("日本", "    "), ("e\u0301", " "), ("\tü", "\t "), ("\U0001f600", "  ")]
)
def test_the_caret_stands_below_the_tag_on_a_terminal(before: str, blank: str) -> None:
    """Wide characters take two cells and combining marks none; the column still counts characters."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(f"{before} {{{{ x y }}}}", "sqlite")
    assert caught.value.location == Location(1, len(before) + 2)
    assert caught.value.message.split("\n")[2] == f"    {blank} ^"


def test_duckdb_does_run_a_bound_value() -> None:
    """Why query() takes no variable: the value is bound, and DuckDB runs it all the same."""
    connection = duckdb.connect()
    assert connection.execute("from query(?)", ["select 42"]).fetchall() == [(42,)]
    connection.close()


def test_a_long_line_is_cut_around_the_caret() -> None:
    """The caret is still below the tag."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate("select " + "a, " * 200 + "t.{{ region }} from t" + " " * 500 + "x", "sqlite")
    shown, caret = caught.value.message.split("\n")[1:3]
    assert len(shown) < 120
    assert shown[caret.index("^") :].startswith("{{ region }}")


def test_limits_on_the_text() -> None:
    """256 KiB, 1,000 tags, 8 clauses within one another."""
    with pytest.raises(TemplateError, match="at most 262144 characters"):
        SQLTemplate("x" * 262_145)
    with pytest.raises(TemplateError, match="at most 1000 variables"):
        SQLTemplate("select " + ",".join(["{{ x }}"] * 1001), "sqlite")
    with pytest.raises(TemplateError, match="at most 1000 variables"):
        SQLTemplate("select '" + "{{ x }}-" * 1001 + "'", "sqlite")
    with pytest.raises(TemplateError, match="at most 8 deep"):
        SQLTemplate("[[ {{ params.x }} " * 9 + "]]" * 9, "sqlite")
    deep = SQLTemplate("[[ {{ params.x }} " * 8 + "]]" * 8, "sqlite").bind({"params": {"x": 1}})
    assert deep.params == (1,) * 8
    wide = SQLTemplate("select '" + "{{ x }}-" * 1000 + "'", "sqlite").bind({"x": "a"})
    assert wide.params == ("a-" * 1000,)


def test_a_lazy_template_is_refused_when_it_is_bound() -> None:
    """Without dialect= the text is compiled on first use, for PostgreSQL unless another dialect is named."""
    template = SQLTemplate("select `a` = {{ x }}")
    assert template.bind({"x": 1}, dialect="mysql").sql == "select `a` = concat(%s)"
    template = SQLTemplate("select $$ {{ x }} $$")
    with pytest.raises(TemplateError):
        template.bind({"x": 1})


def test_unknown_names_are_refused() -> None:
    """A dialect or paramstyle that does not exist is refused with a list of those that do."""
    with pytest.raises(ValueError, match=r"no SQL dialect 'oracle': give one of postgresql, .*sqlite"):
        SQLTemplate("select 1", "oracle")
    with pytest.raises(ValueError, match="no paramstyle 'dollar': give one of qmark"):
        SQLTemplate("select 1").bind({}, "dollar")
    with pytest.raises(TypeError, match="set of paths, not one string"):
        SQLTemplate("select 1", optional="discount")
    with pytest.raises(ValueError, match="not a path"):
        SQLTemplate("select 1", optional={"a b"})


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("{% if x %}", "if"),
        ("{%- ELIF x -%}", "elif"),
        ("{% for a in b %}", "for"),
        ("{%+ macro a(b) %}", "macro"),
        ("{% include 'base.sql' %}", "include"),
        ("{% raw %}", "raw"),
        ("{% set a = 1 %}", "set"),
        ("{%", "…"),
    ],
)
def test_what_is_left_out_is_left_out_on_purpose(statement: str, word: str) -> None:
    """With what says the same here. Red with a message that promises a later version, or that names no rewrite."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(f"select 1 {statement}", "postgresql")
    said, _, fix = caught.value.message.partition("\n  fix: ")
    assert f"{{% {word} %}} is left out of the language on purpose" in said
    for each in ("[[", "matches(", "one_of(", "in {{ name }}", "({{> name }})", "declare a parameter", "\\{%"):
        assert each in fix


@pytest.mark.parametrize("name", ["safe", "sqlsafe", "raw", "identifier", "inclause", "upper", "join"])
def test_no_filter_makes_sql_of_a_value(name: str) -> None:
    """Those of other languages. Red without the list: then another filter is suggested, or all are listed."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(f"select a from t order by {{{{ params.x | {name} }}}}", "postgresql")
    assert f"there is no filter {name}, on purpose" in caught.value.message
    assert "one_of(name, name)" in caught.value.message
