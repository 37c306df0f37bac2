"""one_of: the author supplies the texts, the viewer chooses one by its name, and no text comes from a value."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tenantry.errors import InvalidParameter, MissingVariable, TemplateError, UnbindableValue
from tenantry.sql import SQLTemplate
from tenantry.sql.inspect import lint
from tests.sql.each_dialect import each_dialect
from tests.sql.test_hostile import OURS

EACH = each_dialect


def bound(text: str, dialect: str = "sqlite", /, **params: Any) -> Any:
    return SQLTemplate(text, dialect).bind({"tenant": "a", "rate": 2, "params": params})


@EACH
@pytest.mark.parametrize(
    ("text", "value", "sql"),
    [
        ("select a from t order by {{ params.x | one_of(newest: at desc, big: n) }}", "newest", "order by at desc"),
        ("select a from t order by a {{ params.x | one_of(up: asc, down: desc) }}", "down", "order by a desc"),
        ("select {{ params.x | one_of(total: sum(n), all: count(*)) }} as v from t", "all", "select count(*) as v"),
        ("select {{ params.x | one_of(region, city) }} from t", "city", "select city from"),
        ("select t.{{ params.x | one_of(region, city) }} from t", "city", "select t.city from"),
        ("select * from {{ params.x | one_of(orders, sales) }} where 1=1", "sales", "from sales where"),
        ("select * from {{ params.x | one_of(eu, us) }}.orders", "us", "from us.orders"),
        ("select {{ params.x | one_of(sum, avg) }}(n) from t", "avg", "select avg(n) from"),
        ('select 1 as {{ params.x | one_of(day: "per day", week: w) }}', "week", "as w"),
        ("select a from t where b {{ params.x | one_of(more: >, less: <) }} 5", "less", "b < 5"),
        ("select a from t group by 1, {{ params.x | one_of(region, city) }}", "region", "1, region"),
        ("select 1-{{ params.x | one_of(minus: -1, one: 1) }}", "minus", "1- -1"),
        ("select a from t limit {{ params.x | one_of(few: 10, many: 500) }}", "many", "limit 500"),
        ("select f('{{', {{ params.x | one_of(a: g('),}}|', 1), b: (1, 2)) }})".replace("'{{'", "'{'"), "a", "'),}}|'"),
    ],
)
def test_a_text_can_be_where_no_value_can(dialect: str, text: str, value: str, sql: str) -> None:
    """Order, direction, metric, column, table, schema, function, alias, operator, count. Strings of the author end no
    argument. Red when `choice()` in positions refuses names, or when the lexer looks for the next `)` or `}}`."""
    found = bound(text, dialect, x=value)
    assert sql in found.sql
    assert not found.params


@EACH
def test_an_unknown_name_is_refused_and_named(dialect: str) -> None:
    """422: the parameter and the names to choose from, never the value. For a property of the group the error is that
    of any value that cannot be bound."""
    text = "select a from t order by {{ params.sort | one_of(newest: at desc, big: n) }}"
    for value in (*OURS, "Newest", "newest ", "", 1, 0, True, ["newest"], {"newest": 1}, 1.5):
        with pytest.raises(InvalidParameter) as caught:
            bound(text, dialect, sort=value)
        assert caught.value.status == 422
        assert caught.value.names == ("params.sort",)
        assert caught.value.message == "params.sort at 1:26: give one of newest, big"
    with pytest.raises(UnbindableValue, match="tenant at 1:8: give one of b, c"):
        bound("select {{ tenant | one_of(b, c) }}", dialect)


def test_a_locked_value_that_is_no_name_is_not_the_viewers() -> None:
    """Red when each `params.*` is a viewer's choice: no viewer can correct a property of the group."""
    locked = {"type": "text", "locked": True, "default": {"property": "region"}}
    template = SQLTemplate("select {{ params.x | one_of(eu, us) }}", params={"x": locked})
    with pytest.raises(UnbindableValue, match=r"params\.x at 1:8: give one of eu, us") as caught:
        template.bind({"user_group": {"properties": {"region": "asia"}}})
    assert caught.value.name == "params.x"
    assert template.bind({"user_group": {"properties": {"region": "eu"}}}).sql == "select eu"


def test_absent_is_missing_default_or_a_dropped_clause() -> None:
    """As for any other variable."""
    choice = "order by {{ params.sort | one_of(newest: at desc, big: n) }}"
    with pytest.raises(MissingVariable) as caught:
        bound(f"select a from t {choice}")
    assert caught.value.names == ("params.sort",)
    assert bound(f"select a from t [[ {choice} ]]").sql.split() == ["select", "a", "from", "t"]
    assert bound(f"select a from t [[ {choice} ]]", sort="big").sql.endswith("order by n ")
    with_default = choice.replace(" }}", " | default(big) }}")
    assert bound(f"select a from t {with_default}").sql == "select a from t order by n"
    assert bound(f"select a from t {with_default}", sort=None).sql == "select a from t order by n"
    assert bound(f"select a from t {with_default}", sort="newest").sql == "select a from t order by at desc"
    with pytest.raises(TemplateError, match="nothing in this clause can be absent"):
        bound(f"select a from t [[ {with_default} ]]")


def test_values_in_a_text_are_bound_when_it_is_chosen() -> None:
    """Also in a choice within a choice, in a list and in a clause of the text; of other texts nothing is needed."""
    text = (
        "select id from t where {{ params.by | one_of(name: name like '%{{ params.q }}%', ids: id in {{ params.ids }}, "
        "both: x = {{ params.z | one_of(one: {{ params.one }}, two: 2 [[ + {{ params.q }} ]]) }}) }} "
        "and k = {{ tenant }}"
    )
    template = SQLTemplate(text, "sqlite")

    def run(**params: Any) -> Any:
        found = template.bind({"tenant": "a", "params": params})
        assert template.bind({"tenant": "a", "params": {**params, "ids": params.get("ids", 5)}}).sql is found.sql
        return found.sql.partition("where ")[2], found.params

    assert run(by="name", q="x") == ("name like ? and k = ?", ("%x%", "a"))
    assert run(by="ids", ids=[1, 2]) == ("id in (?, ?) and k = ?", (1, 2, "a"))
    assert run(by="ids", ids=[]) == ("id in () and k = ?", ("a",))
    assert run(by="both", z="one", one=7) == ("x = ? and k = ?", (7, "a"))
    assert run(by="both", z="two") == ("x = 2  and k = ?", ("a",))
    assert run(by="both", z="two", q=1) == ("x = 2  + ?  and k = ?", (1, "a"))
    with pytest.raises(MissingVariable) as caught:
        run(by="both", z="one")
    assert caught.value.names == ("params.one",)
    with pytest.raises(MissingVariable) as caught:
        run(by="name")
    assert caught.value.names == ("params.q",)
    with pytest.raises(UnbindableValue, match="item 1 of the list"):
        run(by="ids", ids=[1, None])


@EACH
def test_hostile_values_change_no_text(dialect: str) -> None:
    """Beside a choice and within its texts."""
    template = SQLTemplate(
        "select {{ params.m | one_of(a: f({{ params.v }}), b: 'x{{ params.v }}y') }} from t where a = {{ params.v }}",
        dialect,
    )
    for key in ("a", "b"):
        texts = {template.bind({"params": {"m": key, "v": value}}).sql for value in OURS}
        assert len(texts) == 1


@EACH
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("select {{ params.x | one_of }}", "takes arguments"),
        ("select {{ params.x | one_of() }}", "takes arguments"),
        ("select {{ params.x | one_of(sum(a)) }}", "that is not a column needs a name"),
        ("select {{ params.x | one_of(a:, b: 1) }}", "is empty"),
        ("select {{ params.x | one_of(a, a) }}", "contains a twice"),
        ("select {{ params.x | one_of(a: 1) | one_of(b: 2) }}", "once"),
        ("select {{ params.x | one_of(a, b) | default(c) }}", "the default c is not in one_of"),
        ("select {{ tenant | one_of(a, b) | default(b) }}", "property of the group: with a default"),
        ("select '{{ params.x | one_of(a, b) }}'", "no meaning within quotes"),
        ("select orders_{{ params.x | one_of(a, b) }}", "part of a word"),
        ("select {{ params.x | one_of(a, b) }}_orders", "part of a word"),
        ("select {{ params.x | one_of(a, b) }} {{ params.y }}", "directly after a choice"),
        ("select a {{ params.x | one_of(a: not, b: in) }} {{ params.y }}", "directly after a choice"),
        ("select a {{ params.x | one_of(a: not, b: in) }} (1)", "must not end with"),
        ("select {{ params.x | one_of(a: t., b: u.) }}c", "part of a word"),
        ("select {{ params.x | one_of(a: t.) }} c", "must not end with"),
        ("select a from t order by {{ params.x | one_of(a: {{ params.y }}, b: b) }}", "is a constant and not a column"),
        ("select a from {{ params.x | one_of(a: {{ params.y }}, b: b) }}", "would name a table"),
        ("select {{ params.x | one_of(a: t. /* c */) }} c", "must not end with"),
        ("select a {{ params.x | one_of(a: not /* c */, b: = 1 or not) }} in {{ params.y }}", "must not end with"),
        ("select a {{ params.x | one_of(a: not -- c\n) }} in {{ params.y }}", "must not end with"),
        ("select a {{ params.x | one_of(a: is /* c */ not /* d */ /* e */) }} null", "must not end with"),
        ("select {{ params.x | one_of(a: b [[ + {{ params.p }} not /* c */ ]]) }} in {{ params.y }}", "must not end"),
        ("select a {{ params.x | one_of(a: b in /* c */) }} (1)", "must not end with"),
        ("select {{ params.x | one_of(a: case when b then c) }} end", "ends before its end"),
        ("select 1 where a between 1 {{ params.x | one_of(a: and 2) }}", "closes nothing that its choice"),
        ("select {{ params.x | one_of(a: 1; drop table t) }}", "cannot end in a choice"),
        ("select 'a' {{ params.x | one_of(a: 'b') }}", "directly follow another string"),
        ("select {{ params.x | one_of(a: 'b') }} 'c'", "directly follow another string"),
        ("select {{ params.x | one_of(a: 1, b: {{ params.y }) }}", "this ( of a filter has no )"),
        ("select " + "{{ params.x | one_of(a: " * 9 + "1" + ") }}" * 9, "at most 8 deep"),
    ],
)
def test_refused(dialect: str, text: str, problem: str) -> None:
    """A text is a whole of its own, compiled and checked by the same parser as the text around it.

    Red for those with comments when the characters of a text are looked at, and not its last code."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(text, dialect)
    assert problem in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "from {{ params.f | one_of(query, range) }}({{ params.x }})",
        "from {{ params.f | one_of(range, query) }}({{ params.x }})",
        "from {{ params.f | one_of(a: range, b: {{ params.g | one_of(query, x) }}) }} ({{ params.x }})",
        "from {{ params.f | one_of(a: {{ params.g | one_of(query, x) }}, b: x) }} ({{ params.x }})",
        "from query {{ params.f | one_of(a: ('select ' || {{ params.x }})) }}",
        "from {{ params.f | one_of(a: query({{ params.x }}), b: t) }}",
        "select {{ params.f | one_of(columns, sum) }}({{ params.x }})",
        "select {{ params.f | one_of(sum, columns) }}({{ params.x }})",
        "select columns {{ params.f | one_of(a: ({{ params.x }}), b: as c) }}",
        "from {{ params.f | one_of(a: x, query: query) }} [[ ({{ params.x }}) ]]",
    ],
)
def test_no_text_makes_a_call_that_runs_a_value(text: str) -> None:
    """Every text is looked at, in any order and depth. Red when a choice counts as one word, or its last text only."""
    with pytest.raises(TemplateError, match=r"runs a string as SQL|would name a column"):
        SQLTemplate(text, "duckdb")


def test_characters_that_drivers_take_for_placeholders_are_found_in_texts() -> None:
    """The colon after a name is ours; those in the text are the author's."""
    assert bound("select {{ params.x | one_of(a:b, c: d) }}", x="a").sql == "select b"
    template = SQLTemplate("select {{ params.x | one_of(a: b -> '?', c: d ? 'e') }}", "postgresql")
    with pytest.raises(TemplateError, match=r"1:47: .* takes this \? for a placeholder"):
        template.bind({"params": {"x": "a"}}, "qmark")
    slices = SQLTemplate("select {{ params.x | one_of(a: b[1:n], c: {{ params.y }} + 1) }}", "postgresql")
    with pytest.raises(TemplateError, match=r"takes this : for a placeholder"):
        slices.bind({"params": {"x": "a"}}, "named")


def test_the_text_is_one_object_for_each_choice() -> None:
    """The number of the text is in the key of the cache, and the value is not."""
    template = SQLTemplate("select {{ params.x | one_of(a, b) }} where c = {{ params.y }}", "postgresql")
    first = template.bind({"params": {"x": "a", "y": 1}}).sql
    assert template.bind({"params": {"x": "a", "y": 2}}).sql is first
    assert template.bind({"params": {"x": "b", "y": 1}}).sql == "select b where c = $1"


def test_it_runs() -> None:
    """On SQLite: a metric, a table, an order and a condition at once."""
    template = SQLTemplate(
        """
        select {{ params.by | one_of(region, city) }} as k, {{ params.m | one_of(total: sum(n), rows: count(*)) }} as v
        from {{ params.t | one_of(sales, returns) }}
        where tenant = {{ tenant }}
        [[ and n {{ params.op | one_of(more: >, less: <) | default(more) }} {{ params.n }} ]]
        group by {{ params.by | one_of(region, city) }}
        order by {{ params.sort | one_of(name: k, value: v desc) }}
        """,
        "sqlite",
    )
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table sales (tenant, region, city, n)")
        rows = [("a", "eu", "x", 1), ("a", "eu", "y", 5), ("a", "us", "z", 3), ("b", "eu", "x", 9)]
        database.executemany("insert into sales values (?, ?, ?, ?)", rows)

        def run(**params: Any) -> list[Any]:
            found = template.bind({"tenant": "a", "params": {"t": "sales", **params}})
            return database.execute(found.sql, found.params).fetchall()

        assert run(by="region", m="total", sort="name") == [("eu", 6), ("us", 3)]
        assert run(by="city", m="rows", sort="name", n=2) == [("y", 1), ("z", 1)]
        assert run(by="region", m="total", sort="value", n=4, op="less") == [("us", 3), ("eu", 1)]


@EACH
def test_a_guarded_variable_is_in_no_text_of_a_viewer(dialect: str) -> None:
    """The viewer chooses, so its condition would be dropped, or be another one. Red when the guard looks at clauses
    alone, or lets pass what is in each text."""
    for chosen in (
        "where {{ params.x | one_of(a: t = {{ tenant }}, b: {{ tenant }} = t) }}",
        "where {{ params.x | one_of(mine: t = {{ tenant }}, all: 1 = 1) }}",
        "where {{ params.x | one_of(all: 1 = 1, mine: t = {{ tenant }}) }}",
        "where {{ params.x | one_of(a: t = {{ tenant }}, b: t = {{ tenant }} or u = {{ tenant }}) }}",
        "where {{ params.x | one_of(a: t = {{ tenant }}, b: t = {{ rate }}) }}",
        "where {{ params.x | one_of(a: {{ params.y | one_of(c: t = {{ tenant }}, d: 1) }}, b: t = {{ tenant }}) }}",
        "where {{ params.x | one_of(a: {{ rate | one_of(c: t = {{ tenant }}, d: 1) }}, b: t = {{ tenant }}) }}",
        "where {{ params.x | one_of(a: {{ tenant | one_of(c: 1, d: 2) }}, b: 1) }}",
        "[[ where {{ params.x | one_of(a: t = {{ tenant }}, b: t = {{ tenant }} + 1) }} ]]",
        "where {{ rate | one_of(a: {{ params.x | one_of(b: t = {{ tenant }}, c: 1) }}, d: 1) }}",
    ):
        with pytest.raises(TemplateError, match=r"is in SQL that a viewer chooses|is in an optional clause"):
            SQLTemplate(f"select 1 {chosen}", dialect)
    for right in (
        "where {{ rate | one_of(a: t = {{ tenant }}, b: 1 = 1) }}",
        "where {{ params.x | one_of(a: n * {{ rate | not_a_filter }}, b: n) }}",
    ):
        SQLTemplate(f"select 1 {right}", dialect)
    marked = SQLTemplate("select {{ params.x | one_of(a: n * {{ rate | not_a_filter }}, b: n) }}", dialect)
    assert [(each.code, each.variable) for each in lint(marked)] == [("droppable", "rate")]
    with pytest.raises(MissingVariable, match="rate"):
        marked.bind({"params": {"x": "b"}})


def test_the_group_may_decide_what_is_read_of_it() -> None:
    """No viewer decides here; what the chosen text needs is needed."""
    template = SQLTemplate("select {{ role | one_of(finance: n * {{ rate }}, other: null) }} from t", "sqlite")
    assert template.bind({"role": "other"}).sql == "select null from t"
    assert template.bind({"role": "finance", "rate": 3}).params == (3,)
    with pytest.raises(MissingVariable, match="rate"):
        template.bind({"role": "finance"})


ORDER = "select a from t order by {{ params.x | one_of(newest: at desc, big: n) }}"
NEWEST = {"type": "choice", "choices": ["newest", "big"]}


@pytest.mark.parametrize(
    ("definition", "problem", "fix"),
    [
        ("integer", "one_of takes a name, but params.x is integer", "{type: choice, choices: [newest, big]}"),
        ("decimal", "params.x is decimal", "choices: [newest, big]"),
        ("boolean", "params.x is boolean", "choices: [newest, big]"),
        ("date", "params.x is date", "choices: [newest, big]"),
        ("datetime", "params.x is datetime", "choices: [newest, big]"),
        ("uuid", "params.x is uuid", "choices: [newest, big]"),
        ("interval", "params.x is interval", "choices: [newest, big]"),
        ("date range", "params.x is date range", "choices: [newest, big]"),
        ("list of text", "params.x is list of text", "choices: [newest, big]"),
        ({**NEWEST, "type": "list of choice"}, "params.x is list of choice", "choices: [newest, big]"),
        ({"type": "text", "is_null": "none"}, "params.x is only for the filter `matches`", "choices: [newest, big]"),
        ({"type": "text", "match": "prefix"}, "params.x is only for the filter `matches`", "choices: [newest, big]"),
        ({**NEWEST, "choices": ["newst", "big"]}, "params.x can be newst, but newst is not in one_of", "mean newest?"),
        ({**NEWEST, "choices": ["newest", "Big"]}, "params.x can be Big", "did you mean big?"),
        ({"type": "text", "default": "newst"}, "params.x can be newst", "did you mean newest?"),
        ({"type": "text", "choices": ["a"]}, "params.x can be a,", "Give one of newest, big"),
    ],
)
def test_a_declared_parameter_can_choose(definition: Any, problem: str, fix: str) -> None:
    """Else the template would compile and refuse what its own declaration allows: every value of a type that has no
    names, or one of its choices. Red without check_names_fit."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(ORDER, "postgresql", params={"x": definition})
    assert caught.value.location is not None
    said, _, fixed = caught.value.message.partition("\n  fix: ")
    assert problem in said
    assert fix in fixed


@pytest.mark.parametrize(
    "definition",
    [
        "text",
        NEWEST,
        {**NEWEST, "choices": ["big"]},
        {**NEWEST, "choices": {"query": "orders"}},
        {**NEWEST, "default": "big"},
        {"type": "text", "max_length": 9, "default": {"property": "sort"}},
    ],
)
def test_what_can_choose(definition: Any) -> None:
    """A text, or a choice whose names are among those of the texts; there may be more texts than choices."""
    template = SQLTemplate(ORDER, "postgresql", params={"x": definition})
    values = {"user_group": {"properties": {"sort": "big"}}, "params": {"x": "big"}}
    assert template.bind(values).sql.endswith("order by n")


def test_an_end_of_a_range_chooses_nothing() -> None:
    """A date is no name and no unit. Red when an end of a range is not looked up among the declared parameters."""
    for what in ("one_of(a, b)", "trunc(a)"):
        text = f"select {{{{ params.x.start | {what} }}}}"
        with pytest.raises(TemplateError, match=r"but params\.x\.start is date\n"):
            SQLTemplate(text, "postgresql", params={"x": "date range"})


def test_a_name_that_was_mistyped_in_the_default() -> None:
    with pytest.raises(TemplateError, match=r"the default newst is not in one_of\n[^?]*did you mean newest\?"):
        SQLTemplate(ORDER.replace(" }}", " | default(newst) }}"), "postgresql")


def test_a_default_of_what_always_has_a_value() -> None:
    """The tag's own is then never used, whatever it says."""
    text = ORDER.replace(" }}", " | default(newest) }}")
    for declared in ({"required": True}, {"default": "big"}):
        with pytest.raises(TemplateError, match=r"params\.x (is required|has a default .*), so this default is never"):
            SQLTemplate(text, "postgresql", params={"x": {**NEWEST, **declared}})
