"""Fragments: what an included text becomes, what it must be, and that an error in it shows both locations."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry.errors import InvalidParameter, MissingVariable, TemplateError
from tenantry.sql import DIALECTS, Query, SQLTemplate
from tenantry.sql.fragments.fragments import MAX_INCLUDE_DEPTH, MAX_INCLUDES, TemplateDefinition, expand
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.source import MAX_TEXT, Source
from tests.sql.test_hostile import EVERY_POSITION, OURS, variables

ORDERS = {
    "active": "select * from orders where region = {{ region }} and status = 'open'",
    "large": "amount >= {{ params.least }} or vip = 1",
    "recent": "select * from ({{> active }}) a where day >= {{ params.since }} -- of the viewer",
    "filters": "1 = 1 [[ and day >= {{ params.since }} ]] -- a\n[[ and n in (select 1 or 2) and x = {{ params.x }} ]]",
    "joined": "[[ and day >= {{ params.since }} ]]",
    "commented": "select 1 -- {{> nothing }} (",
}
RECENT = f"select * from ({ORDERS['active']}) a where day >= {{{{ params.since }}}} \n"
REFUSED = [
    ("select ({{> activ }})", "1:9: there is no fragment activ\n", "did you mean active?"),
    ("select ({{> nope }})", "1:9: there is no fragment nope", "there are active, "),
    ("select ({{> active | x }})", "1:9: this is not a fragment name", "it takes no filter"),
    ("select ({{> ../active }})", "1:9: this is not a fragment name", "{{> sales/active_orders }}"),
    ("select ({{> }})", "1:9: this is not a fragment name", ""),
    ("select 1 where a and {{> large }}", "1:22: a fragment must be alone in parentheses", "write ({{> large }})"),
    ("select ({{> large }} or b)", "1:9: a fragment must be alone in parentheses", ""),
    ("select 1 where a {{> filters }}", "1:18: a fragment must be alone in parentheses", "write ({{> filters }})"),
    (
        "select 1 where a {{> joined }}",
        "joined:1:4: a fragment must not begin with `and`",
        "begin it with `1 = 1`, and write",
    ),
    ("select 1 where a and ({{> joined }})", "joined:1:4: a fragment must not begin with `and`", ""),
    ("select 1 where a or b {{> filters }}", "1:23: a fragment must be alone in parentheses", ""),
    ("select 1 where a {{> filters }} or b", "1:18: a fragment must be alone in parentheses", ""),
    ("select 1 [[ where a {{> filters }} ]]", "1:21: a fragment must be alone in parentheses", ""),
    ("select '{{> active }}'", "1:9: a fragment is SQL and cannot be in a string", "outside the quotes"),
]
NOT_WHOLE = [
    ("1) or (1", "x:1:2: this ) closes nothing that its fragment opens"),
    ("(1", "x:1:1: this fragment ends before its )"),
    ("{1)", "x:1:3: this ) closes nothing that its fragment opens"),
    ("array[1", "x:1:6: this fragment ends before its ]"),
    ("select 1;", "x:1:9: a fragment must not end a statement"),
    ("select 'a", "x:1:8: this string has no end"),
    ('select "a', "x:1:8: this quoted identifier has no end"),
    ("select /* a", "x:1:8: this comment has no end"),
    ("select $$ a", "x:1:8: this $$ has no end"),
    ("", "x:1:1: this fragment is empty"),
    (" -- a\n/* b */ ", "x:1:1: this fragment is empty"),
    ("a = {{ b", "x:1:5: this {{ has no }}"),
    ("[[ and a = {{ params.a }}", "x:1:"),
]


def bound(text: str, values: Any = None, **options: Any) -> Any:
    return SQLTemplate(text, fragments=ORDERS, **options).bind(
        values or {"region": "eu", "params": {"least": 5, "since": 1}}, dialect="sqlite"
    )


@pytest.mark.parametrize(
    ("text", "inline"),
    [
        ("with a as ({{> active }}) select * from a", f"with a as ({ORDERS['active']}) select * from a"),
        ("select * from ({{>active}}) o", f"select * from ({ORDERS['active']}) o"),
        ("select 1 where x = 1 and ( {{> large }} )", f"select 1 where x = 1 and ( {ORDERS['large']} )"),
        (
            "select * from ({{> recent }}) r [[ where ({{> large }}) ]]",
            f"select * from ({RECENT}) r [[ where ({ORDERS['large']}) ]]",
        ),
    ],
)
def test_a_fragment_is_as_if_it_were_written_there(text: str, inline: str) -> None:
    """As a CTE, a sub-select, a condition, in a clause, and within one another: same text, same parameters."""
    assert bound(text) == SQLTemplate(inline).bind(
        {"region": "eu", "params": {"least": 5, "since": 1}}, dialect="sqlite"
    )


def test_an_or_in_a_fragment_stays_in_it() -> None:
    """On SQLite: `or vip` of the fragment lets no other region's rows in. Red without the rule of parentheses."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table orders (id, region, amount, vip)")
        database.executemany(
            "insert into orders values (?, ?, ?, ?)",
            [(1, "eu", 9, 0), (2, "us", 9, 0), (3, "us", 1, 1), (4, "eu", 1, 1)],
        )
        both = bound("select id from orders where region = {{ region }} and ({{> large }}) order by 1")
        assert database.execute(both.sql, both.params).fetchall() == [(1,), (4,)]


def test_filters_that_queries_share() -> None:
    """What most filters of real dashboards are: a row of conditions, each of which may be left out."""
    text = "select 1 where x = 1 and ({{> filters }}) group by 1"
    assert " ".join(bound(text, {"params": {}}).sql.split()) == "select 1 where x = 1 and (1 = 1 ) group by 1"
    found = bound(text, {"params": {"since": 1, "x": 2}})
    assert found.params == (1, 2)
    assert "and (1 = 1 and day >= ?" in " ".join(found.sql.split())


def test_a_text_that_is_a_fragment_and_nothing_else() -> None:
    assert bound("{{> active }} -- all of it").sql.strip() == ORDERS["active"].replace("{{ region }}", "?")


def test_a_fragment_in_a_choice() -> None:
    """Each text of one_of can include one."""
    text = "select 1 where {{ params.by | one_of(large: ({{> large }}), any: 1 = 1) }}"
    assert bound(text, {"params": {"by": "large", "least": 5}}).sql == "select 1 where (amount >= ? or vip = 1)"
    assert bound(text, {"params": {"by": "any"}}).params == ()
    with pytest.raises(TemplateError, match=r"^active:1:37: region is in SQL that a viewer chooses"):
        bound("select 1 where {{ params.by | one_of(large: x in ({{> active }}), any: 1 = 1) }}")


@pytest.mark.parametrize(
    ("text", "key", "sql"),
    [
        ("select {{ params.by | one_of(two: {{> columns }}, one: a) }}", "two", "select a, f(b, c), '1,2'"),
        ("select {{ params.by | one_of(one: a, two: {{> outer }}) }}", "two", "select x, a, f(b, c), '1,2'"),
        ("select {{ params.by | one_of(one: a, two: {{> choice }}) }}", "two", "select 1, b"),
        ("order by {{ params.by | one_of(one: a, two: /* c */ {{> columns }}) }}", "two", "by   a, f(b, c), '1,2'"),
    ],
)
def test_a_comma_of_a_fragment_ends_no_text_of_a_choice(text: str, key: str, sql: str) -> None:
    """A fragment is one text, whatever is in it. Red when its commas are read as those of one_of: what is after one
    became another text to choose, by a name in the fragment."""
    fragments = {
        "columns": "a, f(b, c), '1,2'",
        "outer": "x, {{ params.inner | one_of(q: 1, b: {{> columns }}) }}",
        "choice": "1, {{ params.inner | one_of(a, b) }}",
    }
    template = SQLTemplate(text, "sqlite", fragments=fragments)
    assert sql in template.bind({"params": {"by": key, "inner": "b"}}).sql
    with pytest.raises(InvalidParameter, match=r"give one of (two, one|one, two)$"):
        template.bind({"params": {"by": "y", "inner": "b"}})


def test_a_fragment_gives_no_name_to_a_text() -> None:
    """The author of the template names the texts. Red when `a: x` in a fragment is the text a."""
    with pytest.raises(TemplateError, match=r"^1:30: a choice that is a fragment needs a name\n") as caught:
        SQLTemplate("select {{ params.by | one_of({{> f }}, b: c) }}", "postgresql", fragments={"f": "a: x, y: z"})
    assert "write one_of(name: {{> f }})" in caught.value.message


def test_a_clause_depends_on_the_variables_of_its_fragment() -> None:
    """[[ ]] around a fragment goes with its params."""
    text = "select 1 [[ where ({{> large }}) ]]"
    assert bound(text).params == (5,)
    assert bound(text, {"params": {}}).sql.strip() == "select 1"


@pytest.mark.parametrize(("text", "message", "fix"), REFUSED)
def test_a_tag_that_names_no_fragment(text: str, message: str, fix: str) -> None:
    with pytest.raises(TemplateError) as caught:
        bound(text)
    assert caught.value.message.startswith(message)
    assert fix in caught.value.message.partition("\n  fix: ")[2]


def test_a_comment_includes_nothing() -> None:
    """Red when the names are looked for in the text and not among its tags."""
    assert bound("select ({{> commented }}) -- {{> nothing }}").sql == "select (select 1 \n) "


@pytest.mark.parametrize("fragments", [None, {}])
def test_without_fragments(fragments: Any) -> None:
    with pytest.raises(TemplateError, match="there is no fragment active"):
        SQLTemplate("select ({{> active }})", "postgresql", fragments=fragments)


@pytest.mark.parametrize(("fragment", "message"), NOT_WHOLE)
def test_a_fragment_is_whole(fragment: str, message: str) -> None:
    """Red without `_check_balanced`: the first one makes of a condition in parentheses one beside it."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate("select 1\nwhere a and ({{> x }})", "postgresql", fragments={"x": fragment})
    assert caught.value.message.startswith(message)
    assert caught.value.message.endswith("\n  included at 2:14")


def test_an_error_shows_both_locations() -> None:
    """Of three texts: the fragment's line with its caret, and each tag on the way to it."""
    fragments = {"outer": "select *\nfrom ({{> inner }}) i", "inner": "select a\nfrom t where d = date '{{ x }}'"}
    with pytest.raises(TemplateError) as caught:
        SQLTemplate("select 1,\n  ({{> outer }})", "postgresql", fragments=fragments)
    assert caught.value.message == (
        "inner:2:23: a variable is not allowed inside a literal of the form date '…'\n"
        "    from t where d = date '{{ x }}'\n"
        "                          ^\n"
        "  fix: write cast({{ name }} as date)\n"
        "  included at outer:2:7\n"
        "  included at 2:4"
    )
    assert str(caught.value.location) == "inner:2:23 (included at outer:2:7 (included at 2:4))"


def test_a_missing_value_shows_both_locations() -> None:
    """When it is bound, too."""
    with pytest.raises(MissingVariable) as caught:
        bound("select * from ({{> active }}) a", {"params": {}})
    assert "region (missing at active:1:37 (included at 1:16))" in caught.value.message


def test_a_fragment_in_a_clause_holds_no_variable_of_the_group() -> None:
    """The tenant guard reads the nodes of fragments. Red when fragments are expanded after it."""
    with pytest.raises(TemplateError, match="region is in an optional clause") as caught:
        bound("select 1 [[ where x in ({{> active }}) and y = {{ params.y }} ]]")
    assert caught.value.message.startswith("active:1:37: ")
    assert caught.value.message.endswith("included at 1:25")


def test_no_cycles() -> None:
    """The error shows the way round. Red without the check: then the depth is what is wrong."""
    fragments = {"a": "select ({{> b }})", "b": "select 1,\n({{> a }})"}
    with pytest.raises(TemplateError) as caught:
        SQLTemplate("select ({{> a }})", "postgresql", fragments=fragments)
    assert caught.value.message.startswith("b:2:2: a fragment includes itself: a → b → a\n")
    assert caught.value.message.endswith("  included at a:1:9\n  included at 1:9")


def test_a_query_cannot_include_itself() -> None:
    queries: dict[str, Query] = {}
    queries["a"] = Query("select ({{> a }})", "a", fragments=queries)
    with pytest.raises(TemplateError, match=r"^a:1:9: a fragment includes itself: this template → a"):
        queries["a"].check()


def test_depth() -> None:
    """Eight fragments within one another are taken, nine are not."""
    fragments = {f"f{n}": f"select ({{{{> f{n + 1} }}}})" for n in range(1, MAX_INCLUDE_DEPTH)}
    fragments[f"f{MAX_INCLUDE_DEPTH}"] = "select 1"
    assert SQLTemplate("({{> f1 }})", fragments=fragments).bind({}).sql.endswith("(select 1))))))))")
    fragments["f0"] = "select ({{> f1 }})"
    with pytest.raises(TemplateError, match=f"at most {MAX_INCLUDE_DEPTH} deep: f0 → f1 → .* → f8"):
        SQLTemplate("({{> f0 }})", "postgresql", fragments=fragments)


def test_size_and_number() -> None:
    """A few short texts make no long one. Red without the limits: 10^8 fragments."""
    tens = {f"f{n}": "select " + ", ".join([f"({{{{> f{n + 1} }}}})"] * 10) for n in range(8)} | {"f8": "select 1"}
    with pytest.raises(TemplateError, match=f"includes at most {MAX_INCLUDES} fragments"):
        SQLTemplate("({{> f1 }})", "postgresql", fragments=tens)
    long = {"long": "select '" + "x" * (MAX_TEXT // 3) + "'"}
    with pytest.raises(TemplateError, match=f"1:45: with its fragments a template is at most {MAX_TEXT} characters"):
        SQLTemplate("select ({{> long }}), ({{> long }}), 1,    ({{> long }})", "postgresql", fragments=long)


def test_templates_and_queries_are_fragments_with_fragments_of_their_own() -> None:
    """A name in a fragment is one of those that the fragment was given."""
    inner = SQLTemplate("select ({{> a }})", fragments={"a": "select 'inner'"})
    outer = SQLTemplate("select ({{> b }}), ({{> a }})", fragments={"a": "select 'outer'", "b": inner})
    assert outer.bind({}).sql == "select (select (select 'inner')), (select 'outer')"


def test_a_declared_property_is_declared_by_who_includes() -> None:
    """A fragment's `optional` is no word about another text. Red without it: the template's own clause would compile,
    and the condition on discount in it could go."""
    fragment = SQLTemplate("a = 1 [[ and d = {{ discount }} ]]", optional={"discount"})
    text = "select 1 where ({{> f }}) [[ and e = {{ discount }} ]]"
    with pytest.raises(TemplateError, match="discount is optional in this fragment, but not in the template"):
        SQLTemplate(text, "postgresql", fragments={"f": fragment})
    assert SQLTemplate(text, fragments={"f": fragment}, optional={"discount"}).bind({}).params == ()


def test_a_fragment_of_another_dialect() -> None:
    """It is compiled in the dialect of the template, so it must not be made for another one."""
    mysql = Query("/* ---\ndialect: mysql\n--- */\nselect 1", "f", file="queries/f.sql")
    template = SQLTemplate("select\n({{> f }})", fragments={"f": mysql})
    assert template.bind({}, dialect="mysql").sql == "select\n(select 1)"
    with pytest.raises(TemplateError) as caught:
        template.bind({}, dialect="sqlite")
    assert caught.value.message.startswith("queries/f.sql:2:10: this fragment is for mysql, but the template")
    assert caught.value.message.endswith("included at 2:2")


def test_variables_name_their_fragment() -> None:
    first, second = SQLTemplate("select {{ a }} as v, ({{> active }})", fragments=ORDERS).variables
    assert (first.path, first.file, first.line, first.column) == ("a", "", 1, 8)
    assert (second.path, second.file, second.line, second.column) == ("region", "active", 1, 37)


def test_hostile_values_stay_values_in_a_fragment_and_in_a_header() -> None:
    """The text is the same for each, in every position of a fragment and of a text that a viewer chooses."""
    every = EVERY_POSITION.text
    header = "/* ---\nchoices: {on: {a: \"x = {{ params.x }} and y like '%{{ params.x }}%'\", b: 1 = 1}}\n--- */\n"
    text = "select * from ({{> every }}) e where {{ params.by | one_of(on) }}"
    query = Query(header + text, "q", fragments={"every": every})
    for dialect in DIALECTS:
        texts = set()
        for value in OURS:
            values = {**variables(value), "params": {"x": value, "by": "a"}}
            found = query.bind(values, dialect=dialect)
            texts.add(found.sql)
            params = found.params.values() if isinstance(found.params, dict) else found.params
            assert params
            assert all(value in each or each == "y" for each in params)
        assert len(texts) == 1


SINCE = "/* ---\nparams:\n  since: {type: date}\n--- */\nday >= {{ params.since }}"


def test_declared_parameters_are_those_of_all_texts() -> None:
    """Those of the template, of a fragment and of the program; values are typed by them. Red when only the template's
    own are converted: the text would be bound."""
    template = SQLTemplate(
        "select {{ params.n }} n where ({{> since }}) and ({{> again }})",
        params={"n": "integer"},
        fragments={"since": SINCE, "again": SQLTemplate("b = {{ params.since }}", params={"since": {"type": "date"}})},
    )
    assert sorted(template.parameters) == ["n", "since"]
    bound = template.bind({"params": {"n": "5", "since": "2026-01-31"}})
    assert bound.params == (5, date(2026, 1, 31))


def test_parameters_of_a_fragment_alone() -> None:
    """A template that declares none has those of its fragment."""
    template = SQLTemplate("select 1 where ({{> since }})", fragments={"since": SINCE})
    assert template.bind({"params": {"since": "2026-01-31"}}, dialect="duckdb").params == (date(2026, 1, 31),)
    with pytest.raises(InvalidParameter, match=r"params\.since takes a date"):
        template.bind({"params": {"since": "yesterday"}}, dialect="duckdb")


def test_a_range_of_a_fragment_asks_for_the_time() -> None:
    period = "/* ---\nparams: {p: relative range}\n--- */\na >= {{ params.p.start }}"
    with pytest.raises(ValueError, match="needs the current time"):
        SQLTemplate("select 1 where ({{> p }})", fragments={"p": period}).bind({})


def test_a_conflict_names_both_declarations() -> None:
    """Red when the first one wins: a date of one text would be a text in the other."""
    other = SINCE.replace("date", "text")
    with pytest.raises(TemplateError) as caught:
        SQLTemplate("select\n({{> a }}),\n({{> b }})", "postgresql", fragments={"a": SINCE, "b": other})
    assert caught.value.message.startswith("b:3:3: params.since is declared differently at a:3:3")
    assert caught.value.message.endswith("included at 3:2")
    with pytest.raises(TemplateError, match=r"a:3:3: params.since is declared differently by the program"):
        SQLTemplate("select ({{> a }})", "postgresql", params={"since": "text"}, fragments={"a": SINCE})


def test_who_declares_a_parameter_declares_those_of_fragments() -> None:
    with pytest.raises(TemplateError, match=r"^large:1:11: params\.least is not declared"):
        SQLTemplate("select {{ params.n }} as v, ({{> large }})", "postgresql", params={"n": "text"}, fragments=ORDERS)


SIGNS = ["'", '"', "`", "(", ")", "[", "]", "[[", "]]", "{", "}", "--", "#", "/*", "*/", "$$", "$a$", "\\", ";", "E'",
         "N'", "U&'", "\n", "\r", " ", "a", "1", "-", "/", "{{ x }}", "{{ params.y }}", "\\{{", "\\[[", ",", "q'",
         "\N{LEFT SINGLE QUOTATION MARK}", "’", "r'"]  # fmt: skip


@settings(max_examples=examples(600), deadline=None)
@given(
    st.lists(st.sampled_from(SIGNS), min_size=1, max_size=7).map("".join),
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from([("select 'a', (", ") , 'b' -- c", ""), ("select 1 where 'a'", "group by 'b' -- c", "and ")]),
)
def test_a_fragment_is_read_the_same_alone_and_within(
    fragment: str, dialect: str, around: tuple[str, str, str]
) -> None:
    """What is accepted has, in the whole text, the lexemes that it has alone, and so has the text around it.

    Red without the new line after a comment at the end (`a--`), and without `_check_balanced` for brackets (the
    test sees the parenthesis that closes the wrong one)."""
    profile = DIALECTS[dialect]
    before, after, start = around
    fragment = start + fragment
    definition = TemplateDefinition(source=Source(f"{before}{{{{> f }}}}{after}"), fragments={"f": fragment})
    try:
        alone = lex(Source(fragment), profile)
        source = expand(definition, profile).source
    except TemplateError:
        return
    whole = lex(source, profile)
    texts = [source.text[lexeme.start : lexeme.end] for lexeme in whole]
    assert "".join(texts) == source.text
    before += " " if start else ""
    inside = source.text[len(before) :].removesuffix(after)
    assert inside in {fragment, f"{fragment}\n"}
    starts = {lexeme.start - len(before): lexeme.kind for lexeme in whole}
    for lexeme in alone[1:]:
        if lexeme.start in starts:
            assert starts[lexeme.start] is lexeme.kind
        else:
            assert lexeme.kind.name == "CODE"  # only plain code grows together with what is beside it
    assert texts[-1] == "-- c"
    assert "'b'" in texts
    depth = 0
    for lexeme, text in zip(whole, texts, strict=True):
        if lexeme.kind.name == "CODE":
            depth += text.count("(") - text.count(")")
            assert depth >= 0
    assert depth == 0
