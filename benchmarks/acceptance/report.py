"""Report: the table of a run, as text, as JSON and as a part of the docs."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.acceptance.check import Result, number

ROOT: Final = Path(__file__).parents[2]
SAVED: Final = ROOT / ".scorecard"
PAGE: Final = ROOT / "docs" / "reliability.md"
COPY: Final = ROOT / "docs" / "figures" / "reliability.json"
_BEGIN: Final = "<!-- scorecard: made by `python -m benchmarks.acceptance --write-docs` -->"
_END: Final = "<!-- end of the scorecard -->"
_HEADINGS: Final = ("row", "what", "target", "figure", "as stated", "rescaled to this machine")
_JSON: Final = "The same with all its numbers: [reliability.json](figures/reliability.json)."


@dataclass(frozen=True)
class Report:
    """``about``: where it was run."""

    about: Mapping[str, Any]
    results: Sequence[Result]

    @property
    def ok(self) -> bool:
        """Whether every row is at its target."""
        return all(result.ok for result in self.results)

    def text(self) -> str:
        """The table for a terminal."""
        rows = [_HEADINGS, *(_cells(result) for result in self.results)]
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        lines.insert(1, "  ".join("-" * width for width in widths))
        missed = sum(not result.ok for result in self.results)
        outcome = (
            "every row is at its target" if self.ok else f"{missed} of {len(self.results)} rows missed their target"
        )
        return "\n".join([self._heading(), "", *(line.rstrip() for line in lines), "", outcome])

    def markdown(self) -> str:
        """The same for the docs, where each row says which run it is of."""
        headings = (*_HEADINGS, "run")
        lines = [self._heading() + ".", "", f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
        for result in self.results:
            cells = (*_cells(result), f"{result.run}, {result.date[:10]}, {result.commit}")
            lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
        return "\n".join(lines)

    def save(self, path: Path) -> None:
        """Writes it as JSON."""
        path.parent.mkdir(exist_ok=True)
        text = json.dumps({**self.about, "rows": [result.as_dict() for result in self.results]}, indent=2)
        path.write_text(text + "\n")

    def _heading(self) -> str:
        seconds = round(sum(result.took for result in self.results))
        return f"{seconds // 60} min {seconds % 60} s on {self.about['machine']}; {self.about['versions']}"


def load(path: Path) -> Report:
    """The report that was saved there."""
    about = json.loads(path.read_text())
    return Report(about, [Result(**row) for row in about.pop("rows")])


def save_last(report: Report) -> Path:
    """Saves the last result of each row, of this run or of one before it; gives where."""
    path = SAVED / "last.json"
    _together(load(path) if path.exists() else Report({}, []), report).save(path)
    return path


def write_docs() -> None:
    """Puts the last result of each row into docs/reliability.md, between its marks, and its JSON next to the page. A
    row that was not run here keeps what the docs had."""
    report = _together(load(COPY), load(SAVED / "last.json"))
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    PAGE.write_text(f"{before}{_BEGIN}\n\n{report.markdown()}\n\n{_JSON}\n\n{_END}{after}")
    report.save(COPY)


def _together(old: Report, new: Report) -> Report:
    """The rows of both, the new one's where both have one, in the order of the table."""
    results = {result.id: result for report in (old, new) for result in report.results}
    return Report({**old.about, **new.about}, sorted(results.values(), key=lambda result: number(result.id)))


def machine() -> dict[str, Any]:
    """The machine and the versions that every row of a run has in common."""
    return {
        "machine": _machine(),
        "versions": f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
    }


def run_facts(*, full: bool) -> dict[str, Any]:
    """What has to be known, with its seed, to run a row again."""
    return {
        "run": "full" if full else "quick",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
    }


def _cells(result: Result) -> tuple[str, ...]:
    met = "met" if result.ok else "MISSED"
    return result.id, result.name, result.target, result.figure, met, result.rescaled


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _machine() -> str:
    model = "a processor without a name"
    info = Path("/proc/cpuinfo")
    if info.is_file():
        named = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = named[0] if named else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    return f"{platform.system()}, {cores} cores of {model}, {memory:.0f} GiB"
