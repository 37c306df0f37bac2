"""JSON and NDJSON: what is written is what Python's own reader gives back, and every policy holds for every value."""

from __future__ import annotations

import json
import math
import sys
from collections import UserDict
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from ipaddress import ip_address, ip_network
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenantry.datasources.results import DEFAULT_FORMAT, Format, Result, json_row_parts, to_json, to_ndjson
from tenantry.datasources.results import json as json_module
from tenantry.datasources.results.format import interval_text
from tenantry.errors import InvalidSettings, QueryFailed

SAFE = 2**53 - 1
AT = datetime(2026, 1, 31, 9, 30)  # noqa: DTZ001
EAST = timezone(timedelta(hours=5, minutes=30))


class Status(IntEnum):
    OPEN = 1


class Range(NamedTuple):
    """As drivers of PostgreSQL have it: their classes have these attributes in common."""

    lower: Any
    upper: Any
    lower_inc: bool = True
    upper_inc: bool = False
    isempty: bool = False


class Span:
    """The same, without being a tuple."""

    def __init__(self, *arguments: Any) -> None:
        given = Range(*arguments)
        for name in Range._fields:
            setattr(self, name, getattr(given, name))


class OwnUUID(UUID):
    """As asyncpg's."""


class OwnText(str):
    __slots__ = ()


VALUES: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (0, "0"),
    (-7, "-7"),
    (SAFE, "9007199254740991"),
    (-SAFE, "-9007199254740991"),
    (SAFE + 1, "9007199254740992"),
    (-SAFE - 1, "-9007199254740992"),
    (2**64, "18446744073709551616"),
    (10**400, str(10**400)),
    (1.5, "1.5"),
    (0.1 + 0.2, "0.30000000000000004"),
    (math.nan, "null"),
    (math.inf, "null"),
    (-math.inf, "null"),
    (Decimal("1.50"), "1.50"),
    (Decimal("-0.00"), "-0.00"),
    (Decimal("12345678901234567890.123456789"), "12345678901234567890.123456789"),
    (Decimal("1E+3"), "1E+3"),
    (Decimal("NaN"), "null"),
    (Decimal("sNaN"), "null"),
    (Decimal("-Infinity"), "null"),
    ("", '""'),
    ('a"\\\n\x00é 😀 NaN 9007199254740992', None),
    ("\ud800", '"�"'),
    ("x\udfff\ud83d\ude00", '"x�😀"'),
    (b"", '""'),
    (b"\xff\xfe>", '"//4+"'),
    (bytearray(b"a"), '"YQ=="'),
    (memoryview(b"a"), '"YQ=="'),
    (date(2026, 1, 31), '"2026-01-31"'),
    (date.max, '"9999-12-31"'),
    (datetime(2026, 1, 31, 9, 30), '"2026-01-31T09:30:00"'),  # noqa: DTZ001
    (datetime(2026, 1, 31, 9, 30, 0, 500, tzinfo=UTC), '"2026-01-31T09:30:00.000500Z"'),
    (datetime(2026, 1, 31, 9, 30, tzinfo=EAST), '"2026-01-31T09:30:00+05:30"'),
    (time(9, 30), '"09:30:00"'),
    (time(9, 30, tzinfo=EAST), '"09:30:00+05:30"'),
    (time(9, 30, tzinfo=UTC), '"09:30:00Z"'),
    (timedelta(days=1, hours=2), '"P1DT7200S"'),
    (timedelta(0), '"P0D"'),
    (timedelta(seconds=-0.5), '"-PT0.5S"'),
    (UUID(int=7), '"00000000-0000-0000-0000-000000000007"'),
    (OwnUUID(int=7), '"00000000-0000-0000-0000-000000000007"'),
    (OwnText("x"), '"x"'),
    (Status.OPEN, "1"),
    (ip_address("10.0.0.1"), '"10.0.0.1"'),
    (ip_network("10.0.0.0/8"), '"10.0.0.0/8"'),
    (Span(1, 10), '"[1,10)"'),
    (Span(None, date(2026, 1, 31), False, True), '"(,2026-01-31]"'),
    (Span(datetime(2026, 1, 31, tzinfo=UTC), None), '"[2026-01-31T00:00:00Z,)"'),
    (Span("a b", 'c"', True, True), '"[\\"a b\\",\\"c\\"\\"\\"]"'),
    (Span(None, None, False, False, True), '"empty"'),
    ([], "[]"),
    ({}, "{}"),
    ([1, [2, {"a": None}]], '[1,[2,{"a":null}]]'),
    ((1, "x"), '[1,"x"]'),
    ({"a": SAFE + 1}, '{"a":9007199254740992}'),
    ([[-SAFE - 1]], "[[-9007199254740992]]"),
    ({"a": math.nan, "b": [Decimal("NaN")]}, '{"a":null,"b":[null]}'),
    ({"\ud800": "\ud800"}, '{"�":"�"}'),
    ({1: 2, date(2026, 1, 31): 1, 1.5: 3}, '{"1":2,"2026-01-31":1,"1.5":3}'),
    ({True: 1, None: 2}, '{"true":1,"None":2}'),
    ([{1}, frozenset({"a"})], '[[1],["a"]]'),
    (UserDict({"a": Decimal("1.0")}), '{"a":1.0}'),
    ([b"\xff", timedelta(1), UUID(int=7)], '["/w==","P1D","00000000-0000-0000-0000-000000000007"]'),
]


@pytest.mark.parametrize(("value", "written"), VALUES)
def test_every_kind_of_value(value: Any, written: str | None) -> None:
    """Alone, beside others of its column, as a row of ``fetch``, and as a line.

    Red without the check of integers, of Decimals (a bare NaN), of lone surrogates or of a dict's keys: for a column,
    and for dicts that are written as they are.
    """
    written = json.dumps(value, ensure_ascii=False) if written is None else written
    for rows in ([(value,)], [("text",), (value,), (None,), (5,), (value,)]):
        result = Result(["v"], rows)
        text = to_json(result).decode()
        expected = [written if each is value else json.dumps(each) for (each,) in rows]
        assert json.loads(text, parse_constant=_no_constant) == json.loads(
            f'[{",".join(f"""{{"v":{each}}}""" for each in expected)}]'
        )
        if "NaN" not in written:  # Python's reader takes digits for numbers: the spelling is compared, too
            assert text == "[" + ",".join(f'{{"v":{each}}}' for each in expected) + "]"
        assert to_json(result.dicts()).decode() == text
        lines = to_ndjson(result).decode()
        assert lines.endswith("\n")
        assert f"[{','.join(lines.splitlines())}]" == text or "\u2028" in text
        assert to_ndjson(result.dicts()).decode() == lines


def _no_constant(name: str) -> None:
    raise AssertionError(f"a bare {name}")


@pytest.mark.parametrize(
    ("format_", "value", "written"),
    [
        (Format(exact_numbers="text"), Decimal("1.50"), '"1.50"'),
        (Format(exact_numbers="text"), Decimal("NaN"), "null"),
        (Format(exact_numbers="text"), [Decimal("1.50"), Decimal("Infinity")], '["1.50",null]'),
        (Format(exact_numbers="text"), SAFE, "9007199254740991"),
        (Format(exact_numbers="text"), SAFE + 1, '"9007199254740992"'),
        (Format(exact_numbers="text"), 2**64, '"18446744073709551616"'),
        (Format(exact_numbers="text"), [-SAFE - 1, "\ud800"], '["-9007199254740992","�"]'),
        (Format(zone=EAST), AT.replace(tzinfo=UTC), '"2026-01-31T15:00:00+05:30"'),
    ],
)
def test_each_policy(format_: Format, value: Any, written: str) -> None:
    """Also for what is inside a value, and for dicts. Red when dicts are written before the policy is looked at."""
    result = Result(["v"], [(value,)])
    assert to_json(result, format_).decode() == f'[{{"v":{written}}}]'
    assert to_json(result.dicts(), format_).decode() == f'[{{"v":{written}}}]'


@pytest.mark.parametrize("format_", [DEFAULT_FORMAT, Format(exact_numbers="text", zone=EAST)])
@pytest.mark.parametrize("value", [value for value, _ in VALUES])
def test_arrays_have_the_values_of_objects(value: Any, format_: Format) -> None:
    """Alone and beside others. Red if whole rows are written without the check of integers and Decimals, or in spite of
    a zone."""
    for others in ([], [None], [5], [Decimal(5)], ["text"]):
        result = Result(["v", "other"], [(each, 1) for each in (value, *others, value)])
        objects = json.loads(to_json(result, format_), parse_float=str)
        arrays = json.loads(b"".join(json_row_parts(result, format_)), parse_float=str)
        assert arrays == [[*each.values()] for each in objects]


@pytest.mark.parametrize("choice", [{"exact_numbers": "float"}, {"separator": "|"}])
def test_another_policy_is_an_error(choice: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettings, match=next(iter(choice))):
        Format(**choice)


@pytest.mark.parametrize("name", ["a", "", 'a"b', "a\\b", "a\nb", "é", "class", "f0", "\ud800", "a b", "__init__", "1"])
def test_any_name_of_a_column(name: str) -> None:
    """Red without the dicts for names that a Struct does not take."""
    expected = [{name.replace("\ud800", "�"): 1, "other": 2}]
    result = Result([name, "other"], [(1, 2)])
    assert json.loads(to_json(result)) == expected
    assert json.loads(to_json(result.dicts())) == expected


def test_a_column_of_a_known_type_is_not_looked_at() -> None:
    """And a lone surrogate in it is found all the same."""
    rows = [("\ud800", AT, 1.5), (None, None, math.nan)]
    result = Result(["a", "b", "c"], rows, ["text", "datetime", "float"])
    assert to_json(result) == to_json(result.dicts()) == to_json(Result(["a", "b", "c"], rows))
    for kind in ("integer", "decimal", "bytes", "list", "struct", "json", "range", "mixed"):
        converted = Result(["a"], [(SAFE + 1,), (Decimal("NaN"),), ({"a": [2**60]},)], [kind])
        read = json.loads(to_json(converted, Format(exact_numbers="text")))
        assert read == [{"a": str(SAFE + 1)}, {"a": None}, {"a": {"a": [str(2**60)]}}]


def test_no_rows_and_no_columns() -> None:
    assert to_json(Result(["a"], [])) == to_json([]) == b"[]"
    assert to_ndjson(Result(["a"], [])) == to_ndjson([]) == b""
    assert to_json(Result([], [(), ()])) == to_json([{}, {}]) == b"[{},{}]"


def test_many_rows_are_one_array() -> None:
    """More than a chunk, with what has to be converted in a later one: it is found there, too."""
    as_text = Format(exact_numbers="text")
    rows = [(number, f"name {number}") for number in range(3_500)]
    rows[2_900] = (SAFE + 1, "\ud800")
    result = Result(["id", "name"], rows)
    read = json.loads(to_json(result, as_text))
    assert read == [*({"id": number, "name": name} for number, name in rows[:2_900]),
                    {"id": str(SAFE + 1), "name": "�"},
                    *({"id": number, "name": name} for number, name in rows[2_901:])]  # fmt: skip
    assert json.loads(to_json(result.dicts(), as_text)) == read
    assert [json.loads(line) for line in to_ndjson(result, as_text).splitlines()] == read


@pytest.mark.parametrize(
    "dicts", [[{"a": 1}, {"b": "\ud800"}], [{"a": "\ud800"}, {"a": 1, "b": 2}], [{"a": "\ud800"}, {}]]
)
def test_dicts_have_the_same_columns(dicts: list[dict[str, Any]]) -> None:
    """What would be lost is an error."""
    with pytest.raises(ValueError, match="same columns"):
        to_json(dicts)


def test_a_value_nested_too_deep_is_an_error() -> None:
    """And no RecursionError, which nothing expects."""
    value: Any = []
    for _ in range(200_000):
        value = [value]
    for rows in (Result(["v"], [(value,)]), [{"v": value}]):
        with pytest.raises(QueryFailed, match="nested too deep"):
            to_json(rows)
    while value:  # freed step by step: at once it would be as deep
        value = value[0]


def test_without_msgspec_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    json_module._encoder.cache_clear()
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with pytest.raises(InvalidSettings, match=r"pip install 'tenantry\[json\]'"):
        to_json(Result(["a"], [(1,)]))


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.integers(SAFE - 3, SAFE + 3) | st.floats() | st.decimals()
    | st.text(st.characters()) | st.text(st.characters(categories=["Cs"])) | st.binary() | st.dates() | st.datetimes()
    | st.times() | st.timedeltas() | st.uuids()
)  # fmt: skip
NESTED = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
)


def by_hand(value: Any, format_: Format) -> Any:
    """What a reader is to get, written without any of the code under test."""
    match value:
        case None | bool():
            return value
        case int():
            return value if format_.exact_numbers == "number" or abs(value) <= SAFE else str(value)
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            if not value.is_finite():
                return None
            return json.loads(str(value)) if format_.exact_numbers == "number" else str(value)
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case bytes():
            return msgspec.json.decode(msgspec.json.encode(value))
        case list():
            return [by_hand(item, format_) for item in value]
        case dict():
            return {by_hand(str(key), format_): by_hand(item, format_) for key, item in value.items()}
    return (
        value.isoformat()
        if hasattr(value, "isoformat")
        else interval_text(value)
        if isinstance(value, timedelta)
        else str(value)
    )


@given(
    rows=st.lists(st.tuples(SCALARS, NESTED), max_size=6),
    format_=st.builds(Format, st.sampled_from(["number", "text"])),
)
@example([(Decimal("sNaN"), {"a": Decimal("-Infinity")})], Format())
def test_whatever_comes_is_read_back(rows: list[tuple[Any, Any]], format_: Format) -> None:
    """By Python's reader, for tuples and for dicts."""
    result = Result(["a", "b"], rows)
    expected = [{"a": by_hand(a, format_), "b": by_hand(b, format_)} for a, b in rows]
    assert json.loads(to_json(result, format_), parse_constant=_no_constant) == expected
    assert json.loads(to_json(result.dicts(), format_), parse_constant=_no_constant) == expected


@given(st.timedeltas())
def test_an_interval_is_one_text_in_every_format(value: timedelta) -> None:
    """msgspec writes it in JSON, we elsewhere. Red when one of the two changes."""
    assert json.loads(msgspec.json.encode(value)) == interval_text(value)
    assert msgspec.convert(interval_text(value), timedelta) == value
