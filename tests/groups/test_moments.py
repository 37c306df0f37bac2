"""Times of RFC 3339: what is read, and what is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenantry.groups import MOMENT_RULE, from_micros, read_moment, write_moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2027-01-31T23:59:59Z", datetime(2027, 1, 31, 23, 59, 59, tzinfo=UTC)),
        ("2027-01-31t23:59:59z", datetime(2027, 1, 31, 23, 59, 59, tzinfo=UTC)),
        ("2027-01-31 23:59:59.5-00:00", datetime(2027, 1, 31, 23, 59, 59, 500_000, UTC)),
        ("2027-02-01T01:59:59.1234567890+02:00", datetime(2027, 1, 31, 23, 59, 59, 123_456, UTC)),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_time_with_its_zone(text: str, moment: datetime) -> None:
    """In UTC, whatever zone it was written in."""
    assert (read_moment(text), read_moment(text).tzinfo) == (moment, UTC)


@pytest.mark.parametrize(
    "text",
    [
        "", "2027-01-31", "2027-01-31T23:59:59", "2027-01-31T23:59Z", "20270131T235959Z", "2027-W04-7T23:59:59Z",
        "2027-02-30T00:00:00Z", "2027-01-31T24:00:00Z", "2027-01-31T23:59:61Z", "2027-01-31T23:59:59+24:00",
        "2027-01-31T23:59:59+02", "2027-01-31T23:59:59,5Z", "2027-01-31T23:59:59Z\n", " 2027-01-31T23:59:59Z",
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
        "\u0662\u0660\u0662\u0667-01-31T23:59:59Z", "1800000000",
    ],
)  # fmt: skip
def test_what_is_no_such_time(text: str) -> None:
    """The rule is said, and the text is not repeated. Red when the zone is optional: whose midnight would it be?"""
    with pytest.raises(ValueError, match="RFC 3339 time with a zone") as refused:
        read_moment(text)
    assert str(refused.value) == MOMENT_RULE


@settings(deadline=None)
@given(st.integers(-62_000_000_000_000_000, 250_000_000_000_000_000), st.integers(-23, 23))
def test_what_is_written_is_read(micros: int, hours: int) -> None:
    moment = from_micros(micros)
    text = write_moment(moment.astimezone(timezone(timedelta(hours=hours))))
    assert text is not None
    assert read_moment(text) == moment


def test_no_time_is_no_text() -> None:
    assert write_moment(None) is None
