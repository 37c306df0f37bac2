"""Declared parameters: what a viewer sends, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from tenantry.errors import InvalidParameter, MissingVariable, TemplateError, UnbindableValue
from tenantry.groups import Record
from tenantry.sql import DIALECTS, SQLTemplate
from tenantry.sql.dialects import Dialect

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
UNIQUE = "6f9619ff-8b86-d011-b42d-00c04fc964ff"


def bound(
    definition: Any, raw: Any, text: str = "select 1 [[ where a = {{ params.x }} ]]", dialect: str | None = None
) -> Any:
    """The params of one declared parameter."""
    template = SQLTemplate(text, params={"x": definition})
    given = {} if raw is ... else {"x": raw}
    return template.bind({"params": given}, dialect=dialect, now=NOW).params


def takes(definition: Any, raw: Any, text: str = "select 1 [[ where a = {{ params.x }} ]]") -> str:
    """The message of the refusal."""
    with pytest.raises(InvalidParameter) as refusal:
        bound(definition, raw, text)
    assert refusal.value.names == ("params.x",)
    assert refusal.value.status == 422
    return refusal.value.message


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("text", "a b", "a b"),
        ("text", " ", " "),
        ("integer", "5", 5),
        ("integer", " -07 ", -7),
        ("integer", "+9223372036854775807", 2**63 - 1),
        ("integer", 5, 5),
        ("decimal", "1.50", Decimal("1.50")),
        ("decimal", ".5", Decimal("0.5")),
        ("decimal", "1e3", Decimal(1000)),
        ("decimal", 0.1, Decimal("0.1")),
        ("decimal", 3, Decimal(3)),
        ("boolean", "true", True),
        ("boolean", "On", True),
        ("boolean", "0", False),
        ("boolean", False, False),
        ("date", "2026-01-31", date(2026, 1, 31)),
        ("date", date(2026, 1, 31), date(2026, 1, 31)),
        ("datetime", "2026-01-31T09:30", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("datetime", "2026-01-31 09:30:15.5z", datetime(2026, 1, 31, 9, 30, 15, 500_000, tzinfo=UTC)),
        ("datetime", "2026-01-31T09:30+02:00", datetime(2026, 1, 31, 7, 30, tzinfo=UTC)),
        ("datetime", "2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("datetime", datetime(2026, 1, 31, 9), datetime(2026, 1, 31, 9, tzinfo=UTC)),  # noqa: DTZ001
        ("uuid", UNIQUE.upper(), UUID(UNIQUE)),
        ("uuid", UUID(UNIQUE), UUID(UNIQUE)),
        ("interval", "15 minutes", timedelta(minutes=15)),
        ("interval", "1 day, 12 hours", timedelta(days=1.5)),
        ("interval", "90s", None),
        ("interval", "PT1H30M", timedelta(hours=1.5)),
        ("interval", "P1W", timedelta(weeks=1)),
        ("interval", timedelta(1), timedelta(1)),
        ({"type": "choice", "choices": ["eu", "us"]}, "eu", "eu"),
        ({"type": "choice", "choices": {"query": "regions"}}, "anything", "anything"),
        ({"type": "integer", "choices": [1, "2"]}, "2", 2),
        ({"type": "integer", "min": 1, "max": 3}, "3", 3),
        ({"type": "date", "min": "2026-01-01"}, "2026-01-01", date(2026, 1, 1)),
        ({"type": "text", "max_length": 3}, "abc", "abc"),
    ],
)
def test_one_value(kind: Any, raw: Any, value: Any) -> None:
    """Text is read by the type; a value that has the type is taken. Red for each row when its reader is exchanged."""
    if value is None:
        takes(kind, raw)
    else:
        (given,) = bound(kind, raw)
        assert (given, type(given)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("text", 5),
        ("text", "a\0b"),
        ("text", "\ud800"),
        ("text", ["a", "b"]),
        ("text", {"a": 1}),
        ("integer", "5.0"),
        ("integer", "1_000"),
        ("integer", "٣"),
        ("integer", "9223372036854775808"),
        ("integer", True),
        ("integer", "5; drop table orders"),
        ("integer", "1" * 5000),
        ("decimal", "nan"),
        ("decimal", "1e999"),
        ("decimal", float("inf")),
        ("decimal", "1,5"),
        ("boolean", "maybe"),
        ("boolean", 1),
        ("date", "2026-02-30"),
        ("date", "20260101"),
        ("date", "2026-W01-1"),
        ("date", datetime(2026, 1, 1, tzinfo=UTC)),
        ("datetime", "2026-01-31T25:00"),
        ("datetime", "0001-01-01T00:00+23:00"),
        ("datetime", "noon"),
        ("uuid", UNIQUE.replace("-", "")),
        ("uuid", "{" + UNIQUE + "}"),
        ("interval", "1 month"),
        ("interval", "P"),
        ("interval", "PT"),
        ("interval", "1 day 2 days"),
        ("interval", "999999999 weeks"),
        ("interval", 5),
        ({"type": "choice", "choices": ["eu", "us"]}, "EU"),
        ({"type": "choice", "choices": ["eu", "us"]}, ["eu", "us"]),
        ({"type": "integer", "choices": [1, 2]}, "3"),
        ({"type": "integer", "min": 1}, "0"),
        ({"type": "integer", "max": 3}, "4"),
        ({"type": "date", "max": "2026-01-01"}, "2026-01-02"),
        ({"type": "text", "max_length": 3}, "abcd"),
        ({"type": "interval", "max": "1 day"}, "25 hours"),
    ],
)
def test_a_value_that_does_not_fit(kind: Any, raw: Any) -> None:
    """422 with what the parameter takes, nothing of the value. Red when a reader lets an exception of its own out."""
    message = takes(kind, raw)
    assert message.startswith("params.x takes ")
    if isinstance(raw, str):
        assert raw not in message


@pytest.mark.parametrize("raw", [..., None, "", [""], ["", ""], [None]])
@pytest.mark.parametrize("kind", ["text", "integer", "list of text", "date range"])
def test_an_empty_field_is_absent(kind: str, raw: Any) -> None:
    """As if the address had nothing: the clause goes. Red when empty text counts as a value."""
    text = {
        "list of text": "select 1 [[ where a in {{ params.x }} ]]",
        "date range": "select 1 [[ where a >= {{ params.x.start }} ]]",
    }.get(kind, "select 1 [[ where a = {{ params.x }} ]]")
    assert bound(kind, raw, text) == ()
    assert takes({"type": kind, "required": True}, raw, text).startswith("params.x is required, and takes ")


IN = "select 1 [[ where a in {{ params.x }} ]]"


@pytest.mark.parametrize(
    ("raw", "values"),
    [("5", (5,)), (["5", "7"], (5, 7)), (["5", "", "7"], (5, 7)), ((5,), (5,)), ([], ()), (..., ())],
)
def test_lists(raw: Any, values: tuple[int, ...]) -> None:
    """One value for a list is a list of one."""
    assert bound("list of integer", raw, IN) == values


def test_an_empty_list_is_no_rows_and_an_absent_one_is_all() -> None:
    """Red when `[]` counts as absent."""
    template = SQLTemplate(IN, "sqlite", params={"x": "list of text"})
    assert template.bind({"params": {"x": []}}).sql == "select 1  where a in () "
    assert "where" not in template.bind({"params": {}}).sql


@pytest.mark.parametrize("raw", [["5", "x"], [["5"]], ["1", "2", "3", "4"], {"5": 1}])
def test_lists_that_do_not_fit(raw: Any) -> None:
    """Each item is checked, and how many there are."""
    message = takes({"type": "list of integer", "max_items": 3}, raw, IN)
    assert message == "params.x takes a list of at most 3, each a whole number"


def test_a_list_has_a_limit_of_its_own() -> None:
    """Red without one: an address of 64 KiB would give thousands of placeholders."""
    assert len(bound("list of integer", ["1"] * 1000, IN)) == 1000
    takes("list of integer", ["1"] * 1001, IN)


ENDS = "select 1 [[ where a >= {{ params.x.start }} ]] [[ and a < {{ params.x.end }} ]]"
MAY = (date(2026, 5, 1), date(2026, 6, 1))


@pytest.mark.parametrize(
    "raw",
    [
        "2026-05-01..2026-05-31",
        " 2026-05-01 .. 2026-05-31 ",
        {"start": "2026-05-01", "end": "2026-05-31"},
        Record({"start": "2026-05-01", "end": "2026-05-31"}),
        {"start": date(2026, 5, 1), "end": date(2026, 5, 31)},
        "this month",
        "this-month",
        ["this month"],
    ],
)
def test_a_range_of_dates(raw: Any) -> None:
    """The last day is in it, so its end is the day after. Red when the end is taken as it is."""
    assert bound("date range", raw, ENDS) == MAY


def test_a_range_in_two_fields() -> None:
    """As a form sends it. Red when both spellings at once give one of them."""
    template = SQLTemplate(ENDS, params={"x": "date range"})
    two = {"x.start": "2026-05-01", "x.end": "2026-05-31"}
    assert template.bind({"params": two}, now=NOW).params == MAY
    assert template.bind({"params": {"x.start": "", "x.end": ""}}, now=NOW).params == ()
    assert template.bind({"params": {"x": "", **two}}, now=NOW).params == MAY
    assert template.bind({"params": {"x": "this month", "x.start": ""}}, now=NOW).params == MAY
    with pytest.raises(InvalidParameter):
        template.bind({"params": {"x": "this month", **two}}, now=NOW)


@pytest.mark.parametrize(
    ("opened", "raw", "values"),
    [
        ("end", "2026-05-01..", MAY[:1]),
        ("both", "2026-05-01..", MAY[:1]),
        ("both", "..2026-05-31", MAY[1:]),
        ("start", "..2026-05-31", MAY[1:]),
        ("start", "2026-05-01..", None),
        ("end", "..2026-05-31", None),
        (None, "2026-05-01..", None),
        (None, {"start": "2026-05-01"}, None),
        (None, "..", ()),
    ],
)
def test_an_end_may_be_missing_where_the_declaration_says_so(opened: str | None, raw: Any, values: Any) -> None:
    """Red when ``open`` is not looked at."""
    definition = {"type": "date range", "open": opened}
    if values is None:
        takes(definition, raw, ENDS)
    else:
        text = "select 1 [[ where a >= {{ params.x.start }} ]] [[ and a < {{ params.x.end }} ]]"
        assert bound(definition, raw, text) == values


@pytest.mark.parametrize(
    "raw",
    [
        "2026-05-31..2026-05-01",
        "2026-05-01",
        "2026-05-01..2026-05-31..2026-06-01",
        "2026-05-01...2026-05-31",
        "last 2 hours",
        "2026-05-01..today",
        "2026-05-01..9999-12-31",
        {"start": "2026-05-01", "end": "2026-05-31", "other": "x"},
        ["2026-05-01", "2026-05-31"],
        5,
    ],
)
def test_a_range_that_does_not_fit(raw: Any) -> None:
    """What ends before it starts, or is half a range."""
    takes("date range", raw, ENDS)


@pytest.mark.parametrize(
    ("kind", "raw", "problem"),
    [
        ("date range", "2026-05-31..2026-05-01", "ends before it begins"),
        ("date range", {"start": "2026-05-02", "end": "2026-05-01"}, "ends before it begins"),
        ("datetime range", "2026-05-01T17:00..2026-05-01T09:00", "ends before it begins"),
        ("datetime range", "2026-05-01T09:00..2026-05-01T09:00", "ends when it begins"),
    ],
)
def test_a_range_that_is_empty_says_so(kind: str, raw: Any, problem: str) -> None:
    """A viewer's as the author's own default. Red with the general message: both ends are right in themselves."""
    assert takes(kind, raw, ENDS).startswith(f"params.x {problem}, and takes two ")
    with pytest.raises(TemplateError, match=f"params.x.default: {problem}"):
        SQLTemplate(ENDS, params={"x": {"type": kind, "default": raw}})


VIENNA = ZoneInfo("Europe/Vienna")


@pytest.mark.parametrize(
    ("raw", "start", "end"),
    [
        ("2026-05-01..2026-05-31", "2026-05-01T00:00:00+02:00", "2026-06-01T00:00:00+02:00"),
        ("2026-05-01T09:00..2026-05-01T17:00", "2026-05-01T09:00:00+02:00", "2026-05-01T17:00:00+02:00"),
        ("2026-05-01T09:00Z..2026-05-01", "2026-05-01T11:00:00+02:00", "2026-05-02T00:00:00+02:00"),
        ("last 24 hours", "2026-05-19T15:00:00+02:00", "2026-05-20T15:00:00+02:00"),
        ("last 30 days", "2026-04-21T00:00:00+02:00", "2026-05-21T00:00:00+02:00"),
    ],
)
def test_a_range_of_instants(raw: str, start: str, end: str) -> None:
    """In the zone of its declaration: a clock time without an offset is one of that zone."""
    params = bound({"type": "datetime range", "zone": "Europe/Vienna"}, raw, ENDS)
    assert tuple(map(datetime.isoformat, params)) == (start, end)
    if ".." in raw:
        takes({"type": "relative range", "zone": "Europe/Vienna"}, raw, ENDS)
    else:
        assert bound({"type": "relative range", "zone": "Europe/Vienna"}, raw, ENDS) == params


@pytest.mark.parametrize(
    ("now", "raw"),
    [
        ("2026-10-25T00:30:00Z", "this hour"),
        ("2026-10-25T01:30:00Z", "last hour"),
        ("2026-10-25T01:30:00Z", "2026-10-25T02:30+02:00..2026-10-25T02:15+01:00"),
    ],
)
def test_a_range_in_the_hour_that_comes_twice(now: str, raw: str) -> None:
    """The clock shows 02:00 to 02:59 twice in autumn. Red when the ends are compared by what the clock shows."""
    template = SQLTemplate(
        "select 1 where {{ params.x | within(at) }}",
        "postgresql",
        params={"x": {"type": "datetime range", "zone": "Europe/Vienna"}},
    )
    start, end = template.bind({"params": {"x": raw}}, now=datetime.fromisoformat(now)).params or ()
    assert start.astimezone(UTC) < end.astimezone(UTC)
    later, earlier = "2026-10-25T02:15+01:00", "2026-10-25T02:30+02:00"
    takes({"type": "datetime range", "zone": "Europe/Vienna"}, f"{later}..{earlier}", ENDS)


def test_choices_of_relative_ranges() -> None:
    """A closed list of names, in any spelling; two dates are then no choice."""
    definition = {"type": "date range", "choices": ["this month", "last month"]}
    assert bound(definition, "This-Month", ENDS) == MAY
    assert takes(definition, "last 30 days", ENDS) == "params.x takes one of this month, last month"
    takes(definition, "2026-05-01..2026-05-31", ENDS)


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        ("2026-01-01..2026-12-31", True),
        ("2025-12-31..2026-12-31", False),
        ("2026-01-01..2027-01-01", False),
        ("2026-01-01..", False),
        ("this year", True),
        ("last year", False),
    ],
)
def test_limits_of_a_range(raw: str, fits: bool) -> None:
    """Both ends are held to them, the last day as it was sent, and a range without an end is beyond each limit."""
    definition = {"type": "date range", "min": "2026-01-01", "max": "2026-12-31", "open": "both"}
    if fits:
        assert bound(definition, raw, ENDS)
    else:
        takes(definition, raw, ENDS)


def test_a_range_needs_a_clock_with_a_zone() -> None:
    """A mistake of the program, and in its first test. Red when it is seen only for relative values."""
    template = SQLTemplate(ENDS, params={"x": "date range"})
    for now in (None, datetime(2026, 1, 1)):  # noqa: DTZ001
        with pytest.raises(ValueError, match=r"now=datetime\.now\(UTC\)"):
            template.bind({"params": {}}, now=now)


# --- defaults, locked parameters --------------------------------------------------------------------------------------


def test_defaults() -> None:
    """Where nothing was sent; the clause then always stays."""
    template = SQLTemplate(
        "select 1 where a in {{ params.s }} [[ and b = {{ params.b }} ]] limit {{ params.n }}",
        params={
            "s": {"type": "list of text", "default": ["a", "b"]},
            "b": {"type": "date", "default": "2026-01-31"},
            "n": {"type": "integer", "default": 100},
        },
    )
    assert template.bind({"params": {}}).params == ("a", "b", date(2026, 1, 31), 100)
    assert template.bind({}).params == ("a", "b", date(2026, 1, 31), 100)
    assert template.bind({"params": {"s": "c", "b": "", "n": "5"}}).params == ("c", date(2026, 1, 31), 5)


def test_a_relative_default_follows_the_clock() -> None:
    """Red when it is computed once."""
    template = SQLTemplate(ENDS, params={"x": {"type": "date range", "default": "this month", "min": "2030-01-01"}})
    assert template.bind({}, now=NOW).params == MAY
    assert template.bind({}, now=NOW + timedelta(days=31)).params == (date(2026, 6, 1), date(2026, 7, 1))


REGION = {"type": "text", "default": {"property": "region"}}
GROUP = {"region": "us", "user_group": {"properties": {"region": "eu", "zones": {"main": "Europe/Vienna"}, "since": 5}}}


def test_a_default_from_a_property() -> None:
    """The group's own, whatever a variable of that name is. A group that lacks it is an error, and never `absent`: red
    when the clause is dropped then."""
    template = SQLTemplate("select 1 [[ where a = {{ params.x }} ]]", params={"x": REGION})
    assert template.bind(GROUP).params == ("eu",)
    assert template.bind({**GROUP, "params": {"x": "us"}}).params == ("us",)
    assert template.bind({"region": "us"}).params == ("us",)  # variables without a group
    for lacking in (
        {"user_group": {"properties": {}}, "region": "us"},
        {"user_group": {"properties": {"region": None}}},
    ):
        with pytest.raises(MissingVariable) as error:
            template.bind(lacking)
        assert error.value.names == ("user_group.properties.region",)
        assert template.bind({**lacking, "params": {"x": "us"}}).params == ("us",)


def test_a_property_that_does_not_fit_is_not_the_viewers_mistake() -> None:
    """Named by its own path, without its value."""
    template = SQLTemplate(
        "select 1 where a = {{ params.x }}", params={"x": {"type": "date", "default": {"property": "since"}}}
    )
    with pytest.raises(UnbindableValue, match=r"the property since does not fit params\.x") as error:
        template.bind(GROUP)
    assert error.value.name == "user_group.properties.since"


def test_an_empty_text_of_a_property_is_a_text() -> None:
    """It matches what is empty, and is not dropped."""
    template = SQLTemplate("select 1 [[ where a = {{ params.x }} ]]", params={"x": REGION})
    assert template.bind({"user_group": {"properties": {"region": ""}}}).params == ("",)


LOCKED = {"x": {**REGION, "locked": True}, "y": "text"}


def test_a_locked_parameter_is_the_property() -> None:
    """What a viewer sends is refused, and an empty field is nothing. Red when it is taken, or ignored."""
    template = SQLTemplate("select 1 where a = {{ params.x }}", params=LOCKED)
    assert template.bind(GROUP).params == ("eu",)
    assert template.bind({**GROUP, "params": {"x": ""}}).params == ("eu",)
    for sent in ("us", "eu", ["eu"], ["us", "us"], {"a": "b"}, 0, []):
        with pytest.raises(InvalidParameter, match=r"^params\.x cannot be set by a viewer$"):
            template.bind({**GROUP, "params": {"x": sent}})
    with pytest.raises(MissingVariable):
        template.bind({"user_group": {"properties": {}}})


def test_a_locked_parameter_is_guarded() -> None:
    """Red without the check: leaving y out, or another y, would drop the group's own condition."""
    for text in (
        "select 1 [[ where a = {{ params.x }} and b = {{ params.y }} ]]",
        "select 1 where {{ params.y | one_of(own: a = {{ params.x }}, all: true) }}",
        "select 1 where {{ params.y | matches({{ params.x | matches(a) }} and b) }}",
    ):
        with pytest.raises(TemplateError, match=r"params\.x is locked, and a viewer's choice could leave it out"):
            SQLTemplate(text, "postgresql", params=LOCKED)
    assert SQLTemplate("select 1 where {{ params.x | matches(a) }}", "postgresql", params=LOCKED)


def test_the_zone_of_the_group() -> None:
    """As a property; a group that lacks it, or has none that exists, is an error."""
    definition = {"type": "datetime range", "zone": {"property": "zones.main"}, "default": "2026-05-01..2026-05-31"}
    template = SQLTemplate(ENDS, params={"x": definition})
    expected = (datetime(2026, 5, 1, tzinfo=VIENNA), datetime(2026, 6, 1, tzinfo=VIENNA))
    assert template.bind({**GROUP, "params": {"x": "this month"}}, now=NOW).params == expected
    assert template.bind(GROUP, now=NOW).params == expected
    with pytest.raises(MissingVariable, match=r"zones\.main \(for params\.x\)"):
        template.bind({"user_group": {"properties": {}}}, now=NOW)
    for wrong in ("Nowhere/Town", "../../etc/passwd", "Europe", 5, "", "posix\0"):
        with pytest.raises(UnbindableValue, match="needs a time zone") as error:
            template.bind({"user_group": {"properties": {"zones": {"main": wrong}}}}, now=NOW)
        assert str(wrong) not in error.value.message or not wrong or wrong in {"Europe", 5}


# --- the template -----------------------------------------------------------------------------------------------------


def test_all_that_is_wrong_is_one_error() -> None:
    """Each parameter with what it takes. Red when the first one ends it."""
    template = SQLTemplate(
        "select 1 limit {{ params.n }} offset {{ params.m }}",
        params={
            "n": {"type": "integer", "min": 1, "max": 1000},
            "m": "integer",
            "d": {"type": "date", "required": True},
        },
    )
    with pytest.raises(InvalidParameter) as error:
        template.bind({"params": {"n": "0", "m": "secret"}})
    assert error.value.names == ("params.n", "params.m", "params.d")
    assert error.value.message == (
        "params.n takes a whole number from 1 to 1000; params.m takes a whole number; "
        "params.d is required, and takes a date such as 2026-01-31"
    )


def test_what_is_not_declared_is_not_seen() -> None:
    """An address may hold more than a query asks for; of the group nothing is lost."""
    template = SQLTemplate(
        "select {{ region }} a, {{ user_group.properties.region }} b [[ where a = {{ params.x }} ]]",
        params={"x": "text"},
    )
    assert template.bind({**GROUP, "params": {"y": "1", "region": "x"}}).params == ("us", "eu")
    assert template.bind(Record({**GROUP, "params": {"x": "1"}})).params == ("us", "eu", "1")


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("select 1 where a = {{ params.regoin }}", "params.regoin is not declared", "did you mean params.region?"),
        ("select 1 where a = {{ params.other }}", "params.other is not declared", "declared are: region, list, period"),
        ("select 1 where a = {{ params.sort }}", "params.sort is not declared", "fix: Else declare sort"),
        ("select 1 where a = {{ params.region.x }}", "params.region is text, and has no parts", "{{ params.region }}"),
        ("select 1 where a = {{ params.period }}", "params.period is a range", "params.period.start"),
        ("select 1 where a = {{ params.period.begin }}", "params.period is a range", "params.period.start"),
        ("select 1 where a = {{ params.list }}", "params.list is a list", "in {{ params.list }}"),
        ("select 1 where a = '{{ params.list }}'", "params.list is a list", "in {{ params.list }}"),
        ("select 1 where a in {{ params.region }}", "params.region is not a list", "list of text"),
        ("select 1 limit {{ params.region }}", "params.region is text, where a count is needed", "integer"),
    ],
)
def test_a_template_asks_for_what_is_declared(text: str, problem: str, fix: str) -> None:
    """With line, column and caret. Red for each row without its check: it would be an error of some request."""
    with pytest.raises(TemplateError) as error:
        SQLTemplate(text, "postgresql", params={"region": "text", "list": "list of text", "period": "date range"})
    assert problem in error.value.message
    assert fix in error.value.message
    assert error.value.location is not None


def test_a_template_that_declares_nothing_takes_what_comes() -> None:
    """As before there were declarations."""
    template = SQLTemplate("select {{ params.anything }} as v", params={})
    assert template.bind({"params": {"anything": "a"}}).params == ("a",)
    assert dict(template.parameters) == {}


def test_a_template_shows_its_parameters() -> None:
    """With what a control needs, in the order of the declaration."""
    template = SQLTemplate(
        "select 1",
        params={
            "region": {"type": "choice", "choices": {"eu": "Europe", "us": "United States"}, "label": "Region"},
            "rows": "integer",
        },
    )
    region, rows = template.parameters.values()
    assert (region.choices, region.labels, region.label) == (("eu", "us"), ("Europe", "United States"), "Region")
    assert (rows.name, rows.path, rows.type, rows.takes) == ("rows", "params.rows", "integer", "a whole number")


def test_values_of_a_group_make_a_fingerprint_the_groups() -> None:
    """A default or a zone that is a property is read of the group, though the path is the viewer's. Red without it: two
    groups would share what one of them may see."""
    text = "select 1 [[ where a = {{ params.x }} ]]"
    assert not SQLTemplate(text, params={"x": "text"}).bind({"params": {"x": "a"}}).reads_group
    assert SQLTemplate(text, params={"x": REGION}).bind({**GROUP, "params": {"x": "a"}}).reads_group
    zone: Mapping[str, Any] = {"type": "datetime", "zone": {"property": "zones.main"}}
    assert SQLTemplate(text, params={"x": zone}).bind({**GROUP, "params": {}}).reads_group


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_each_dialect_gets_types_that_it_has(dialect: Dialect) -> None:
    """A type that its engine lacks, or has as a text, is given as seconds or as a text."""
    assert ("interval" in dialect.casts) != ("interval" in dialect.bind_as)
    if dialect.casts.get("uuid") in {None, "string", "varchar", "char(36)"}:
        assert dialect.bind_as["uuid"] is str


@pytest.mark.parametrize(
    ("kind", "raw", "sqlite", "mysql"),
    [
        ("decimal", "1.5", 1.5, Decimal("1.5")),
        ("date", "2026-01-31", "2026-01-31", date(2026, 1, 31)),
        ("datetime", "2026-01-31T09:30+02:00", "2026-01-31 07:30:00", datetime(2026, 1, 31, 7, 30)),  # noqa: DTZ001
        (
            {"type": "datetime", "zone": "Europe/Vienna"},
            "2026-01-31T09:30",
            "2026-01-31 08:30:00",
            datetime(2026, 1, 31, 8, 30),  # noqa: DTZ001
        ),
        ("uuid", UNIQUE, UNIQUE, UNIQUE),
        ("interval", "15 minutes", 900, 900),
        ("interval", "1.5 seconds", 1.5, 1.5),
        ("boolean", "true", True, True),
    ],
)
def test_values_are_what_the_driver_takes(kind: Any, raw: str, sqlite: Any, mysql: Any) -> None:
    """sqlite3 takes no Decimal, PyMySQL writes an instant without its zone."""
    for dialect, value in (("sqlite", sqlite), ("mysql", mysql)):
        (given,) = bound(kind, raw, dialect=dialect)
        assert (given, type(given)) == (value, type(value))


def test_a_declared_list_can_be_one_array() -> None:
    """A list stands after ``in``, or is bound whole. Red when the position alone is asked."""
    text = "select * from t where id = any({{ params.ids | array }})"
    listed = SQLTemplate(text, "postgresql", params={"ids": "list of integer"})
    assert listed.bind({"params": {"ids": ["1", "2"]}}).params == ([1, 2],)
    with pytest.raises(TemplateError, match=r"params\.ids is not a list"):
        SQLTemplate(text, "postgresql", params={"ids": "integer"})
