"""The sixteen airlines of the demo, and its two data sources: a SQLite file and a DuckDB file with the same tables and
different airlines in them.
"""

from __future__ import annotations

import asyncio
import csv
import gzip
import hashlib
import io
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenantry.groups import GroupDraft

if TYPE_CHECKING:
    import sys

    if sys.version_info >= (3, 12):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

SCHEMA = "flights"
"""The schema id that every group's mapping routes."""

SQLITE, DUCKDB = "flights_sqlite", "flights_duckdb"
"""The two data sources, by the id that the demo gives them. Each holds the flights of its own airlines only."""

CURRENCY = "USD"
MINUTE_COST = 75.0
"""What a minute of delay costs, in CURRENCY: a round assumption, so that the dashboard has money to show."""


@dataclass(frozen=True, slots=True)
class Airline:
    """A user group to be. ``home_airports``: which of New York's three begin at least a tenth of its flights."""

    carrier: str
    name: str
    home_airports: tuple[str, ...]
    accent: str
    source: str
    locale: str = "en-US"

    @property
    def properties(self) -> dict[str, Any]:
        """What the group is created with, and what its dashboard may read as variables."""
        return {
            "carrier": self.carrier,
            "home_airports": list(self.home_airports),
            "currency": CURRENCY,
            "locale": self.locale,
            "accent": self.accent,
            "delay_cost": MINUTE_COST,
        }

    @property
    def mapping(self) -> dict[str, str]:
        """Where the group's flights are."""
        return {SCHEMA: self.source}

    def draft(self) -> GroupDraft:
        """The group to create, with the airline's code as its ``user_group_id``."""
        return GroupDraft(self.carrier, self.name, self.properties, self.mapping)


AIRLINES = (
    Airline("9E", "Endeavor Air", ("JFK", "LGA"), "#3b6ea5", SQLITE),
    Airline("AA", "American Airlines", ("EWR", "JFK", "LGA"), "#0b6bb3", SQLITE),
    Airline("AS", "Alaska Airlines", ("EWR",), "#01426a", SQLITE),
    Airline("B6", "JetBlue Airways", ("EWR", "JFK", "LGA"), "#0f766e", DUCKDB),
    Airline("DL", "Delta Air Lines", ("JFK", "LGA"), "#b3122d", SQLITE),
    Airline("EV", "ExpressJet Airlines", ("EWR", "LGA"), "#2b59a2", DUCKDB),
    Airline("F9", "Frontier Airlines", ("LGA",), "#1a7f4b", SQLITE),
    Airline("FL", "AirTran Airways", ("LGA",), "#0b7a75", DUCKDB),
    Airline("HA", "Hawaiian Airlines", ("JFK",), "#8e2f86", SQLITE),
    Airline("MQ", "Envoy Air", ("JFK", "LGA"), "#a63a24", DUCKDB),
    Airline("OO", "SkyWest Airlines", ("EWR", "LGA"), "#4d5bb0", DUCKDB),
    Airline("UA", "United Air Lines", ("EWR", "LGA"), "#2456c4", SQLITE),
    Airline("US", "US Airways", ("EWR", "JFK", "LGA"), "#5a6472", DUCKDB),
    Airline("VX", "Virgin America", ("EWR", "JFK"), "#c2263b", DUCKDB, locale="en-GB"),
    Airline("WN", "Southwest Airlines", ("EWR", "LGA"), "#a85600", SQLITE),
    Airline("YV", "Mesa Airlines", ("LGA",), "#6b4fa0", DUCKDB),
)

SHOWN = ("UA", "B6", "HA")
"""The three whose addresses the demo prints: two data sources, and 58,665, 54,635 and 342 flights."""


def airline(carrier: str) -> Airline:
    """Raises KeyError for a code that is not among AIRLINES."""
    return {each.carrier: each for each in AIRLINES}[carrier]


TABLES = """
create table airlines (carrier varchar not null primary key, name varchar not null);
create table airports (airport varchar not null primary key, name varchar not null);
create table flights (
    carrier varchar not null, origin varchar not null, dest varchar not null, distance integer not null,
    month integer not null, flight_date varchar not null, dep_delay integer, arr_delay integer
);
"""
"""The same for both. Dates are ISO 8601 text, which both compare alike; a flight without dep_delay never left."""

DUCKDB_FLIGHTS = """
insert into flights
select carrier, origin, dest, distance, month, format('2013-{:02d}-{:02d}', month, day), dep_delay, arr_delay
from read_csv(?, header = true, columns = {
    'carrier': 'varchar', 'origin': 'varchar', 'dest': 'varchar', 'distance': 'integer',
    'month': 'integer', 'day': 'integer', 'dep_delay': 'integer', 'arr_delay': 'integer'
})
where list_contains(?, carrier)
"""
"""DuckDB reads the packed file by itself; it is given every type and guesses none."""

VIEWS = ("departures.sqlite.sql", "departures.duckdb.sql")
"""What the dashboards' queries ask: the flights on days of the last twelve months, in the SQL of each source."""

INDEX = "create index flights_of_carrier on flights (carrier, flight_date)"


async def prepare(folder: Path) -> dict[str, str]:
    """Makes both files in ``folder``, unless they are there, and returns data source id -> URL. About a second."""
    return await asyncio.to_thread(_prepare, folder)


def _prepare(folder: Path) -> dict[str, str]:
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(TABLES.encode())  # with the split and the data: a folder from before is never half right
    digest.update(repr([(airline.carrier, airline.source) for airline in AIRLINES]).encode())
    for name in (*VIEWS, "flights.csv.gz", "airports.csv", "airlines.csv"):
        digest.update(_data(name).read_bytes())
    version = digest.hexdigest()[:12]
    sqlite = _once(folder / f"flights-{version}.sqlite", make_sqlite)
    duckdb = _once(folder / f"flights-{version}.duckdb", make_duckdb)
    return {SQLITE: f"sqlite:///{sqlite}", DUCKDB: f"duckdb:///{duckdb}"}


def make_sqlite(path: Path) -> None:
    """A SQLite file with the airlines that SQLITE holds."""
    carriers = _carriers(SQLITE)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = off")  # a half-made file is thrown away, so nothing needs undoing
        connection.execute("pragma synchronous = off")
        connection.executescript(TABLES)
        connection.execute("begin")
        connection.executemany("insert into flights values (?, ?, ?, ?, ?, ?, ?, ?)", _flights(carriers))
        connection.executemany("insert into airlines values (?, ?)", _own_airlines(carriers))
        connection.executemany("insert into airports values (?, ?)", _rows("airports.csv"))
        connection.execute(INDEX)
        connection.execute(_data("departures.sqlite.sql").read_text(encoding="utf-8"))
        connection.execute("commit")
        connection.execute("analyze")


def make_duckdb(path: Path) -> None:
    """A DuckDB file with the airlines that DUCKDB holds; DuckDB reads the packed CSV by itself."""
    import duckdb  # a driver, and an extra

    carriers = _carriers(DUCKDB)
    with closing(duckdb.connect(str(path))) as connection, as_file(_data("flights.csv.gz")) as packed:
        for statement in TABLES.strip().rstrip(";").split(";"):
            connection.execute(statement)
        connection.execute(DUCKDB_FLIGHTS, [str(packed), carriers])
        connection.executemany("insert into airlines values (?, ?)", _own_airlines(carriers))
        connection.executemany("insert into airports values (?, ?)", list(_rows("airports.csv")))
        connection.execute(_data("departures.duckdb.sql").read_text(encoding="utf-8"))


def _carriers(source: str) -> list[str]:
    return [airline.carrier for airline in AIRLINES if airline.source == source]


def _own_airlines(carriers: Iterable[str]) -> list[list[str]]:
    return [row for row in _rows("airlines.csv") if row[0] in carriers]


def _flights(carriers: list[str]) -> Iterator[tuple[str | int | None, ...]]:
    """The rows of the table ``flights``. Type affinity turns the numbers' text into integers."""
    wanted = frozenset(carriers)
    dates = {(str(m), str(d)): f"2013-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 32)}
    text = gzip.decompress(_data("flights.csv.gz").read_bytes()).decode()
    rows = csv.reader(io.StringIO(text))
    next(rows)
    for carrier, origin, dest, distance, month, day, left, arrived in rows:
        if carrier in wanted:
            yield carrier, origin, dest, distance, month, dates[month, day], left or None, arrived or None


def _rows(name: str) -> Iterator[list[str]]:
    rows = csv.reader(io.StringIO(_data(name).read_text(encoding="utf-8")))
    next(rows)
    yield from rows


def _data(name: str) -> Traversable:
    return files("tenantry.demo") / "data" / name


def _once(path: Path, make: Callable[[Path], None]) -> Path:
    """Makes the file aside and moves it when complete: a file that is there is a whole one."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        try:
            make(draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    return path
