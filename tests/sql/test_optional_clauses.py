"""Optional clauses and the guard rule."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tenantry.errors import MissingVariable, TemplateError
from tenantry.sql import SQLTemplate
from tests.sql.each_dialect import each_dialect


def sql(text: str, variables: dict[str, object], dialect: str = "sqlite") -> str:
    return " ".join(SQLTemplate(text, dialect).bind(variables).sql.split())


def test_a_clause_is_dropped_when_its_variable_is_missing_or_none() -> None:
    """Missing, None, or nothing to look in: dropped; anything else, also '' and 0 and False: kept."""
    text = "select 1 [[ where a = {{ params.a }} ]]"
    for absent in ({}, {"params": {}}, {"params": {"a": None}}, {"params": None}, {"params": "x"}, {"params": [1]}):
        assert sql(text, absent) == "select 1"
    for present in ("", 0, False, "x"):
        assert sql(text, {"params": {"a": present}}) == "select 1 where a = ?"


def test_an_empty_list_keeps_its_clause() -> None:
    """An empty list is no rows, never "no filter". Red when a clause tests for truth."""
    text = "select 1 [[ where a in {{ params.a }} ]]"
    assert sql(text, {"params": {"a": []}}) == "select 1 where a in ()"
    assert sql(text, {"params": {}}) == "select 1"


def test_a_clause_needs_all_variables_of_its_own_level() -> None:
    """One missing drops it; a nested clause drops alone; a dropped clause drops what is nested in it."""
    text = "select 1 [[ where a = {{ params.a }} and b = {{ params.b }} [[ and c = {{ params.c }} ]] ]]"
    assert sql(text, {"params": {"a": 1}}) == "select 1"
    assert sql(text, {"params": {"a": 1, "c": 3}}) == "select 1"
    assert sql(text, {"params": {"a": 1, "b": 2}}) == "select 1 where a = ? and b = ?"
    assert sql(text, {"params": {"a": 1, "b": 2, "c": 3}}) == "select 1 where a = ? and b = ? and c = ?"


def test_two_clauses_may_share_a_variable() -> None:
    """Each is kept by its own variables. Red when one clause's list is used for the key of the other."""
    text = "select 1 [[ , a in {{ params.a }} ]] [[ , b in {{ params.a }} and c = {{ params.c }} ]]"
    template = SQLTemplate(text, "sqlite")
    bound = template.bind({"params": {"a": [1, 2]}})
    assert (bound.sql.count("?"), bound.params) == (2, (1, 2))
    bound = template.bind({"params": {"a": [1, 2], "c": 3}})
    assert (bound.sql.count("?"), bound.params) == (5, (1, 2, 1, 2, 3))


def test_text_never_grows_together_around_a_clause() -> None:
    """A bracket, or a dropped clause, is a space where its neighbours have none."""
    text = "select 1[[+{{ params.a }}]]and 2-[[{{ params.a }}]]-1"
    assert SQLTemplate(text, "sqlite").bind({}).sql == "select 1 and 2- -1"
    assert SQLTemplate(text, "sqlite").bind({"params": {"a": 1}}).sql == "select 1 + ?  and 2-  ?  -1"
    text = "select 1=1[[and b = {{ params.a }}]] c"
    assert SQLTemplate(text, "sqlite").bind({"params": {"a": 1}}).sql == "select 1=1 and b = ?  c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select [[1,2],[3,4]]", "select [[1,2],[3,4]]"),
        ("select array[[1,{{ x }}],[3,4]]", "select array[[1,$1 ],[3,4]]"),
        ("select array[[{{ x }}]]", "select array[[ $1 ]]"),
        ("select \\[[{{ x }}]]", "select [[ $1 ]]"),
        ("select a[b[1]] [[ , a[b[{{ params.p }}]] ]]", "select a[b[1]] , a[b[ $1 ]]"),
        ("select [[1]], array[[{{ x }}]] [[ , {{ params.p }} p ]]", "select [[1]], array[[ $1 ]] , $2 p"),
        ("select 1 [[ , a[{{ params.p }}]]]", "select 1 , a[ $1 ]"),
        ("select [[{{ x }}, 1], [2]]", "select [[ $1, 1], [2]]"),
        ("select '[[', \"]]\" [[ , {{ params.p }} p /* ]] */ ]]", "select '[[', \"]]\" , $1 p"),
        ("select 1 [[ , array[[1],[{{ params.p }}]] ]]", "select 1 , array[[1],[ $1 ]]"),
    ],
)
def test_arrays_are_not_clauses(text: str, expected: str) -> None:
    """`[[` opens a clause only if its `]]` encloses a variable at its own level."""
    assert sql(text, {"x": 1, "params": {"p": 2}}, "postgresql") == expected


def test_brackets_that_are_no_clause_begin_a_name_in_sqlite() -> None:
    """There ``[[ … ]`` is a name, so what is in it would be no code: red while ``\\[[`` gave the characters, and a
    condition in the name was one to us and none to the engine."""
    with closing(sqlite3.connect(":memory:")) as database:
        name = "[ from t where tenant = :p1 --\n"
        assert database.execute(f"select 1 as [{name}]", {"p1": "a"}).description[0][0] == name
    with pytest.raises(TemplateError, match="would begin a quoted name"):
        SQLTemplate("select 1 as \\[[ from t where tenant = {{ tenant }} --\n] from t", "sqlite")


def test_names_in_brackets_inside_a_clause() -> None:
    """SQLite's [names] keep their brackets."""
    assert sql("select 1 [[ and [a b] = {{ params.p }} ]]", {"params": {"p": 1}}) == "select 1 and [a b] = ?"


@each_dialect
@pytest.mark.parametrize("path", ["region", "user_group.id", "user_group.properties.params", "paramsx.a"])
def test_a_guarded_variable_may_not_stand_in_a_clause(dialect: str, path: str) -> None:
    """A misspelt or missing property never removes the tenant's filter. Red when the tenant guard is not enforced."""
    with pytest.raises(TemplateError, match="is in an optional clause") as caught:
        SQLTemplate(f"select 1 [[ where a = {{{{ {path} }}}} ]]", dialect)
    assert caught.value.location is not None
    assert caught.value.location.column == 23
    assert f'optional={{"{path}"}}' in caught.value.message


def test_the_host_program_may_declare_properties_optional() -> None:
    """Single paths, exactly as they are written in the template."""
    template = SQLTemplate("select 1 [[ where d = {{ discount }} ]]", "sqlite", optional={"discount"})
    assert template.bind({}).sql == "select 1 "
    assert template.bind({"discount": 3}).params == (3,)
    with pytest.raises(TemplateError):
        SQLTemplate("select 1 [[ where d = {{ user_group.properties.discount }} ]]", "sqlite", optional={"discount"})


def test_an_optional_property_outside_a_clause_is_still_needed() -> None:
    """Declaring it optional allows [[ ]] and nothing else."""
    with pytest.raises(MissingVariable):
        SQLTemplate("select {{ discount }} as v", optional={"discount"}).bind({})


def test_all_missing_variables_are_one_error() -> None:
    """Each with every location, missing distinguished from null; those in clauses are none of it."""
    template = SQLTemplate(
        "select {{ a }} b,\n {{ b.c }} c, '{{ d }}'d, e in {{ e }}, {{ a }} a [[ {{ params.x }} ]] limit {{ params.n }}"
    )
    with pytest.raises(MissingVariable) as caught:
        template.bind({"b": {"c": None}, "e": None, "params": {}})
    assert caught.value.names == ("a", "b.c", "d", "e", "params.n")
    assert "a (missing at 1:8, 2:41)" in caught.value.message
    assert "b.c (null at 2:2)" in caught.value.message
    assert caught.value.status == 422


def test_variables_must_be_a_mapping() -> None:
    """A list or None is the host program's mistake."""
    for wrong in (None, [], "x", 1):
        with pytest.raises(TypeError, match="must be a mapping"):
            SQLTemplate("select {{ a }} as v").bind(wrong)  # type: ignore[arg-type]  # that is the point
