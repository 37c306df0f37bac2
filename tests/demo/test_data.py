"""The data files, and what is made of them."""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
from collections import Counter
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

from tenantry.demo.sources import AIRLINES, DUCKDB, SQLITE, prepare

COUNTS = (
    "select carrier, count(*), count(dep_delay), sum(dep_delay), sum(month), max(flight_date) from flights group by 1"
)


@pytest.fixture(scope="module")
def flights() -> list[dict[str, str]]:
    packed = (files("tenantry.demo") / "data" / "flights.csv.gz").read_bytes()
    return list(csv.DictReader(io.StringIO(gzip.decompress(packed).decode())))


def _counts(url: str) -> dict[str, tuple[int | str, ...]]:
    kind, _, path = url.partition(":///")
    connection = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(path, read_only=True)
    with closing(connection):
        return {row[0]: tuple(row[1:]) for row in connection.execute(COUNTS).fetchall()}


def test_the_data_are_those_of_the_published_package(flights: list[dict[str, str]]) -> None:
    """336,776 flights, 8,255 without a departure, three origins; nothing is written as text that is not a number."""
    assert len(flights) == 336_776
    assert sum(row["dep_delay"] == "" for row in flights) == 8_255
    assert {row["origin"] for row in flights} == {"EWR", "JFK", "LGA"}
    assert all(row[name].lstrip("-").isdigit() for row in flights for name in ("dep_delay", "arr_delay") if row[name])


def test_the_data_file_is_small_and_carries_no_time() -> None:
    """The packed file is at most 3 MB and its gzip header has no modification time."""
    packed = (files("tenantry.demo") / "data" / "flights.csv.gz").read_bytes()
    assert len(packed) <= 3_000_000
    assert packed[4:8] == bytes(4)


def test_home_airports_are_those_that_begin_a_tenth_of_the_flights(flights: list[dict[str, str]]) -> None:
    """The table of airlines says what the data say."""
    begun = Counter((row["carrier"], row["origin"]) for row in flights)
    totals = Counter(row["carrier"] for row in flights)
    derived = {
        carrier: [origin for origin in ("EWR", "JFK", "LGA") if begun[carrier, origin] * 10 >= totals[carrier]]
        for carrier in totals
    }
    assert {carrier: (each.properties or {})["home_airports"] for carrier, each in AIRLINES.items()} == derived


def source_of(carrier: str) -> str:
    return (AIRLINES[carrier].mapping or {})["flights"]


def test_each_source_has_eight_airlines() -> None:
    assert Counter(map(source_of, AIRLINES)) == {SQLITE: 8, DUCKDB: 8}


def test_each_source_holds_its_own_airlines_and_no_other(data_folder: Path, flights: list[dict[str, str]]) -> None:
    """Together they hold every flight once, with the same values. Red when the loaders do not filter by carrier."""
    urls = prepare(data_folder)
    wanted = {
        carrier: (
            len(rows := [row for row in flights if row["carrier"] == carrier]),
            sum(row["dep_delay"] != "" for row in rows),
            sum(int(row["dep_delay"]) for row in rows if row["dep_delay"]),
            sum(int(row["month"]) for row in rows),
            max(f"2013-{int(row['month']):02}-{int(row['day']):02}" for row in rows),
        )
        for carrier in AIRLINES
    }
    for source, url in urls.items():
        own = {carrier: wanted[carrier] for carrier in AIRLINES if source_of(carrier) == source}
        assert _counts(url) == own


def test_files_that_are_there_are_not_made_again(data_folder: Path) -> None:
    """A second start takes what the first one made."""
    first = prepare(data_folder)
    before = {path: path.stat().st_mtime_ns for path in data_folder.iterdir()}
    assert prepare(data_folder) == first
    assert {path: path.stat().st_mtime_ns for path in data_folder.iterdir()} == before


def test_a_half_made_file_is_never_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next start makes it anew. Red when a file is made under its final name, and when what a maker that died has
    left is in the way of the next one."""

    def die(path: Path, carriers: list[str]) -> None:
        path.write_bytes(b"half")
        raise OSError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr("tenantry.demo.sources._make_sqlite", die)
        with pytest.raises(OSError, match="disk full"):
            prepare(tmp_path)
    assert "EV" not in _counts(prepare(tmp_path)[SQLITE])
