"""The two tiers of tests: `make test` leaves out the slow ones, `make test-all` and `.ci/run` leave out none."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engines.samples import pytest_collection_modifyitems, sampled
from scripts.distributions import DISTRIBUTIONS, ROOT


def _make(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs make without remaking the environment."""
    command = ["make", "--silent", "--old-file=.venv/test", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _commands(target: str) -> str:
    """The commands that ``make target`` would run."""
    return _make("--dry-run", target).stdout


def test_make_test_leaves_out_the_slow_tests() -> None:
    """In every distribution. Red when one of them does not know the marker, and when `make test` runs everything."""
    commands = _commands("pytest")
    assert "-m 'not slow'" in commands
    for folder in DISTRIBUTIONS.values():
        assert str(folder.relative_to(ROOT)) in commands
        options = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
        assert [each.partition(":")[0] for each in options["markers"]] == ["slow"]


def test_make_test_all_leaves_out_nothing() -> None:
    """And CI runs it. Red when either runs the first tier alone."""
    commands = _commands("test-all")
    assert "pytest" in commands
    assert "slow" not in commands
    assert "make test-all" in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("folder", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_the_options_of_make_test_start_each_session(folder: Path) -> None:
    """Red when FIRST_TIER in the Makefile gets an option that one distribution's session does not know."""
    options = _commands("pytest").partition(" -m pytest ")[2].partition(")")[0]
    command = [sys.executable, "-m", "pytest", *shlex.split(options), "--markers"]
    started = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    assert "slow" in started.stdout


def test_each_room_has_a_verb() -> None:
    """Red when `make test-sql` runs another folder, and when an unknown room passes."""
    assert _commands("test-sql").rstrip().endswith(" tests/sql")
    assert "cd ./site && " in _commands("test-site")
    assert "cd ./contrib/tenantry-convert && " in _commands("test-convert")
    unknown = _make("test-nothing")
    assert unknown.returncode != 0
    assert "There are no tests of nothing." in unknown.stdout


@dataclass
class Case:
    """A case of a test, as pytest's own."""

    nodeid: str
    function: Any
    fixturenames: list[str] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)

    def add_marker(self, name: str) -> None:
        self.markers.append(name)


def _first_tier(number: int, function: Any, *fixtures: str) -> list[str]:
    """The cases of a test of ``number`` cases that are not slow."""
    cases: list[Any] = [Case(f"test_a.py::test_a[{n}]", function, list(fixtures)) for n in range(number)]
    pytest_collection_modifyitems(cases)
    return [case.nodeid for case in cases if "slow" not in case.markers]


def test_the_first_tier_has_some_cases_of_a_costly_test() -> None:
    """The same in each process. Red when all of a test's cases are slow, and when those of another one are."""

    def plain() -> None: ...

    @sampled(3)
    def costly() -> None: ...

    assert len(_first_tier(9, plain)) == 9
    assert len(_first_tier(9, plain, "visit", "browser")) == 2
    assert len(_first_tier(1, plain, "browser")) == 1
    assert len(_first_tier(9, costly)) == len(_first_tier(9, costly, "browser")) == 3
    assert len(_first_tier(2, costly)) == 2
    assert _first_tier(9, costly) == _first_tier(9, costly)
