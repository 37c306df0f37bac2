"""Filters and declared types: what compiles takes a value of the type, and what could take none is a compile error."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tests.sql.each_dialect import each_dialect

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
SENT = {
    "text": "day",
    "choice": "day",
    "integer": "5",
    "decimal": "1.5",
    "boolean": "true",
    "date": "2026-05-01",
    "datetime": "2026-05-01T09:00",
    "uuid": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
    "interval": "15 minutes",
}
RANGES = ["date range", "datetime range", "relative range"]
DEFINITIONS: dict[str, Any] = {
    **{f"{many}{kind}": {"type": f"{many}{kind}"} for many in ("", "list of ") for kind in SENT},
    **{kind: {"type": kind} for kind in RANGES},
    "text or NULL": {"type": "text", "is_null": "none"},
    "list of text or NULL": {"type": "list of text", "is_null": "none"},
    "part of a text": {"type": "text", "match": "contains"},
}
for definition in DEFINITIONS.values():
    if "choice" in definition["type"]:
        definition["choices"] = ["day", "month"]
USES = [
    "where a = {{ params.x }}",
    "where a in {{ params.x }}",
    "where a = '{{ params.x }}'",
    "where a like '%{{ params.x }}%'",
    "where a like {{ params.x | contains }}",
    "where a like {{ params.x | prefix }}",
    "where a like {{ params.x | suffix }}",
    "where a = any({{ params.x | array }})",
    "where a = {{ params.x | json }}",
    "where a is not distinct from {{ params.x | nullable }}",
    "where {{ params.x | within(a) }}",
    "where {{ params.x | matches(a) }}",
    "order by {{ params.x | trunc(a) }}",
    "order by {{ params.x | trunc(a) | default(day) }}",
    "order by {{ params.x | one_of(day, month) }}",
    "order by {{ params.x | one_of(day, month) | default(day) }}",
    "order by {{ params.unit | trunc(a, zone: {{ params.x }}) }}",
    "where {{ params.x.start | within(a) }}",
    "limit {{ params.x }}",
]
USES += [use.replace("params.x", "params.x.start") for use in USES if "start" not in use]


def compiled_or_refused(use: str, definition: Any, dialect: str) -> SQLTemplate | TemplateError:
    try:
        return SQLTemplate(f"select 1 {use}", dialect, params={"x": definition, "unit": "text"})
    except TemplateError as error:
        return error


@each_dialect
def test_what_compiles_takes_a_value(dialect: str) -> None:
    """Every use of every type. Red without the check of any pair: the template would refuse whatever a viewer sends."""
    compiled = 0
    for kind, definition in DEFINITIONS.items():
        for use in USES:
            template = compiled_or_refused(use, definition, dialect)
            if isinstance(template, TemplateError):
                assert template.location is not None, (kind, use)
                assert "\n  fix: " in template.message
                continue
            value = SENT.get(definition["type"].removeprefix("list of "), "last 3 days")
            template.bind({"params": {"x": value, "unit": "day"}}, now=NOW)
            compiled += 1
    assert compiled > 70


TEXTS = ["text", "choice"]
JSON = ["text", "choice", "integer", "boolean"]


@pytest.mark.parametrize(
    ("use", "kinds"),
    [
        ("where a like {{ params.x | contains }}", TEXTS),
        ("where a like {{ params.x | prefix }}", TEXTS),
        ("where a = {{ params.x | json }}", [*JSON, *(f"list of {kind}" for kind in JSON)]),
        ("where a = any({{ params.x | array }})", [f"list of {kind}" for kind in SENT]),
        ("where a in {{ params.x }}", [f"list of {kind}" for kind in SENT]),
        ("where a = '{{ params.x }}'", [kind for kind in SENT if kind != "interval"]),
        ("where a is not distinct from {{ params.x | nullable }}", list(SENT)),
        ("where {{ params.x | within(a) }}", RANGES),
        ("where {{ params.x | matches(a) }}", list(DEFINITIONS)),
        ("order by {{ params.x | trunc(a) }}", TEXTS),
        ("order by {{ params.x | one_of(day, month) }}", TEXTS),
        ("order by {{ params.unit | trunc(a, zone: {{ params.x }}) }}", TEXTS),
        ("limit {{ params.x }}", ["integer"]),
        ("where a >= {{ params.x.start }}", RANGES),
        ("where a like {{ params.x.start | prefix }}", []),
        ("where a in {{ params.x.start }}", []),
        ("where {{ params.x.start | within(a) }}", []),
        ("limit {{ params.x.start }}", []),
    ],
)
def test_which_types_a_filter_takes(use: str, kinds: list[str]) -> None:
    """These and no others, so that the test above does not pass because all is refused."""
    found = {kind: compiled_or_refused(use, definition, "postgresql") for kind, definition in DEFINITIONS.items()}
    assert sorted(kind for kind, each in found.items() if isinstance(each, SQLTemplate)) == sorted(kinds)
    assert all("params.x" in each.message for each in found.values() if isinstance(each, TemplateError))


@pytest.mark.parametrize(
    ("definition", "default", "bound"),
    [
        ("integer", "5", 5),
        ("integer", "'5'", 5),
        ("decimal", "1.5", Decimal("1.5")),
        ("boolean", "true", True),
        ("date", "'2026-05-01'", date(2026, 5, 1)),
        ("datetime", "'2026-05-01T09:00'", datetime(2026, 5, 1, 9, tzinfo=UTC)),
        ("interval", "'15 minutes'", timedelta(minutes=15)),
        ("text", "''", ""),
        ({"type": "choice", "choices": ["a"]}, "'a'", "a"),
    ],
)
def test_a_default_has_the_declared_type(definition: Any, default: str, bound: Any) -> None:
    """As what a viewer sends. Red when the literal itself is bound: a text where a date is compared."""
    text = f"select 1 where a = {{{{ params.x | default({default}) }}}}"
    found = SQLTemplate(text, "postgresql", params={"x": definition}).bind({"params": {}})
    assert found.params == (bound,)
    assert type(found.params[0]) is type(bound)


def test_a_default_is_bound_as_the_dialect_takes_it() -> None:
    """SQLite has no dates. So it is for each item of a list, and for an end of a range."""
    text = (
        "select 1 where a = {{ params.d | default('2026-05-01') }} "
        "and b in {{ params.l | default('2026-05-01', '2026-05-02') }} "
        "and c < {{ params.p.end | default('2026-06-01') }} and d like '{{ params.d | default('2026-05-01') }}%'"
    )
    template = SQLTemplate(text, "sqlite", params={"d": "date", "l": "list of date", "p": "date range"})
    assert template.bind({"params": {}}, now=NOW).params == (
        *("2026-05-01", "2026-05-01", "2026-05-02", "2026-06-01", "2026-05-01%"),
    )


@pytest.mark.parametrize(
    ("definition", "use", "problem"),
    [
        ("integer", "where a = {{ params.x | default('abc') }}", "takes a whole number"),
        ("integer", "where a = {{ params.x | default(1.5) }}", "takes a whole number"),
        ("integer", "where a = {{ params.x | default(true) }}", "takes a whole number"),
        ("text", "where a = {{ params.x | default(5) }}", "takes text"),
        ("boolean", "where a = {{ params.x | default(1) }}", "takes true or false"),
        ("date", "where a = '{{ params.x | default('today') }}'", "takes a date such as"),
        ("list of integer", "where a in {{ params.x | default(1, 'b') }}", "each a whole number"),
        ("list of integer", "where a = any({{ params.x | array | default(1, 'b') }})", "each a whole number"),
        ({"type": "choice", "choices": ["eu"]}, "where a = {{ params.x | default('us') }}", "takes one of eu"),
        ({"type": "integer", "max": 9}, "limit {{ params.x | default(10) }}", "takes a whole number up to 9"),
        ("date range", "where a = {{ params.x.start | default(5) }}", "params.x.start, which takes a date"),
        ("integer", "limit {{ params.x | default(-1) }}", "must be whole numbers, 0 or greater"),
        (None, "limit {{ params.x | default('abc') }}", "must be whole numbers, 0 or greater"),
        (None, "limit {{ params.x | default(-1) }}", "must be whole numbers, 0 or greater"),
        (None, "limit 5 offset {{ params.x | default(1.5) }}", "must be whole numbers, 0 or greater"),
        (None, "limit {{ params.x | default(true) }}", "must be whole numbers, 0 or greater"),
        ({"type": "integer", "default": -1}, "limit {{ params.x }}", "can be below 0"),
        ({"type": "integer", "choices": [5, -1]}, "limit {{ params.x }}", "can be below 0"),
        ({"type": "integer", "max": -1}, "limit {{ params.x }}", "can be below 0"),
        ({"type": "datetime", "zone": {"property": "tz"}}, "where a = {{ params.x | default('2026-01-01') }}", "zone"),
        ({"type": "text", "required": True}, "where a = {{ params.x | default('a') }}", "is required, so this default"),
        ({"type": "text", "default": "b"}, "where a = {{ params.x | default('a') }}", "so this default is never used"),
        ({"type": "text", "required": True}, "where a <=> {{ params.x | nullable }}", "so this nullable is never used"),
        (None, "where a like {{ params.x | contains | nullable }}", "contains of NULL matches no row"),
        (None, "where a like {{ params.x | nullable | suffix }}", "suffix of NULL matches no row"),
    ],
)
def test_what_a_default_cannot_be(definition: Any, use: str, problem: str) -> None:
    """Of another type, nothing that its position takes, or never used. Red without the checks of defaults: it would be
    bound as it is written, or be an error of each request without a value."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(f"select 1 {use}", "postgresql", params=None if definition is None else {"x": definition})
    assert problem in caught.value.message
    assert caught.value.location is not None
