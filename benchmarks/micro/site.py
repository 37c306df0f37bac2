"""The docs site against mkdocs and mkdocs-material: whole builds of 500 pages, in turn, each a process of its own."""

from __future__ import annotations

import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness.table import Aim, Table
from benchmarks.micro.site_pages import name, page, write_mkdocs, write_ours

PAGES, FEW, MANY, ROUNDS = 500, 50, 2000, 5
OURS, MKDOCS, MATERIAL = (
    "tenantry site build, with highlighting",
    "mkdocs, without highlighting",
    "mkdocs-material, with highlighting",
)
TOOLS = Path(sys.executable).parent
ALONE = Path(__file__).with_name("alone.py")


@dataclass
class Build:
    """What the rounds of one tool took: seconds each, of the clock and of the processor, and the most bytes."""

    command: list[str]
    folder: Path
    seconds: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    peak: int = 0

    def round(self) -> None:
        """One build, measured."""
        words = [sys.executable, "-I", str(ALONE), *self.command]
        printed = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout
        figures = json.loads(printed)
        if figures["exit"]:
            raise SystemExit(f"{' '.join(self.command)} failed: {figures['exit']}")
        self.seconds.append(figures["seconds"])
        self.busy.append(figures["busy"])
        self.peak = max(self.peak, figures["peak"])

    @property
    def rate(self) -> float:
        """Pages a second of the best round: the others waited for somebody else."""
        return PAGES / min(self.seconds)


def table() -> Table:
    """Runs it."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-site-") as scratch:
        folder = Path(scratch)
        builds = _builds(folder)
        for _ in range(ROUNDS):
            for build in builds.values():
                build.round()
        warm, cold = _warm(folder / "ours")
        weights = {PAGES: _weight(folder / "out", PAGES)} | {
            count: _weight(_other(folder, count), count) for count in (FEW, MANY)
        }
    result = Table(
        f"A site of {PAGES} pages of 3.5 KB",
        ["what", "pages/s (best)", "seconds (best)", "CPU seconds (best)", "peak MB"],
    )
    for title, build in builds.items():
        seconds = (f"{min(build.seconds):.2f}", f"{min(build.busy):.2f}")
        result.add(title, f"{build.rate:,.0f}", *seconds, f"{build.peak / 1e6:.1f}")
    result.add("tenantry, one page edited, in a running process", f"{1 / warm:,.0f}", f"{warm:.4f}", "", "")
    result.add("tenantry, all pages, in a running process", f"{PAGES / cold:,.0f}", f"{cold:.2f}", "", "")
    for count, weight in sorted(weights.items()):
        result.add(f"one page of {count:,} with styles and scripts: {weight / 1e3:.1f} KB gzip", "", "", "", "")
    ours, mkdocs, material = builds[OURS], builds[MKDOCS], builds[MATERIAL]
    result.aims = [
        Aim("pages/s, × mkdocs", ours.rate / mkdocs.rate, 1.2, at_least=True),
        Aim("pages/s, × mkdocs-material", ours.rate / material.rate, 5, at_least=True),
        Aim("one page edited, × a full build", warm / cold, 1 / 20),
        Aim("weight of a page, KB gzip", max(weights.values()) / 1e3, 60),
        Aim(f"weight of a page of {MANY:,}, × one of {FEW}", weights[MANY] / weights[FEW], 1.1),
        Aim("peak memory, × mkdocs-material", ours.peak / material.peak, 1),
    ]
    return result


def _builds(folder: Path) -> dict[str, Build]:
    write_ours(folder / "ours", PAGES)
    write_mkdocs(folder / "mkdocs", PAGES, theme="mkdocs")
    write_mkdocs(folder / "material", PAGES, theme="material")
    mkdocs = [str(TOOLS / "mkdocs"), "build", "--quiet", "--clean"]
    return {
        OURS: Build([sys.executable, "-m", "tenantry", "site", "build", "ours", "--out", "out"], folder),
        MKDOCS: Build(mkdocs, folder / "mkdocs"),
        MATERIAL: Build(mkdocs, folder / "material"),
    }


def _other(folder: Path, count: int) -> Path:
    """The same site with another number of pages, built."""
    source, out = f"ours-{count}", f"out-{count}"
    write_ours(folder / source, count)
    Build([sys.executable, "-m", "tenantry", "site", "build", source, "--out", out], folder).round()
    return folder / out


def _warm(folder: Path) -> tuple[float, float]:
    """Seconds of one edit and of all pages, in one process that keeps what it knows."""
    from tenantry_site.rendering import Site

    files: dict[str, str | bytes] = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    start = time.perf_counter()
    site = Site()
    for _ in site.update(files):
        pass
    cold = time.perf_counter() - start
    edits = []
    for turn in range(20):
        edited = f"{name(turn * 11)}.md"
        files[edited] = page(turn * 11, PAGES) + f"\nOne more paragraph: {turn}.\n"
        start = time.perf_counter()
        for _ in site.update(files, {edited}):
            pass
        edits.append(time.perf_counter() - start)
    return statistics.median(edits), cold


def _weight(out: Path, count: int) -> float:
    """Bytes that a reader's browser loads for one page, each file compressed."""
    path = out / f"{name(count // 2)}.html"
    html = path.read_text("utf-8")
    files = re.findall(r'<script[^>]* src="([^"]+)"', html)
    files += re.findall(r'<link rel="?(?:stylesheet|icon)"?[^>]* href="([^"]+)"', html)
    return sum(len(gzip.compress(each.read_bytes(), 6)) for each in (path, *((out / file) for file in files)))
