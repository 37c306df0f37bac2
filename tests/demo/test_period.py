"""The period that a viewer chooses."""

from __future__ import annotations

from datetime import date

import pytest

from tenantry.demo.queries import DEFAULT, Choice, Period, read_choice
from tenantry.groups import Record


def chosen(**params: object) -> Choice:
    return read_choice(Record({name.rstrip("_"): value for name, value in params.items()}))


def test_without_a_choice_it_is_the_last_half_year() -> None:
    """There is a half-year before it to compare with."""
    assert chosen() == Choice(DEFAULT)
    assert DEFAULT.before() == Period(date(2013, 1, 1), date(2013, 6, 30))


def test_an_empty_day_leaves_its_side_open() -> None:
    """The SQL then has no clause for that side."""
    assert chosen(from_="", to="2013-03-31").period.params == {"to": "2013-03-31"}
    assert chosen(from_="", to="").period.params == {}
    assert chosen(to="2013-03-31").period.start is None


@pytest.mark.parametrize(
    "day",
    [
        "2013-13-01",
        "2013-02-30",
        "20130701",
        "2013-W01-1",
        "1 July",
        "2013-07-01 ",
        "\u0662\u0660\u0661\u0663-07-01",
        ["2013-07-01"] * 2,
    ],
)
def test_what_is_no_date_is_said_and_never_reaches_the_query(day: object) -> None:
    """The field is blamed, the other day is kept. Red when _day takes whatever date.fromisoformat does."""
    choice = chosen(from_=day, to="2013-09-30")
    assert choice.wrong == ("from",)
    assert "first day is not a date" in (choice.problem or "")
    assert choice.period == Period(None, date(2013, 9, 30))


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("2013-06-02", "2013-06-01", "after the last day"),
        ("2014-01-01", "2014-02-01", "2013-01-01 to 2013-12-31 only"),
        ("", "2012-12-31", "2013-01-01 to 2013-12-31 only"),
        ("x", "y", "first day and last day are not dates"),
    ],
)
def test_days_that_make_no_period_are_said(first: str, last: str, words: str) -> None:
    """Each has its own sentence, and blames both fields."""
    choice = chosen(from_=first, to=last)
    assert words in (choice.problem or "")
    assert choice.wrong == ("from", "to")


@pytest.mark.parametrize(
    ("start", "end", "before", "length"),
    [
        ((2013, 3, 1), (2013, 3, 31), ((2013, 2, 1), (2013, 2, 28)), "month"),
        ((2013, 4, 1), (2013, 6, 30), ((2013, 1, 1), (2013, 3, 31)), "3 months"),
        ((2013, 3, 5), (2013, 3, 5), ((2013, 3, 4), (2013, 3, 4)), "day"),
        ((2013, 3, 11), (2013, 3, 20), ((2013, 3, 1), (2013, 3, 10)), "10 days"),
        ((2013, 1, 1), (2013, 12, 31), None, "12 months"),
        ((2013, 1, 20), (2013, 3, 20), None, "60 days"),
    ],
)
def test_the_period_before_is_as_long(
    start: tuple[int, int, int],
    end: tuple[int, int, int],
    before: tuple[tuple[int, int, int], tuple[int, int, int]] | None,
    length: str,
) -> None:
    """Whole months before whole months, else as many days; none where the data do not reach."""
    period = Period(date(*start), date(*end))
    earlier = period.before()
    assert (earlier and (earlier.start, earlier.end)) == (before and (date(*before[0]), date(*before[1])))
    assert period.length == length


def test_a_month_is_touched_by_any_of_its_days() -> None:
    """The chart marks a month of which one day is chosen."""
    period = Period(date(2013, 3, 31), date(2013, 5, 1))
    assert [month for month in range(1, 13) if period.touches(month)] == [3, 4, 5]
