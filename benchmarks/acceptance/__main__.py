"""``make scorecard``: measure every row in a separate process, and print one table. Exits with 1 if a row missed its
target.

``python -m benchmarks.acceptance S1 S7`` runs only these rows. ``--full`` runs longer versions. ``--write-docs`` runs
nothing, and writes the last result of each row into the docs.
"""

from __future__ import annotations

import argparse
import json
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import asdict

from benchmarks.acceptance.check import Check, Effort, Result
from benchmarks.acceptance.report import ROOT, Report, machine, run_facts, save_last, write_docs
from benchmarks.acceptance.table import CHECKS

_GRACE_SECONDS = 45
"""Seconds that a row has after SIGTERM to stop its processes."""


def main() -> None:
    """See above."""
    asked = _arguments()
    if asked.write_docs:
        write_docs()
        return
    if asked.one:
        _measure(asked.one, Effort(asked.full, asked.seed))
        return
    chosen = [row for row in CHECKS if not asked.rows or row.id in asked.rows]
    unknown = set(asked.rows) - {row.id for row in CHECKS}
    if unknown:
        sys.exit(f"there is no row {', '.join(sorted(unknown))}; there are {', '.join(row.id for row in CHECKS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results = []
    for row in chosen:
        print(f"{row.id}  {row.name} …", file=sys.stderr, flush=True)
        results.append(_run(row, Effort(asked.full, asked.seed)))
        outcome = "met" if results[-1].ok else "MISSED"
        print(f"    {results[-1].figure}: {outcome}, {results[-1].took:.0f} s", file=sys.stderr, flush=True)
    report = Report(machine(), results)
    print(report.text())
    print(f"saved in {save_last(report).relative_to(ROOT)}")
    sys.exit(0 if report.ok else 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.acceptance", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to run; default: all")
    parser.add_argument("--full", action="store_true", help="run the long version of each row")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(2**31), help="seed of the random inputs, to repeat a run"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help="write the last result of each row into docs/, and run nothing"
    )
    parser.add_argument("--one", metavar="ROW", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(row: Check, effort: Effort) -> Result:
    """One row in a child, which may take its time and no more; whatever happens, there is a result."""
    known = run_facts(full=effort.full)
    command = [sys.executable, "-m", "benchmarks.acceptance", "--one", row.id, "--seed", str(effort.seed)]
    limit = row.seconds[effort.full]
    began = time.monotonic()
    child = subprocess.Popen(
        command + ["--full"] * effort.full,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for us: we tell it once, and it has time to stop what it started
    )
    try:
        output, _ = child.communicate(timeout=limit)
        measured = json.loads(output.splitlines()[-1]) if child.returncode == 0 and output.strip() else None
        failure = f"failed with exit code {child.returncode}: see above"
    except subprocess.TimeoutExpired:
        measured, failure = None, f"did not end within {limit} s"
        _stop(child)
    except (KeyboardInterrupt, SystemExit):
        _stop(child)
        raise
    took = round(time.monotonic() - began, 1)
    figures = measured or {"figure": failure, "ok": False, "numbers": {}}
    return Result(row.id, row.name, row.target, took=took, seed=effort.seed, **known, **figures)


def _stop(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.communicate(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def _end(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would end the ending
    sys.exit(1)


def _measure(name: str, effort: Effort) -> None:
    """The child: SIGTERM ends it as an exception does, so that what it started is stopped."""
    signal.signal(signal.SIGTERM, _end)
    row = next(row for row in CHECKS if row.id == name)
    measured = row.measure(effort)
    print(json.dumps(asdict(measured)))


if __name__ == "__main__":
    main()
