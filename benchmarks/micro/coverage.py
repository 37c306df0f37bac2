"""``tenantry sql check --groups``: 200 templates over 10,000 groups of a SQLite store, as a process."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness.table import Aim, Table

TEMPLATES, GROUPS, ROUNDS = 200, 10_000, 3
AIM_SECONDS = 5.0
NAMES = 40
TENANTRY = (sys.executable, "-m", "tenantry")

_GROUPS = """
    with recursive n (n) as (select 2 union all select n + 1 from n where n < ?)
    insert into user_groups (environment_id, provided_id, name, properties, handle, token_version, key_id, nonce,
      revision, created_at, updated_at)
    select environment_id, 'g' || n, 'g' || n, replace(properties, '"p' || (n % 40) || '"', '"q"'), randomblob(8),
      token_version, key_id, nonce, revision, created_at, updated_at
    from n, user_groups where provided_id = 'g1'
"""
"""Copies of the first group, each of which lacks one of its properties."""


def table() -> Table:
    """Runs it."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-coverage-") as scratch:
        folder = Path(scratch)
        _prepare(folder)
        result = Table(f"{TEMPLATES} templates", ["what", "seconds (best)", "findings"])
        without, _ = _best(folder)
        seconds, found = _best(folder, "--groups")
        result.add("tenantry sql check", f"{without[0]:.2f}", str(without[1]))
        result.add(f"tenantry sql check --groups, {GROUPS:,} groups", f"{seconds[0]:.2f}", str(seconds[1]))
        assert found == GROUPS
        result.aims.append(Aim("seconds of the whole command with groups", seconds[0], AIM_SECONDS))
    return result


def _best(folder: Path, *options: str) -> tuple[tuple[float, int], int]:
    """The seconds of the best round with the number of findings, and how many groups were read."""
    rounds = []
    document = {}
    for _ in range(ROUNDS):
        started = time.monotonic()
        printed = _run(folder, "sql", "check", "queries", "--format", "json", *options, fails=bool(options))
        seconds = time.monotonic() - started
        document = json.loads(printed)
        rounds.append((seconds, len(document["findings"])))
    return min(rounds), document["groups"] or 0


def _prepare(folder: Path) -> None:
    (folder / "queries").mkdir()
    for number in range(TEMPLATES):
        paths = [f"p{(number + step) % NAMES}" for step in range(6)]
        where = " and ".join(f"c{at} = {{{{ {path} }}}}" for at, path in enumerate(paths))
        text = (
            f"select a, sum(b) from t{number} where {where} [[ and d > {{{{ params.d }}}} ]] group by a order by 2 desc"
        )
        (folder / "queries" / f"q{number}.sql").write_text(text)
    _run(folder, "keys", "new")
    _run(folder, "migrate")
    _run(folder, "environment", "create", "production", "--tag", "Customer")
    properties = [word for at in range(NAMES) for word in ("--property", f"p{at}={at}")]
    _run(folder, "group", "create", "g1", *properties)
    with sqlite3.connect(folder / "tenantry.db") as database:
        database.execute(_GROUPS, (GROUPS,))
    database.close()


def _run(folder: Path, *words: str, fails: bool = False) -> bytes:
    done = subprocess.run([*TENANTRY, *words], cwd=folder, env=os.environ, capture_output=True, check=False)
    if done.returncode != int(fails):
        raise SystemExit(f"{' '.join(words[:3])} failed: {done.stderr.decode()}")
    return done.stdout
