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

SQLITE, DUCKDB = "flights_sqlite", "flights_duckdb"  # data source ids
DATA: Final = files("tenantry.demo") / "data"


def text(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def _drafts() -> Iterator[GroupDraft]:
    for row in csv.DictReader(text("groups.csv").splitlines()):
        own = {"home_airports": row["home_airports"].split(), "accent": row["accent"], "locale": row["locale"]}
        # The cost per minute of delay is invented, so that the dashboards can show money.
        properties = {"carrier": row["carrier"], **own, "currency": "USD", "delay_cost": 75.0}
        yield GroupDraft(row["carrier"], row["name"], properties, {"flights": row["source"]})


# The property ``home_airports`` lists the New York airports from which at least a tenth of the airline's flights
# depart.
AIRLINES: Final = {draft.provided_id: draft for draft in _drafts()}
"""The airlines' groups, by carrier code."""
# The customers of the product, on two data sources. They have 58,665, 54,635 and 342 flights.
SHOWN: Final = ("UA", "B6", "HA")


def prepare(folder: Path) -> dict[str, str]:
    """Create the data files that are missing in ``folder``. Return the URLs of all data files by data source id."""
    # The file names contain a hash of all inputs, so that files of an older version are not reused.
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(DATA.iterdir(), key=lambda each: each.name)))
    urls = {}
    for source, engine, make in ((SQLITE, "sqlite", _make_sqlite), (DUCKDB, "duckdb", _make_duckdb)):
        carriers = [carrier for carrier, draft in AIRLINES.items() if draft.mapping == {"flights": source}]
        path = folder.resolve() / f"flights-{digest.hexdigest()[:12]}.{engine}"
        urls[source] = f"{engine}:///{path}"
        if not path.exists():
            draft = path.with_name(f"{path.name}.{os.getpid()}")  # renamed when complete
            draft.unlink(missing_ok=True)
            make(draft, carriers)
            draft.replace(path)
    return urls


def tables(engine: str) -> str:
    return text("tables.sql") + text(f"departures.{engine}.sql")


def _make_sqlite(path: Path, carriers: list[str]) -> None:
    lines = gzip.decompress((DATA / "flights.csv.gz").read_bytes()).decode().splitlines()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = off")  # an incomplete file is discarded, so no rollback is needed
        connection.execute("pragma synchronous = off")
        connection.executescript(tables("sqlite"))
        connection.execute("begin")
        connection.executemany(text("flights.sqlite.sql"), (row for row in csv.reader(lines) if row[0] in carriers))
        connection.executemany("insert into airports values (?, ?)", csv.reader(text("airports.csv").splitlines()[1:]))
        connection.execute("create index flights_of_carrier on flights (carrier, flight_date)")
        connection.execute("commit")
        connection.execute("analyze")


def _make_duckdb(path: Path, carriers: list[str]) -> None:
    import duckdb  # the driver is an extra

    with closing(duckdb.connect(str(path))) as connection, as_file(DATA / "flights.csv.gz") as packed:
        connection.execute(tables("duckdb"))
        connection.execute(text("flights.duckdb.sql"), {"file": str(packed), "carriers": carriers})
        rows = list(csv.reader(text("airports.csv").splitlines()[1:]))
        connection.executemany("insert into airports values (?, ?)", rows)
