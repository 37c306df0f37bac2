"""S22: a fixed list of defences, each broken once in a copy of the tree: how many the tests notice."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Set
from compileall import compile_dir
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Final

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.defences.catalogue import DEFENCES, Defence
from benchmarks.acceptance.fleet.child import ROOT
from benchmarks.acceptance.pytest_runs import run_pytest

_FAILED: Final = 1
"""Exit code of pytest when tests ran and some failed; any other would be a mistake of the list."""

_SECONDS: Final = 900

_BUILT: Final = ("src/tenantry/static/bundles", "site/src/tenantry_site/static/bundles")
"""Folders with built files, which git does not know."""


def measure(effort: Effort) -> Measured:
    """Every defence of the list, after all their tests have passed on the tree as it is: the control. If one of them
    fails there, no defence is broken, because that test would seem to notice it."""
    with tempfile.TemporaryDirectory(prefix="tenantry-defences-") as name:
        copy = Path(name) / "tree"
        copy_tree(copy)
        named = sorted({test for defence in DEFENCES for test in defence.tests})
        effort.say(f"control: {len(named)} groups of tests on the tree as it is")
        if _pytest(copy, named, "-n", "2", quiet={0}):
            return Measured("the tests fail on the tree as it is", ok=False, numbers={"listed": len(DEFENCES)})
        unnoticed = []
        for defence in DEFENCES:
            effort.say(defence.name)
            if not notices(copy, defence):
                unnoticed.append(defence.name)
    noticed = len(DEFENCES) - len(unnoticed)
    figure = f"{noticed} of {len(DEFENCES)} noticed (control: all pass)"
    return Measured(figure, not unnoticed, {"unnoticed": unnoticed, "listed": len(DEFENCES)})


def notices(copy: Path, defence: Defence) -> bool:
    """Whether a test of the defence fails when it is broken in this copy of the tree, which is put back as it was."""
    file = copy / defence.path
    whole = file.read_text()
    if whole.count(defence.line) != 1:
        raise RuntimeError(f"{defence.name}: its line stands {whole.count(defence.line)} times in {defence.file}")
    file.write_text(whole.replace(defence.line, defence.broken))
    try:
        return _pytest(copy, defence.tests, "-x") == _FAILED
    finally:
        file.write_text(whole)


def copy_tree(target: Path) -> None:
    """The files that git knows, as they are now, and the built bundles; the corpus stays where it is."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for folder in _BUILT:
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, target / folder)
    # Each of the many runs would compile the sources. A file that changes is compiled again, because its hash differs.
    compile_dir(target / "src", quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    if (ROOT.parent / "shared").is_dir():
        (target.parent / "shared").symlink_to(ROOT.parent / "shared")


def _pytest(folder: Path, tests: Iterable[str], *options: str, quiet: Set[int] = frozenset({0, _FAILED})) -> int:
    """Its exit code; what it prints goes to stderr unless the code is in ``quiet``."""
    return run_pytest(folder, tests, options, seconds=_SECONDS, quiet=quiet)


CHECKS = (
    Check("S22", "A list of defences broken one at a time: noticed by the tests", "all", measure, (3_600, 3_600)),
)
