"""Twenty thousand rows written: every format, compared with orjson on ready dicts, pandas and DuckDB's ``copy … to``.

Eight columns: integer, Decimal, date, datetime, UUID, JSON, text, float. What is counted is one thread's time of the
processor, so DuckDB is told to use no other. It writes its own table to a file; the others give bytes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import orjson
import pandas as pd

from benchmarks.harness.measure import repeat, run
from benchmarks.harness.table import Aim, Table
from tenantry.datasources.results import Format, Result, to_arrow, to_csv, to_json, to_ndjson

ROWS = 20_000
ROUNDS = 15
NAMES = ("id", "amount", "day", "at", "code", "document", "name", "ratio")
TYPES = ("integer", "decimal", "date", "datetime", "uuid", "json", "text", "float")
DUCKDB_TYPES = ("integer", "decimal(18, 2)", "date", "timestamp", "uuid", "json", "varchar", "double")
DAY, AT = date(2026, 1, 1), datetime(2026, 1, 1, 12)  # noqa: DTZ001  # a clock time is meant
BASE = "orjson, ready dicts"
FROM_DICTS, FROM_TUPLES = "to_json, ready dicts", "to_json, the driver's tuples"
AIMS = {FROM_DICTS: 1.0, FROM_TUPLES: 1.8}


def table() -> Table:
    """Runs it."""
    with ExitStack() as stack:
        writers = {**_ours(), **_peers(stack)}
        for name, write in writers.items():
            if " json" in f" {name.replace('to_', ' ')}":
                assert _names(write()) == [*NAMES], name  # the same work is measured
        figures = run({name: repeat(write) for name, write in writers.items()}, rounds=ROUNDS)
    result = Table(f"{ROWS:,} rows written, CPU time", ["what", "ms", f"× {BASE}"])
    for name in figures.rounds:
        result.add(name, f"{figures.median(name) / 1e6:,.1f}", f"{figures.ratio(name, BASE):.2f}")
    result.aims = [Aim(f"{name} × {BASE}", figures.ratio(name, BASE), aim) for name, aim in AIMS.items()]
    return result


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


Write = Callable[[], Any]


def _ours() -> dict[str, Write]:
    result, untyped = Result(NAMES, _rows(), TYPES), Result(NAMES, _rows())
    dicts, as_text = result.dicts(), Format(exact_numbers="text")
    return {
        FROM_TUPLES: lambda: to_json(result),
        "to_json, tuples of unknown types": lambda: to_json(untyped),
        FROM_DICTS: lambda: to_json(dicts),
        "to_json, ready dicts, exact numbers as text": lambda: to_json(dicts, as_text),
        "to_ndjson, the driver's tuples": lambda: to_ndjson(result),
        "to_csv, the driver's tuples": lambda: to_csv(result),
        "to_arrow, the driver's tuples": lambda: to_arrow(result),
    }


def _peers(stack: ExitStack) -> dict[str, Write]:
    rows = _rows()
    dicts = Result(NAMES, rows).dicts()
    frame = pd.DataFrame.from_records(rows, columns=NAMES)

    def with_pandas(made: pd.DataFrame) -> Any:
        return made.to_json(orient="records", date_format="iso", default_handler=str)

    return {
        BASE: lambda: orjson.dumps(dicts, default=str),  # which writes no Decimal by itself
        "json.dumps, ready dicts": lambda: json.dumps(dicts, default=str),
        "pandas to_json, a ready DataFrame": lambda: with_pandas(frame),
        "pandas to_json, the driver's tuples": lambda: with_pandas(pd.DataFrame.from_records(rows, columns=NAMES)),
        "DuckDB, copy to json, its own table": _duckdb_copy(stack, rows),
    }


def _duckdb_copy(stack: ExitStack, rows: list[tuple[Any, ...]]) -> Write:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    connection = stack.enter_context(duckdb.connect(config={"threads": 1}))
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(NAMES, DUCKDB_TYPES, strict=True))
    connection.execute(f"create table written ({columns})")
    # Through a file, as one row at a time takes half a minute.
    (folder / "rows.json").write_bytes(to_ndjson(Result(NAMES, rows)))
    connection.execute(f"insert into written select * from read_json('{folder}/rows.json', auto_detect=true)")

    def copy() -> Path:
        connection.execute(f"copy written to '{folder}/written.json' (format json, array true)")
        return folder / "written.json"

    return copy


def _names(found: str | bytes | Path) -> list[str]:
    """Of the last of all the rows."""
    rows = json.loads(found.read_bytes() if isinstance(found, Path) else found)
    assert len(rows) == ROWS
    return list(rows[-1])
