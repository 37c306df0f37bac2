"""Fixes that an editor can make: each error carries the correction at its place."""

from __future__ import annotations

import re

import pytest

from tenantry.errors import Edit, TemplateError, misspelt
from tenantry.sql import Query
from tenantry.sql.checks import Finding
from tenantry.sql.inspect import lint

HEADER = "/* ---\n{}\n--- */\n"


def _edited(text: str, finding: Finding) -> str:
    """``text`` with the finding's correction, which must be at or after the finding's place."""
    assert finding.edit is not None, finding
    lines = text.split("\n")
    at = sum(len(line) + 1 for line in lines[: finding.line - 1]) + finding.column - 1
    old, new = finding.edit
    return text[:at] + re.sub(rf"(?<!\w){re.escape(old)}|{re.escape(old)}", lambda _: new, text[at:], count=1)


def _findings(text: str, dialect: str = "postgresql") -> tuple[Finding, ...]:
    try:
        query = Query(text, "q", dialect=dialect, fragments={"open_orders": "state = 'open'"}, trusted=True)
        return lint(query, properties=["region", "regions"])
    except TemplateError as error:
        from tenantry.sql.checks import template_error

        return (template_error(error),)


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("select a from t where b = {{ user_group.properties.regoin }}", "user_group.properties.region }}"),
        ("select a from t where b = {{ user_group.nam }}", "{{ user_group.name }}"),
        ("select a from t where b = {{ user_group.region }}", "{{ user_group.properties.region }}"),
        ("select a from t where b = {{ usergroup.properties.region }}", "{{ user_group.properties.region }}"),
        (HEADER.format("params: {since: date}") + "select a from t where b = {{ params.sinc }}", "{{ params.since }}"),
        (HEADER.format("params: {since: date}") + "select a from t where b = {{ since }}", "{{ params.since }}"),
        (HEADER.format("params: {since: dat}") + "select a from t where b = {{ params.since }}", "{since: date}"),
        (HEADER.format("params: {since: {typ: date}}") + "select {{ params.since }} as a", "{since: {type: date}}"),
        (HEADER.format("titel: Orders") + "select 1 as a", "title: Orders"),
        (HEADER.format("dialect: postgres") + "select 1 as a", "dialect: postgresql"),
        ("select a from t where b = {{ params.x | defualt(1) }}", "| default(1) }}"),
        ("select {{ params.x | one_of(a, b) | default(aa) }} from t", "default(a) }} from t"),
        ("select a from t where true and ({{> open_order }})", "{{> open_orders }}"),
        ("select a from t where b = {{ user_group.properties['region'] }}", "{{ user_group.properties.region }}"),
        (
            "select a from t where b in '{{ user_group.properties.regions }}'",
            "b in {{ user_group.properties.regions }}",
        ),
        ("select a from t limit '{{ params.n }}'", "limit {{ params.n }}"),
        ("select a from t where b = {{ user_group.properties.region }} ]]", "region }} "),
        ("select a from t where b = {{ params.x | nullable }}", "b is not distinct from {{ params.x | nullable }}"),
    ],
)
def test_a_misspelt_name_can_be_corrected(text: str, corrected: str) -> None:
    """Red when the error is made without ``edit``."""
    found = next(each for each in _findings(text) if each.edit is not None)
    after = _edited(text, found)
    assert corrected in after
    assert found.code not in {each.code for each in _findings(after) if each.edit == found.edit}


def test_a_clause_that_is_always_there_loses_its_brackets() -> None:
    """Red when the tenant guard makes its error without ``edit``."""
    text = "select a from t where 1 = 1 "
    inside = "and b = {{ user_group.properties.region | not_a_filter }}"
    clause = f"[[ {inside} ]]"
    assert _edited(text + clause, _findings(text + clause)[0]) == text + inside


def test_a_repeated_expression_becomes_the_number_of_its_item() -> None:
    """Red when _two_placeholders makes its problem without ``edit``."""
    text = "select date_trunc({{ params.unit }}, b), count(*) from t group by date_trunc({{ params.unit }}, b)"
    found = next(
        each
        for each in lint(Query(text, "q", dialect="postgresql"), paramstyle="qmark")
        if each.code == "repeated-expression"
    )
    assert _edited(text, found).endswith("group by 1")


def test_a_variable_of_a_guard_is_not_corrected_in_the_query() -> None:
    """Red when _unknown_variables keeps the edit of a guard's variable."""
    from tenantry.sql.guarding import read_tables

    tables = read_tables({"tables": {"t": {"a": "{{ user_group.properties.regoin }}"}}})
    query = Query("select a from t", "q", dialect="postgresql")
    found = next(each for each in lint(query, properties=["region"], tables=tables) if each.variable)
    assert (found.code, found.edit) == ("unknown-variable", None)


def test_a_problem_in_a_fragment_says_where_it_is_included() -> None:
    """Red when _findings or error_finding forgets ``included_at``."""
    fragments = {"bad": "b = {{ user_group.properties.regoin }}"}
    query = Query(
        "select a from t\nwhere true and ({{> bad }})", "q", file="q.sql", dialect="postgresql", fragments=fragments
    )
    (found,) = lint(query, properties=["region"])
    assert found.file == "bad"
    assert found.included_at is not None
    assert (found.included_at.file, found.included_at.line, found.included_at.column) == ("q.sql", 2, 17)


def test_reports_for_other_programs_do_not_change() -> None:
    """Red when as_dict writes ``edit``."""
    found = _findings("select a from t where b = {{ user_group.properties.regoin }}")[0]
    assert found.edit == misspelt("regoin", ["region"]) == Edit("regoin", "region")
    assert {"edit", "included_at"}.isdisjoint(found.as_dict())
