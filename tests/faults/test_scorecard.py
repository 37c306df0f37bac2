"""The scorecard itself: every row is there, a miss is shown as a miss, and a row that fails takes nothing with it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import benchmarks.acceptance.__main__ as program
from benchmarks.acceptance import report
from benchmarks.acceptance.check import Check, Effort, Measured, Result, quantile, spread
from benchmarks.acceptance.checks import asvs, broken_defences, load
from benchmarks.acceptance.defences.catalogue import DEFENCES, Defence
from benchmarks.acceptance.report import Report
from benchmarks.acceptance.table import CHECKS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WANTED = [*range(1, 35)]
POOLED = ["S1p", "S2p", "S3p", "S5p"]  # S4 cuts the power of an SQLite file
ABOUT = {"machine": "m", "versions": "v"}


def result(ok: bool) -> Result:
    return Result("S1", "what | is it", "0", "1 of 2", ok, 61.0, 7)


def test_every_row_is_there() -> None:
    """In order, each once, and the time limits of a quick run leave a margin in a CI job."""
    assert [row.id for row in CHECKS if not row.id.endswith("p")] == [f"S{number}" for number in WANTED]
    pooled = [row for row in CHECKS if row.id.endswith("p")]
    assert [row.id for row in pooled] == POOLED
    assert all("through PgBouncer" in row.name for row in pooled)
    assert all(row.target and row.name for row in CHECKS)


def test_the_figures_in_the_docs_are_of_these_rows() -> None:
    """Each row has figures, and they were held against the target that it has now. Red when a row is added, or renamed,
    or its target changed, and it is not run again with ``--write-docs``."""
    shown = [(row.id, row.name, row.target) for row in report.load(report.COPY).results]
    assert shown == [(row.id, row.name, row.target) for row in CHECKS]


def test_a_miss_is_printed_as_missed() -> None:
    """In the table and in the outcome."""
    text = Report(ABOUT, [result(True), result(False)]).text()
    assert "MISSED" in text
    assert "1 of 2 rows missed" in text
    assert "every row is at its target" in Report(ABOUT, [result(True)]).text()


def test_met_is_the_stated_target_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slower machine gets a column of its own, which turns no miss into "met". Red when ``ok`` follows the rescaled
    target."""
    monkeypatch.setattr(load, "_TARGET", 10**9)
    found = load.compare(10**9 / 3, 0.001, [4 * load._REFERENCE] * 2)
    assert not found.ok
    assert found.rescaled.endswith(": met")
    assert load.compare(10**9 / 5, 0.001, [4 * load._REFERENCE] * 2).rescaled.endswith(": missed")
    text = Report(ABOUT, [replace(result(False), rescaled=found.rescaled)]).text()
    assert re.search(r"MISSED +250,000,000/s.*: met$", text, re.MULTILINE)


def test_the_docs_are_written_between_their_marks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The rest of the page stays; doing it again changes nothing; a bar in a name does not break the table. A row that
    was not run here keeps what the docs had."""
    page, copy = tmp_path / "page.md", tmp_path / "copy.json"
    page.write_text(f"before\n{report._BEGIN}\nold\n{report._END}\nafter\n")
    for name, value in {"SAVED": tmp_path / "saved", "PAGE": page, "COPY": copy}.items():
        monkeypatch.setattr(report, name, value)
    ran = replace(result(True), run="full", date="2026-01-02T03:04:05", commit="c")
    Report(ABOUT, [replace(ran, figure="0 of 2"), replace(ran, id="S10", commit="b")]).save(copy)
    assert report.save_last(Report(ABOUT, [ran])) == report.save_last(Report(ABOUT, [replace(ran, id="S2")]))
    report.write_docs()
    once = page.read_text()
    report.write_docs()
    assert page.read_text() == once
    assert once.startswith("before\n")
    assert once.endswith("after\n")
    assert "| S1 | what / is it | 0 | 1 of 2 | met |  | full, 2026-01-02, c |" in once
    assert "old" not in once
    rows = json.loads(copy.read_text())["rows"]
    assert [(row["id"], row["commit"]) for row in rows] == [("S1", "c"), ("S2", "c"), ("S10", "b")]


def test_a_row_that_fails_or_hangs_is_a_miss() -> None:
    """In a child of its own: the run goes on. Red when a row is measured in this process."""
    missing = Check("S0", "no such row", "-", lambda _: Measured("", ok=True), (60, 60))
    failed = program._run(missing, Effort(full=False, seed=1))
    assert (failed.ok, failed.figure) == (False, "failed with exit code 1: see above")
    assert (failed.run, failed.seed, len(failed.date)) == ("quick", 1, 25)
    hanging = Check("S8", "too slow", "-", lambda _: Measured("", ok=True), (0, 0))
    assert program._run(hanging, Effort(full=False, seed=1)).figure == "did not end within 0 s"


@pytest.mark.parametrize("ok", [True, False])
def test_the_exit_code_shows_a_miss(ok: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """0 when every row is at its target, else 1; the table is saved in both cases."""
    monkeypatch.setattr(program, "_run", lambda row, _: replace(result(ok or row.id != "S7"), id=row.id))
    monkeypatch.setattr(report, "SAVED", tmp_path)
    monkeypatch.setattr(report, "ROOT", tmp_path)
    monkeypatch.setattr(program, "ROOT", tmp_path)
    monkeypatch.setattr(program.signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["scorecard", "--seed", "7"])
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == (0 if ok else 1)
    saved = json.loads((tmp_path / "last.json").read_text())["rows"]
    assert [row["ok"] for row in saved].count(False) == (0 if ok else 1)
    assert len(saved) == len(WANTED) + len(POOLED)


@pytest.mark.parametrize("defence", DEFENCES, ids=[defence.name for defence in DEFENCES])
def test_a_listed_defence_is_where_the_list_says(defence: Defence) -> None:
    """Its line is once in its file and its tests are there; that they notice is what row S22 measures."""
    text = (ROOT / defence.path).read_text()
    assert text.count(defence.line) == 1
    assert defence.broken != defence.line
    assert all((ROOT / test).exists() for test in defence.tests)


def test_the_tests_notice_a_broken_defence(tmp_path: Path) -> None:
    """A short form of row S22: one defence in a copy of the tree; and a change that breaks nothing is not noticed. Red
    when the copy has no bundles: a test of them then failed in every copy, and seemed to notice each defence."""
    broken_defences.copy_tree(tmp_path / "tree")
    bundles = "src/tenantry/static/bundles"
    assert {each.name for each in (ROOT / bundles).iterdir()} == {
        each.name for each in (tmp_path / "tree" / bundles).iterdir()
    }
    defence = next(each for each in DEFENCES if each.file == "tokens/keys/private_file.py")
    assert broken_defences.notices(tmp_path / "tree", defence)
    assert not broken_defences.notices(tmp_path / "tree", replace(defence, broken=defence.line + "  # as it was"))


def test_every_claim_of_the_asvs_page_names_a_test() -> None:
    """Files and functions; row S23 runs them. Red for a claim without a test, or a test of another name."""
    found = asvs.claims((ROOT / "docs" / "asvs.md").read_text())
    assert len(found) > 40
    for tests in found.values():
        assert tests
        for test in tests:
            file, _, function = test.partition("::")
            assert (ROOT / file).exists()
            assert not function or re.search(rf"def {function}\b", (ROOT / file).read_text())


def test_an_unknown_row_is_named() -> None:
    """With those that there are."""
    command = [sys.executable, "-m", "benchmarks.acceptance", "S99"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no row S99; there are S1, S1p, S2" in done.stderr


def test_figures_are_read_off_rightly() -> None:
    """Quantiles of few values, and units."""
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([1.0], 0.99) == 1.0
    assert spread([0.5e-6, 2e-3, 1.5]) == "p50 2.0 ms, p99 1.50 s, max 1.50 s"
