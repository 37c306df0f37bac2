"""Rows of a data source: fetched beside the raw driver, and written beside orjson on ready dicts.

Twenty thousand rows. What is written has eight columns: integer, Decimal, date, datetime, UUID, JSON, text, float. What
is fetched has four (integer, text, float, integer), as narrow rows are the hardest: little of their time is the
engine's. With threads in it, fetching is measured by the wall's clock.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import orjson

from benchmarks.harness.measure import WALL, Cell, Figures, compare, repeat, run
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.groups import Environment, RegisteredSource, Tag, UserGroup, freeze
from tenantry.results import Format, Result, to_arrow, to_csv, to_json, to_ndjson
from tenantry.sql import SQLTemplate

ROWS = 20_000
DICTS_AIM, TUPLES_AIM, FETCH_AIM = 1.0, 1.8, 1.3
NAMES = ("id", "amount", "day", "at", "code", "document", "name", "ratio")
TYPES = ("integer", "decimal", "date", "datetime", "uuid", "json", "text", "float")
DAY, AT = date(2026, 1, 1), datetime(2026, 1, 1, 12)  # noqa: DTZ001  # a clock time is meant
SQL = "select id, name, amount, kind from orders"
BASE = "orjson, ready dicts"
ENVIRONMENT = Environment(1, "production", Tag.CUSTOMER)
MAPPING = freeze({"sqlite": "sqlite", "duckdb": "duckdb"})


class _Directory:
    """Two sources, each registered under its engine's name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        return RegisteredSource(reference, reference, environment, f"{reference}:///{self._folder / reference}")


def _rows() -> list[tuple[Any, ...]]:
    return [
        (
            number,
            Decimal(number) / 100,
            DAY + timedelta(days=number % 300),
            AT + timedelta(seconds=number),
            UUID(int=number * 7919),
            {"a": number, "b": ["x", "y"]},
            f"customer {number}",
            number * 0.5 if number % 10 else None,
        )
        for number in range(ROWS)
    ]


def _text(value: object) -> str:
    """The ``default`` that orjson is given: it writes no Decimal."""
    return str(value)


def _written() -> Figures:
    result, untyped = Result(NAMES, _rows(), TYPES), Result(NAMES, _rows())
    dicts, as_numbers = result.dicts(), Format(big_integers="number")
    assert json.loads(to_json(result)) == json.loads(to_json(dicts))  # the same work is measured
    assert len(json.loads(orjson.dumps(dicts, default=_text))) == ROWS
    return run(
        {
            BASE: repeat(lambda: orjson.dumps(dicts, default=_text)),
            "json.dumps, ready dicts": repeat(lambda: json.dumps(dicts, default=_text)),
            "to_json, ready dicts": repeat(lambda: to_json(dicts)),
            "to_json, ready dicts, big integers as numbers": repeat(lambda: to_json(dicts, as_numbers)),
            "to_json, tuples of unknown types": repeat(lambda: to_json(untyped)),
            "to_json, the driver's tuples": repeat(lambda: to_json(result)),
            "to_ndjson, the driver's tuples": repeat(lambda: to_ndjson(result)),
            "to_csv, the driver's tuples": repeat(lambda: to_csv(result)),
            "to_arrow, the driver's tuples": repeat(lambda: to_arrow(result)),
        },
        rounds=15,
    )


def _fill(folder: Path) -> None:
    with sqlite3.connect(folder / "sqlite") as lite:
        lite.execute("create table orders (id integer, name text, amount real, kind integer)")
        values = ((number, f"customer {number}", number * 0.5, number % 7) for number in range(ROWS))
        lite.executemany("insert into orders values (?, ?, ?, ?)", values)
    with duckdb.connect(str(folder / "duckdb")) as duck:
        duck.execute(
            "create table orders as select i::integer as id, 'customer ' || i as name, i * 0.5::double as amount, "
            f"(i % 7)::integer as kind from range({ROWS}) r(i)"
        )


def _with_dicts(fetchall: Callable[[], list[tuple[Any, ...]]]) -> list[dict[str, Any]]:
    names = ("id", "name", "amount", "kind")
    return [dict(zip(names, row, strict=True)) for row in fetchall()]


async def _fetched(folder: Path) -> dict[str, Figures]:
    _fill(folder)
    lite, duck = sqlite3.connect(folder / "sqlite"), None
    group = UserGroup(1, "acme", "acme", ENVIRONMENT, freeze({}), MAPPING, b"12345678", 1, 1)
    template, found = SQLTemplate(SQL), {}
    async with DataSources(_Directory(folder), row_limit=ROWS, max_bytes=1 << 30) as sources:
        await sources.fetch(group, "duckdb", template)  # opens the file, with its settings: no other may be used
        duck = duckdb.connect(str(folder / "duckdb"), read_only=True, config=_settings())
        raw: dict[str, Callable[[], list[tuple[Any, ...]]]] = {
            "sqlite": lambda: lite.execute(SQL).fetchall(),
            "duckdb": lambda: duck.execute(SQL).fetchall(),
        }
        for engine, fetchall in raw.items():
            found[engine] = await compare(
                _fetch_cells(sources, group, engine, template, fetchall), rounds=15, clock=WALL
            )
    lite.close()
    duck.close()
    return found


def _settings() -> dict[str, Any]:
    from tenantry.datasources.engines.duckdb import LOCKED
    from tenantry.datasources.url import MEMORY_LIMIT

    return {**LOCKED, "memory_limit": MEMORY_LIMIT}


def _fetch_cells(
    sources: DataSources, group: UserGroup, engine: str, template: SQLTemplate, fetchall: Callable[[], Any]
) -> dict[str, Cell]:
    async def fetch(times: int) -> None:
        for _ in range(times):
            await sources.fetch(group, engine, template)

    async def query(times: int) -> None:
        for _ in range(times):
            await sources.query(group, engine, template)

    return {
        "the raw driver's tuples": repeat(fetchall),
        "the same and dict(zip(…))": repeat(lambda: _with_dicts(fetchall)),
        "DataSources.query": query,
        "DataSources.fetch": fetch,
    }


def table() -> Table:
    """Runs it."""
    result = Table("Rows of a data source", ["what", "ms", "× the first"])
    with tempfile.TemporaryDirectory() as folder:
        fetched = asyncio.run(_fetched(Path(folder)))
    for engine, figures in fetched.items():
        first = next(iter(figures.rounds))
        for name in figures.rounds:
            result.add(f"{engine}: {name}", f"{figures.median(name) / 1e6:,.1f}", f"{figures.ratio(name, first):.2f}")
        result.aims.append(Aim(f"{engine}, fetch, × raw driver", figures.ratio("DataSources.fetch", first), FETCH_AIM))
    written = _written()
    for name in written.rounds:
        result.add(name, f"{written.median(name) / 1e6:,.1f}", f"{written.ratio(name, BASE):.2f}")
    for name, bound in (("to_json, ready dicts", DICTS_AIM), ("to_json, the driver's tuples", TUPLES_AIM)):
        result.aims.append(Aim(f"{name}, × {BASE}", written.ratio(name, BASE), bound))
    return result
