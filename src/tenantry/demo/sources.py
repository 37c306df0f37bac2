"""The sixteen airlines of the demo, and its two data sources: a SQLite file and a DuckDB file with the same tables and
different airlines in them. What is not Python (rows, tables, views) is in ``data``."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from tenantry.groups import GroupDraft

SQLITE, DUCKDB = "flights_sqlite", "flights_duckdb"  # by the ids that the demo gives them
DATA: Final = files("tenantry.demo") / "data"


def text(name: str) -> str:
    """A file of ``data``."""
    return (DATA / name).read_text(encoding="utf-8")


def _drafts() -> Iterator[GroupDraft]:
    for row in csv.DictReader(text("groups.csv").splitlines()):
        own = {"home_airports": row["home_airports"].split(), "accent": row["accent"], "locale": row["locale"]}
        # What a minute of delay costs is a round assumption, so that the dashboards have money to show.
        properties = {"carrier": row["carrier"], **own, "currency": "USD", "delay_cost": 75.0}
        yield GroupDraft(row["carrier"], row["name"], properties, {"flights": row["source"]})


AIRLINES: Final = {draft.provided_id: draft for draft in _drafts()}
"""The groups by code. ``home_airports``: which of New York's three begin at least a tenth of an airline's flights."""
SHOWN: Final = ("UA", "B6", "HA")  # the product's customers: two data sources; 58,665, 54,635 and 342 flights


def prepare(folder: Path) -> dict[str, str]:
    """Makes both files in ``folder``, unless they are there, and returns data source id -> URL. About a second."""
    # Of all that they are made of: a folder from before is never half right.
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(DATA.iterdir(), key=lambda each: each.name)))
    urls = {}
    for source, engine, make in ((SQLITE, "sqlite", _make_sqlite), (DUCKDB, "duckdb", _make_duckdb)):
        carriers = [carrier for carrier, draft in AIRLINES.items() if draft.mapping == {"flights": source}]
        path = folder.resolve() / f"flights-{digest.hexdigest()[:12]}.{engine}"
        urls[source] = f"{engine}:///{path}"
        if not path.exists():
            draft = path.with_name(f"{path.name}.{os.getpid()}")  # moved when complete: a file is a whole one
            draft.unlink(missing_ok=True)
            make(draft, carriers)
            draft.replace(path)
    return urls


def tables(engine: str) -> str:
    """The SQL for ``sqlite`` or ``duckdb`` that makes the tables, and the view that the dashboards ask."""
    return text("tables.sql") + text(f"departures.{engine}.sql")


def _make_sqlite(path: Path, carriers: list[str]) -> None:
    lines = gzip.decompress((DATA / "flights.csv.gz").read_bytes()).decode().splitlines()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = off")  # a half-made file is thrown away, so nothing needs undoing
        connection.execute("pragma synchronous = off")
        connection.executescript(tables("sqlite"))
        connection.execute("begin")
        connection.executemany(text("flights.sqlite.sql"), (row for row in csv.reader(lines) if row[0] in carriers))
        connection.executemany("insert into airports values (?, ?)", csv.reader(text("airports.csv").splitlines()[1:]))
        connection.execute("create index flights_of_carrier on flights (carrier, flight_date)")
        connection.execute("commit")
        connection.execute("analyze")


def _make_duckdb(path: Path, carriers: list[str]) -> None:
    import duckdb  # a driver, and an extra

    with closing(duckdb.connect(str(path))) as connection, as_file(DATA / "flights.csv.gz") as packed:
        connection.execute(tables("duckdb"))
        connection.execute(text("flights.duckdb.sql"), {"file": str(packed), "carriers": carriers})
        rows = list(csv.reader(text("airports.csv").splitlines()[1:]))
        connection.executemany("insert into airports values (?, ?)", rows)
