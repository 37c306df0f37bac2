"""The tables of docs/sql*.md: each row is compiled and bound, so no table says what the language does not do."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tenantry.errors import InvalidParameter, TemplateError, TenantryError
from tenantry.sql import DIALECTS, Query, SQLTemplate
from tests.docs.blocks import blocks
from tests.docs.tables import codes, rows

DOCS = Path(__file__).parents[2] / "docs"
SQL = DOCS / "sql.md"
FILTERS = DOCS / "sql-filters.md"
GUARANTEES = DOCS / "sql-guarantees.md"
PARAMETERS = DOCS / "sql-parameters.md"
NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def _plain(text: str) -> str:
    """A text with one space where a dropped clause left several."""
    return " ".join(text.split())


def _values_of_the_page() -> Mapping[str, Any]:
    source = next(block.text for block in blocks(SQL) if block.text.startswith("VALUES = "))
    values: Mapping[str, Any] = ast.literal_eval(source.removeprefix("VALUES = "))
    return values


@pytest.mark.parametrize(("written", "text", "values"), rows(SQL, "What you write"))
def test_what_you_write_becomes_what_the_table_says(written: str, text: str, values: str) -> None:
    """Red with another placeholder or value in a row."""
    start = "select id from orders "
    bound = SQLTemplate(start + codes(written)[0]).bind(_values_of_the_page())
    assert _plain(bound.sql) == _plain(start + "".join(codes(text)))
    assert bound.params == (ast.literal_eval(f"({codes(values)[0]},)") if values else ())


ABSENT = rows(SQL, "When a value is absent")


@pytest.mark.parametrize(("written", "kind", "none", "empty", "no_items"), ABSENT)
def test_an_absent_value_does_what_the_table_says(
    written: str, kind: str, none: str, empty: str, no_items: str
) -> None:
    """Red when a cell is another one's: a default that counts for an empty list, a clause that empty text keeps."""
    template = _declared(codes(written)[0], kind)
    path = re.search(r"{{ (\S+)", codes(written)[0])
    assert path is not None
    for value, cell in ((..., none), (None, none), ("", empty), ([], no_items)):
        assert _outcome(template, path[1], value) == codes(cell)[0], value


def test_the_table_of_absent_values_has_each_kind() -> None:
    """Red when a filter is left out of it that an absent value can reach."""
    text = " ".join(written for written, *_ in ABSENT)
    words = ("[[", " in ", "default(", "nullable", "contains", "matches(", "excludes(", "within(", "one_of(", "trunc(")
    assert [word for word in words if word not in text] == []


def _declared(condition: str, kind: str) -> SQLTemplate:
    """The template of a row, for SQLite: with ``params.x`` declared as the second cell says."""
    sql = f"select 1 where {condition}"
    if kind == "property, `optional`":
        return SQLTemplate(sql, "sqlite", optional={"rate"})
    if kind in ("property", "not declared"):
        return SQLTemplate(sql, "sqlite")
    return Query(f"/* ---\nparams:\n  x: {codes(kind)[0]}\n--- */\n{sql}", "row", dialect="sqlite")


def _outcome(template: SQLTemplate, path: str, value: Any) -> str:
    """What stands after ``where``, with the values written in; or the class of the error."""
    *parents, name = path.split(".")
    values: Any = {} if value is ... else {name: value}
    for parent in parents:
        values = {parent: values}
    try:
        bound = template.bind(values, now=NOW)
    except TenantryError as error:
        return type(error).__name__
    assert isinstance(bound.params, tuple)
    text = bound.sql.partition("where ")[2]
    for item in bound.params:
        text = text.replace("?", "null" if item is None else f"'{item}'", 1)
    return _plain(text)


REFUSED = [
    *rows(SQL, "Where a variable may stand"),
    *rows(GUARANTEES, "A clause is whole"),
    *rows(GUARANTEES, "What cannot be said"),
]


@pytest.mark.parametrize(("refused", "why", "instead"), REFUSED)
def test_what_is_refused_and_what_is_written_instead(refused: str, why: str, instead: str) -> None:
    """Each row of these tables, in the dialect that its second cell names. Red when one of the first column binds, or
    one of the last does not."""
    named = [word for word in codes(why) if word in DIALECTS]
    dialect = named[0] if named else "postgresql"
    for sql in codes(refused):
        with pytest.raises(TemplateError):
            _bind(sql, dialect)
    for sql in codes(instead):
        _bind(sql, dialect)


@pytest.mark.parametrize(("refused", "why", "instead"), rows(FILTERS, "Where a filter may vanish"))
def test_where_a_filter_may_vanish(refused: str, why: str, instead: str) -> None:
    """Red when one of the first column compiles, or one of the last does not."""
    assert why
    with pytest.raises(TemplateError, match="may be absent"):
        SQLTemplate(codes(refused)[0], "postgresql", params={"x": "text"})
    SQLTemplate(codes(instead)[0], "postgresql", params={"x": "text"})


def _bind(sql: str, dialect: str) -> None:
    """With a value for each variable that is one of the texts to choose from, where there are any."""
    template = SQLTemplate(sql, dialect)
    choice = re.search(r"one_of\((\w+)", sql)
    values: dict[str, Any] = {"x": choice[1] if choice else "1", "y": "1", "tenant": "acme"}
    template.bind({**values, "params": {"a": "1", "b": "1"}})


TYPES: Mapping[str, type] = {each.__name__: each for each in (int, Decimal, bool, date, datetime, UUID, timedelta)}


@pytest.mark.parametrize(("name", "examples", "refused", "bound"), rows(PARAMETERS, "Types"))
def test_a_type_takes_what_the_table_says(name: str, examples: str, refused: str, bound: str) -> None:
    """Red when an example is refused, when a refused one is taken, or when what is bound is of another type."""
    kind = codes(name)[0]
    if kind == "choice":
        return  # its examples are words: tests/sql/test_parameters.py
    wanted = TYPES[codes(bound)[0]] if codes(bound) else str
    for text in codes(examples):
        assert {type(value) for value in _typed(kind, text)} == {wanted}, text
    for text in codes(refused) or ["a\0b"]:
        with pytest.raises(InvalidParameter):
            _typed(kind, text)


@pytest.mark.parametrize(("names", "first", "last"), rows(PARAMETERS, "Relative ranges"))
def test_a_relative_range_has_the_days_that_the_table_says(names: str, first: str, last: str) -> None:
    """Red with a row that is a day off."""
    days = tuple(datetime.strptime(f"{day} 2026", "%d %B %Y").date() for day in (first, last))  # noqa: DTZ007
    for name in codes(names):
        start, end = _typed("date range", name)
        assert (start, end - timedelta(days=1)) == days, name


def _typed(kind: str, text: str) -> tuple[Any, ...]:
    """What is bound for a text that a viewer sends; of a range both ends."""
    sql = (
        "select {{ params.x.start }} as v, {{ params.x.end }} as w" if "range" in kind else "select {{ params.x }} as v"
    )
    params = SQLTemplate(sql, params={"x": kind}).bind({"params": {"x": text}}, now=NOW).params
    assert isinstance(params, tuple)
    return params
