"""Where a filter may be whose condition is ``1 = 1`` when a viewer sends nothing: right, or refused with the fix."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from random import Random
from typing import Any

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tests.sql.each_dialect import each_dialect

PARAMS: dict[str, Any] = {"x": "text", "y": "text", "b": "text", "r": "date range", "k": "text"}
FILTERS = ("{{ params.x | matches(region) }}", "{{ params.r | within(at) }}", "{{ params.x | excludes(region) }}")
EACH = each_dialect
B = "{{ params.b }}"
NOT = "under `not` it matches no row"
OR = "next to `or` it can let every row in"
OTHER = "it is correct only as a condition joined by `and`, after `where`, `on`, `having` or `qualify`"

MISPLACED = [
    ("where not X", NOT),
    ("where a and not X", NOT),
    ("where not not X", NOT),
    ("where not (X)", OTHER),
    ("where a and not(X)", OTHER),
    ("where not (a and X)", OTHER),
    (f"where not [[ b = {B} and ]] X", NOT),
    ("join u on not X", NOT),
    ("group by a having not X", NOT),
    ("where a or X", OR),
    ("where X or a", OR),
    ("where (a and X) or b", OR),
    ("where a or (b and X)", OR),
    ("where a or b and X", OR),
    ("where X and a or b", OR),
    ("where not exists (select 1) or X", OR),
    (f"where X [[ or b = {B} ]]", OR),
    (f"where a [[ or b = {B} ]] and X", OR),
    ("where X = false", OTHER),
    ("where false = X", OTHER),
    ("where (X) is null", OTHER),
    ("where X is not true", OTHER),
    ("where X isnull", OTHER),
    ("where X in (true)", OTHER),
    ("where X between a and b", OTHER),
    ("where a between 1 and X", OTHER),
    ("where a = (X)", OTHER),
    ("where (X, a) = (1, 2)", OTHER),
    ("where X collate nocase = 1", OTHER),
    ("where X || 'a' = 'b'", None),
    ("where X::int = 1", OTHER),
    ("where case when X then 1 end = 1", OTHER),
    ("where case when a and X then 1 end = 1", OTHER),
    ("where case a when X then 1 end = 1", OTHER),
    ("where case when a then X else b end", OTHER),
    ("where coalesce(X, a)", OTHER),
    ("where f(a and X)", OTHER),
    ("group by X", OTHER),
    ("order by a, X", OTHER),
    ("where {{ params.k | one_of(p: a or X, q: a) }}", OR),
    ("where not {{ params.k | one_of(p: X, q: a) }}", NOT),
    ("where X {{ params.k | one_of(p: or a, q: and b) }}", OR),
    ("where {{ params.k | one_of(p: a or, q: a and) }} X", OR),
    ("where X and {{ params.k | one_of(p: a or b, q: c) }}", OR),
    ("where b = 1 or {{ params.k | one_of(p: a and X, q: a) }}", OR),
    ("where {{ params.y | matches(case when X then a end) }}", OTHER),
]
ITEMS = [
    "select X as v from t",
    "select a, X from t",
    "select a and X from t",
    "select count(X) from t",
    "select case when X then 1 end as v from t",
    "select count(*) filter (where not X) from t",
    "select count(*) filter (where a or X) from t",
    "select distinct on (X) a from t",
    "select (select X) from t",
]
PLACED = [
    "where X",
    "where (X)",
    "where a and X",
    "where X and a",
    "where ((a and X) and b)",
    "where (a or b) and X",
    "where not a and X",
    "where d between 1 and 2 and X",
    "where X and d between 1 and 2",
    "where case when a then b or c end = 1 and X",
    "where a is distinct from b and X",
    "join u on t.a = u.a and X where b or c",
    "left join u on X and a = b",
    "group by a having X",
    "where X group by a order by a limit 5",
    "where X union all select a from u where b or c",
    "where b or c union all select a from t where X",
    "where a in (select b from u where X) or c",
    "where not exists (select 1 from u where X and u.a = t.a)",
    "where case when exists (select 1 from u where X) then 1 end = 1",
    f"where X [[ and b = {B} ]]",
    f"where [[ b = {B} and ]] X",
    f"where [[ b = {B} and ]] (X) [[ and c = {B} ]]",
    "where {{ params.k | one_of(p: X, q: a) }} and c",
    "where a {{ params.k | one_of(p: and X, q: and b) }}",
    "{{ params.k | one_of(p: where X, q: where a) }} order by a",
    "where X {{ params.k | one_of(p: order by a, q: order by b) }}",
    "where X and {{ params.y | matches(c) }}",
    "where X;",
]


def refusal(text: str, dialect: str, params: dict[str, Any] = PARAMS) -> str:
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(text, dialect, params=params)
    assert caught.value.location is not None
    return caught.value.message


def test_an_item_of_an_array_is_no_condition() -> None:
    """Red when square brackets are read as round ones."""
    for each in FILTERS:
        assert OTHER in refusal(f"select a from t where [{each}]", "duckdb")


@EACH
def test_where_it_would_change_its_meaning_it_is_refused(dialect: str) -> None:
    """With the place and the fix, for every filter that may vanish. Red without ``check_vanishing``: each compiled, and
    without a value gave no rows, or all. Red for some when the right side, an ``or`` farther away, the brackets around
    or dropped clauses are not looked at."""
    for rest, what in (*MISPLACED, *((text, None) for text in ITEMS)):
        for each in FILTERS:
            text = rest if rest.startswith("select") else f"select a from t {rest}"
            message = refusal(text.replace("X", each), dialect)
            assert "may be absent, and then its condition is 1 = 1: " in message, message
            assert what is None or what in message, message
            assert "\n  fix: " in message


@EACH
def test_where_it_changes_nothing_it_compiles(dialect: str) -> None:
    """Red when a place that is right is refused: the test above would pass with a rule that refuses all."""
    for rest in PLACED:
        for each in FILTERS:
            SQLTemplate(f"select a from t {rest}".replace("X", each), dialect, params=PARAMS)
    SQLTemplate("select sum(a) filter (where a and {{ params.x | matches(b) }}) from t", dialect, params=PARAMS)


@pytest.mark.parametrize(("dialect", "sign"), [("mysql", "&&"), ("mariadb", "&&")])
def test_signs_that_are_words(dialect: str, sign: str) -> None:
    """Red when the words alone join conditions."""
    SQLTemplate(f"select 1 from t where a {sign} {FILTERS[0]}", dialect, params=PARAMS)
    for text, what in ((f"a || {FILTERS[0]}", OR), (f"a xor {FILTERS[0]}", OR), (f"!{FILTERS[0]}", NOT)):
        assert what in refusal(f"select 1 from t where {text}", dialect)
    assert OTHER in refusal(f"select 1 from t where a || {FILTERS[0]} = 'b'", "postgresql")


@pytest.mark.parametrize("definition", [{"required": True}, {"default": "eu"}, {"locked": True}])
def test_what_always_has_a_value_may_be_anywhere(definition: dict[str, Any]) -> None:
    """It means what it says. A default that an empty text clears does not stay: red when it counts as one."""
    given = {"type": "text", **definition}
    if "locked" in definition:
        given["default"] = {"property": "region"}
    for rest, _ in MISPLACED:
        text = f"select a from t {rest}".replace("X", FILTERS[0])
        if "one_of" in rest and "locked" in definition:
            continue  # the guard refuses it for another reason
        SQLTemplate(text, "postgresql", params={**PARAMS, "x": given, "y": given})
    SQLTemplate("select not {{ region | matches(a) }} as v from t", "postgresql")


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("where not {{ params.x | matches(region) }}", "write {{ params.x | excludes(region) }} without the `not`"),
        ("where not {{ params.x | excludes(region) }}", "write {{ params.x | matches(region) }} without the `not`"),
        ("where not {{ params.r | within(at) }}", "write {{ params.r | excludes(at) }} without the `not`"),
        ("where a or {{ params.x | matches(o.region) }}", "write [[ or o.region = {{ params.x }} ]]"),
        ("where a or {{ params.l | matches(region) }}", "write [[ or region in {{ params.l }} ]]"),
        (
            "where a or {{ params.r | within(at) }}",
            "write [[ or (at >= {{ params.r.start }} and at < {{ params.r.end }}) ]]",
        ),
        ("where a or {{ params.n | matches(region) }}", "declare n with `required: true`, or with a default"),
        ("where a or {{ params.d | matches(at) }}", "declare d with `required: true`, or with a default"),
        ("where {{ params.x | matches(region) }} = false", "declare x with `required: true`, or with a default"),
    ],
)
def test_the_fix_compiles(text: str, fix: str) -> None:
    """As it is written in the message."""
    params: dict[str, Any] = {
        **PARAMS,
        "l": "list of text",
        "d": {"type": "date"},
        "n": {"type": "text", "is_null": "none"},
    }
    message = refusal(f"select 1 from t {text}", "postgresql", params)
    assert fix in message.partition("\n  fix: ")[2]
    if fix.startswith("write "):
        written = fix.removeprefix("write ").removesuffix(" without the `not`")
        before = "where a " if written.startswith("[[") else "where "
        SQLTemplate(f"select 1 from t {before}{written}", "postgresql", params=params)
    else:
        name = fix.split()[1]
        given = {**({"type": "text"} if name == "x" else params[name]), "required": True}
        SQLTemplate(f"select 1 from t {text}", "postgresql", params={**params, name: given})


# --- conditions at random ---------------------------------------------------------------------------------------------


class Conditions:
    """Makes conditions on ``t`` that hold the filter once: as text, as text without it (empty if nothing is left), and
    whether the filter is joined by ``and`` alone."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def make(self, depth: int) -> tuple[str, str, bool]:
        if depth == 0:
            return "X", "", True
        inner, without, is_joined = self.make(depth - 1)
        match self._dice.randrange(7):
            case 0 | 1 | 2:
                parts = [self._plain() for _ in range(self._dice.randint(1, 2))]
                at = self._dice.randint(0, len(parts))
                texts = [f"({inner})" if "or" in inner else inner, *parts]
                texts[0], texts[at] = texts[at], texts[0]
                left = [f"({without})" if each == texts[at] else each for each in texts]
                kept = [each for each in left if each != "()"]
                return " and ".join(texts), " and ".join(kept), is_joined
            case 3:
                return f"({inner})", without and f"({without})", is_joined
            case 4:
                return f"({inner}) or {self._plain()}", "", False
            case 5:
                return f"not ({inner})", "", False
            case _:
                return f"case when {inner} then 1 else 0 end = {self._dice.randint(0, 1)}", "", False

    def _plain(self) -> str:
        return self._dice.choice(("id > 2", "(id < 2 or name = 'b')", "not name = 'a'", "id between 1 and 4"))


@pytest.mark.parametrize("seed", range(5))
def test_what_compiles_means_the_same_as_without_it(seed: int) -> None:
    """On SQLite: where ``and`` alone joins it, the rows without a value are those of the text without it; everywhere
    else it is refused. Red when a level of brackets, or one side of the filter, is not looked at."""
    made = Conditions(Random(seed))
    compiled = 0
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table t (id, name)")
        database.executemany("insert into t values (?, ?)", [(n, "abc"[n % 3]) for n in range(9)])

        def ids(condition: str) -> list[int]:
            return [row[0] for row in database.execute(f"select id from t where {condition}")]

        for number in range(120):
            condition, without, is_joined = made.make(1 + number % 5)
            text = f"select id from t where {condition}".replace("X", "{{ params.x | matches(name) }}")
            if not is_joined:
                assert "may be absent" in refusal(text, "sqlite")
                continue
            compiled += 1
            template = SQLTemplate(text, "sqlite", params={"x": "text"})
            bound = template.bind({"params": {"x": "a"}})
            assert ids(bound.sql.split(" where ", 1)[1].replace("?", "'a'")) == ids(
                condition.replace("X", "name = 'a'")
            )
            assert ids(template.bind({"params": {}}).sql.split(" where ", 1)[1]) == ids(without or "true")
    assert 10 < compiled < 110
