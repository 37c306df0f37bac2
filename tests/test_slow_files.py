"""The two tiers of tests: `make test` leaves out the slow files, `make test-all` and `.ci/run` leave out none."""

from __future__ import annotations

import subprocess

from scripts.distributions import DISTRIBUTIONS, ROOT

FILES = [file.as_posix() for folder in DISTRIBUTIONS.values() for file in (folder / "tests").rglob("test_*.py")]
LISTED = [
    name
    for line in (ROOT / "tests" / "slow_files.txt").read_text("utf-8").splitlines()
    if (name := line.partition("#")[0].strip())
]


def _make(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs make without remaking the environment."""
    command = ["make", "--silent", "--old-file=.venv/test", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _commands(target: str) -> str:
    """The commands that ``make target`` would run."""
    return _make("--dry-run", target).stdout


def test_each_name_is_that_of_one_file() -> None:
    """Red when a slow file is renamed or deleted, and when another one gets its name and would be left out too."""
    assert LISTED
    found = {name: [file for file in FILES if file.endswith(f"/{name}")] for name in LISTED}
    assert {name: files for name, files in found.items() if len(files) != 1} == {}


def test_make_test_leaves_out_the_listed_files() -> None:
    """Red when the Makefile no longer reads the list, or reads a comment as a name."""
    left_out = {word for word in _commands("pytest").split() if word.startswith("--ignore-glob=")}
    assert left_out == {f"--ignore-glob=*/{name}" for name in LISTED}


def test_make_test_all_leaves_out_nothing() -> None:
    """And CI runs it. Red when either runs the first tier alone."""
    commands = _commands("test-all")
    assert "pytest" in commands
    assert "--ignore" not in commands
    assert "--hypothesis-profile" not in commands
    assert "make test-all" in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


def test_each_room_has_a_verb() -> None:
    """Red when `make test-sql` runs another folder, and when an unknown room passes."""
    assert _commands("test-sql").rstrip().endswith(" tests/sql")
    assert "cd ./site && " in _commands("test-site")
    assert "cd ./contrib/tenantry-convert && " in _commands("test-convert")
    unknown = _make("test-nothing")
    assert unknown.returncode != 0
    assert "There are no tests of nothing." in unknown.stdout
