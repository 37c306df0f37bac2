"""Values are read as PostgreSQL would read their text, before asyncpg sends them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from types import SimpleNamespace
from uuid import UUID

import pytest

from tenantry.datasources.postgresql_values import encode
from tenantry.errors import UnbindableValue


def one(value: object, kind: str) -> object:
    return encode([value], [SimpleNamespace(name=kind)])[0]


@pytest.mark.parametrize(
    ("value", "kind", "read"),
    [
        ("7", "int4", 7),
        (7.0, "int8", 7),
        ("0.1", "numeric", Decimal("0.1")),
        (0.1, "numeric", Decimal("0.1")),
        ("1e3", "float8", 1000.0),
        (7, "text", "7"),
        (True, "varchar", "true"),
        ("off", "bool", False),
        (1, "bool", True),
        ("2026-01-31", "date", date(2026, 1, 31)),
        ("2026-01-31T10:00:00Z", "date", date(2026, 1, 31)),
        ("2026-01-31", "timestamp", datetime.fromisoformat("2026-01-31")),
        ("2026-01-31T10:00:00+02:00", "timestamp", datetime.fromisoformat("2026-01-31T10:00")),
        ("2026-01-31", "timestamptz", datetime(2026, 1, 31, tzinfo=UTC)),
        (date(2026, 1, 31), "timestamptz", datetime(2026, 1, 31, tzinfo=UTC)),
        ("10:30", "time", time(10, 30)),
        ("00000000-0000-0000-0000-000000000001", "uuid", UUID(int=1)),
        (None, "int4", None),
        (["1", None], "int4[]", [1, None]),
        (None, "text[]", None),
        ("as it is", "my_enum", "as it is"),
    ],
)
def test_what_is_read(value: object, kind: str, read: object) -> None:
    """Text and JSON become the Python type of the place; a type that is not known is left to the driver."""
    assert one(value, kind) == read
    assert type(one(value, kind)) is type(read)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("k3y", "int4"),
        ("7.5", "int4"),
        (7.5, "int4"),
        (True, "int4"),
        (2**31, "int4"),
        (-(2**15) - 1, "int2"),
        ("k3y", "numeric"),
        ("k3y", "float8"),
        (float("inf"), "float8"),
        ("k3y", "bool"),
        ("31.1.2026", "date"),
        (5, "date"),
        ("k3y", "timestamptz"),
        ("k3y", "time"),
        ("k3y", "uuid"),
        (b"k3y", "text"),
        ("k3y", "int4[]"),
    ],
)
def test_what_cannot_be_read(value: object, kind: str) -> None:
    """The error names the place and the type and not the value, also not in its context."""
    with pytest.raises(UnbindableValue, match=r"parameter \$1 cannot be read as") as caught:
        one(value, kind)
    assert "k3y" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_wrong_number_of_parameters() -> None:
    """SQL and values that do not belong together are refused before anything is sent."""
    with pytest.raises(UnbindableValue, match="takes 1 parameters and has 2"):
        encode([1, 2], [SimpleNamespace(name="int4")])
