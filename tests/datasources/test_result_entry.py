"""Results as bytes: what is read is equal to what was written, and nothing else is read."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from engines.hypothesis_profile import examples
from tenantry.datasources.caching.result_entry import RefusedResult, SharedEntry, Unencodable, read_result, write_result
from tenantry.datasources.results import Result

SECRET, KEY = b"s" * 32, "k" * 64
OFFSETS = some.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(seconds=-61))])
KINDS = [
    some.booleans(),
    some.integers(),
    some.integers(-(2**63), 2**63 - 1),
    some.floats(),
    some.text(some.characters(exclude_categories=[])),
    some.binary(),
    some.decimals(),
    some.uuids(),
    some.dates(),
    some.datetimes(timezones=OFFSETS),
    some.times(timezones=OFFSETS),
    some.timedeltas(),
]
NESTED = some.recursive(
    some.none() | some.one_of(KINDS),
    lambda values: (
        some.lists(values, max_size=3)
        | some.dictionaries(some.text(max_size=3) | some.integers(), values, max_size=3)
        | some.tuples(values, values)
    ),
    max_leaves=6,
)
COLUMNS = [*(some.none() | kind for kind in KINDS), NESTED]


@some.composite
def results(draw: some.DrawFn) -> Result:
    columns = draw(some.lists(some.sampled_from(COLUMNS), max_size=4))
    rows = draw(some.lists(some.tuples(*columns), max_size=4))
    types = draw(some.none() | some.just(["text", None, "json", "mixed"][: len(columns)]))
    arrow_types = draw(some.none() | some.just(["string", None, "int64", "date32"][: len(columns)]))
    return Result([f"c{number}" for number in range(len(columns))], rows, types, arrow_types=arrow_types)


def entry(result: Result, key: str = KEY) -> SharedEntry:
    return SharedEntry(key, "mark", 1_800_000_000.25, 123, result)


def exact(value: Any) -> Any:
    """The value with everything that ``==`` does not compare: types, signs of zero, NaN, offsets and folds."""
    if isinstance(value, list | tuple):
        return type(value), [exact(each) for each in value]
    if isinstance(value, dict):
        return dict, [(exact(name), exact(item)) for name, item in value.items()]
    if isinstance(value, datetime | time):
        return type(value), value.isoformat(), value.fold
    return type(value), repr(value)


@settings(max_examples=examples(150))  # an example has many kinds of values
@given(results())
def test_what_is_read_is_what_was_written(result: Result) -> None:
    """Of every type that a driver gives, alone, among others and nested. Red with msgspec's own forms for all: it
    writes no integer of more than 64 bits, loses the fold of a time, and makes texts of a dict's numbers."""
    read = read_result(SECRET, KEY, write_result(SECRET, entry(result)))
    assert exact(read.result.rows) == exact(tuple(result.rows))
    assert list(read.result.names) == list(result.names)
    assert read.result.types == (None if result.types is None else tuple(result.types))
    arrow_types = result.arrow_types
    assert read.result.arrow_types == (None if arrow_types is None else tuple(arrow_types))
    assert (read.mark, read.size, read.as_of, read.result.as_of.timestamp()) == (
        "mark",
        123,
        1_800_000_000.25,
        1_800_000_000.25,
    )


def test_a_zone_becomes_its_offset() -> None:
    at = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Vienna"))
    [(read,)] = read_result(SECRET, KEY, write_result(SECRET, entry(Result(["at"], [(at,)])))).result.rows
    assert (read, read.isoformat()) == (at, at.isoformat())


@pytest.mark.parametrize(
    "value", [object(), {1}, bytearray(b"x"), time(1, tzinfo=ZoneInfo("Europe/Vienna")), [object()], True.__class__]
)
def test_what_has_no_form_is_not_written(value: object) -> None:
    with pytest.raises(Unencodable):
        write_result(SECRET, entry(Result(["x"], [(value,)])))


def test_whoever_lacks_the_secret_writes_nothing() -> None:
    """Another secret, another key, a changed byte anywhere, a part of it, nothing. Red without the digest, and, for an
    entry that was moved, without the key in it."""
    data = write_result(SECRET, entry(Result(["n"], [(1,)])))
    assert read_result(SECRET, KEY, data).result.rows == ((1,),)
    moved = write_result(SECRET, entry(Result(["n"], [(1,)]), key="o" * 64))
    changed = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(len(data))]
    other = write_result(b"t" * 32, entry(Result([], [])))
    other = write_result(b"t" * 32, entry(Result([], [])))
    for wrong in (moved, data[:-1], data + b"x", b"", b"x" * 40, other, *changed):
        with pytest.raises(RefusedResult):
            read_result(SECRET, KEY, wrong)
