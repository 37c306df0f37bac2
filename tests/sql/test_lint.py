"""Each lint finds the slip that it exists for, and is silent about the same query without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.errors import MissingVariable, TemplateError
from tenantry.sql import Query, SQLTemplate
from tenantry.sql.checks import conditions
from tenantry.sql.checks.findings import Severity
from tenantry.sql.checks.lint import lint
from tests.docs.blocks import blocks
from tests.sql.wild_spellings import SPELLINGS, Spelling

PROPERTIES = {"region", "statuses", "plan", "address", "address.city", "rate"}


def codes(sql: str, dialect: str = "postgresql") -> list[str]:
    """The codes of all findings, with properties known."""
    return [each.code for each in lint(SQLTemplate(sql, dialect), properties=PROPERTIES)]


# --- unknown variables ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "fix"),
    [
        ("regoin", "did you mean region?"),
        ("user_group.properties.adress.city", "did you mean address.city?"),
        ("user_group.propertes.region", "did you mean properties"),
        ("user_group.nmae", "did you mean name?"),
        ("since", "did you mean params.since?"),
        ("warehouse_zone", "add it to the groups"),
    ],
)
def test_a_variable_that_no_group_has(variable: str, fix: str) -> None:
    """Red when unknown variables are not looked for: the query then fails for every group when it runs."""
    template = SQLTemplate(f"select 1 from t where b > {{{{ params.since }}}} and a =\n {{{{ {variable} }}}}")
    (finding,) = lint(template, properties=PROPERTIES)
    assert (finding.code, finding.severity, finding.line, finding.column) == ("unknown-variable", Severity.ERROR, 2, 2)
    assert finding.variable == variable
    assert finding.fix.startswith(fix)


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("parms.d", "params.d"),
        ("param.d", "params.d"),
        ("usergroup.id", "user_group.id"),
        ("parts.d", None),
        ("group.id", None),
        ("parms", None),
    ],
)
def test_a_slip_in_the_first_name_is_told_without_a_schema(variable: str, meant: str | None) -> None:
    """By the check and where it is bound. Red when only properties that are known are compared: `parms.d` would be a
    property of each group; and what may well be one is no slip."""
    template = SQLTemplate(f"select 1 where a = {{{{ {variable} }}}}")
    said = [(each.code, each.fix) for each in lint(template)]
    assert said == ([] if meant is None else [("unknown-variable", f"did you mean {meant}?")])
    assert lint(template, given={variable.partition(".")[0]}) == ()
    with pytest.raises(MissingVariable) as caught:
        template.bind({"params": {"d": 1}})
    assert (f"1:20, did you mean {meant}?)" in caught.value.message) == (meant is not None)


def test_known_variables_are_silent() -> None:
    """Properties by either name, what is in an object, the group's own fields, the viewer's, and the program's own. Red
    when one of them is taken for a typing error."""
    paths = ["region", "user_group.properties.region", "address.city", "user_group.id", "user_group.environment"]
    sql = "select " + ", ".join(f"{{{{ {path} }}}} = a" for path in [*paths, "params.any", "shop.currency"])
    assert [each.variable for each in lint(SQLTemplate(sql), properties=PROPERTIES)] == ["shop.currency"]
    assert lint(SQLTemplate(sql), properties=PROPERTIES, given={"shop"}) == ()
    assert lint(SQLTemplate("select 1 where a = {{ anything }}")) == (), (
        "without a schema nothing is known of properties"
    )


# --- or ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "severity"),
    [
        ("select * from t where region = {{ region }} and a = 1 or b = 2", Severity.ERROR),
        ("select * from t where b = 2 or a = 1 and region = {{ region }}", Severity.ERROR),
        ("select * from t where region in {{ statuses }} [[ or a = {{ params.a }} ]]", Severity.ERROR),
        ("select * from t join u on u.region = {{ region }} and u.a = t.a or u.b = t.b", Severity.ERROR),
        ("select * from t where (region = {{ region }} and a = 1 or b = 2) and c", Severity.ERROR),
        ("select * from t where region = {{ region }} or b = 2", Severity.WARNING),
        ("select * from t where region = {{ region }} or at between 1 and 2", Severity.WARNING),
    ],
)
def test_an_or_beside_a_guarded_predicate(sql: str, severity: Severity) -> None:
    """Red without the lint: the rows that only the other side takes are of every region."""
    (finding,) = lint(SQLTemplate(sql, "postgresql"))
    assert (finding.code, finding.severity, finding.variable[:2]) == (
        "or-beside-guarded",
        severity,
        finding.variable[:2],
    )
    assert sql[finding.column - 1 :].startswith("or ")


@pytest.mark.parametrize(
    "sql",
    [
        "select * from t where region = {{ region }} and (a = 1 or b = 2)",
        "select * from t where (region = {{ region }} or region is null) and a",
        "select * from t where region = {{ region }} and a or region = {{ region }} and b",
        "select * from t where a = {{ params.a }} or b = {{ params.b }}",
        "select case when region = {{ region }} or b then 1 end from t",
        "select * from t where region = {{ region }} and case when a or b then c end",
        "select * from t where region = {{ region }} and at between 1 and 2 and (a or b)",
    ],
)
def test_an_or_in_parentheses_is_silent(sql: str) -> None:
    """Red when the lint looks at every `or` of the text."""
    assert codes(sql) == []


# --- NULL -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "severity"),
    [
        ("select * from t where a not in (select b from u)", Severity.WARNING),
        ("select * from t where a not in (1, null)", Severity.ERROR),
    ],
)
def test_not_in_with_null(sql: str, severity: Severity) -> None:
    """Red without the lint: such a query gives no row, and no error."""
    assert [(each.code, each.severity) for each in lint(SQLTemplate(sql))] == [("not-in-null", severity)]


def test_a_long_condition_without_nullable_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sides of each operator are copies of the rest of the condition. Red when they are made where none may be
    NULL: 16,000 conditions took six seconds."""
    monkeypatch.setattr(conditions, "_sides", None)
    assert lint(SQLTemplate("select * from t where a = {{ region }} and (b = 1 or c < 2)")) == ()


@pytest.mark.parametrize(
    "sql",
    [
        "select * from t where a not in {{ statuses }}",
        "select * from t where a not in (1, 2)",
        "select * from t where a not in (select b from u where b is not null)",
        "select * from t where not exists (select 1 from u where u.b = t.a)",
        "select * from t where a in (select b from u)",
    ],
)
def test_not_in_without_null_is_silent(sql: str) -> None:
    """A list that is bound has no NULL in it. Red when each `not in` is reported."""
    assert codes(sql) == []


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("select * from t where a = {{ params.a | nullable }}", "compared-with-nullable"),
        ("select * from t where {{ params.a | nullable }} <> a", "compared-with-nullable"),
        ("select * from t where a not in (1, {{ params.a | nullable }})", "not-in-null"),
    ],
)
def test_a_comparison_with_what_may_be_null(sql: str, code: str) -> None:
    """The fix is the dialect's own. Red without the lint: where the value is absent, no row is found."""
    (finding,) = lint(SQLTemplate(sql, "postgresql"))
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    if code == "compared-with-nullable":
        equal = "… is not distinct from {{ params.a | nullable }}"
        assert finding.fix.startswith(f"write `not ({equal})`" if "<>" in sql else f"write `{equal}`")
        (finding,) = lint(SQLTemplate(sql, "mysql"))
        assert "<=>" in finding.fix


@pytest.mark.parametrize(
    "sql",
    [
        "select * from t where a is not distinct from {{ params.a | nullable }}",
        "select * from t where ({{ params.a | nullable }}::text is null or a = {{ params.a | nullable }})",
        "select * from t where (cast({{ params.a | nullable }} as text) is null or a = {{ params.a | nullable }})",
        "select coalesce({{ params.a | nullable }}, 1) + 1 from t where a = {{ params.a }}",
    ],
)
def test_a_comparison_that_knows_of_null_is_silent(sql: str) -> None:
    """Red when each nullable variable in a condition is reported."""
    assert lint(SQLTemplate(sql, "postgresql")) == ()


def test_a_locked_parameter_is_the_groups() -> None:
    """An `or` beside it is found. Red where the lints take every ``params.*`` for the viewer's."""
    params = {"c": {"type": "text", "locked": True, "default": {"property": "customer"}}}
    own = SQLTemplate("select * from t where customer_id = {{ params.c }}", "postgresql", params=params)
    assert lint(own, properties=["customer"]) == ()
    assert own.variables[0].guarded
    beside = SQLTemplate("select * from t where a = {{ params.c }} and b or c", "postgresql", params=params)
    (finding,) = lint(beside)
    assert (finding.code, finding.severity, finding.variable) == ("or-beside-guarded", Severity.ERROR, "params.c")


# --- one value in two placeholders ------------------------------------------------------------------------------------

BUCKET = "date_trunc({{ params.unit }}, at)"


@pytest.mark.parametrize(
    ("sql", "fix"),
    [
        (f"select {BUCKET} as day, count(*) from t group by {BUCKET}", "write `group by 1`"),
        (f"select count(*), {BUCKET} day from t group by a, {BUCKET}", "write `group by 2`"),
        (f"select distinct a, {BUCKET} from t group by a, {BUCKET}", "write `group by 2`"),
        (f"select to_char({BUCKET}, 'YYYY') from t group by {BUCKET}", "name it once"),
        (f"select count(*) from t group by {BUCKET} order by {BUCKET}", "name it once"),
    ],
)
def test_an_expression_in_select_and_group_by(sql: str, fix: str) -> None:
    """DuckDB takes the two for different expressions where the paramstyle has no names (tests/sql/test_bind.py runs
    one). Red when the lint looks at one clause alone."""
    (finding,) = lint(SQLTemplate(sql, "duckdb"), paramstyle="qmark")
    assert (finding.code, finding.severity) == ("repeated-expression", Severity.ERROR)
    assert finding.fix.startswith(fix)
    assert lint(SQLTemplate(sql, "postgresql"), paramstyle="format")
    for dialect, style in (("postgresql", None), ("mysql", None), ("sqlite", None), ("postgresql", "pyformat")):
        assert lint(SQLTemplate(sql, dialect), paramstyle=style) == (), f"{dialect} takes it with {style}"


@pytest.mark.parametrize(
    "sql",
    [
        f"select {BUCKET} as day, count(*) from t group by 1 order by 1",
        f"select day, count(*) from (select {BUCKET} as day from t) x group by day",
        f"select {BUCKET}, count(*) over (partition by {BUCKET}) from t",
        "select a, count(*) filter (where b > {{ params.b }}) from t group by a",
    ],
)
def test_an_expression_that_is_written_once_is_silent(sql: str) -> None:
    """The rewrites that the lint offers. Red when it looks for equal tags and not for what is grouped by."""
    assert lint(SQLTemplate(sql, "duckdb")) == ()


# --- what a viewer chooses --------------------------------------------------------------------------------------------


def test_an_or_in_a_text_to_choose() -> None:
    """A viewer's choice must not open the rows of others; in parentheses it does not. Red when the texts of one_of are
    not looked into."""
    sql = "select * from t where region = {{{{ region }}}} and {{{{ params.a | one_of(x: {}, y: c = 1) }}}}"
    (finding,) = lint(SQLTemplate(sql.format("a = 1 or b = 2"), "postgresql"))
    assert (finding.code, finding.severity) == ("or-beside-guarded", Severity.ERROR)
    assert finding.column == sql.format("a = 1 or b = 2").index(" or ") + 2
    assert lint(SQLTemplate(sql.format("(a = 1 or b = 2)"), "postgresql")) == ()
    alone = "select * from t where {{ params.a | one_of(x: a = 1 or b = 2, y: c = 1) }}"
    assert lint(SQLTemplate(alone, "postgresql")) == ()


def test_a_choice_is_no_placeholder() -> None:
    """Its texts are equal where it is written twice. Red when each tag counts as a placeholder."""
    unit = "date_trunc({{ params.unit | one_of(day: 'day', week: 'week') }}, at)"
    assert lint(SQLTemplate(f"select {unit}, count(*) from t group by {unit}", "duckdb")) == ()


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_what_a_viewer_can_drop_is_a_note() -> None:
    """A note fails no check. Red when it is left out: a review of templates looks at these."""
    sql = "select * from t where true [[ and a >= {{ params.min }} * {{ rate | not_a_filter }} and d = {{ plan }} ]]"
    found = lint(SQLTemplate(sql, optional={"plan"}))
    assert [(each.code, each.severity, each.variable) for each in found] == [
        ("droppable", Severity.NOTE, "rate"),
        ("droppable", Severity.NOTE, "plan"),
    ]
    assert "(not_a_filter)" in found[0].message
    assert "(optional)" in found[1].message
    zone = "select {{ params.unit | trunc(at, zone: {{ region }}) }} as v from t"
    assert lint(SQLTemplate(zone, "postgresql")) == (), "it is in each unit"


def test_a_tag_in_a_comment_is_a_note() -> None:
    """It is left out with its comment. Red when nobody says so: its author may believe that it filters."""
    (finding,) = lint(SQLTemplate("select 1 -- and region = {{ region }}", "postgresql"))
    assert (finding.code, finding.severity, finding.column) == ("tag-in-comment", Severity.NOTE, 26)
    assert finding.message.startswith("{{ region }} is in a comment")
    assert lint(SQLTemplate("select 1 -- region", "postgresql")) == ()


def test_a_declared_parameter_that_is_not_used() -> None:
    """Red when the control of the page changes nothing, and nothing says so."""
    params = {"since": {"type": "date"}, "region": {"type": "text"}, "period": {"type": "date range"}}
    text = "select * from t where true [[ and r = {{ params.region }} ]] [[ and d >= {{ params.period.start }} ]]"
    (finding,) = lint(SQLTemplate(text, params=params))
    assert (finding.code, finding.severity, finding.variable) == ("unused-parameter", Severity.WARNING, "params.since")
    assert (finding.line, finding.column, finding.file) == (1, 1, ""), "the program declares it: no text does"


HEADER = """/* ---
title: what is due since a day
params:
  region: text
  # tenantry:ignore{ignored}
  since: date
--- */
"""


def test_a_parameter_that_is_not_used_is_shown_where_it_is_declared() -> None:
    """In the header of the file, and in that of a fragment; a comment of YAML silences it. Red when its name is looked
    for in the text: it is in the title too, and the text that is compiled has no header."""
    fragment = HEADER.format(ignored="").replace("  region: text\n", "") + "a = 1"
    for text in ("select 1 where r = {{ params.region }}", "select 1 where r = {{ params.region }} and ({{> f }})"):
        query = Query(HEADER.format(ignored="") + text, "q", file="q.sql", fragments={"f": fragment})
        (finding,) = lint(query)
        assert (finding.code, finding.line, finding.column, finding.file) == ("unused-parameter", 6, 3, "q.sql")
    silenced = Query(HEADER.format(ignored=" unused-parameter") + "select 1 where r = {{ params.region }}", "q")
    assert lint(silenced) == ()
    (finding,) = lint(SQLTemplate("select 1 where b and ({{> f }})", fragments={"f": fragment}))
    assert (finding.code, finding.line, finding.column, finding.file) == ("unused-parameter", 5, 3, "f")


def test_a_template_that_does_not_compile_is_a_finding() -> None:
    """With its own location and fix. Red when the message is given whole: it has the location in it already."""
    (finding,) = lint(SQLTemplate("select 1\n [[ where region = {{ region }} and d > {{ params.d }} ]]"))
    assert (finding.code, finding.severity, finding.line, finding.column) == ("template-error", Severity.ERROR, 2, 20)
    assert finding.message.startswith("region is in an optional clause")
    assert finding.fix.startswith("move it out of [[ ]]")
    assert "\n" not in finding.message + finding.fix


def test_a_comment_silences_one_code_on_its_line_and_the_next() -> None:
    """Red when it silences another code, or the whole file."""
    sql = "select * from t where region = {{ region }} or b\n"
    assert codes(sql) == ["or-beside-guarded"]
    assert codes(sql + "-- tenantry:ignore or-beside-guarded") == ["or-beside-guarded"]
    assert codes("-- tenantry:ignore or-beside-guarded\n" + sql) == []
    assert codes("/* tenantry:ignore not-in-null, or-beside-guarded */ " + sql) == []
    assert codes("-- tenantry:ignore not-in-null\n" + sql) == ["or-beside-guarded"]


@pytest.mark.parametrize("number", [number for number, each in SPELLINGS.items() if isinstance(each, Spelling)])
def test_the_queries_of_the_corpus_have_no_finding(number: int) -> None:
    """But for the tags in their comments (whether they compile is another test). Red when a lint raises a false alarm
    on what people write every day."""
    spelling = SPELLINGS[number]
    assert isinstance(spelling, Spelling)
    try:
        template = SQLTemplate(spelling.sql, spelling.dialect, params=spelling.params, fragments=spelling.fragments)
    except TemplateError:
        return
    assert {each.code for each in lint(template)} <= {"tag-in-comment"}


def test_the_queries_of_the_cookbook_have_no_finding() -> None:
    """Red when a lint raises a false alarm on what we recommend."""
    page = blocks(Path(__file__).parents[2] / "docs" / "sql-cookbook.md")
    texts = [block.text for block in page if block.language == "sql"]
    found = {each.code: text for text in texts for each in lint(Query(text, dialect="postgresql", trusted=True))}
    assert len(texts) > 20
    assert {code: text for code, text in found.items() if code != "template-error"} == {}


def test_a_template_that_is_deep_and_long_is_read_in_time() -> None:
    """A lint is made for authors' files, and must not end with a RecursionError. Red when groups nest without limit."""
    deep = "select " + "(" * 5_000 + "1" + ")" * 5_000 + " from t where region = {{ region }}"
    assert lint(SQLTemplate(deep, "postgresql")) == ()
    wide = "select * from t where region = {{ region }} and (" + " or ".join(f"a = {n}" for n in range(5_000)) + ")"
    assert lint(SQLTemplate(wide, "postgresql")) == ()
