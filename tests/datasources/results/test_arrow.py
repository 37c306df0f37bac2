"""Arrow IPC: pyarrow reads the types and the values that went in."""

from __future__ import annotations

import math
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from tenantry.datasources.results import Format, Result, to_arrow
from tenantry.datasources.results.arrow import ArrowWriter
from tenantry.errors import InvalidSettings

DAY = date(2026, 1, 31)
AT = datetime(2026, 1, 31, 9, 30)  # noqa: DTZ001
EAST = timezone(timedelta(hours=5))


def read(text: bytes) -> Any:
    with pa.ipc.open_stream(text) as reader:
        return reader.read_all()


@pytest.mark.parametrize(
    ("values", "kind", "given"),
    [
        ([1, None, -(2**63)], "int64", None),
        ([1, 2**64], "string", ["1", str(2**64)]),
        ([True, None], "bool", None),
        ([True, 1], "string", ["true", "1"]),
        ([1.5, None, math.inf], "double", None),
        ([1, 1.5], "double", [1.0, 1.5]),
        ([2**53 + 1, 1.5], "string", ["9007199254740993", "1.5"]),
        ([Decimal("1.50"), None, Decimal(100)], "decimal128(5, 2)", None),
        ([Decimal("NaN"), Decimal(1)], "decimal128(1, 0)", [None, Decimal(1)]),
        ([Decimal("NaN")], "decimal128(38, 0)", [None]),
        ([Decimal(1), 2], "string", ["1", "2"]),
        (["a", None, "\ud800"], "string", ["a", None, "�"]),
        ([b"\xff", None], "binary", None),
        ([DAY, None], "date32[day]", None),
        ([AT, None], "timestamp[us]", None),
        ([AT.replace(tzinfo=EAST)], "timestamp[us, tz=UTC]", [AT.replace(hour=4, tzinfo=UTC)]),
        ([AT, AT.replace(tzinfo=UTC)], "string", ["2026-01-31T09:30:00", "2026-01-31T09:30:00Z"]),
        ([DAY, AT], "string", ["2026-01-31", "2026-01-31T09:30:00"]),
        ([time(9, 30), None], "time64[us]", None),
        ([time(9, 30, tzinfo=EAST)], "string", ["09:30:00+05:00"]),
        ([timedelta(days=1)], "duration[us]", None),
        ([UUID(int=7)], "string", ["00000000-0000-0000-0000-000000000007"]),
        ([[1, 2], None], "string", ["[1,2]", None]),
        ([{"a": Decimal("1.0")}], "string", ['{"a":1.0}']),
        ([1, "a"], "string", ["1", "a"]),
        ([None], "string", None),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_every_kind_of_column(values: list[Any], kind: str, given: list[Any] | None) -> None:
    """Red when the type is left to pyarrow: it refuses mixed columns, and makes floats of big integers."""
    for rows in (Result(["v"], [(value,) for value in values]), [{"v": value} for value in values]):
        table = read(to_arrow(rows))
        assert str(table.schema.field("v").type) == kind
        assert table.column("v").to_pylist() == (values if given is None else given)


@pytest.mark.parametrize(
    ("word", "kind"),
    [("integer", "int64"), ("decimal", "decimal128(38, 0)"), ("uuid", "string"), (None, "string"), ("json", "string")],
)
def test_without_a_value_the_engine_says_the_type(word: str | None, kind: str) -> None:
    for rows in ([], [(None,)]):
        table = read(to_arrow(Result(["v"], rows, [word])))
        assert str(table.schema.field("v").type) == kind
        assert table.num_rows == len(rows)


@pytest.mark.parametrize(
    ("word", "values", "written"),
    [
        ("integer", [1, True], ["1", "true"]),
        ("integer", [1, Decimal("2.0")], ["1", "2.0"]),
        ("float", [Decimal("0.1"), 1.5], ["0.1", "1.5"]),
        ("decimal", [Decimal("1.5"), 2**60], ["1.5", str(2**60)]),
        ("date", [DAY, "infinity"], ["2026-01-31", "infinity"]),
        ("datetime", [AT, "infinity"], ["2026-01-31T09:30:00", "infinity"]),
        ("interval", [timedelta(1), "P1M"], ["P1D", "P1M"]),
        ("bytes", [b"a", "b"], ["YQ==", "b"]),
    ],
)
def test_a_value_that_the_type_does_not_hold_makes_the_column_text(
    word: str, values: list[Any], written: list[str]
) -> None:
    """As PostgreSQL's ``date 'infinity'``. Red without the check of each column's classes: pyarrow reads a Decimal as a
    float, True as 1 and a text as bytes."""
    table = read(to_arrow(Result(["v"], [(value,) for value in values], [word])))
    assert table.column("v").to_pylist() == written


@pytest.mark.parametrize(
    ("name", "values", "kind", "given"),
    [
        ("int64", [1, 2**63, True, "x"], "int64", [1, None, None, None]),
        ("uint64", [2**64 - 1, -1], "uint64", [2**64 - 1, None]),
        ("double", [1.5, math.inf, 2, Decimal(1)], "double", [1.5, math.inf, 2.0, None]),
        ("bool", [True, 1], "bool", [True, None]),
        ("binary", [b"a", "b"], "binary", [b"a", None]),
        ("date32", [DAY, "infinity", AT], "date32[day]", [DAY, None, None]),
        ("time64", [time(9, 30), "24:00:00"], "time64[us]", [time(9, 30), None]),
        ("duration", [timedelta(1), "P1M"], "duration[us]", [timedelta(1), None]),
        ("timestamp", [AT, "infinity"], "timestamp[us]", [AT, None]),
        ("timestamptz", [AT.replace(tzinfo=UTC), "-infinity"], "timestamp[us, tz=UTC]", [AT.replace(tzinfo=UTC), None]),
        ("decimal(5, 2)", [Decimal("1.5"), Decimal("NaN"), 10**9, 7], "decimal128(5, 2)", ["1.50", None, None, "7.00"]),
        ("string", [1, None, [1]], "string", ["1", None, "[1]"]),
    ],
)
def test_a_declared_type_is_the_column_s(name: str, values: list[Any], kind: str, given: list[Any]) -> None:
    """Whatever the values are; those that it does not hold are null. Red when one of them decides the type."""
    expected = [Decimal(each) if kind.startswith("decimal") and each else each for each in given]
    for rows in ([(value,) for value in values], [], [(None,)]):
        table = read(to_arrow(Result(["v"], rows, [None], arrow_types=[name])))
        assert str(table.schema.field("v").type) == kind
        assert table.column("v").to_pylist() == (expected if len(rows) > 1 else [None] * len(rows))
    with pytest.raises(InvalidSettings, match="'text' is not an Arrow type"):
        to_arrow(Result(["v"], [], [None], arrow_types=["text"]))


def test_a_stream_without_declared_arrow_types() -> None:
    """Only a type word that leaves one Arrow type decides; all other columns are strings. Red when the first batch
    decides: the second one broke the body."""
    words = ["integer", "float", "boolean", "bytes", "date", "decimal", "datetime", "time", "interval", None]
    writer = ArrowWriter([*"abcdefghij"], words, None, Format())
    first = (1, 1.5, True, b"a", DAY, Decimal("1.5"), AT, time(9, 30), timedelta(1), 7)
    others = [(None,) * 10, ("x",) * 10]
    table = read(b"".join([writer.write([first]), *(writer.write([row]) for row in others), writer.end()]))
    kinds = ["int64", "double", "bool", "binary", "date32[day]"]
    assert [str(field.type) for field in table.schema] == kinds + ["string"] * 5
    written = [tuple(row.values()) for row in table.to_pylist()]
    assert written == [
        (*first[:5], "1.5", "2026-01-31T09:30:00", "09:30:00", "P1D", "7"),
        (None,) * 10,
        (None,) * 5 + ("x",) * 5,
    ]


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidSettings, match=r"pip install 'tenantry\[arrow\]'"):
        to_arrow(Result(["a"], [(1,)]))
