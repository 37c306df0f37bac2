"""``make bench``: every table, printed and saved as JSON. Names as arguments choose tables: ``python -m bench sql``."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from bench.table import Table

TABLES = ("middleware", "tokens", "sql", "api")
RESULTS = Path(".bench") / "results.json"


def main() -> None:
    """Runs the chosen tables. A missed aim is printed as missed; it does not fail the run, for machines are shared."""
    chosen = sys.argv[1:] or TABLES
    unknown = [name for name in chosen if name not in TABLES]
    if unknown:
        sys.exit(f"there is no table {', '.join(unknown)}; there are {', '.join(TABLES)}")
    results: list[Table] = []
    for name in chosen:
        results.append(import_module(f"bench.{name}").table())
        print(results[-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    about = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    RESULTS.write_text(json.dumps({**about, "tables": [table.as_dict() for table in results]}, indent=2))
    print(f"\nsaved as {RESULTS}")


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
