"""A value alone is no condition, no item of `select` and no order: whatever holds it, and whatever stands beside it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.errors import TemplateError
from tenantry.sql import DIALECTS, SQLTemplate
from tenantry.sql.lexing.lexemes import LexemeKind
from tenantry.sql.parsing.clause_brackets import read_lexemes
from tenantry.sql.parsing.possible_contexts import PossibleContexts
from tenantry.sql.source import Source
from tests.sql.each_dialect import each_dialect

EACH = each_dialect
HELD = ["{{ x }}", "({{ x }})", "( ( {{ x }} ) )", "/* c */ (\n{{ x }} -- d\n)", "'{{ x }}'", "(('{{ x }}'))"]
"""A value, and what holds it alone."""

CONDITION = "not a condition"
CONDITIONS = [
    "select 1 from t where @",
    "select 1 from t where @ or a = 1",
    "select 1 from t where a = 1 and @ order by a",
    "select 1 from t where a between 1 and 2 and @",
    "select 1 from t where a = 1 xor @",
    "select 1 from t where not @",
    "select 1 from t where (a = 1 or @) and b",
    "select 1 from t where (@ or a = 1) and b",
    "select f(@ and a, @ or b) as c from t",
    "select case when a then @ and b else @ or c end as d from t",
    "select 1 from t where @ for update",
    "select 1 from t where @ a_word_that_is_in_no_list b",
    "select a from t join b on @ natural join c",
    "select a from t group by a having @ limit 1",
    "select case when @ then 1 end as c",
    "select case when a then 1 when @ then 2 end as c",
    "select sum(a) filter (where @) as c from t",
    "select f(a = 1 and @, b) as c from t",
    "update t set a = 1 where @",
    "select 1 from t where a = 1 [[ and b = {{ params.y }} and @ ]]",
    "select 1 from t where a = 1 [[ and @ and b = {{ params.y }} ]]",
    # However clauses are kept, and choices made:
    "select 1 from t where @ [[ = {{ params.y }} ]]",
    "select 1 from t where [[ a = {{ params.y }} and ]] @",
    "select 1 from t where [[ {{ params.y }} + ]] @",
    "select 1 from t where [[ {{ params.y }} + ]] [[ {{ params.z }} * ]] @ group by a",
    "select 1 from t where @ {{ k | one_of(more: and b = 1) }}",
    "select 1 from t where @ {{ k | one_of(same: = b, more: and b = 1) }}",
    "select 1 from t where {{ k | one_of(same: b =, more: b = 1 and) }} @",
    "select 1 from t where {{ k | one_of(a: b = 1 and @, b: c = 1) }}",
]
ITEM = "a constant, and names no column"
ITEMS = [
    "select @",
    "select a, @ from t",
    "select @, a from t",
    "select distinct @ from t",
    "select distinct on (a) @ from t",
    "select top (5) @ from t",
    "select top 5 @ from t",
    "select @ minus select 1",
    "select @ union all select 1",
    "select @ for update",
    "select @ a_word_that_is_in_no_list b",
    "select a from t where b in (select @)",
    "select case when a then b end, @ from t",
    "select a and b, @ from t",
    "select @ [[ , {{ params.y }} as y ]] from t",
    "select [[ {{ params.y }} as y, ]] @ from t",
    "select @ {{ k | one_of(a: as c, b: from t) }}",
]
ORDER = "is a constant and not a column"
ORDERS = [
    "select a from t order by @",
    "select a from t order by @ desc nulls last",
    "select a from t order by a, @ limit 1",
    "select a from t order by case a when 1 then 2 end, @",
    "select a from t order by (a, @)",
    "select a from t group by @",
    "select a from t group by rollup(@)",
    "select a from t group by b, rollup(a, @)",
    "select a from t group by grouping sets ((a), (@))",
    "select sum(a) over (partition by b, @ order by c) as v from t",
    "select distinct on (@) a from t",
    "select a from t order by [[ {{ params.y }} + a, ]] @",
]
HELD_IN_ORDER = [*HELD, "{{ x }}::int", "{{ x }}::numeric(10, 2)", "cast({{ x }} as int)", "lower({{ x }})"]
HELD_IN_ORDER += ["({{ x }})::timestamp with time zone", "s.f(cast(({{ x }}) as varchar(10)))", '{{ x }} collate "C"']

ALLOWED = [
    *("select {{ x }} as since", "select '{{ x }}' as since", "select ({{ x }}) since from t", "select {{ x }} since"),
    "select {{ x }}::date, cast({{ x }} as date), f({{ x }}), {{ x }} + 1, ({{ x }}, 1), 'a {{ x }}'",
    "select cube({{ x }}) as c, quantile(0.5)({{ x }}), count(distinct ({{ x }}))",
    "select {{ x }} {{ k | one_of(p: as p, q: as q) }} from t",
    "select {{ x }} {{ k | one_of(p: + a, q: - b) }} from t",
    "select {{ x }} c [[ , {{ params.y }} d ]] from t",
    "select coalesce([[ {{ params.y }}, ]] {{ x }})",
    "select extract(year from {{ x }}), substring(a from 1 for {{ x }}), position('a' in {{ x }})",
    "select * replace ({{ x }} as a) from t",
    "select a from t where ({{ x }}) = a or ({{ x }} = a) or (({{ x }})) <> a",
    "select a from t where f({{ x }}) and ({{ x }}::date is null or {{ x }} is null)",
    "select a from t where cast({{ x }} as boolean) and {{ x }}::boolean",
    "select a from t where a between {{ x }} and ({{ x }}) and b not between {{ x }} and {{ x }}",
    "select a from t where a {{ k | one_of(in_it: between 1 and, not_in_it: not between 1 and) }} {{ x }}",
    "select a from t where (a, {{ x }}) in (select 1, 2) and a is distinct from ({{ x }})",
    "select a from t where {{ x }} collate nocase = a and {{ x }} like a and {{ x }} in (a, b)",
    "select case ({{ x }}) when ({{ x }}) then ({{ x }}) else ({{ x }}) end",
    "select a from t order by coalesce(b, lower({{ x }})), f(a, {{ x }}), a <-> {{ x }}, (a = {{ x }}) desc",
    "select a from t order by rand({{ x }})",
    "select a from t order by case when a = {{ x }} then 1 else 2 end, (select b from c where d = {{ x }} limit 1)",
    "select a from t order by to_tsvector(a) @@ to_tsquery({{ x }}), ({{ x }}) = a, {{ x }} is null",
    "select a from t group by date_trunc({{ x }}, at)",
    "select count(*) over (order by a rows between {{ x }} preceding and {{ x }} following) as v",
    "insert into t values ({{ x }}), ({{ x }}, 1)",
]


def compiled(texts: Iterable[str], problem: str, dialect: str) -> list[str]:
    """The texts that compile, or that are refused for another reason."""
    found = []
    for text in texts:
        try:
            SQLTemplate(text, dialect)
        except TemplateError as error:
            if problem in error.message.splitlines()[0] and "\n  fix: " in error.message:
                continue
        found.append(text)
    return found


@EACH
@pytest.mark.parametrize(
    ("contexts", "held", "problem"),
    [(CONDITIONS, HELD, CONDITION), (ITEMS, HELD, ITEM), (ORDERS, HELD_IN_ORDER, ORDER)],
    ids=["condition", "item", "order"],
)
def test_a_value_alone_is_refused(contexts: list[str], held: list[str], problem: str, dialect: str) -> None:
    """Each context with each wrapper. Red when `_step_outward` passes by nothing, when `continues` takes every word
    for a part of an expression, when `PossibleContexts` knows only kept clauses or the first text of a choice, and
    when a keyword within `case … end` begins a clause."""
    assert compiled((text.replace("@", each) for text in contexts for each in held), problem, dialect) == []


@EACH
def test_what_makes_an_expression_of_it_is_allowed(dialect: str) -> None:
    """And an alias, which says that the value itself is meant. Red when a call, a cast or a row counts as parentheses
    in a condition, and when `and` of `between` in a choice begins one."""
    refused = []
    for text in ALLOWED:
        try:
            SQLTemplate(text, dialect).bind({"x": "v", "k": None, "params": {}} | choice_of(text))
        except TemplateError as error:
            refused.append((text, error.message))
    assert refused == []


def choice_of(text: str) -> dict[str, str]:
    return {"k": text.partition("one_of(")[2].partition(":")[0]} if "one_of(" in text else {}


@EACH
def test_what_is_put_together_is_bound_as_it_is_meant(dialect: str) -> None:
    """Neighbours in arrays, which count as brackets: only where `[` begins none of a name."""
    if DIALECTS[dialect].bracket_names:
        return
    for text in ("select a from t order by array[a, {{ x }}] <-> v", "select [a, {{ x }}], a[1] from t"):
        assert len(SQLTemplate(text, dialect).bind({"x": 1}).params or ()) == 1
    text = "select array[a, b], {{ x }} from t"
    assert compiled([text], ITEM, dialect) == []


def test_a_fragment_is_what_it_stands_for() -> None:
    """A fragment between parentheses can be a value alone. Red when parentheses are not passed by."""
    for text in ("select 1 from t where ({{> f }})", "select a from t order by ({{> f }})", "select ({{> f }})"):
        with pytest.raises(TemplateError, match=r"f:1:1: (a value alone|a variable after)"):
            SQLTemplate(text, "postgresql", fragments={"f": "{{ x }}"})


@pytest.mark.parametrize("end", ["and", "or", ","])
def test_many_clauses_before_a_value_are_few_readings(end: str) -> None:
    """So a template of many is compiled in linear time. Red when each clause with words of its own is a reading."""
    clauses = "".join(f"[[ {{{{ params.p{n} }}}} = a{n} {end} ]]" for n in range(50))
    source = Source(f"select f({clauses} {{{{ x }}}} = b)")
    lexemes = read_lexemes(source, DIALECTS["postgresql"])
    last = max(index for index, lexeme in enumerate(lexemes) if lexeme.kind is LexemeKind.TAG)
    assert len(list(PossibleContexts(source, lexemes, {}).around(last))) <= 3


HIDDEN = [
    ("select a from t {{ k | one_of(l: limit) }} [[ {{ params.y }} ]]", "directly after a choice"),
    ("select a {{ k | one_of(f: from) }} [[ {{ params.y }} ]]", "directly after a choice"),
    ("select a from [[ {{ params.y }} ]]", "would name a table"),
    ("select a from [[ {{ params.y }} + ]] {{ x }}", "would name a table"),
    ("select a from [[ f() , g({{ params.y }}), ]] t join [[ f({{ params.y }}) + ]] {{ x }}", "would name a table"),
    ("select a from t where b = date [[ {{ params.y }} ]]", "takes a literal"),
    ("select a from t where b in [[ {{ params.y }} ]]", "in the same optional clause"),
    ("select a from t where b not [[ in {{ params.y }} ]]", "in another optional clause"),
    ("select a from t where b [[ = {{ params.y }} and b in ]] {{ x }}", "in the same optional clause"),
]


@EACH
@pytest.mark.parametrize(("text", "problem"), HIDDEN)
def test_a_clause_hides_no_position(text: str, problem: str, dialect: str) -> None:
    """Red when the brackets of a clause count as something that stands between, and when `PossibleContexts` keeps
    every clause or drops every one; the last three when `is_apart` is never true."""
    assert compiled([text], problem, dialect) == []


@EACH
@pytest.mark.parametrize(
    "text",
    [
        "select a from t limit {{ x }}",
        "select a from t limit ({{ x }})",
        "select a from t limit [[ {{ params.y }} + ]] {{ x }}",
        "select a from t order by a offset (({{ x }})) rows",
        "select a from t limit 1, {{ x }}",
        "select a from t limit [[ {{ params.y }}, ]] {{ x }}",
        "select a from t fetch first [[ {{ params.y }} + ]] {{ x }} rows only",
        "select a from t {{ k | one_of(l: limit 1 +, o: offset 2 +) }} 1 limit {{ x }}",
    ],
)
def test_a_number_of_rows_is_one_behind_clauses_and_parentheses(text: str, dialect: str) -> None:
    """It takes a whole number only. Red when a clause or a parenthesis before it hides the keyword."""
    template = SQLTemplate(text, dialect)
    last = [variable for variable in template.variables if variable.path == "x"]
    assert [variable.position.name for variable in last] == ["LIMIT"]


def test_a_list_in_a_clause_of_its_own() -> None:
    """What is beside it changes nothing. Red when `is_apart` is always true."""
    text = "select 1 where a = 1[[ and b in {{ params.y }}]][[ and c in ({{ params.y }})]][[ and d = {{ params.z }}]]"
    bound = SQLTemplate(text, "sqlite").bind({"params": {"y": [1, 2]}})
    assert " ".join(bound.sql.split()) == "select 1 where a = 1 and b in (?, ?) and c in (?, ?)"
    text = "select 1 where a in ([[ {{ params.y }}, ]] {{ x }})"
    assert SQLTemplate(text, "sqlite").bind({"x": 1, "params": {}}).sql == "select 1 where a in ( ?)"


NESTED = ["({})", "( {} )", "/* c */({})", "(\n{} -- d\n)"]
CONTINUED = ["{} = a", "a = {}", "{} is null", "{} || b", "a like {}", "f(a, {})", "({}, 1) = (a, b)", "{} + 1 > 2"]
"""What makes a part of a condition of the value."""


@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
@pytest.mark.parametrize("held", HELD)
def test_two_ampersands_are_and(held: str, dialect: str) -> None:
    """In every context with the word. Red without ``joining_signs``, and where `_TagSurroundings` does not get them."""
    contexts = [text for text in CONDITIONS if " and " in text and "between" not in text]  # `between a && b` is no SQL
    texts = [text.replace("@", held).replace(" and ", " && ") for text in contexts]
    assert texts
    assert compiled(texts, CONDITION, dialect) == []


@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize(
    "text",
    [
        "select 1 from t where a = 1 || @",
        "select 1 from t where @ || a = 1",
        "select 1 from t where (a || @) and b",
        "select 1 from t where a || @ || b",
        "select 1 from t where not (@ || a)",
        "select case when a || @ then 1 end c",
        "select a from t join b on a = b || @",
        "select a from t where b like 'x' || @ limit 1",
        "select 1 from t where a = 1 [[ || @ ]]",
        "select 1 from t group by a having @ || b",
    ],
)
def test_two_bars_in_a_condition_are_or(text: str, held: str, dialect: str) -> None:
    """As they are unless a server has PIPES_AS_CONCAT. Red without ``or_operators`` in `find_constant_expression`."""
    assert compiled([text.replace("@", held)], CONDITION, dialect) == []


@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
def test_two_bars_beside_items_and_arguments_may_join_texts(dialect: str) -> None:
    """Red when every `||` joins conditions."""
    text = "select '{{ x }}' || a, b || {{ x }}, lower({{ x }} || b), case when a then b || {{ x }} end c from t"
    SQLTemplate(f"{text} where concat({{{{ x }}}} || a) = b and a = {{{{ x }}}} order by a || {{{{ x }}}}", dialect)


@pytest.mark.parametrize("dialect", ["postgresql", "sqlite", "duckdb", "clickhouse", "snowflake"])
def test_elsewhere_the_same_signs_join_texts_and_compare_arrays(dialect: str) -> None:
    """Red when every dialect has MySQL's ``joining_signs``."""
    SQLTemplate("select a from t where {{ x }} || b like a and a && {{ x }}", dialect)


@given(
    st.lists(st.sampled_from(NESTED), max_size=4),
    st.sampled_from(["{}", *CONTINUED]),
    st.lists(st.sampled_from(NESTED), max_size=3),
    st.sampled_from(
        ["where {}", "where a = 1 or {} and b", "where not {}", "where 1 = 1 [[ and a < {{{{ params.y }}}} and {} ]]"]
    ),
    st.sampled_from(sorted(DIALECTS)),
)
def test_a_condition_is_bare_or_is_none(
    inner: list[str], expression: str, outer: list[str], context: str, dialect: str
) -> None:
    """Parentheses and comments around a value, and around its expression, change nothing. Red without the loop of
    `_step_outward`, and when one of the words of CONTINUED goes from the list of those that continue."""
    text = "{{ params.x }}"
    for wrapper in inner:
        text = wrapper.format(text)
    text = expression.format(text)
    for wrapper in outer:
        text = wrapper.format(text)
    text = f"select 1 from t {context.format(text)}"
    if expression == "{}" or (expression == "{} || b" and "||" in DIALECTS[dialect].or_operators):
        assert compiled([text], CONDITION, dialect) == []
    else:
        SQLTemplate(text, dialect)
