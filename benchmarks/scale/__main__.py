"""``make scale``: a million groups, measured. ``python -m benchmarks.scale simulate``: a thousand workers."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness.engines import EngineMissing, postgres, run_folder, valkey
from benchmarks.harness.population import populate, raw
from benchmarks.harness.table import Aim, Table
from benchmarks.scale.fleet_costs import costs
from benchmarks.scale.loop_lag import recurring
from benchmarks.scale.simulate import tables as simulated
from benchmarks.scale.stores import STARTS, compare_sizes, postgres_bytes, sqlite_bytes

SIZES = (1_000, 1_000_000)
CACHED = 950_000
"""Tokens in the full cache: the rest of the groups is there to push some of them out."""

RUNS = 3
"""Each in a process of its own: what is long in all of them is the work's, the rest is the machine's."""

RESULTS = Path(".bench") / "scale.json"


def main() -> None:
    """Without an argument everything is run: about fifteen minutes."""
    chosen = sys.argv[1:] or ["sqlite", "postgres", "simulate"]
    verbs = {"sqlite": _sqlite, "postgres": _postgres, "simulate": simulated}
    unknown = [name for name in chosen if name not in verbs]
    if unknown:
        sys.exit(f"there is no {', '.join(unknown)}; there are {', '.join(verbs)}")
    results: list[Table] = []
    with run_folder():
        for name in chosen:
            try:
                found = verbs[name]()
            except EngineMissing as missing:
                print(f"\n{name}: skipped, for {missing}", flush=True)
                continue
            print(*found, sep="\n", flush=True)
            results += found
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"tables": [table.as_dict() for table in results]}, indent=2))
    print(f"\nsaved as {RESULTS}")


def _sqlite() -> list[Table]:
    with tempfile.TemporaryDirectory(prefix="tenantry-scale-") as name:
        urls = [f"sqlite:///{Path(name) / f'{size}.db'}" for size in SIZES]
        seconds = [_populate(url, size) for url, size in zip(urls, SIZES, strict=True)]
        misses = compare_sizes("SQLite", urls[0], urls[1], SIZES, _tokens())
        few, many = (sqlite_bytes(url) / size for url, size in zip(urls, SIZES, strict=True))
        misses.add("bytes of a group with its indexes", f"{few:,.0f}", f"{many:,.0f}", f"{many / few:.2f}")
        misses.add("seconds to load", *(f"{time:.1f}" for time in seconds), "")
        return [misses, _cache(urls[1])]


def _postgres() -> list[Table]:
    with postgres() as large, postgres() as small:
        seconds = [_populate(url, size) for url, size in zip((small, large), SIZES, strict=True)]
        misses = compare_sizes("PostgreSQL", small, large, SIZES, _tokens())
        sizes = [asyncio.run(postgres_bytes(url)) for url in (small, large)]
        for index, what in enumerate(("bytes of a group's row", "bytes of its index entries")):
            few, many = (size[index] / count for size, count in zip(sizes, SIZES, strict=True))
            misses.add(what, f"{few:,.0f}", f"{many:,.0f}", f"{many / few:.2f}")
        misses.add("seconds to load", *(f"{time:.1f}" for time in seconds), "")
        return [misses, _costs(large)]


def _costs(url: str) -> Table:
    try:
        with valkey() as second:
            return costs(url, SIZES[1], second)
    except EngineMissing:
        return costs(url, SIZES[1], None)


def _populate(url: str, size: int) -> float:
    start = time.perf_counter()
    populate(url, size)
    return time.perf_counter() - start


def _tokens() -> list[list[str]]:
    """For each size the tokens that a starting worker is asked with."""
    return [[raw(size * turn // STARTS).decode() for turn in range(STARTS)] for size in SIZES]


def _cache(url: str) -> Table:
    # The same numbers are hashed alike in every run, so that a table of the cache grows at the same step in each.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "benchmarks.scale.cache_worker", url, str(CACHED)]
    runs = [_run_worker(command, environment) for _ in range(RUNS)]
    result = Table(
        f"A worker with {CACHED:,} tokens in its cache: the longest turn of its event loop, CPU ms",
        [
            "while",
            "turns",
            "longest at the same step of every run",
            "longest in any run",
            "turns over 1 ms",
            "longest collection",
        ],
    )
    agreed = {name: _agreed(runs, name) for name in runs[0]["gaps"]}
    for name, longest in agreed.items():
        gaps = [run["gaps"][name] for run in runs]
        turns, over = (sum(each[what] for each in gaps) for what in ("turns", "over"))
        own, collection = (max(each[what] for each in gaps) for what in ("own", "collection"))
        result.add(name, f"{turns:,}", f"{longest:.2f}", f"{own:.2f}", f"{over:,}", f"{collection:.1f}")
    weight = max(run["bytes"] for run in runs)
    result.add("a full gc.collect(), before gc.freeze()", "", "", "", "", f"{runs[0]['collection']:.1f}")
    result.add("bytes of memory per token with its group", f"{weight:,.0f}", "", "", "", "")
    result.add("share of the last requested tokens that is cached", f"{runs[0]['cached']:.1%}", "", "", "", "")
    result.aims = [
        Aim("longest turn because of housekeeping, ms", max(agreed.values()), 1.0),
        Aim("bytes per cached token with its group", weight, 700),
    ]
    return result


def _run_worker(command: list[str], environment: dict[str, str]) -> Any:
    return json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment).stdout,
    )


def _agreed(runs: list[Any], name: str) -> float:
    return recurring([{int(position): ms for position, ms in run["gaps"][name]["long"].items()} for run in runs])


if __name__ == "__main__":
    main()
