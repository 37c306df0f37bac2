"""Result: columns with their types, rows as dicts, and nothing of a value in its repr."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from tenantry.datasources.results import Result, ResultColumn
from tenantry.datasources.results.chunks import chunk_writers, narrowed


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


def test_some_columns_of_a_result() -> None:
    """In its order, with their types and when it was asked; names that it lacks are none. All of them are the result
    itself, so that what is kept for it stays. Red when the order is that of the names."""
    whole = Result(["a", "b", "c"], [(1, "x", None), (2, "y", None)], ["integer", "text", None], datetime(2026, 1, 1))  # noqa: DTZ001
    some = whole.only(["c", "a", "nosuch"])
    assert (some.names, some.rows, some.types) == (["a", "c"], [(1, None), (2, None)], ["integer", None])
    assert some.as_of == whole.as_of
    assert whole.only(["b"]).rows == [("x",), ("y",)]
    assert whole.only([]).rows == [(), ()]
    assert whole.only({"c", "b", "a"}) is whole


@pytest.mark.parametrize("format_", ["json", "ndjson", "csv", "arrow"])
def test_some_columns_of_a_stream(format_: str) -> None:
    """The bytes are those of a query without the others. Red when a row keeps what the names have lost."""
    rows: list[tuple[Any, ...]] = [(1, "x", 2.5), (2, "y", 3.5)]
    narrow = narrowed(chunk_writers(format_), {"a", "c"})(["a", "b", "c"], ["integer", "text", "float"])
    own = chunk_writers(format_)(["a", "c"], ["integer", "float"])
    assert narrow.write(rows) + narrow.end() == own.write([(1, 2.5), (2, 3.5)]) + own.end()
