"""Metabase's native SQL becomes ours, and what does not is listed. The inputs are written from its documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry_convert import ConvertedQuery, convert
from tests.converted import check_whole, left, notes


def card(sql: str, tags: dict[str, dict[str, Any]], parameters: list[dict[str, Any]] | None = None) -> str:
    """A question as Metabase's API gives it."""
    named = {
        name: {"id": f"id-{name}", "name": name, "display-name": name.title(), **tag} for name, tag in tags.items()
    }
    query = {"type": "native", "database": 1, "native": {"query": sql, "template-tags": named}}
    return json.dumps({"name": "Orders by month", "dataset_query": query, "parameters": parameters or []})


def one(text: str, dialect: str | None = None, **columns: str) -> ConvertedQuery:
    queries = convert(text, "metabase", dialect, columns=columns)
    assert len(queries) == 1
    return queries[0]


def predicate(tag: dict[str, Any], dialect: str = "postgresql", default: str = "created_at") -> ConvertedQuery:
    return one(
        card("select * from t where {{f}}", {"f": {"type": "dimension", "dimension": ["field", default, None], **tag}}),
        dialect,
    )


def test_variables_and_clauses() -> None:
    """The shape of most questions. Red when a tag keeps its name without ``params.``."""
    query = one(
        card(
            "select count(*) from orders where status = {{status}} [[and total >= {{Min total}}]] limit {{rows}}",
            {
                "status": {"type": "text", "required": True, "default": "paid"},
                "Min total": {"type": "number"},
                "rows": {"type": "number", "default": 10},
            },
        )
    )
    check_whole(query, status="open", min_total="12.5", rows="5")
    assert query.body == (
        "select count(*) from orders where status = {{ params.status }} [[and total >= {{ params.min_total }}]]"
        " limit {{ params.rows }}"
    )
    assert query.params["status"] == {"type": "text", "default": "paid", "label": "Status"}
    assert query.params["min_total"] == {"type": "decimal", "label": "Min Total"}
    assert query.params["rows"]["type"] == "integer"


def test_without_a_document_types_are_assumed_and_listed() -> None:
    """Red when the assumption is silent."""
    query = one("select * from orders where id = {{id}} and status in ({{statuses}}) limit {{rows}}")
    check_whole(query, id="1", statuses="a", rows="5")
    assert query.params == {
        "id": {"type": "text"},
        "statuses": {"type": "list of text"},
        "rows": {"type": "integer", "min": 0},
    }
    assert any("type" in note for note in notes(query))


@pytest.mark.parametrize(
    ("widget", "condition", "declared"),
    [
        ("date/all-options", "{{ params.f | within(created_at) }}", "date range"),
        ("date/range", "{{ params.f | within(created_at) }}", "date range"),
        ("date/relative", "{{ params.f | within(created_at) }}", "date range"),
        ("date/month-year", "{{ params.f | within(created_at) }}", "date range"),
        ("date/single", "{{ params.f | matches(created_at) }}", "date"),
        ("category", "{{ params.f | matches(created_at) }}", "list of text"),
        ("string/=", "{{ params.f | matches(created_at) }}", "list of text"),
        ("location/city", "{{ params.f | matches(created_at) }}", "list of text"),
        ("id", "{{ params.f | matches(created_at) }}", "list of integer"),
        ("number/=", "{{ params.f | matches(created_at) }}", "list of decimal"),
        ("string/!=", "{{ params.f | excludes(created_at) }}", "list of text"),
        ("number/>=", "(1 = 1 [[ and created_at >= {{ params.f }} ]])", "decimal"),
        ("string/contains", "(1 = 1 [[ and created_at ilike {{ params.f | contains }} ]])", "text"),
        ("string/does-not-contain", "(1 = 1 [[ and created_at not ilike {{ params.f | contains }} ]])", "text"),
        ("string/starts-with", "(1 = 1 [[ and created_at ilike {{ params.f | prefix }} ]])", "text"),
        ("string/ends-with", "(1 = 1 [[ and created_at ilike {{ params.f | suffix }} ]])", "text"),
    ],
)
def test_field_filters(widget: str, condition: str, declared: str) -> None:
    """Each kind of control is a condition on the column, which is true without a choice. Red when one is exchanged."""
    query = predicate({"widget-type": widget})
    check_whole(query)
    assert query.body == f"select * from t where {condition}"
    assert query.params["f"]["type"] == declared


@pytest.mark.parametrize(
    ("default", "ours"),
    [
        ("2026-01-01~2026-01-31", "2026-01-01..2026-01-31"),
        ("past30days", "previous 30 days"),
        ("past7days~", "last 7 days"),
        ("thismonth", "this month"),
        ("next2weeks", "next 2 weeks"),
    ],
)
def test_the_default_of_a_range(default: str, ours: str) -> None:
    """Without today, unless it says so. Red when both are called the last days."""
    query = predicate({"widget-type": "date/all-options", "default": default})
    check_whole(query)
    assert query.params["f"]["default"] == ours


def test_a_default_that_is_no_range_is_listed() -> None:
    query = predicate({"widget-type": "date/range", "default": "exclude-days-Mon"})
    assert not query.whole
    assert "default" not in query.params["f"]


def test_the_default_of_a_list() -> None:
    query = predicate({"widget-type": "string/=", "default": ["a", "b"]})
    check_whole(query)
    assert query.params["f"]["default"] == ["a", "b"]


def test_a_field_filter_between_two_numbers_has_two_parameters() -> None:
    query = predicate({"widget-type": "number/between"}, default="total")
    check_whole(query, f_from="1", f_to="2.5")
    assert query.body.endswith("(1 = 1 [[ and total >= {{ params.f_from }} ]] [[ and total <= {{ params.f_to }} ]])")


def test_contains_where_like_heeds_no_case() -> None:
    query = predicate({"widget-type": "string/contains"}, dialect="mysql", default="name")
    check_whole(query, f="x")
    assert "name like {{ params.f | contains }}" in query.body


@pytest.mark.parametrize(
    ("dimension", "column"),
    [
        (["field", ["Sample", "PUBLIC", "ORDERS", "CREATED_AT"], None], '"ORDERS"."CREATED_AT"'),
        (["field", "created_at", {"base-type": "type/Date"}], "created_at"),
        (["field", {"base-type": "type/Date"}, "created_at"], "created_at"),
    ],
)
def test_the_column_of_a_field_filter(dimension: list[Any], column: str) -> None:
    tags = {"f": {"type": "dimension", "widget-type": "date/range", "dimension": dimension}}
    query = one(card("select * from t where {{f}}", tags))
    check_whole(query)
    assert f"within({column})" in query.body
    assert f"within({column.replace(chr(34), chr(96))})" in one(card("select * from t where {{f}}", tags), "mysql").body


def test_a_field_filter_whose_column_is_a_number_is_left() -> None:
    """The API gives the id of the column alone. ``--column`` names it. Red when it is guessed."""
    text = card("select * from t where {{f}}", {"f": {"type": "dimension", "dimension": ["field", 30, None]}})
    query = one(text)
    assert not query.whole
    assert left(query) == ["1:23: {{f}}"]
    assert query.body == "select * from t where {{f}}"
    check_whole(one(text, f="t.created_at"))


def test_a_field_filter_in_a_clause() -> None:
    """Without a choice it is true, so the clause needs no brackets. Red when they stay: nothing in them is absent."""
    query = one("select * from t [[where {{created}}]][[ and a = {{a}} ]]", created="created_at")
    check_whole(query)
    assert query.body == "select * from t where {{ params.created | matches(created_at) }} [[ and a = {{ params.a }} ]]"


@pytest.mark.parametrize(
    "clause",
    [
        "[[and {{day}}]]",
        "[[ and {{day}} and {{plan}} ]]",
        "[[and {{plan}} and {{odd}}]]",
    ],
)
def test_a_clause_keeps_its_brackets_with_what_was_left_in_it(clause: str) -> None:
    """Red when the brackets go before it is known that all in them is converted: the condition would hold always."""
    column = ["field", "plan", None]
    tags: dict[str, dict[str, Any]] = {
        "day": {"type": "dimension", "widget-type": "date/all-options"},
        "plan": {"type": "dimension", "widget-type": "string/=", "dimension": column},
        "odd": {"type": "dimension", "widget-type": "none/of/ours", "dimension": column},
    }
    query = one(card(f"select * from t where true {clause} [[and {{{{plan}}}}]]", tags))
    assert not query.whole
    matches = "{{ params.plan | matches(plan) }}"
    assert query.body == f"select * from t where true {clause.replace('{{plan}}', matches)} and {matches}"


def test_a_field_filter_beside_a_variable_in_a_clause() -> None:
    """The clause then goes with the variable alone, which is noted."""
    query = one("select * from t where true [[ and {{created}} and a = {{a}} ]]", created="created_at")
    check_whole(query)
    assert any("field filter next to a variable" in note for note in notes(query))


def test_a_field_filter_that_only_the_text_shows() -> None:
    """Without the document it is known by where it is: no value can be a condition."""
    query = one("select * from t where {{created}} and id = {{id}}")
    assert left(query) == ["1:23: {{created}}"]
    assert "--column" in query.items[0].reason + query.items[1].reason


def test_time_groups() -> None:
    """With the unit of the tag, or days. Red when the column is taken for the name."""
    sql = "select {{mb.time_grouping('Time unit', 'created_at')}}, count(*) from t group by 1"
    query = one(card(sql, {"Time unit": {"type": "temporal-unit", "default": "month"}}))
    check_whole(query, time_unit="week")
    assert query.body.startswith("select {{ params.time_unit | trunc(created_at) }}, count(*)")
    assert query.params["time_unit"]["default"] == "month"
    assert notes(one(sql))


@pytest.mark.parametrize(
    ("default", "expected"),
    [("'free'", "free"), ("'it''s'", "it's"), ("5", 5), ("2.5", 2.5), ("true", True)],
)
def test_a_default_behind_a_comment(default: str, expected: object) -> None:
    """``[[ {{x}} -- ]] 'free'``: a known way to write a default. Red when the comment takes the default with it."""
    query = one(f"select * from t where plan = [[{{{{plan}}}} --]] {default}\nand id = 1")
    assert query.body == "select * from t where plan = {{ params.plan }}\nand id = 1"
    assert query.params["plan"]["default"] == expected


@pytest.mark.parametrize("rest", ["now()", "'a' or b = 1", "(select min(d) from t)", "5 + 1"])
def test_a_default_that_is_no_literal_is_left(rest: str) -> None:
    """In Metabase the rest of the line goes with it. Red when only the literal is looked at."""
    query = one(f"select * from t where d = [[ {{{{d}}}} --]] {rest}\nlimit 5")
    assert not query.whole
    assert rest in query.body


def test_snippets_and_questions_are_fragments_that_have_to_be_saved() -> None:
    """The text is ours, but it needs a file that is not there: so it is listed."""
    query = one("with a as {{#12-Active Orders}} select * from a join {{ snippet: Big ones }} b using (id)")
    assert not query.whole
    assert query.body == "with a as ({{> active_orders }}) select * from a join ({{> big_ones }}) b using (id)"
    assert len(left(query)) == 2
    assert "active_orders.sql" in query.text


def test_a_tag_without_an_end_in_a_comment_takes_no_other_with_it() -> None:
    """Found by the property test: the tag of the next line was taken for the rest of the comment's."""
    query = one("select 1 -- {{x\nfrom t where a = {{a}}")
    check_whole(query, a="1")
    assert query.body.endswith("where a = {{ params.a }}")


def test_comments_stay_and_are_noted() -> None:
    query = one("-- {{unused}}\nselect 1 /* {{ other }} */")
    check_whole(query)
    assert len(notes(query)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "select {{ x + 1 }}",
        "select {{mb.other('a')}}",
        "select * from {{table}}",
        "select {% if a %}1{% endif %}",
        "select {{",
        "select $$ {{x}} $$",
        'select "{{x}}"',
        "select date '{{x}}'",
        "-- [[ and\nselect {{x}} -- ]]",
    ],
)
def test_what_is_not_understood_is_listed(text: str) -> None:
    """Never in silence, and the text is as it was. Red when a construct is passed over."""
    query = one(text)
    assert not query.whole
    assert all(item.line and item.column and item.reason for item in query.items)
    assert "not converted" in query.text


def test_a_variable_that_the_document_does_not_have_is_left() -> None:
    assert left(one(card("select {{x}} from t", {}))) == ["1:8: {{x}}"]


def test_choices_of_a_list() -> None:
    """A static list of the question's control."""
    control = {
        "slug": "plan",
        "target": ["variable", ["template-tag", "plan"]],
        "values_source_type": "static-list",
        "values_source_config": {"values": ["free", ["paid", "Paid"]]},
    }
    query = one(card("select * from t where plan = {{plan}}", {"plan": {"type": "text"}}, [control]))
    check_whole(query, plan="paid")
    assert query.params["plan"]["choices"] == ["free", "paid"]


def test_the_newer_form_of_a_question() -> None:
    """Stages, and tags as a list."""
    stage = {
        "lib/type": "mbql.stage/native",
        "native": "select * from t where id = {{id}}",
        "template-tags": [{"name": "id", "type": "number"}],
    }
    document = {"name": "Newer", "dataset_query": {"lib/type": "mbql/query", "stages": [stage]}}
    query = one(json.dumps(document))
    check_whole(query, id="5")
    assert query.name == "Newer"


def test_several_questions() -> None:
    both = [json.loads(card("select 1", {})), json.loads(card("select 2", {}))]
    assert [query.body for query in convert(json.dumps(both), "metabase")] == ["select 1", "select 2"]


@pytest.mark.parametrize("text", ['{"name": "A"}', "[]", '{"dataset_query": {"type": "query"}}', '{"broken'])
def test_a_document_without_a_query(text: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        convert(text, "metabase")


def test_names_that_become_one_get_two() -> None:
    """Red when the second takes the parameter of the first."""
    query = one("select * from t where a = {{a b}} and b = {{a-b}} and c = {{2x}}")
    check_whole(query, a_b="1", a_b_2="2", p_2x="3")
    assert sorted(query.params) == ["a_b", "a_b_2", "p_2x"]


def test_a_hostile_title_stays_in_the_header() -> None:
    """A title ends neither the comment nor the block. Red without the escapes of the header."""
    document = json.loads(card("select 1", {}))
    document["name"] = "a */ drop table t; /* --- \n--- */ \u2028 {{ x }} 'b' \"c\""
    query = one(json.dumps(document))
    check_whole(query)
    assert query.text.index("*/") == query.text.index("--- */") + 4
