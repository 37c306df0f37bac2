"""The guard rule: no choice of a viewer changes which variables of the group are in the bound text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tenantry.errors import MissingVariable, TemplateError
from tenantry.sql import Query, SQLTemplate
from tenantry.sql.inspect import lint
from tests.sql.each_dialect import each_dialect

DROPPED_FILTER = """
    with mine as (select id, tenant from orders where tenant = {{ tenant }})
    select id from orders where 1 = 1 [[ and tenant = {{ tenant }} and id >= {{ params.since }} ]]
"""
EACH = each_dialect


def droppable(template: SQLTemplate) -> list[tuple[str, int, int]]:
    """The variables of the group that a viewer's choice can remove, as ``tenantry sql check`` lists them."""
    return [(each.variable, each.line, each.column) for each in lint(template) if each.code == "droppable"]


@pytest.fixture
def orders() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table orders (id, tenant, amount)")
        database.executemany("insert into orders values (?, ?, ?)", [(1, "a", 10), (2, "b", 20), (3, "a", 30)])
        yield database


def ids(database: sqlite3.Connection, template: SQLTemplate, variables: dict[str, Any]) -> list[int]:
    bound = template.bind(variables, dialect="sqlite")
    return [row[0] for row in database.execute(bound.sql, bound.params or ())]


@EACH
def test_a_filter_that_stands_elsewhere_too_is_still_not_dropped(dialect: str) -> None:
    """That the path is also in a sub-select proves nothing for this clause. Red under the rule "it may be in a
    clause if it is also outside one": the template compiled, and without ``since`` gave the rows of all tenants."""
    with pytest.raises(TemplateError, match="tenant is in an optional clause") as caught:
        SQLTemplate(DROPPED_FILTER, dialect)
    assert caught.value.location is not None
    assert (caught.value.location.line, caught.value.location.column) == (3, 55)
    for fix in ("move it out of [[ ]]", "{{ tenant | not_a_filter }}", 'optional={"tenant"}'):
        assert fix in caught.value.message


def test_written_as_the_error_says_it_gives_the_tenants_rows_alone(orders: sqlite3.Connection) -> None:
    """The same query after its repair, on SQLite: whatever the viewer sends."""
    repaired = SQLTemplate(
        "select id from orders where 1 = 1 and tenant = {{ tenant }} [[ and id >= {{ params.since }} ]]", "sqlite"
    )
    for params, expected in (({}, [1, 3]), ({"since": 2}, [3]), ({"since": 0}, [1, 3]), ({"since": None}, [1, 3])):
        assert ids(orders, repaired, {"tenant": "a", "params": params}) == expected


@EACH
@pytest.mark.parametrize(
    "text",
    [
        "select 1 [[ where a = {{ tenant }} ]]",
        "select {{ tenant }} as v [[ where a = {{ tenant }} ]]",
        "select 1 where a = {{ tenant }} [[ and b = {{ params.b }} [[ and a = {{ tenant }} and c={{ params.c }} ]] ]]",
        "select 1 [[ where b = {{ params.b }} [[ and c = {{ params.c }} ]] and a = {{ tenant }} ]]",
        "select 1 [[ where a in {{ tenant }} and b = {{ params.b }} ]]",
        "select 1 [[ where a like '%{{ tenant }}%' and b = {{ params.b }} ]]",
        "select 1 [[ where a = '{{ tenant }}' and b = {{ params.b }} ]]",
        "select 1 [[ limit {{ tenant }} offset {{ params.b }} ]]",
        "select 1 [[ where d = {{ discount }} and a = {{ tenant }} ]]",
    ],
)
def test_no_guarded_variable_stands_in_any_clause(text: str, dialect: str) -> None:
    """However deep, in every position, beside whatever. Red when the guard checks one of these less."""
    with pytest.raises(TemplateError, match="tenant is in an optional clause"):
        SQLTemplate(text, dialect, optional={"discount"})


RATE = """
    select id from orders where tenant = {{ tenant }}
    [[ and amount >= {{ params.min }} * {{ rate | not_a_filter }} ]]
"""


def test_what_is_marked_may_go_with_its_clause(orders: sqlite3.Connection) -> None:
    """The author's mark on that very tag: the factor goes with the comparison that it belongs to."""
    template = SQLTemplate(RATE)
    assert ids(orders, template, {"tenant": "a", "rate": 2, "params": {"min": 15}}) == [3]
    assert ids(orders, template, {"tenant": "a", "rate": 2, "params": {}}) == [1, 3]


@pytest.mark.parametrize("paramstyle", ["qmark", "named"])
@pytest.mark.parametrize("params", [{}, {"min": 1}])
@pytest.mark.parametrize("group", [{}, {"rate": None}])
def test_what_is_marked_is_still_needed(group: dict[str, Any], params: dict[str, Any], paramstyle: str) -> None:
    """Its absence is an error and drops nothing, whatever the viewer sends. Red when a marked variable decides about
    its clause, or when the generated function looks at it only where the clause is kept."""
    with pytest.raises(MissingVariable) as caught:
        SQLTemplate(RATE, "sqlite").bind({"tenant": "a", **group, "params": params}, paramstyle)
    assert caught.value.names == ("rate",)


def test_the_mark_counts_at_its_own_place_alone() -> None:
    """Another clause with the same path needs its own. Red when the marked paths are kept as a set."""
    with pytest.raises(TemplateError, match="rate is in an optional clause"):
        SQLTemplate(RATE + " [[ and amount < {{ rate }} * {{ params.max }} ]]", "sqlite")


@EACH
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("select {{ rate | not_a_filter }} v", "is in no optional clause"),
        ("select 1 [[ where a = {{ params.a | not_a_filter }} ]]", "so it needs no not_a_filter"),
        ("select 1 [[ where a = {{ rate | not_a_filter }} ]]", "it is never left out"),
        ("select 1 [[ where a = {{ rate | not_a_filter }} [[ and b = {{ params.b }} ]] ]]", "it is never left out"),
        (
            "select 1 [[ {{ params.a }} {{ rate | not_a_filter | not_a_filter }} ]]",
            "a tag can have not_a_filter only once",
        ),
        ("select 1 [[ {{ params.a }} {{ rate | not_a_filter(a) }} ]]", "takes no arguments"),
        ("select 1 [[ {{ params.a }} {{ rate | }} ]]", "only filters can follow"),
        ("select 1 [[ {{ params.a }} {{ | not_a_filter }} ]]", "a tag holds one path"),
    ],
)
def test_a_mark_that_says_nothing_is_refused(text: str, problem: str, dialect: str) -> None:
    """So the list of marks holds those tags alone that a reviewer has to look at."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(text, dialect)
    assert problem in caught.value.message


def test_an_array_in_an_array_is_named_in_the_fix() -> None:
    """``[[{{ x }}]]`` is a clause in every dialect; where arrays are written so, the error says how to write one."""
    with pytest.raises(TemplateError, match=r"write \\\[\["):
        SQLTemplate("select [[{{ x }}]]", "duckdb")
    assert SQLTemplate("select \\[[{{ x }}]]", "duckdb").bind({"x": 1}).params == (1,)


def test_what_a_viewer_can_drop_is_listed() -> None:
    """Each with its location: what is marked, what was declared optional beside or below a ``params.*``. Red when the
    clauses around a clause are not looked at, or when a clause that the group alone decides about is listed too."""
    template = SQLTemplate(
        "select 1 where t = {{ tenant }}\n [[ and d = {{ discount }} ]]\n"
        " [[ and a >= {{ params.a }} * {{ rate | not_a_filter }} [[ and d = {{ discount }} ]] ]]",
        optional={"discount"},
    )
    assert droppable(template) == [("rate", 3, 31), ("discount", 3, 68)]
    assert [v.path for v in template.variables if v.guarded] == ["tenant", "rate"]
    assert droppable(SQLTemplate("select {{ tenant }} as v [[ , {{ params.a }} a ]]")) == []


@pytest.mark.parametrize(
    "texts",
    [
        ("a: tenant = {{ tz }}, b: 1 = 1", "b: tenant = {{ tz }}, a: 1 = 1"),
        ("eu: tenant = {{ tz }}, us: 1 = 1", "de: tenant = {{ tz }}, eu: 1 = 1"),
    ],
)
def test_a_choice_of_the_group_in_each_text_of_a_viewer(texts: tuple[str, str]) -> None:
    """The same value of the group chooses another branch in each: the viewer's choice would drop the condition.

    Red when what the group decides is not looked into.
    """
    first, second = (f"{{{{ kind | one_of({each}) }}}}" for each in texts)
    with pytest.raises(TemplateError, match="kind is in SQL that a viewer chooses: a choice would drop or change"):
        SQLTemplate(f"select * from t where {{{{ params.a | one_of(x: {first}, y: {second}) }}}}", "postgresql")


CHOSEN = [
    "where {{ params.x | one_of(mine: t = {{ tenant }}, all: {{ tenant }} is not null) }}",
    "where {{ params.x | one_of(mine: t = {{ tenant }}, all: t <> {{ tenant }} or t = {{ tenant }}) }}",
    "where {{ params.x | one_of(mine: t = {{ tenant }}, all: t like '{{ tenant }}%') }}",
    "where {{ params.x | one_of(mine: t = '{{ tenant }}', all: '{{ tenant }}' = '{{ tenant }}') }}",
    "where {{ params.x | one_of(mine: t in {{ tenant }}, others: t not in {{ tenant }}) }}",
    "where t {{ params.x | one_of(mine: = {{ tenant }}, all: <= {{ tenant }} or true) }}",
    "where t = {{ params.x | one_of(mine: {{ tenant }}, all: coalesce(t, {{ tenant }})) }}",
    "where {{ params.x | one_of(mine: t = {{ tenant }} [[ and a = {{ params.a }} ]], all: {{ tenant }} is not null) }}",
    "where {{ params.x | one_of(a: 1 = 1 [[ and t = {{ params.a }} and {{ tenant }} = t ]], b: 1 = 1) }}",
    "where {{ params.x | one_of(a: {{ params.y | one_of(c: t = {{ tenant }}) }}, b: {{ tenant }} = 1) }}",
    "where {{ params.x | one_of(a: {{ kind | one_of(c: t = 1) }}, b: {{ kind | one_of(c: 1 = 1) }}) }}",
    "where {{ kind | one_of(a: {{ params.x | one_of(b: t = {{ tenant }}) }}) }}",
    "where {{ params.x | one_of(mine: {{ tenant | matches(t) }}, all: {{ tenant | excludes(t) }}) }}",
    "where {{ params.x | one_of(a: {{ params.u | trunc(t, zone: {{ tenant }}) }} > 1, b: {{ tenant }} = 1) }}",
    "order by {{ params.x | one_of(a: {{ params.y | one_of(b: {{ tenant }} = t) }}) }}",
    "[[ where a = {{ params.a }} and {{ params.x | one_of(b: c = {{ tenant }}) }} ]]",
    "where t in (select {{ params.x | one_of(mine: t, all: u) }} from u where u = 1) and ({{> chosen }})",
    "where {{ params.x | one_of(mine: ({{> owned }}), all: 1 = ({{> owned }})) }}",
]
FRAGMENTS = {
    "owned": "select count(*) from u where t = {{ tenant }}",
    "chosen": "select {{ params.x | one_of(mine: t = {{ tenant }}, all: {{ tenant }} is not null) }} as v from u",
}


@pytest.mark.parametrize("text", CHOSEN)
@pytest.mark.parametrize("dialect", ["postgresql", "sqlite", "mysql", "clickhouse"])
def test_no_guarded_variable_is_in_sql_that_a_viewer_chooses(text: str, dialect: str) -> None:
    """Though each text names it as often: the guard counted paths, and `{{ tenant }} is not null` gave everybody's
    rows. In the tag, in a fragment, in a clause of a text, in the SQL that the group chooses there, and the way round.
    Red when texts that name the same paths are no refusal."""
    text = text.replace(", zone: {{ tenant }}", "") if dialect == "sqlite" else text
    with pytest.raises(
        TemplateError, match=r"(is in SQL that a viewer chooses|is in an optional clause)(.|\n)*\n  fix: "
    ):
        SQLTemplate(f"select 1 from t {text}", dialect, fragments=FRAGMENTS if "{{>" in text else None)


@pytest.mark.parametrize("texts", ["t = {{ tenant }}", "{{ tenant }} is not null"])
def test_no_guarded_variable_is_in_a_declared_choice(texts: str) -> None:
    """Red when they are added after the guard has looked."""
    choices = {"scope": {"mine": "t = {{ tenant }}", "all": texts}}
    text = "select 1 from t where {{ params.x | one_of(scope) }}"
    with pytest.raises(TemplateError, match="tenant is in SQL that a viewer chooses"):
        Query(f"/* ---\n{json.dumps({'choices': choices})}\n--- */\n{text}").check("sqlite")


def test_the_fix_of_a_choice_gives_the_tenants_rows_alone(orders: sqlite3.Connection) -> None:
    """As the error says: the condition outside, and in the texts what filters nothing of the group."""
    repaired = SQLTemplate(
        "select id from orders where tenant = {{ tenant }} and {{ params.x | one_of(large: amount > 10 * "
        "{{ rate | not_a_filter }}, all: 1 = 1) }}",
        "sqlite",
    )
    for choice, expected in (("large", [3]), ("all", [1, 3])):
        assert ids(orders, repaired, {"tenant": "a", "rate": 2, "params": {"x": choice}}) == expected
    by_group = SQLTemplate(
        "select id from orders where {{ role | one_of(own: tenant = {{ tenant }}, admin: 1 = 1) }}", "sqlite"
    )
    assert ids(orders, by_group, {"role": "own", "tenant": "b"}) == [2]
    assert ids(orders, by_group, {"role": "admin", "tenant": "b"}) == [1, 2, 3]


def test_what_the_program_declares_optional_may_be_in_a_text() -> None:
    """It is no guarded path, and it is listed. Red when the rule for texts looks at every path of the group."""
    text = "select 1 where t = {{ tenant }} and {{ params.x | one_of(a: d = {{ discount }}, b: 1 = 1) }}"
    template = SQLTemplate(text, "sqlite", optional={"discount"})
    assert [path for path, _, _ in droppable(template)] == ["discount"]


LOCKED = {"region": {"type": "text", "locked": True, "default": {"property": "region"}}, "y": "text"}
LOCKED_GROUP = {"user_group": {"properties": {"region": "eu"}}}


@EACH
def test_a_locked_parameter_is_guarded_as_a_property_is(dialect: str) -> None:
    """Whatever a viewer chooses, it is there; and it may decide itself. Red where ``TenantGuard.guards_path`` knows no
    locked one: the first texts compile, the next ones say that a viewer has chosen it."""
    for text in (
        "select 1 [[ where a = {{ params.region }} and b = {{ params.y }} ]]",
        "select 1 where {{ params.y | one_of(own: a = {{ params.region }}, all: true) }}",
        "select 1 where {{ params.y | one_of(own: a = {{ params.region }}, all: b = {{ params.region }}) }}",
    ):
        with pytest.raises(TemplateError, match=r"params\.region is locked, and a viewer's choice could leave it out"):
            SQLTemplate(text, dialect, params=LOCKED, optional={"params.region"})
    by_group = "select 1 where {{ params.region | one_of(eu: a = {{ tenant }}, us: true) }}"
    marked = "select 1 [[ where b = {{ params.y }} * {{ params.region | not_a_filter }} ]]"
    for text in (by_group, marked):
        template = SQLTemplate(text, dialect, params=LOCKED)
        assert [v.path for v in template.variables if not v.guarded] == ["params.y"] * text.count("params.y")
    assert SQLTemplate(by_group, dialect, params=LOCKED).bind({**LOCKED_GROUP, "tenant": 1}, "qmark").params == (1,)
    assert [path for path, _, _ in droppable(SQLTemplate(marked, dialect, params=LOCKED))] == ["params.region"]
