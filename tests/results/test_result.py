"""Result: columns with their types, rows as dicts, and nothing of a value in its repr."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from tenantry.results import Result, ResultColumn


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([1, None], "integer"),
        ([True], "boolean"),
        ([1, 1.5], "float"),
        ([Decimal(1)], "decimal"),
        ([date(2026, 1, 1)], "date"),
        ([datetime(2026, 1, 1)], "datetime"),  # noqa: DTZ001
        (["a"], "text"),
        ([b""], "bytes"),
        ([[1], (2,)], "list"),
        ([{}], "struct"),
        ([1, "a"], "mixed"),
        ([True, 1], "mixed"),
        ([None, None], None),
        ([], None),
    ],
)
def test_a_type_that_nothing_says_is_that_of_the_values(values: list[Any], word: str | None) -> None:
    assert Result(["v"], [(value,) for value in values]).columns == (ResultColumn("v", word),)


def test_the_engine_is_right_about_a_type() -> None:
    assert Result(["a", "b"], [(1, "x")], ["decimal", None]).columns == (
        ResultColumn("a", "decimal"),
        ResultColumn("b", "text"),
    )


@pytest.mark.parametrize("width", [1, 2, 300])
def test_rows_are_dicts_and_back(width: int) -> None:
    """Names are data, whatever they look like: red when they are part of the code that is compiled."""
    names = [f"}}] or {number} #\n\"'" for number in range(width)]
    rows = [tuple(range(width)), tuple(range(width, 2 * width))]
    dicts = Result(names, rows).dicts()
    assert dicts == [dict(zip(names, row, strict=True)) for row in rows]
    assert Result.of_dicts(dicts).rows == rows
    with pytest.raises(ValueError, match="unpack"):
        Result(names, [(*range(width), 0)]).dicts()


def test_a_result_shows_no_value() -> None:
    """Red with a dataclass's repr: it may end in a log."""
    result = Result(["secret"], [("canary",)] * 3)
    assert repr(result) == str(result) == "<Result of 1 columns and 3 rows>"
    assert len(result) == 3
