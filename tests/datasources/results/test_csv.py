"""CSV: Python's own reader gives back what was written, and no spreadsheet runs a field that was made safe."""

from __future__ import annotations

import csv
import io
import math
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry.datasources.results import Format, Result, chunk_writers, to_csv

RUN = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""What a spreadsheet takes for the begin of a formula; the last four are the full-width forms."""


def read(text: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.decode(), newline=""), strict=True))


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, ""),
        ("", ""),
        (True, "true"),
        (2**64, "18446744073709551616"),
        (-1.5, "-1.5"),
        (math.nan, ""),
        (math.inf, ""),
        (Decimal("-1.50"), "-1.50"),
        (Decimal("NaN"), ""),
        ("a,b", "a,b"),
        ('say "x"', 'say "x"'),
        ("two\r\nlines", "two\r\nlines"),
        ("\n", "\n"),
        (" a ", " a "),
        ("\ud800", "�"),
        (b"\xff\xfe>", "//4+"),
        (datetime(2026, 1, 31, tzinfo=UTC), "2026-01-31T00:00:00Z"),
        (time(9, 30), "09:30:00"),
        (timedelta(days=-1), "-P1D"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        ([1, Decimal("NaN")], "[1,null]"),
        ({"a": [2**53]}, '{"a":[9007199254740992]}'),
    ],
    ids=lambda each: repr(each)[:30],
)
def test_every_kind_of_value(value: Any, field: str) -> None:
    """Alone in its column, and beside others."""
    assert read(to_csv(Result(["a", "b"], [(value, 1)]))) == [["a", "b"], [field, "1"]]
    mixed = [("x",), (value,), (5,), (None,)]
    assert read(to_csv(Result(["a"], mixed))) == [["a"], ["x"], [field], ["5"], [""]]


def test_the_lines_are_those_of_the_rfc() -> None:
    """CRLF after each record, quotes where they are needed and doubled inside, no mark at the begin (RFC 4180)."""
    result = Result(["id", 'the "name"'], [(1, "a,b"), (2, 'x"y'), (None, "plain")])
    assert to_csv(result) == b'id,"the ""name"""\r\n1,"a,b"\r\n2,"x""y"\r\n,plain\r\n'
    assert to_csv(result.dicts()) == to_csv(result)
    assert to_csv(Result(["id"], [])) == b"id\r\n"
    assert to_csv([]) == b""


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.integers()), max_size=5))
def test_any_text_is_read_back(rows: list[tuple[str, int]]) -> None:
    expected = [["a", "b"], *([text, str(number)] for text, number in rows)]
    assert read(to_csv(Result(["a", "b"], rows))) == expected
    for (safe, _), (text, _) in zip(read(to_csv(Result(["a", "b"], rows), formula_safe=True)), expected, strict=True):
        assert safe == guarded(text)


def guarded(text: str, separator: str = ",") -> str:
    """An apostrophe at the begin, and after each other separator and line break, character by character."""
    ends = {*",;\t\r\n"} - {separator}
    inner = set(RUN) - {*"\t\r\n"}
    after = [place for place in range(1, len(text)) if text[place - 1] in ends]
    places = [0] if text[:1] and text[0] in RUN else []
    places += [place for place in after if text[place:].lstrip('"')[:1] in inner]
    for place in reversed(places):
        text = f"{text[:place]}'{text[place:]}"
    return text


HOSTILE = st.text(st.sampled_from([*"=-@x\";,\t\n\r'"]), max_size=8)


@given(rows=st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=3), written=st.sampled_from([",", ";", "\t"]))
@example(rows=[("x", "a;=1")], written=",")
@example(rows=[("x", 'a;"=1')], written=",")
@example(rows=[("x", "a\n=1")], written=",")
@example(rows=[("x", "\t=1")], written=";")
@settings(max_examples=examples(500))
def test_no_field_is_a_formula_for_a_spreadsheet_that_expects_another_separator(
    rows: list[tuple[str, str]], written: str
) -> None:
    """A spreadsheet splits by the separator of its country, or by a tab. Red without the apostrophes within a field,
    without those after a line break, and without those before a quotation mark."""
    text = to_csv(Result(["a", "b"], rows), Format(separator=written), formula_safe=True).decode()  # type: ignore[arg-type]
    for opened in ",;\t":
        for line in csv.reader(io.StringIO(text, newline=""), delimiter=opened):
            for field in line:
                assert field[:1] not in {"=", "+", "-", "@"}, (opened, text)


def test_a_spreadsheet_of_another_country() -> None:
    """Semicolons, decimal commas and a mark by which Excel recognises UTF-8, also in a stream, where the mark comes
    once. Red when the mark is written before each chunk, and when a float keeps its point."""
    of_germany = Format(separator=";", decimal_comma=True, byte_order_mark=True)
    rows = [(1, 1.5, Decimal("-2.50"), "ä;b"), (2, math.nan, None, "1.5")]
    expected = '\ufeffid;f;d;t\r\n1;1,5;-2,50;"ä;b"\r\n2;;;1.5\r\n'.encode()
    assert to_csv(Result(["id", "f", "d", "t"], rows), of_germany) == expected
    writer = chunk_writers("csv", of_germany)(["id", "f", "d", "t"], None)
    assert writer.write(rows[:1]) + writer.write(rows[1:]) + writer.end() == expected
    assert to_csv(Result(["a"], [(1.5,)]), Format(decimal_comma=True)) == b'a\r\n"1,5"\r\n'


STARTS = [
    "=1+1",
    "+1",
    "-1",
    "@x",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff20x",
    '=HYPERLINK("http://x")',
]


@pytest.mark.parametrize("text", STARTS)
def test_a_formula_is_text_where_that_was_asked_for(text: str) -> None:
    """In a field and in the name of a column; red without the apostrophe. Without the option a text is as it is."""
    result = Result([text, "b"], [(text, 1)])
    assert read(to_csv(result, formula_safe=True)) == [[guarded(text), "b"], [guarded(text), "1"]]
    assert read(to_csv(result)) == [[text, "b"], [text, "1"]]


@pytest.mark.parametrize(
    ("value", "field"),
    [(-1, "-1"), (-1.5, "-1.5"), (Decimal(-2), "-2"), (b"\xf8", "'+A=="), ("a=1", "a=1"), ("", "")],
)
def test_numbers_stay_numbers(value: Any, field: str) -> None:
    """Bytes become text, which may begin as a formula does."""
    assert read(to_csv(Result(["a", "b"], [(value, 1)]), formula_safe=True))[1] == [field, "1"]
