"""Query files: what a header declares, how it is read, and what is wrong with one."""

from __future__ import annotations

from datetime import date

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import Query, SQLTemplate

FILE = """\
/* ---
title: Orders by day
description: |
  What was ordered: every day
  of a month.
params:
  since: date
  rows: {type: integer, max: 1000, default: 100}
optional: [discount]
dialect: sqlite
--- */
select day, count(*) from orders
where region = {{ region }}
[[ and discount <= {{ discount }} ]]
[[ and day >= {{ params.since }} ]]
group by day
limit {{ params.rows }}
"""
REFUSED = [
    ("/* ---\ntitle: x\n*/\nselect 1", "q.sql:1:1: this header has no end", "close it with a line `--- */`"),
    ("/* ---\ntitle: a */ b\n--- */\nselect 1", "q.sql:2:10: a header cannot contain */", ""),
    ("/* ---\ntitle: a /* b\n--- */\nselect 1", "q.sql:2:10: a header cannot contain /*", ""),
    ("/* ---\nparms: {}\n--- */\nselect 1", "q.sql:2:1: a header has no key parms", "write params"),
    ("/* ---\nowner: me\n--- */\nselect 1", "q.sql:2:1: a header has no key owner", "a header holds title, "),
    ("/* ---\na text\n--- */\nselect 1", "q.sql:2:1: a header must be a mapping", ""),
    ("/* ---\ntitle: 5\n--- */\nselect 1", "q.sql:2:8: title must be a string", "put it in quotes"),
    ("/* ---\ntitle: a\ntitle: b\n--- */", "q.sql:3:1: the key title appears twice; first at q.sql:2:1", ""),
    ("/* ---\noptional: [a-b]\n--- */", "q.sql:2:12: optional must be a list of paths", ""),
    ("/* ---\noptional: {a: b}\n--- */", "q.sql:2:11: optional must be a list of paths", ""),
    ("/* ---\ndialect: postgres\n--- */", "q.sql:2:10: there is no SQL dialect postgres", "write postgresql"),
    ("/* ---\nchoices: [a]\n--- */", "q.sql:2:10: choices must be a mapping", ""),
    ("/* ---\nchoices: {a-b: {c: d}}\n--- */", "q.sql:2:11: choices has a key that is not a name: a-b", ""),
    ("/* ---\nchoices: {a: {b: 1}}\n--- */", "q.sql:2:18: choices.a.b must be SQL, as a string", ""),
    ("/* ---\nchoices: {a: {}}\n--- */", "q.sql:2:14: choices.a has no choices", ""),
    ("/* ---\nparams: [a]\n--- */", "q.sql:2:9: params must be a mapping", ""),
    ("/* ---\nparams:\n  a: {type: integr}\n--- */", "q.sql:3:7: params.a.type: ", "did you mean integer?"),
    ("/* ---\nparams:\n  a:\n    type: integer\n    max: x\n--- */", "q.sql:5:5: params.a.max: ", ""),
    ("/* ---\nparams: {a-b: text}\n--- */", "q.sql:2:10: params.a-b: not a parameter name", ""),
    ("/* ---\n" + "#" * 70_000 + "\n--- */", "q.sql:1:1: a header is at most 65536 characters long", ""),
]


def test_what_a_header_declares() -> None:
    """And that the SQL of the file is what follows it. Red when the header goes to the database."""
    query = Query(FILE, "orders/by_day", trusted=True)
    assert (query.name, query.title, query.dialect) == ("orders/by_day", "Orders by day", "sqlite")
    assert query.description == "What was ordered: every day\nof a month."
    assert query.optional == {"discount"}
    assert sorted(query.parameters) == ["rows", "since"]
    bound = query.bind({"region": "eu", "params": {"rows": "7"}})
    assert " ".join(bound.sql.split()) == "select day, count(*) from orders where region = ? group by day limit ?"
    assert bound.params == ("eu", 7)
    assert query.text == FILE


def test_a_file_without_a_header() -> None:
    """Comments of other forms are comments. The name is the title."""
    for text in ("select 1", "/* -- */ select 1", "/* --- */ select 1", "/* a\n--- */ select 1", "-- ---\nselect 1"):
        query = Query(text, "one")
        assert (query.title, query.description, query.dialect) == ("one", "", None)
        assert query.bind({}).sql.strip() == "select 1"


@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n ", "\r\n"])
def test_where_a_header_may_begin(start: str) -> None:
    """First in the file; a mark of UTF-8 and empty lines do not count, nor how lines end."""
    assert Query(f"{start}/* ---\r\ntitle: A\r\n--- */\r\nselect 1", "one").title == "A"
    assert Query(f"{start}/* ---\n--- */ select 1", "one").title == "one"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/* params: {region: {locked: true}} */\nselect 1", "q.sql:1:4: `params` "),
        ("/*--- dialect: sqlite --- */\nselect 1", "q.sql:1:7: `dialect` "),
        ("/*\n---\ntitle: a\nparams: {region: {locked: true}}\n---\n*/\nselect 1", "q.sql:3:1: `title` "),
        ("-- a licence\n/* ---\nparams: {}\n--- */ select 1", "q.sql:3:1: `params` "),
        ("\ufeff\n/* a query\r\n  optional: [discount]", "q.sql:3:3: `optional` "),
    ],
)
def test_a_header_that_is_not_marked_is_refused(text: str, place: str) -> None:
    """Red when it is read as a comment: then a viewer sets the parameter that it locks."""
    with pytest.raises(TemplateError) as caught:
        Query(text, "q", file="q.sql", trusted=True)
    assert caught.value.message.startswith(place)
    assert "begin the file with a line /* ---" in caught.value.message
    with pytest.raises(TemplateError, match=r"f:\d:\d"):
        SQLTemplate("select * from ({{> f }}) x", fragments={"f": text}).check()


@pytest.mark.parametrize(
    "text",
    [
        "/* the params: a day */ select 1",
        "/* these\n * title: a */ select 1",
        "select 1 /* params: {} */",
        "-- params: none\nselect 1",
        "/* a */ select 1 /* title: b */",
    ],
)
def test_other_comments_are_comments(text: str) -> None:
    """Prose that has the word of a key, and what is not the first comment."""
    assert Query(text, "one").bind({}).sql.strip()


def test_locations_are_those_of_the_file() -> None:
    """Of variables and of errors in the SQL. Red when they count from the end of the header."""
    query = Query(FILE, "by_day", file="queries/by_day.sql", trusted=True)
    first, second, *_ = query.variables
    assert (first.file, first.line, first.column) == ("queries/by_day.sql", 13, 16)
    assert (second.line, second.column) == (14, 20)
    with pytest.raises(TemplateError, match=r"^queries/by_day.sql:19:8: a variable after `order by`"):
        Query(FILE + "order by\n       {{ region }}", "by_day", file="queries/by_day.sql", trusted=True).check()


@pytest.mark.parametrize(("text", "message", "fix"), REFUSED)
def test_what_is_refused(text: str, message: str, fix: str) -> None:
    """Each with file, line, column, a caret and a fix."""
    with pytest.raises(TemplateError) as caught:
        Query(text, "q", file="q.sql", trusted=True)
    assert caught.value.message.startswith(message)
    assert fix in caught.value.message.partition("\n  fix: ")[2]
    assert caught.value.location is not None
    assert caught.value.location.file == "q.sql"


def test_who_may_declare_a_property_optional() -> None:
    """Only who wrote the program's own folder: a text from elsewhere cannot let a condition of the group go. Red
    without the question for trust."""
    with pytest.raises(TemplateError, match="by_day:9:1: optional is allowed only in the program's own query folder"):
        Query(FILE, "by_day")
    Query(FILE.replace("optional: [discount]", "optional: []"), "by_day")
    assert Query(FILE, "by_day", optional={"discount", "rate"}).optional == {"discount", "rate"}


def test_a_file_that_declares_a_parameter_declares_all() -> None:
    with pytest.raises(TemplateError, match=r"^q:4:8: params.untill is not declared") as caught:
        Query("/* ---\nparams: {until: date}\n--- */\nselect {{ params.untill }} as v", "q").check()
    assert "did you mean params.until?" in caught.value.message


def test_what_a_country_sends() -> None:
    """NO is Norway, and a date is a text until it is read as one. Red under YAML 1.1."""
    text = """/* ---
params:
  country: {type: choice, choices: [NO, SE], default: NO}
  since: {type: date, default: 2026-01-31}
--- */
select {{ params.country }} as v, {{ params.since }} as v"""
    assert Query(text, "q").bind({}).params == ("NO", date(2026, 1, 31))


SORTED = """\
/* ---
choices:
  order:
    newest: day desc, id desc
    best: 'coalesce(total, 0) desc -- the greatest'
    mine: >
      case when owner = {{ params.me }}
      then 1 end, 'a,b)}}'
  direction: {up: asc, down: desc}
  both:
    first: id {{ params.way | one_of(direction) }}
--- */
select * from orders order by {{ params.sort | one_of(order) | default(newest) }}, {{ params.way | one_of(both) }}
"""


@pytest.mark.parametrize(
    ("sort", "text", "params"),
    [
        (None, "day desc, id desc", ()),
        ("newest", "day desc, id desc", ()),
        ("best", "coalesce(total, 0) desc", ()),
        ("mine", "case when owner = ? then 1 end, 'a,b)}}'", (7,)),
    ],
)
def test_the_texts_of_a_choice_can_be_in_the_header(sort: str | None, text: str, params: tuple[object, ...]) -> None:
    """Any SQL: a comma, a comment and tags are part of a text. Red when the comma ends one, as it does in a tag."""
    query = Query(SORTED.replace(", {{ params.way | one_of(both) }}", ""), "q")
    bound = query.bind({"params": {"sort": sort, "me": 7}}, dialect="sqlite")
    assert " ".join(bound.sql.split()) == f"select * from orders order by {text}"
    assert bound.params == params


def test_a_text_of_a_choice_can_name_other_choices() -> None:
    both = SORTED.replace("{{ params.way | one_of(both) }}", "{{ params.two | one_of(both) }}")
    bound = Query(both, "q").bind({"params": {"way": "down", "two": "first"}}, dialect="sqlite")
    assert " ".join(bound.sql.split()) == "select * from orders order by day desc, id desc, id desc"


@pytest.mark.parametrize(
    ("old", "new", "message", "fix"),
    [
        ("one_of(order)", "one_of(ordr)", "q:13:55: there are no choices ordr", "did you mean order?"),
        ("day desc, id", "f(day desc", "q:4:14: this choice ends before its )", "close it with )"),
        ("day desc, id", "day); drop", "q:4:16: this ) closes nothing that its choice opens", "remove it"),
        ("day desc, id", "day '", "q:4:17: this string has no end", "close it"),
        (
            "day desc, id",
            "day = {{ region }}, id",
            "q:4:19: region is in SQL that a viewer chooses",
            "write its condition outside",
        ),
        ("day desc, id", "day; drop", "q:4:16: a choice must not end a statement", "remove the ;"),
        (
            "day desc, id",
            "id {{ params.w | one_of(order) }}",
            "q:4:37: there are no choices order",
            "there are direction",
        ),
        ("newest:", "'by {{ day':", "q:4:5: choices.order has a key that is not a name: by {{ day", "without {{"),
    ],
)
def test_a_wrong_text_is_shown_in_the_header(old: str, new: str, message: str, fix: str) -> None:
    """Line and column of the header, not of the tag that names it."""
    with pytest.raises(TemplateError) as caught:
        Query(SORTED.replace(old, new), "q").check()
    assert caught.value.message.startswith(message)
    assert fix in caught.value.message.partition("\n  fix: ")[2]


def test_choices_of_a_fragment_are_its_own() -> None:
    """An error in one shows the tag that included the fragment, too."""
    header = "/* ---\nchoices: {order: {a: x, b: y}}\n--- */\n"
    fragments = {"f": f"{header}select {{{{ params.s | one_of(order) }}}} from t"}
    text = "select * from ({{> f }}) order by {{ params.o | one_of(order) }}"
    bound = SQLTemplate(text, fragments=fragments).bind({"params": {"s": "b", "o": "order"}})
    assert bound.sql == "select * from (select y from t) order by order"
    fragments["f"] = fragments["f"].replace("b: y", "b: 'y = {{ region }}'")
    with pytest.raises(TemplateError, match=r"^f:2:33: region is in SQL that a viewer chooses") as caught:
        SQLTemplate(text, "postgresql", fragments=fragments)
    assert caught.value.message.endswith("included at 1:16")


def test_a_header_is_never_passed_over() -> None:
    """A locked parameter of it would be the viewer's: red where SQLTemplate takes the header for a comment."""
    text = "/* ---\nparams:\n  region: {type: text, locked: true, default: {property: region}}\n--- */\nselect 1"
    with pytest.raises(TemplateError, match="Query"):
        SQLTemplate(text)
    with pytest.raises(TemplateError, match="Query"):
        SQLTemplate("select * from ({{> f }}) x", fragments={"f": SQLTemplate(text)})
