"""Which known name an author probably meant."""

from __future__ import annotations

import pytest

from tenantry.suggestions import did_you_mean, nearest

TYPES = ("text", "integer", "decimal", "date", "date range", "datetime", "choice")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("regoin", None),
        ("integr", "integer"),
        ("int", "integer"),
        ("Date-Range", "date range"),
        ("date_range", "date range"),
        ("daterange", "date range"),
        ("choices", "choice"),
        ("txt", "text"),
        ("", None),
        ("i" * 200, None),
    ],
)
def test_nearest(name: str, meant: str | None) -> None:
    """Capitals and separators do not count. Red when separators count."""
    assert nearest(name, TYPES) == meant


def test_did_you_mean() -> None:
    """The start of a fix, or nothing."""
    assert did_you_mean("integr", TYPES) == "did you mean integer? "
    assert did_you_mean("zzz", TYPES) == ""
