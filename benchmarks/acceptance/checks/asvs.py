"""S23: the claims of docs/asvs.md. Each names a test, and every test that is named is run."""

from __future__ import annotations

import re
from typing import Final

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import ROOT
from benchmarks.acceptance.pytest_runs import run_pytest

_PAGE: Final = ROOT / "docs" / "asvs.md"
_SECONDS: Final = 1_500


def claims(text: str) -> dict[str, list[str]]:
    """Requirement -> the tests that its line of the page names."""
    lines = re.findall(r"^\| (\d+\.\d+\.\d+) \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    return {requirement: re.findall(r"`((?:site/)?tests/[^`]+)`", tests) for requirement, tests in lines}


def unproved(found: dict[str, list[str]]) -> list[str]:
    """Claims without a test, and names of tests that are not there."""
    named = sorted({test for tests in found.values() for test in tests})
    missing = [requirement for requirement, tests in found.items() if not tests]
    return missing + [test for test in named if _pytest([test], "--collect-only") != 0]


def measure(effort: Effort) -> Measured:
    """All named tests; as a control, a test that is not there must be missed."""
    found = claims(_PAGE.read_text())
    named = sorted({test for tests in found.values() for test in tests})
    control = unproved({"0.0.0": ["tests/no_such_test.py"]})
    effort.say(f"{len(found)} claims, {len(named)} groups of tests")
    failed = _pytest(named, "-n", "2", "--dist=loadfile")
    figure = f"{len(found)} claims, {len(named)} groups of tests: {'all pass' if not failed else 'SOME FAIL'}"
    ok = not failed and len(control) == 1 and all(found.values())
    return Measured(f"{figure} (control: {'missed' if control else 'NOT MISSED'})", ok, {"claims": found})


def _pytest(tests: list[str], *options: str) -> int:
    """Its exit code; 4 is a name that is not there, which the caller counts."""
    return run_pytest(ROOT, tests, options, seconds=_SECONDS, quiet={0, 4})


CHECKS = (Check("S23", "ASVS 5.0 claims with a test that passes", "all", measure, (1_200, 1_500)),)
