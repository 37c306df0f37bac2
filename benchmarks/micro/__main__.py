"""``make bench``: measure every table, print it, and save it as JSON. ``python -m benchmarks.micro sql`` measures one
table, ``python -m benchmarks.micro sources`` a group of tables; ``tables`` has their names."""

from __future__ import annotations

import json
import logging
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.harness.engines import EngineMissing, run_folder
from benchmarks.harness.table import Table
from benchmarks.micro.tables import GROUPS, TABLES, chosen

RESULTS = Path(".bench") / "results.json"


def main() -> None:
    """Run the chosen tables. A missed aim is printed and does not fail the run, since machines are shared."""
    try:
        names = chosen(sys.argv[1:])
    except KeyError as unknown:
        sys.exit(f"there is no table {unknown}: choose from {', '.join(TABLES)}, or a group: {', '.join(GROUPS)}")
    logging.getLogger("tenantry.datasources").setLevel(logging.ERROR)  # warns of users that may do everything, as here
    with run_folder():
        for name in names:
            table = _table(name)
            if table is not None:
                _save(name, table)
    print(f"\nsaved in {RESULTS}")


def _save(name: str, table: Table) -> None:
    """Save the table with date and commit. The file keeps the last figures of all other tables."""
    RESULTS.parent.mkdir(exist_ok=True)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    about = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    found = {**{other: kept[other] for other in TABLES if other in kept}, name: {**about, **table.as_dict()}}
    RESULTS.write_text(json.dumps(found, indent=2))


def _table(name: str) -> Table | None:
    try:
        table: Table = import_module(f"benchmarks.micro.{name}").table()
    except EngineMissing as missing:
        print(f"\n{name}: skipped: {missing}", flush=True)
        return None
    print(table, flush=True)
    return table


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
