"""engines/reports.py: what a worker of the tests reports, and what it leaves out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scripts.distributions import ROOT

TESTS = """
import pytest

@pytest.fixture
def broken():
    raise ValueError

@pytest.fixture
def left_broken():
    yield
    raise ValueError

@pytest.fixture
def loud():
    yield
    print("said at the end")

def test_good(): pass
def test_skipped(): pytest.skip("")
@pytest.mark.xfail
def test_known(): assert 0
def test_broken(broken): pass
def test_left_broken(left_broken): pass
def test_loud(loud): assert 0
"""
SHOWN = """
def pytest_terminal_summary(terminalreporter):
    for reports in terminalreporter.stats.values():
        for each in reports:
            terminalreporter.write_line(f"reported: {each.location[2]} {each.when} {each.outcome}")
"""


def test_only_what_is_shown_is_reported(tmp_path: Path) -> None:
    """Red when what failed at the end of a test is left out, when its output then is, and when nothing is left out."""
    (tmp_path / "test_all.py").write_text(TESTS, "utf-8")
    (tmp_path / "conftest.py").write_text(SHOWN, "utf-8")
    options = f"-q -c {os.devnull} --rootdir={tmp_path} -p xdist.plugin -p engines.reports -n 1"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options.split(), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert sorted(each.removeprefix("reported: ") for each in lines if each.startswith("reported: ")) == [
        "test_broken setup failed",
        "test_good call passed",
        "test_known call skipped",
        "test_left_broken call passed",
        "test_left_broken teardown failed",
        "test_loud call failed",
        "test_loud teardown passed",
        "test_skipped call skipped",
    ], done.stdout + done.stderr
    assert "said at the end" in lines
