"""within, trunc and matches: golden texts, and what they refuse."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from tenantry.errors import InvalidParameter, MissingVariable, TemplateError, UnbindableValue
from tenantry.groups import Record
from tenantry.sql import DIALECTS, BoundSQL, SQLTemplate
from tenantry.sql.dialects import UNITS
from tests.sql.each_dialect import each_dialect

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
MAY = (date(2026, 5, 1), date(2026, 6, 1))
WITHIN = "select 1 where {{ params.x | within(at) }}"
MATCHES = "select 1 where {{ params.x | matches(region) }}"
TRUNC = "select {{ params.x | trunc(at) }}"


def bound(text: str, definition: Any, sent: Any = None, *, dialect: str | None = None, **variables: Any) -> BoundSQL:
    template = SQLTemplate(text, params=None if definition is None else {"x": definition})
    return template.bind({"params": {"x": sent}, **variables}, dialect=dialect, now=NOW)


def refusal(text: str, definition: Any, dialect: str = "postgresql") -> str:
    with pytest.raises(TemplateError) as error:
        SQLTemplate(text, dialect, params=None if definition is None else {"x": definition})
    assert error.value.location is not None
    return error.value.message


# --- within -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "sent", "sql", "params"),
    [
        ("date range", "this month", "(at >= $1::date and at < $2::date)", MAY),
        ("date range", None, "1 = 1", ()),
        ("date range", "", "1 = 1", ()),
        ({"type": "date range", "open": "end"}, "2026-05-01..", "(at >= $1::date)", MAY[:1]),
        ({"type": "date range", "open": "both"}, "..2026-05-31", "(at < $1::date)", MAY[1:]),
        ({"type": "date range", "open": "both"}, "2026-05-01..2026-05-31", "(at >= $1::date and at < $2::date)", MAY),
        ({"type": "date range", "open": "both"}, None, "1 = 1", ()),
        ({"type": "date range", "default": "this month"}, None, "(at >= $1::date and at < $2::date)", MAY),
    ],
)
def test_within(definition: Any, sent: Any, sql: str, params: Any) -> None:
    """Half-open; absent is true. Red when an end that is missing is bound as NULL, which is true of no row."""
    found = bound(WITHIN, definition, sent)
    assert (found.sql, found.params) == (f"select 1 where {sql}", params)


def test_the_text_has_no_value() -> None:
    """Two ranges have one text, the same object."""
    template = SQLTemplate(WITHIN, params={"x": "date range"})
    one, other = (template.bind({"params": {"x": sent}}, now=NOW) for sent in ("this month", "last year"))
    assert one.sql is other.sql
    assert one.params != other.params


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        ("o.at", "o.at"),
        ('o."created at"', 'o."created at"'),
        ("a + b", "(a + b)"),
        ("a or b", "(a or b)"),
        ("coalesce(at, '}}, )')", "(coalesce(at, '}}, )'))"),
    ],
)
def test_a_column_is_an_expression(column: str, sql: str) -> None:
    """In parentheses unless it is a name: ``a or b`` would end the condition before it."""
    found = bound(f"select 1 where {{{{ params.x | within({column}) }}}}", "date range", "this month")
    assert found.sql == f"select 1 where ({sql} >= $1::date and {sql} < $2::date)"


def test_a_column_may_hold_variables() -> None:
    """Each time in the order of the text."""
    text = "select 1 where {{ params.x | within(at + {{ params.y }}) }} and b = {{ region }}"
    template = SQLTemplate(text, "sqlite", params={"x": "date range", "y": "integer"})
    found = template.bind({"region": "eu", "params": {"x": "this month", "y": "5"}}, now=NOW)
    assert found.sql == "select 1 where ((at + ?) >= ? and (at + ?) < ?) and b = ?"
    assert found.params == (5, "2026-05-01", 5, "2026-06-01", "eu")
    assert template.bind({"region": "eu", "params": {}}, now=NOW).params == ("eu",)
    with pytest.raises(MissingVariable):
        template.bind({"region": "eu", "params": {"x": "this month"}}, now=NOW)


def test_a_guarded_variable_in_a_column_is_refused() -> None:
    """It would go when the viewer gives no range, and filter another way when the viewer asks for NULL. Red when every
    helper is taken for uniform."""
    null = {**NULLABLE, "required": True}
    for name in ("matches", "excludes"):
        assert "rate is in SQL" in refusal(f"select 1 where {{{{ params.x | {name}(f({{{{ rate }}}})) }}}}", null)
    message = refusal("select 1 where {{ params.x | within(coalesce(at, {{ since }})) }}", "date range")
    assert "since is in SQL that a viewer chooses" in message
    assert SQLTemplate(
        "select 1 where {{ params.x | within(coalesce(at, {{ since }})) }}",
        "postgresql",
        params={"x": {"type": "date range", "required": True}},
    ).variables


def test_a_property_within() -> None:
    """Never absent: a group without it is an error. Red when its absence is ``1 = 1``."""
    template = SQLTemplate("select 1 where {{ window | within(at) }}")
    window = {"start": "2026-01-01", "end": "2026-02-01"}
    for value in (window, Record(window)):
        found = template.bind({"window": value})
        assert (found.sql, found.params) == ("select 1 where (at >= $1 and at < $2)", ("2026-01-01", "2026-02-01"))
    for absent in ({}, {"window": None}, {"window": {**window, "end": None}}):
        with pytest.raises(MissingVariable):
            template.bind(absent)
    for wrong in ({"start": "2026-01-01"}, {}, "start end", [1, 2], 5):
        with pytest.raises(UnbindableValue, match="an object with a start and an end"):
            template.bind({"window": wrong})


def test_a_locked_range_never_vanishes() -> None:
    """Though its path is ``params``."""
    definition = {"type": "date range", "locked": True, "default": {"property": "window"}}
    template = SQLTemplate(WITHIN, params={"x": definition})
    found = template.bind({"user_group": {"properties": {"window": "2026-05-01..2026-05-31"}}}, now=NOW)
    assert (found.sql, found.params) == ("select 1 where (at >= $1::date and at < $2::date)", MAY)
    with pytest.raises(MissingVariable):
        template.bind({"user_group": {"properties": {}}}, now=NOW)
    with pytest.raises(InvalidParameter):
        template.bind({"user_group": {"properties": {"window": "today"}}, "params": {"x": "last year"}}, now=NOW)


@pytest.mark.parametrize(
    ("text", "definition", "problem"),
    [
        (WITHIN, None, "within needs the type of params.x, which is not declared"),
        (WITHIN, None, "declare it in the template's params, as in `x: {type: date range}`"),
        (MATCHES, None, "declare it in the template's params, as in `x: {type: text}`"),
        (WITHIN, "date", "within takes a range, but params.x is date"),
        (MATCHES, None, "matches needs the type of params.x, which is not declared"),
        (TRUNC, "integer", "trunc takes a unit, but params.x is integer"),
        (TRUNC, {"type": "list of choice", "choices": ["day"]}, "trunc takes a unit"),
        (TRUNC, {"type": "choice", "choices": ["day", "fortnight"]}, "fortnight is not a unit of postgresql"),
        ("select {{ params.x | within() }}", "date range", "within takes one argument"),
        ("select {{ params.x | within }}", "date range", "within takes one argument"),
        ("select {{ params.x | within(a, b) }}", "date range", "within takes one argument"),
        ("select {{ params.x | within(column: a) }}", "date range", "within takes a column first"),
        (MATCHES.replace("(region)", "('region')"), "text", "matches takes a column, but this is a value"),
        (MATCHES.replace("(region)", "({{ params.x }})"), "text", "matches takes a column, but this is a value"),
        (MATCHES.replace("(region)", "('a{{ params.x }}')"), "text", "matches takes a column, but this is a value"),
        (WITHIN.replace("(at)", "(5)"), "date range", "within takes a column, but this is a value"),
        (TRUNC.replace("(at)", "('at')"), "text", "trunc takes a column, but this is a value"),
        ("select {{ params.x.start | within(at) }}", "date range", "write the range itself: {{ params.x | within("),
        (TRUNC.replace(" }}", " | default(dya) }}"), "text", "did you mean day?"),
        (TRUNC, {"type": "choice", "choices": ["day", "moth"]}, "did you mean month?"),
        (TRUNC, {"type": "text", "default": "moth"}, "params.x can be moth, but moth is not a unit of postgresql"),
        ("select {{ params.x | trunc(a, b) }}", "text", "trunc takes only a time zone after the column"),
        ("select {{ params.x | trunc(a, zone: b) }}", "text", "trunc takes only a time zone after the column"),
        ("select {{ params.x | trunc(a, zone: {{ b | not_a_filter }}) }}", "text", "trunc takes only a time zone"),
        ("select {{ params.x | trunc(a) | default(eon) }}", "text", "the default eon is not a unit"),
        ("select {{ params.x | within(a) | default(b) }}", "date range", "a condition takes no default"),
        ("select {{ params.x | within(a) | matches(b) }}", "date range", "both matches and within"),
        ("select 1 [[ where {{ params.x | within(a) }} ]]", "date range", "nothing in this clause can be absent"),
        ("select 1 [[ where {{ window | within(a) }} and {{ params.x | within(a) }} ]]", "date range", "window"),
        ("select 1 where {{ params.x | within(from a) }}; ]", "text", "within takes a range"),
    ],
)
def test_what_is_refused(text: str, definition: Any, problem: str) -> None:
    """With line, column, caret and fix."""
    assert problem in refusal(text, definition)


# --- matches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "sent", "sql", "params"),
    [
        ("text", "eu", "(region = $1)", ("eu",)),
        ("text", "", "1 = 1", ()),
        ("integer", "5", "(region = $1::bigint)", (5,)),
        ("list of text", ["eu", "us"], "(region in ($1, $2))", ("eu", "us")),
        ("list of text", "eu", "(region in ($1))", ("eu",)),
        ("list of text", None, "1 = 1", ()),
        ("list of text", [], "(region operator(=) any ('{}'))", ()),
        ("date range", "this month", "(region >= $1::date and region < $2::date)", MAY),
        ("date range", None, "1 = 1", ()),
        ({"type": "text", "default": "eu"}, None, "(region = $1)", ("eu",)),
        ("date", "2026-05-31", "(region >= $1::date and region < $2::date)", (date(2026, 5, 31), date(2026, 6, 1))),
        ("date", "", "1 = 1", ()),
        ("list of date", "2026-05-31", "(cast(region as date) in ($1::date))", (date(2026, 5, 31),)),
        ({"type": "date range", "open": "end"}, "2026-05-01..", "(region >= $1::date)", MAY[:1]),
    ],
)
def test_matches(definition: Any, sent: Any, sql: str, params: Any) -> None:
    """By the type; absent is true, an empty list is not. Red when an empty list counts as absent."""
    found = bound(MATCHES, definition, sent)
    assert (found.sql, found.params) == (f"select 1 where {sql}", params)


NULLABLE = {"type": "choice", "choices": ["eu", "us"], "is_null": "none"}
SEVERAL = {**NULLABLE, "type": "list of choice"}


@pytest.mark.parametrize(
    ("definition", "sent", "sql", "params"),
    [
        (NULLABLE, "eu", "(region = $1)", ("eu",)),
        (NULLABLE, "none", "(region is null)", ()),
        (NULLABLE, ["none", ""], "(region is null)", ()),
        (NULLABLE, None, "1 = 1", ()),
        ({**NULLABLE, "default": "none"}, None, "(region is null)", ()),
        (SEVERAL, ["eu", "us"], "(region in ($1, $2))", ("eu", "us")),
        (SEVERAL, ["eu", "none"], "(region in ($1) or region is null)", ("eu",)),
        (SEVERAL, "none", "(region is null)", ()),
        (SEVERAL, ["none", "none"], "(region is null)", ()),
        (SEVERAL, [], "(region operator(=) any ('{}'))", ()),
        (SEVERAL, "", "1 = 1", ()),
        ({"type": "integer", "is_null": "none"}, "5", "(region = $1::bigint)", (5,)),
        ({"type": "integer", "is_null": "none"}, "none", "(region is null)", ()),
    ],
)
def test_null_has_a_word_of_its_own(definition: Any, sent: Any, sql: str, params: Any) -> None:
    """Red when the word is bound as a text."""
    found = bound(MATCHES, definition, sent)
    assert (found.sql, found.params) == (f"select 1 where {sql}", params)


@pytest.mark.parametrize(
    ("match", "sent", "pattern"),
    [
        ("contains", "100%", "%100!%%"),
        ("prefix", "a_b!", "a!_b!!%"),
        ("suffix", "' or 1=1 --", "%' or 1=1 --"),
    ],
)
def test_a_part_of_a_text(match: str, sent: str, pattern: str) -> None:
    """The wildcards of the value are letters. Red when they are not escaped: `_` would match every row."""
    definition = {"type": "text", "match": match}
    found = bound(MATCHES, definition, sent)
    assert (found.sql, found.params) == ("select 1 where (region like $1 escape '!')", (pattern,))
    assert bound(MATCHES, definition, "").sql == "select 1 where 1 = 1"
    nullable = {**definition, "is_null": "none"}
    assert bound(MATCHES, nullable, "none").sql == "select 1 where (region is null)"
    assert bound(MATCHES, nullable, sent).params == (pattern,)
    assert "params.x can only be used with `matches`" in refusal("select 1 where a like {{ params.x }}", definition)


def test_the_word_for_null_is_no_value() -> None:
    """It chooses a condition, so it is nowhere else; it is among what the parameter takes, and no other word is."""
    assert "params.x can only be used with `matches`" in refusal("select 1 where a = {{ params.x }}", NULLABLE)
    assert "params.x can only be used with `matches`" in refusal("select 1 where a in {{ params.x }}", SEVERAL)
    assert "trunc takes a unit" in refusal(TRUNC, {"type": "choice", "choices": ["day"], "is_null": "none"})
    for sent in ("asia", ["eu", "none"], "None"):
        with pytest.raises(InvalidParameter, match=r"params\.x takes one of eu, us or none"):
            bound(MATCHES, NULLABLE, sent)
    locked = {"type": "text", "is_null": "none", "locked": True, "default": {"property": "region"}}
    template = SQLTemplate(MATCHES, params={"x": locked})
    assert template.bind({"user_group": {"properties": {"region": "eu"}}}).params == ("eu",)
    assert "is null" in template.bind({"user_group": {"properties": {"region": "none"}}}).sql
    with pytest.raises(MissingVariable):
        template.bind({"user_group": {"properties": {"region": None}}})


def test_a_property_matches() -> None:
    """One value or a list, as the group has it, and never nothing."""
    template = SQLTemplate("select 1 where {{ region | matches(o.region) }}")
    assert template.bind({"region": "eu"}).sql == "select 1 where (o.region = $1)"
    assert template.bind({"region": ["eu", "us"]}).sql == "select 1 where (o.region in ($1, $2))"
    assert template.bind(Record({"region": ["eu"]})).params == ("eu",)
    assert "any ('{}')" in template.bind({"region": []}).sql
    for absent in ({}, {"region": None}):
        with pytest.raises(MissingVariable):
            template.bind(absent)
    for wrong in ({"a": 1}, Record({})):
        with pytest.raises(UnbindableValue):
            template.bind({"region": wrong})
    assert [each.guarded for each in template.variables] == [True, True, True]


def test_negated_and_next_to_or() -> None:
    """Parentheses hold a condition together, where it cannot vanish."""
    required = {"type": "date range", "required": True}
    found = bound("select 1 where a or not {{ params.x | within(at) }} or b", required, "this month")
    assert found.sql == "select 1 where a or not (at >= $1::date and at < $2::date) or b"


@pytest.mark.parametrize(
    ("definition", "sent", "sql", "params"),
    [
        ("text", "eu", "(not (region = $1) or region is null)", ("eu",)),
        ("text", "", "1 = 1", ()),
        ("list of text", ["eu", "us"], "(not (region in ($1, $2)) or region is null)", ("eu", "us")),
        ("list of text", [], "(not (region operator(=) any ('{}')) or region is null)", ()),
        (
            "date",
            "2026-05-01",
            "(not (region >= $1::date and region < $2::date) or region is null)",
            (MAY[0], date(2026, 5, 2)),
        ),
        ("date range", "this month", "(not (region >= $1::date and region < $2::date) or region is null)", MAY),
        ({"type": "text", "match": "prefix"}, "e", "(not (region like $1 escape '!') or region is null)", ("e%",)),
        (NULLABLE, "eu", "(not (region = $1) or region is null)", ("eu",)),
        (NULLABLE, "none", "(not (region is null))", ()),
        (SEVERAL, ["eu", "none"], "(not (region in ($1) or region is null))", ("eu",)),
    ],
)
def test_excludes(definition: Any, sent: Any, sql: str, params: Any) -> None:
    """Every row that ``matches`` leaves out: NULL too, unless NULL is excluded. Red without `or region is null`."""
    found = bound(MATCHES.replace("matches", "excludes"), definition, sent)
    assert (found.sql, found.params) == (f"select 1 where {sql}", params)


def test_a_property_excludes() -> None:
    """One value or a list, as it matches."""
    template = SQLTemplate("select 1 where {{ closed | excludes(o.region) }}")
    assert template.bind({"closed": "eu"}).sql == "select 1 where (not (o.region = $1) or o.region is null)"
    assert template.bind({"closed": ["eu"]}).sql == "select 1 where (not (o.region in ($1)) or o.region is null)"
    with pytest.raises(MissingVariable):
        template.bind({})


@each_dialect
def test_a_date_is_a_whole_day_in_every_dialect(dialect: str) -> None:
    """The next day is bound as the dialect binds dates: itself, or its text. Red when the placeholder of the first day
    is used twice."""
    found = bound(MATCHES, {"type": "date", "is_null": "none"}, "2026-12-31", dialect=dialect)
    first, after = found.params.values() if isinstance(found.params, dict) else found.params
    assert (str(first), str(after)) == ("2026-12-31", "2027-01-01")


def test_the_last_day_of_the_calendar_has_no_next_one() -> None:
    """An error of the value, as a range to that day is. Red when the overflow is no refusal."""
    with pytest.raises(UnbindableValue, match=r"params\.x at 1:16: no day follows it"):
        bound(MATCHES, "date", "9999-12-31")


# --- trunc ------------------------------------------------------------------------------------------------------------


@each_dialect
def test_every_unit_in_every_dialect(dialect: str) -> None:
    """The dialect's own text, of the units that it has; the same at each occurrence."""
    text = "select {{ params.x | trunc(o.at) }}, count(*) from o group by {{ params.x | trunc(o.at) }}"
    template = SQLTemplate(text, dialect, params={"x": "text"})
    for unit in UNITS:
        bucket = DIALECTS[dialect].trunc(unit, "o.at")
        found = template.bind({"params": {"x": unit}})
        assert found.sql == f"select {bucket}, count(*) from o group by {bucket}"
        assert not found.params


def test_a_unit_is_one_of_the_choices() -> None:
    """422 for another one, with or without a declaration. Red when the unit is bound as a value."""
    declared = {"type": "choice", "choices": ["day", "month"], "default": "day"}
    assert bound(TRUNC, declared).sql == "select date_trunc('day', at)"
    assert bound(TRUNC, declared, "month").sql == "select date_trunc('month', at)"
    assert bound(TRUNC, None, "quarter").sql == "select date_trunc('quarter', at)"
    assert bound(TRUNC.replace(" }}", " | default(week) }}"), None).sql == "select date_trunc('week', at)"
    for definition, sent in ((declared, "year"), (None, "fortnight"), (None, "day', now()); --"), ("text", "Day")):
        with pytest.raises(InvalidParameter, match="one of") as error:
            bound(TRUNC, definition, sent)
        assert sent not in error.value.message.split()
    with pytest.raises(MissingVariable):
        bound(TRUNC, None)
    assert SQLTemplate("select {{ unit | trunc(at) }}").bind({"unit": "day"}).sql == "select date_trunc('day', at)"
    with pytest.raises(UnbindableValue):
        SQLTemplate("select {{ unit | trunc(at) }}").bind({"unit": "x"})


LOCAL = "select date_trunc('day', cast(at as timestamptz) at time zone {})"


@pytest.mark.parametrize(
    ("text", "definition", "sql", "params"),
    [
        ("select {{ params.x | trunc(at, zone: 'Europe/Vienna') }}", None, LOCAL.format("'Europe/Vienna'"), ()),
        ("select {{ params.x | trunc(at, zone: {{ tz }}) }}", None, LOCAL.format("$1"), ("Asia/Tokyo",)),
        (
            "select {{ params.x | trunc(at, zone: {{ tz }}) | default(day) }}",
            None,
            LOCAL.format("$1"),
            ("Asia/Tokyo",),
        ),
        (TRUNC, {"type": "choice", "choices": ["day"], "zone": "Europe/Vienna"}, LOCAL.format("'Europe/Vienna'"), ()),
        (
            TRUNC,
            {"type": "choice", "choices": ["day"], "zone": {"property": "tz"}},
            LOCAL.format("$1"),
            ("Asia/Tokyo",),
        ),
    ],
)
def test_a_zone(text: str, definition: Any, sql: str, params: Any) -> None:
    """Of the author, or a property of the group, which is bound and must be there."""
    group = {"tz": "Asia/Tokyo", "user_group": {"properties": {"tz": "Asia/Tokyo"}}}
    found = bound(text, definition, "day", **group)
    assert (found.sql, found.params) == (sql, params)
    if params:
        with pytest.raises(MissingVariable):
            bound(text, definition, "day", user_group={"properties": {}})


def test_a_zone_where_the_engine_knows_none() -> None:
    """A compile error, rather than days of another zone."""
    text = "select {{ params.x | trunc(at, zone: 'Europe/Vienna') }}"
    assert "sqlite knows no time zones" in refusal(text, None, "sqlite")


def test_a_guarded_zone_may_be_in_each_unit() -> None:
    """The guard rule holds: whatever is chosen, the same variables of the group are in the text."""
    template = SQLTemplate("select {{ params.x | trunc(at, zone: {{ tz }}) }}", "postgresql")
    assert {each.path: each.guarded for each in template.variables} == {"params.x": False, "tz": True}
    assert template.bind({"params": {"x": "day"}, "tz": "UTC"}).reads_group


ZONES = {
    "none": ("trunc(at)", {}, ""),
    "an argument": ("trunc(at, zone: 'Europe/Vienna')", {}, "'Europe/Vienna'"),
    "declared": ("trunc(at)", {"zone": "Europe/Vienna"}, "'Europe/Vienna'"),
    "an argument, the group's": ("trunc(at, zone: {{ user_group.properties.tz }})", {}, "?"),
    "declared, the group's": ("trunc(at)", {"zone": {"property": "tz"}}, "?"),
}


@each_dialect
@pytest.mark.parametrize("source", ZONES)
def test_every_unit_with_every_zone(dialect: str, source: str) -> None:
    """One template for all units. Red when the guard counts how often the dialect writes a tag: MySQL's week and
    quarter name the column twice, and a zone of the group was then "in some of the texts only"."""
    rules = DIALECTS[dialect]
    expression, declared, zone = ZONES[source]
    definition = {"type": "choice", "choices": list(UNITS), **declared}
    text = f"select {{{{ params.x | {expression} }}}}"
    if zone and not rules.local_time:
        assert f"{dialect} knows no time zones" in refusal(text, definition, dialect)
        return
    template = SQLTemplate(text, dialect, params={"x": definition})
    for unit in UNITS:
        found = template.bind({"user_group": {"properties": {"tz": "Asia/Tokyo"}}, "params": {"x": unit}}, "qmark")
        assert found.sql == f"select {rules.trunc(unit, 'at', zone)}"
        assert found.params == ("Asia/Tokyo",) * found.sql.count("?")


@pytest.mark.parametrize(
    ("text", "definition"),
    [
        ("select {{ params.x | trunc(f({{ rate }})) }}", "text"),
        (
            "select 1 where {{ params.x | within(f({{ rate }})) }}",
            {"type": "date range", "open": "both", "required": True},
        ),
        ("select 1 where {{ params.x | matches(f({{ rate }})) }}", {"type": "date", "required": True}),
        ("select 1 where {{ params.x | excludes(f({{ rate }})) }}", {"type": "list of date", "default": "2026-01-01"}),
        ("select {{ params.x | trunc({{ rate | one_of(a: f({{ tz }}), b: g({{ tz }})) }}) }}", "text"),
    ],
)
def test_a_guarded_variable_in_a_column_that_is_there_twice(text: str, definition: Any) -> None:
    """Every text holds the column, however often. Red with the count of its occurrences."""
    assert SQLTemplate(text, "mysql", params={"x": definition}).variables
