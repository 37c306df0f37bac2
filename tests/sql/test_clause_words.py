"""``[[`` that is no array: a word or a sign after it says so, where the dialect has arrays in arrays too."""

from __future__ import annotations

import duckdb
import pytest

from engines.clickhouse import ClickHouse
from engines.postgres import Postgres
from tenantry.errors import TemplateError
from tenantry.sql import DIALECTS, SQLTemplate
from tenantry.sql.parsing.clause_brackets import _BEFORE_OPERAND, _NEVER
from tests.sql.each_dialect import each_dialect

EACH = each_dialect
ARRAYS = [name for name, dialect in DIALECTS.items() if dialect.arrays]
A = "{{ params.a }}"


def refusal(text: str, dialect: str) -> tuple[int, str]:
    """The column and the message."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(text, dialect)
    assert caught.value.location is not None
    assert "\n  fix: " in caught.value.message
    return caught.value.location.column, caught.value.message


@EACH
@pytest.mark.parametrize(
    "text",
    [
        "select a from t where true § [[ and deleted is null ]]",
        "select a from t where true § [[and(deleted is null)]]",
        "select a from t where true § [[ AND deleted is null ]]",
        "select a from t where true § [[ /* why */ and -- that\n deleted is null ]]",
        "select a from t § [[ where deleted is null ]]",
        "select a from t where a = 1 § [[ or a = 2 ]]",
        "select a from t § [[ order by a ]]",
        "select a from t order by a § [[ desc ]]",
        "select a from t § [[ group by a ]] [[ having a ]]",
        "select a from t § [[ limit 5 ]]",
        "select a from t limit 5 § [[ offset 5 ]]",
        "select a from t § [[ join u on a = b ]]",
        "select a from t § [[ left join u on a = b ]] where a",
        "select a from t § [[ full outer join u using (a) ]]",
        "select a from t § [[ union all select 1 ]]",
        "select a § [[ , b ]] from t",
        "select a from t where a = 1 § [[ = 2 ]]",
        "select a from t where § [[ deleted is null and ]] a = 1",
        "select a from t where a § [[ = b + ]] 1",
        "select a from t where § [[ b = ]] 1",
        "select § [[ distinct ]] a from t",
        "select a from t where a § [[ not in (1, 2) ]]",
        "select a from t where a § [[ not like 'x' ]]",
        "select a from t, § [[ lateral (select 1) u ]]",
        "select a from t order by a § [[ nulls last ]]",
        "select a § [[ at time zone 'UTC' ]] from t",
        "select a from t where a = array § [[ and b ]]",
        "select a from t where § [[ deleted is null ]]",
        "select a from t where /* why */ § [[ deleted = 1 ]] -- that",
        "select a from t where a = 1 and § [[ deleted is null ]] order by a",
        "select a from t where a between 1 and 2 or § [[ not deleted ]];",
        "select a from t where (NOT § [[ (b) ]]) limit 1",
        "select a from t join u on § [[ t.b = u.b ]] group by a",
        f"select a from t where § [[ deleted is null ]] [[ and a = {A} ]]",
        "select a from t where a = § [[ 1",
        "select a from t where a = § [[ 1 ], [2]",
        f"select a from t where § [[ a = {A}",
        f"select a from t where true § [[ and a = {A}",
        f"select a from t where true § [[ and a = {A} ]",
        f"select a from t where true § [[ and a = {A} ] ]",
        f"select a from t where true [[ and a = {A} ]] § [[ and b",
        f"select a from t where true [[ and a = {A} § [[ and deleted is null ]] ]]",
        f"select a from t where true § [[ and deleted is null [[ and a = {A} ]] ]]",
        f"select a from t where true § [[ and b = {A} [[ and a = {A} ]]",
        "select {{ params.x | one_of(a: 1 § [[ and b ]], b: 2) }} from t",
    ],
)
def test_a_clause_without_a_tag_or_an_end_is_no_array(dialect: str, text: str) -> None:
    """At the first ``[[`` that is none. Red in five dialects when what is no clause is an array: it compiled as text,
    and the engine refused it; red for one when the end of the text is not looked at, for some when an array may be a
    whole condition, and for others when it may lack its end."""
    at = text.index("§") + 1
    column, message = refusal(text.replace("§ ", ""), dialect)
    assert column == at
    assert "this [[ has no ]] that encloses a variable" in message
    assert "remove [[ and ]]" in message


@EACH
def test_each_word(dialect: str) -> None:
    """Before an operand, in a clause without a tag; and as a clause with one it compiles."""
    for word in sorted(_NEVER | _BEFORE_OPERAND):
        assert refusal(f"select a from t [[ {word} b ]]", dialect)[0] == 17, word
        assert refusal(f"select a from t [[ {word} {A} ", dialect)[0] == 17, word


@pytest.mark.parametrize("dialect", ARRAYS)
def test_an_array_in_a_clause_without_an_end(dialect: str) -> None:
    """The ``]]`` is the array's. Red when what has no end may be an array."""
    assert refusal(f"select a from t where [[ a = {A} and b = [[1, 2]]", dialect)[0] == 23


@EACH
def test_a_clause_that_nothing_opens(dialect: str) -> None:
    """Red when a ``]]`` is left to the engine."""
    for text in (f"select a from t where a = {A} ]]", f"select a from t [[ where a = {A} ]] ]]"):
        column, message = refusal(text, dialect)
        assert column == text.rindex("]]") + 1
        assert "this ]] closes nothing" in message


@pytest.mark.parametrize("dialect", ARRAYS)
@pytest.mark.parametrize(
    "array",
    [
        "[[1, 2], [3]]",
        "[[left('ab', 1)], ['b']]",
        "[[not true, false]]",
        "[[case when true then 1 end]]",
        "[[true and false, 1 = 1]]",
        "[[null]]",
        "[[(1)]]",
        "[[-1, +1]]",
        "[['and', 'where']]",
        '[["order", "limit"]]',
        "[[o.limit, 2]]",
        "[[order, 1]]",
        "[[offset, 1]]",
        "[[window + 1], [values]]",
        "[[start::int]]",
        "[[right(a, 1)]]",
        "[[interval '1 day']]",
        "[[], [1]]",
        "[[]]",
        "\\[[ and ]]",
        "[[x for x in l]]",
        "a[b[1]]",
        "[[ /* and */ 1]]",
        "[[1 /* and */]]",
        "[[1 -- a =\n]]",
        "[[not exists (select 1)]]",
        "[1] where [[1, 2], [3]] = x",
        "[1] where not [[1]] is null and [[1]][1][1] > 0 or [[1]] in l",
        "[1] where a between [[1]] and [[2]] limit 1",
        "[1] where a = [[1]] and f([[2]])",
        "a.where [[1]]",
        f"[[1, 2], [{A}]]",
        f"array[[{A}]]",
    ],
)
def test_what_an_array_may_begin_with(dialect: str, array: str) -> None:
    """Expressions, and names that are words elsewhere. Red when every word of a clause is refused wherever it is."""
    bound = SQLTemplate(f"select {array} as v from t", dialect).bind({"params": {"a": 1}})
    assert "[[" in bound.sql or "[]" in array or "a[b" in array or A in array


NESTED_ON_ENGINES = {
    "postgresql": [
        "array[[1, 2], [3, 4]]",
        "array[[left('ab', 1)], ['b']]",
        "array [[1], [2]]",
        "array[[true and false, 1 = 1]]",
        "(array[array[1, 2], array[3, 4]])[(array[1, 2])[1]][1]",
        "array[[case when true then 1 end]]",
    ],
    "duckdb": [
        "[[1, 2], [3]]",
        "[[left('ab', 1)], ['b']]",
        "[[x for x in [1, 2]]]",
        "[[true and false, 1 = 1]]",
        "[[not true]]",
        "[['and'], ['where']]",
        "[[], [1]]",
        "[[1, 2], [3]][[1][1]]",
    ],
    "clickhouse": ["[[1, 2], [3]]", "[[left('ab', 1)], ['b']]", "[[1 = 1, true and false]]", "[[], [1]]", "[['or']]"],
}


@pytest.mark.parametrize("dialect", NESTED_ON_ENGINES)
def test_arrays_in_arrays_still_run(dialect: str, request: pytest.FixtureRequest) -> None:
    """On the engine, as they are written, next to a clause that is kept. Red when any of them is refused."""
    for array in NESTED_ON_ENGINES[dialect]:
        bound = SQLTemplate(f"select {array} as v where 1 = 1 [[ and 1 = {A} ]]", dialect).bind({"params": {}})
        assert array in bound.sql
        if dialect == "postgresql":
            postgres: Postgres = request.getfixturevalue("postgres")
            postgres.execute(bound.sql)
        elif dialect == "duckdb":
            assert len(duckdb.sql(bound.sql).fetchall()) == 1
        else:
            clickhouse: ClickHouse = request.getfixturevalue("clickhouse")
            assert clickhouse.query(bound.sql)
