"""Values become texts that PostgreSQL reads as the type of their place."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

import pytest

from tenantry.datasources.engines.postgresql_values import encode_parameters
from tenantry.errors import UnbindableValue


class Region(StrEnum):
    EU = "eu"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("é", "é"),
        (Region.EU, "eu"),
        (7, "7"),
        (True, "true"),
        (7.0, "7"),
        (2.0**53, "9007199254740992.0"),
        (0.1, "0.1"),
        (Decimal("1.50"), "1.50"),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 10, tzinfo=timezone(timedelta(hours=5))), "2026-01-31 05:00:00+00:00"),
        (datetime(2026, 1, 31, 10, tzinfo=UTC).replace(tzinfo=None), "2026-01-31 10:00:00"),
        (time(10, 30), "10:30:00"),
        (timedelta(days=-1, seconds=3, microseconds=4), "-1 days 3 seconds 4 microseconds"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (b"\0\xff", r"\x00ff"),
        ([], "{}"),
        (["a,b", 'q"\\', None, True, "NULL", ""], r'{"a,b","q\"\\",NULL,"true","NULL",""}'),
        ([[1, 2], (3, 4)], '{{"1","2"},{"3","4"}}'),
        (None, None),
    ],
)
def test_what_is_sent(value: object, text: str | None) -> None:
    """One text for each value; what is in a list is quoted, so that no item is taken for two, or for NULL."""
    assert encode_parameters([value]) == [None if text is None else text.encode()]


@pytest.mark.parametrize("value", ["a\0b", ["a\0b"], "\ud800", float("inf"), float("nan"), object(), {"a": 1}, {1}])
def test_what_has_no_text(value: object) -> None:
    """Also a NUL, at which libpq would end the text: the server would be asked for another value. The error names the
    place and not the value, also not in its context."""
    told = (
        r"^the value of parameter \$2 cannot be sent to PostgreSQL: pass a number, boolean, string, date, time, "
        r"interval, UUID, bytes or a list of these, without NUL, lone surrogates, NaN or infinity$"
    )
    with pytest.raises(UnbindableValue, match=told) as caught:
        encode_parameters(["x", value])
    assert (caught.value.name, caught.value.__context__) == ("$2", None)
