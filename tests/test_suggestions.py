"""Which known name an author probably meant."""

from __future__ import annotations

import pytest

from tenantry.errors import did_you_mean, nearest

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


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("address.cty", "address.city"),
        ("adress.city", "address.city"),
        ("address.zip", "address.zip_code"),
        ("address.item", None),
        ("city", None),
    ],
)
def test_each_part_of_a_path_is_near(path: str, meant: str | None) -> None:
    """Red when paths are compared as a whole: address.item was taken for address.city."""
    assert nearest(path, ["address.city", "address.zip_code"]) == meant


def test_did_you_mean() -> None:
    """The start of a fix, or nothing."""
    assert did_you_mean("integr", TYPES) == "did you mean integer? "
    assert did_you_mean("integr", TYPES, prefix="params.") == "did you mean params.integer? "
    assert did_you_mean("zzz", TYPES) == ""
    assert nearest("parts", ["params"]) == "params"
    assert nearest("parts", ["params"], close=0.8) is None
