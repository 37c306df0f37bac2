"""``SQLTemplate(text, choices={…})``: the texts of ``one_of`` that a program declares, by the rules of a header."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import Query, SQLTemplate

CHOICES = {
    "order": {
        "newest": "day desc, id desc",
        "best": "coalesce(total, 0) desc -- the greatest",
        "mine": "case when owner = {{ params.me }}\nthen 1 end, 'a,b)}}'",
        "both": "id {{ params.way | one_of(direction) }}, /* a, b */ day",
    },
    "direction": {"up": "asc", "down": "desc"},
}
TEXT = "select * from orders order by {{ params.sort | one_of(order) | default(newest) }}, a"
HEADER = """/* ---
choices:
  order:
    newest: day desc, id desc
    best: coalesce(total, 0) desc -- the greatest
    mine: "case when owner = {{ params.me }}\\nthen 1 end, 'a,b)}}'"
    both: "id {{ params.way | one_of(direction) }}, \\u002f* a, b *\\u002f day"
  direction: {up: asc, down: desc}
--- */
"""


@pytest.mark.parametrize("sort", [None, *CHOICES["order"]])
def test_texts_of_a_program_are_what_texts_of_a_header_are(sort: str | None) -> None:
    """Commas, comments, tags and other sets among them. Red when a comma ended a text, and when a set was a column."""
    variables = {"params": {"sort": sort, "me": 7, "way": "down"}}
    for paramstyle in ("qmark", "numeric_dollar"):
        bound = SQLTemplate(TEXT, choices=CHOICES).bind(variables, paramstyle)
        assert bound == Query(HEADER + TEXT).bind(variables, paramstyle)
        assert "one_of" not in bound.sql


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        (["a"], "choices must be a mapping of keys and values"),
        ({"order": "a"}, "choices.order must be a mapping of keys and values"),
        ({"order": {}}, "choices.order has no choices"),
        ({"a-b": {"c": "d"}}, "choices has a key that is not a name: a-b"),
        ({"1": {"c": "d"}}, "choices has a key that is not a name: 1"),
        ({1: {"c": "d"}}, "choices has a key that is not a name: 1"),
        ({"order": {"by {{ day": "d"}}, "choices.order has a key that is not a name: by {{ day"),
        ({"order": {"c": 1}}, "choices.order.c must be SQL, as a string"),
        ({"order": {"c": " "}}, "choices.order.c must be SQL, as a string"),
        ({"order": {"c": "a\0"}}, "choices.order.c:1:2: SQL cannot contain a NUL"),
    ],
)
def test_choices_that_are_none_are_refused_at_once(choices: Any, problem: str) -> None:
    """With the words of a header, before any text is compiled. Red when a program could declare what a file cannot."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(TEXT, choices=choices)
    assert caught.value.message.startswith(problem)
    assert "\n  fix: " in caught.value.message


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("day desc, (id", "choices.order.x:1:11: this choice ends before its )"),
        ("day); drop", "choices.order.x:1:4: this ) closes nothing that its choice opens"),
        ("day; drop", "choices.order.x:1:4: a choice must not end a statement"),
        ("day\n, '", "choices.order.x:2:3: this string has no end"),
        ("day = {{ region }}", "choices.order.x:1:7: region is in SQL that a viewer chooses"),
        ("a {{ params.w | one_of(no) }}", "choices.order.x:1:24: there are no choices no"),
        ("a {{ params.w | one_of(order) }}", "choices.order.x:1:24: there are no choices order"),
        ("{{ nothing", "choices.order.x:1:1: "),
    ],
)
def test_a_wrong_text_is_shown_with_its_name(sql: str, message: str) -> None:
    """Its own line and column, and the tag that names it. Red when a text was added without the checks of a header's,
    and when the error pointed into the template."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate(
            "select *\nfrom orders order by {{ params.sort | one_of(order) }}",
            "sqlite",
            choices={"order": {"x": sql, "y": "b"}, "other": {"z": "z"}},
        )
    assert caught.value.message.startswith(message)
    assert caught.value.message.endswith("included at 2:46")


def test_choices_are_of_the_template_that_declares_them() -> None:
    """A fragment has its own, and none of those of the template around it. Red when they were merged."""
    inner = SQLTemplate("select {{ params.s | one_of(order) }} as v from t", choices={"order": {"a": "x", "b": "y"}})
    text = "select * from ({{> f }}) o order by {{ params.o | one_of(order) }}"
    outer = SQLTemplate(text, fragments={"f": inner}, choices={"order": {"up": "v", "down": "v desc"}})
    bound = outer.bind({"params": {"s": "b", "o": "down"}})
    assert bound.sql == "select * from (select y as v from t) o order by v desc"
    assert SQLTemplate(text, fragments={"f": inner}).bind({"params": {"s": "a", "o": "order"}}).sql.endswith("by order")


def test_a_name_that_no_set_has_is_refused_and_without_sets_it_is_a_column() -> None:
    with pytest.raises(TemplateError, match=r"1:\d+: there are no choices ordr(.|\n)*did you mean order\?"):
        SQLTemplate(TEXT.replace("one_of(order)", "one_of(ordr)"), "sqlite", choices=CHOICES)
    plain = SQLTemplate("select {{ params.c | one_of(region) }} from t", choices={})
    assert plain.bind({"params": {"c": "region"}}).sql == "select region from t"


def test_every_dialect_takes_them() -> None:
    """One template, bound for two dialects: their texts are lexed by the rules of each."""
    template = SQLTemplate("select {{ params.c | one_of(c) }} from t", choices={"c": {"a": "`x,y`", "b": "z"}})
    assert template.bind({"params": {"c": "a"}}, dialect="mysql").sql == "select `x,y` from t"
    assert template.bind({"params": {"c": "b"}}, dialect="clickhouse").sql == "select z from t"
