"""Binding: golden texts by position, paramstyle and dialect."""

from __future__ import annotations

import pytest

from tenantry.errors import TemplateError
from tenantry.groups import Record
from tenantry.sql import DIALECTS, BoundSQL, Position, SQLTemplate, Variable
from tenantry.sql.binding.paramstyles import PARAMSTYLES
from tenantry.sql.binding.renderer import Renderer
from tenantry.sql.parsing.parser import parse
from tenantry.sql.source import Source

ORDERS = SQLTemplate("select * from orders where region = {{ region }} and status in {{ statuses }} and p like '5%'")
VALUES = {"region": "eu", "statuses": ["open", "paid"]}


@pytest.mark.parametrize(
    ("paramstyle", "sql", "params"),
    [
        ("qmark", "region = ? and status in (?, ?) and p like '5%'", ("eu", "open", "paid")),
        ("numeric", "region = :1 and status in (:2, :3) and p like '5%'", ("eu", "open", "paid")),
        ("named", "region = :p1 and status in (:p2, :p3) and p like '5%'", {"p1": "eu", "p2": "open", "p3": "paid"}),
        ("format", "region = %s and status in (%s, %s) and p like '5%%'", ("eu", "open", "paid")),
        (
            "pyformat",
            "region = %(p1)s and status in (%(p2)s, %(p3)s) and p like '5%%'",
            {"p1": "eu", "p2": "open", "p3": "paid"},
        ),
        ("numeric_dollar", "region = $1 and status in ($2, $3) and p like '5%'", ("eu", "open", "paid")),
    ],
)
def test_every_paramstyle(paramstyle: str, sql: str, params: object) -> None:
    """One number an occurrence, in the order of the text; percent signs doubled for the two that need it."""
    bound = ORDERS.bind(VALUES, paramstyle)
    assert bound == BoundSQL(f"select * from orders where {sql}", params, paramstyle, "postgresql", reads_group=True)


@pytest.mark.parametrize(
    ("dialect", "paramstyle"),
    [("postgresql", "numeric_dollar"), ("sqlite", "qmark"), ("duckdb", "numeric_dollar"), ("mysql", "format")],
)
def test_default_paramstyle_is_that_of_the_usual_driver(dialect: str, paramstyle: str) -> None:
    """Given on the template or on bind; a bare bind means postgresql."""
    assert SQLTemplate("select {{ x }} as v", dialect).bind({"x": 1}).paramstyle == paramstyle
    assert SQLTemplate("select {{ x }} as v").bind({"x": 1}, dialect=dialect).paramstyle == paramstyle
    assert SQLTemplate("select {{ x }} as v").bind({"x": 1}).dialect == "postgresql"


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("select 1-{{x}}", "select 1- ?"),
        ("select {{x}}-1", "select ? -1"),
        ("select ({{x}},{{x}})", "select (?,?)"),
        ("select 1+{{x}}{{x}}", "select 1+ ?  ?"),
        ("select {{x}}/* c */+1", "select ?  +1"),
        ("select 1 -- don't {x}\n+ {{ x }}", "select 1 \n+ ?"),
        ("select '{{ x }}'||'a'", "select ? ||'a'"),
        ("select \\{{ x }}, '\\{{ x }}', \"\\{{\", {{ x }} as v", "select {{ x }}, '{{ x }}', \"{{\", ? as v"),
        ("select \\{% x, {{ x }} as v", "select {% x, ? as v"),
        ("select {{\n x\t}} v", "select ? v"),
        ("select a -- {{b\n + {{ x }} -- {{ y }} {% z %}\n /* {{ z }} */", "select a \n + ? \n  "),
    ],
)
def test_text_around_a_value(text: str, sql: str) -> None:
    """A placeholder has a space on either side where it could grow together with another; comments are dropped."""
    assert SQLTemplate(text, "sqlite").bind({"x": "v"}).sql == sql


def test_values_in_literals() -> None:
    """`'{{ x }}'` is bound as text; a literal with more in it is one parameter, its escapes undone."""
    template = SQLTemplate(
        "select '{{ x }}' as v, '%{{ x }}%', 'it''s {{ x }} {{ y }}', '\\{{ {{ x }}', '{{ x }}{{ x }}'", "sqlite"
    )
    bound = template.bind({"x": 7, "y": "é"})
    assert bound.sql == "select ? as v, ?, ?, ?, ?"
    assert bound.params == ("7", "%7%", "it's 7 é", "{{ 7", "77")
    mysql = SQLTemplate(r"""select 'a\n\'{{ x }}\%\q''', "a""{{ x }}'" """, "mysql").bind({"x": "-"})
    assert mysql.params == ("a\n'-\\%q'", "a\"-'")
    assert mysql.sql == "select concat(%s), concat(%s) "


def test_a_value_in_a_composed_literal_is_never_read_as_an_escape() -> None:
    """The value is added after the literal's escapes are undone. Red when `unescape` runs over the composed text."""
    bound = SQLTemplate("select '{{ x }}-{{ x }}'", "mysql").bind({"x": "\\'' {{ y }} \\n"})
    assert bound.params == ("\\'' {{ y }} \\n-\\'' {{ y }} \\n",)


def test_no_parameters() -> None:
    """Without a placeholder the format styles give undoubled text and None, also when a clause is dropped."""
    template = SQLTemplate("select 7 % 2 [[ + {{ params.x }} ]]", "sqlite")
    assert template.bind({}, "format")[:2] == ("select 7 % 2 ", None)
    assert template.bind({}, "pyformat")[:2] == ("select 7 % 2 ", None)
    assert template.bind({}, "qmark")[:2] == ("select 7 % 2 ", ())
    assert template.bind({}, "named")[:2] == ("select 7 % 2 ", {})
    assert template.bind({"params": {"x": 1}}, "format").sql.startswith("select 7 %% 2 ")
    assert SQLTemplate("select 7 % 2", "mysql").bind({})[:2] == ("select 7 % 2", None)
    assert SQLTemplate("").bind({}).sql == ""


def test_nested_paths_in_mappings_and_records() -> None:
    """Paths are read by item only: a property called `items` is the property, an attribute is nothing."""
    template = SQLTemplate(
        "select {{ user_group.properties.items }} as v, {{ user_group.properties.b }} as v, {{ user_group.id }} as v"
    )
    variables = {"user_group": {"properties": {"items": "i", "b": 2}, "id": "acme"}}
    assert template.bind(variables).params == ("i", 2, "acme")
    assert template.bind(Record(variables)).params == ("i", 2, "acme")


@pytest.mark.parametrize(
    ("dialect", "paramstyle", "text"),
    [
        ("postgresql", "qmark", "select a ?| b, {{ x }} as v"),
        ("postgresql", "numeric_dollar", "select $1, {{ x }} as v"),
        ("postgresql", "qmark", "select $1, {{ x }} as v"),
        ("postgresql", "named", "select :name, {{ x }} as v"),
        ("postgresql", "numeric", "select :1, {{ x }} as v"),
        ("sqlite", "qmark", "select ?, {{ x }} as v"),
        ("sqlite", "format", "select ?1, {{ x }} as v"),
        ("sqlite", "qmark", "select :name, {{ x }} as v"),
        ("sqlite", "qmark", "select @name, {{ x }} as v"),
        ("sqlite", "qmark", "select $name, {{ x }} as v"),
        ("duckdb", "numeric_dollar", "select ?, {{ x }} as v"),
        ("duckdb", "qmark", "select $name, {{ x }} as v"),
        ("mysql", "qmark", "select ?, {{ x }} as v"),
    ],
)
def test_a_placeholder_of_the_authors_own_is_refused(dialect: str, paramstyle: str, text: str) -> None:
    """A `$1` in the template would be our first parameter. Red when `check_placeholder_conflicts` is not called."""
    with pytest.raises(TemplateError, match="for a placeholder"):
        SQLTemplate(text).bind({"x": 1}, paramstyle, dialect=dialect)


@pytest.mark.parametrize("paramstyle", PARAMSTYLES)
def test_casts_and_slices_with_a_space_are_no_placeholders(paramstyle: str) -> None:
    """`::`, and a colon with a space after it, work in every style."""
    text = "select a::int, b[1: 2], c[i: n], '? :x $1 @x', \"? :x\", $$ ?:x $$ /* ? :x */, {{ x }}::date"
    sql = SQLTemplate(text, "postgresql").bind({"x": 1}, paramstyle).sql
    assert sql.startswith("select a::int, b[1: 2], c[i: n], '? :x $1 @x', \"? :x\", $$ ?:x $$ ")


@pytest.mark.parametrize("text", ["select a[1:n], {{ x }} as v", "select a[:n], {{ x }} as v"])
def test_a_slice_that_a_driver_would_read_as_a_placeholder_is_refused(text: str) -> None:
    """PostgreSQL's own drivers take `$1` and get the slice as written. Red when `:n` reaches a driver of `:name`."""
    template = SQLTemplate(text, "postgresql")
    assert template.bind({"x": 1}).sql.startswith(text[: text.index("{")])
    for paramstyle in ("named", "numeric"):
        with pytest.raises(TemplateError, match=r"(?s)takes this : for a placeholder.*write a space after it"):
            template.bind({"x": 1}, paramstyle)


def test_operators_with_question_marks_work_where_no_driver_reads_them() -> None:
    """PostgreSQL's `?|` with numbered or formatted placeholders; `@` is an operator there."""
    for paramstyle in ("numeric_dollar", "format", "named"):
        sql = SQLTemplate("select a ?| b, @x, {{ x }} as v").bind({"x": 1}, paramstyle).sql
        assert sql.startswith("select a ?| b, @x, ")


def test_equal_shapes_give_the_same_text_object() -> None:
    """A driver's statement cache then compares by identity. Red when `Renderer` does not keep what it renders."""
    template = SQLTemplate("select {{ a }} a where x in {{ xs }} [[ and y = {{ params.y }} ]]", "sqlite")
    first = template.bind({"a": 1, "xs": [1, 2], "params": {"y": 1}})
    again = template.bind({"a": "b", "xs": ["c", "d"], "params": {"y": "e"}})
    assert first.sql is again.sql
    assert template.bind({"a": 1, "xs": [1, 2]}).sql is not first.sql
    assert template.bind({"a": 1, "xs": [1]}, dialect="sqlite").sql is template.bind({"a": 2.5, "xs": [2]}, "qmark").sql


def test_cached_texts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest strings that fit are kept, and one over the limit alone. Red when the loop drops the newest, too many
    or none, and when the size of what it drops stays counted."""
    monkeypatch.setattr("tenantry.sql.binding.renderer._CACHED_CHARACTERS", 2_000)
    dialect = DIALECTS["sqlite"]
    tree = parse(Source("select 1 where x in {{ xs }}"), dialect)
    renderer = Renderer(tree, dialect, PARAMSTYLES["qmark"])
    for length in range(200):
        renderer.render((length,))
    sizes = {key: len(sql) for key, (sql, _) in renderer.cached.items()}
    assert [*sizes] == [(length,) for length in range(200 - len(sizes), 200)]
    older = len(Renderer(tree, dialect, PARAMSTYLES["qmark"]).render((199 - len(sizes),))[0])
    assert sum(sizes.values()) <= 2_000 < sum(sizes.values()) + older
    assert renderer.render((199,)) is renderer.cached[199,]
    for only in (1_000, 1_001):
        assert len(renderer.render((only,))[0]) > 2_000
        assert [*renderer.cached] == [(only,)]


def test_bound_sql_shows_no_value() -> None:
    """repr and str show the text and count the parameters; the record is frozen."""
    bound = SQLTemplate("select {{ x }} as v", "sqlite").bind({"x": "secret"})
    assert repr(bound) == str(bound) == f"{bound}" == "<BoundSQL sqlite qmark, 1 parameter: 'select ? as v'>"
    with pytest.raises(AttributeError):
        bound.sql = "select 2"  # type: ignore[misc]  # that it cannot be set is the point
    with pytest.raises(AttributeError):
        bound.other = 1  # type: ignore[attr-defined]  # it has slots


def test_variables_are_listed_without_values() -> None:
    """Path, line, column, position, whether optional, whether guarded, in the order of the text."""
    text = "select {{ a }} as v\nwhere b in {{ b }} and c = '{{ a }}'\n"
    text += "[[ and d like '%{{ params.d }}%' ]] [[ {{ e }} ]] limit {{ params.n }}"
    assert SQLTemplate(text, optional={"e"}).variables == (
        Variable("a", 1, 8, Position.VALUE, optional=False, guarded=True),
        Variable("b", 2, 12, Position.LIST, optional=False, guarded=True),
        Variable("a", 2, 29, Position.TEXT, optional=False, guarded=True),
        Variable("params.d", 3, 17, Position.PART, optional=True, guarded=False),
        Variable("e", 3, 40, Position.VALUE, optional=True, guarded=False),
        Variable("params.n", 3, 57, Position.LIMIT, optional=False, guarded=False),
    )
    assert [v.path for v in SQLTemplate("select `a`, {{ x }} # c").variables] == ["x"]
    with pytest.raises(TemplateError, match="1:15"):
        _ = SQLTemplate("select {{ x | y }}").variables


def test_every_dialect_and_style_binds_the_same_values() -> None:
    """24 combinations, one order of parameters."""
    for dialect in DIALECTS:
        for name, style in PARAMSTYLES.items():
            bound = ORDERS.bind(VALUES, name, dialect=dialect)
            params = bound.params.values() if style.named else bound.params  # type: ignore[union-attr]  # not None
            assert tuple(params) == ("eu", "open", "paid")
            assert (bound.paramstyle, bound.dialect) == (name, dialect)


@pytest.mark.parametrize("text", ["'{{ x }}'", "'{{ x }}; '", '"{{ x }}"', "{{ x }}"])
def test_mysql_takes_a_bare_placeholder_as_a_separator(text: str) -> None:
    """Red when the SQL before the tag is read instead of that before its string: a call is no literal there."""
    bound = SQLTemplate(f"select group_concat(a separator {text}) as v from t where b = {text}", "mysql").bind(
        {"x": ","}
    )
    assert bound.sql == "select group_concat(a separator %s) as v from t where b = concat(%s)"
