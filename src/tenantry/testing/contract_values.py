from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

_NOON: Final = datetime(2026, 1, 31, 12, 0, 0, 5)  # noqa: DTZ001  # a clock time is meant
_AHEAD: Final = timezone(timedelta(hours=5, minutes=30))

VALUES: Final[Mapping[str, Sequence[Any]]] = {
    "text": (
        "",
        " a ",
        "NULL",
        "\\N",
        "' or 1 = 1 -- ",
        '"`\\',
        "\\' or 1 = 1 -- ",
        "a'; select 1; --",
        "/* a */ -- b # c",
        "%s %% %(a)s :a $1 ? ?1 @a {a} {a:Int8} $$a$$ \\x41 \\101",
        "e\u0301 \u00e9 \u00df \u0130 \u65e5\u672c\u8a9e \u202e\u05d0",
        "\U0001f600 \U00020bb7 \U0010fffd \u200b\ufeff",
        "a\nb\r\nc\td\x1a\x7f",
        "x" * 20_000,
    ),
    "integer": (0, 1, -1, 127, -128, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63)),
    "decimal": (
        Decimal(0),
        Decimal("0.10"),
        Decimal("-1.50"),
        Decimal("0.0000000001"),
        Decimal("1E+3"),
        Decimal("1234567890123456789.0123456789"),
    ),
    "float": (0.1, -2.5e-10, 1e300, 5e-300, 2.0**53),
    "boolean": (True, False),
    "date": (date(2026, 1, 31), date(2024, 2, 29), date(1970, 1, 1), date(1969, 12, 31)),
    "time": (time(0), time(9, 30), time(23, 59, 59, 999_999)),
    "datetime": (_NOON, datetime(1999, 12, 31, 23, 59, 59), datetime(2026, 3, 29, 2, 30)),  # noqa: DTZ001
    "instant": (_NOON.replace(tzinfo=UTC), _NOON.replace(tzinfo=_AHEAD), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)),
    "interval": (
        timedelta(0),
        timedelta(days=1, hours=2),
        timedelta(microseconds=5),
        timedelta(seconds=-1),
        timedelta(hours=-30, microseconds=-5),
    ),
    "uuid": (UUID(int=5), UUID("f81d4fae-7dec-41d0-a765-00a0c91e6bf6"), UUID(int=2**128 - 1)),
    "bytes": (b"", b"ab", b"'\\", b"\0a\0", bytes(range(256))),
}
"""Values for each kind. A driver may return an ``instant`` in any time zone. Every ``interval`` is shorter than 800
hours, which is the limit of some engines."""

REQUIRED: Final = frozenset({"text", "integer"})
"""Kinds of values that every engine must support."""

WORDS: Final[Mapping[str, str]] = {"instant": "datetime"}
"""Kind of value -> name of its column type, if the two names differ."""

LISTS: Final[Sequence[tuple[Sequence[str], Sequence[str]]]] = (
    (["a", "c"], ["a", "c"]),
    (["c"], ["c"]),
    (["a", "a", "x"], ["a"]),
    (["' or 1 = 1 -- ", "a') or ('1' = '1", "a,b", "\\"], []),
    ([], []),
    ([f"x{number}" for number in range(999)] + ["b"], ["b"]),
)
"""Each pair is a list to bind for ``in``, and the matching rows of a table with the rows a, b and c."""


def is_same(value: Any, back: Any) -> bool:
    if type(back) is not type(value) or back != value:
        return False
    return not isinstance(value, datetime) or (value.tzinfo is None) == (back.tzinfo is None)
