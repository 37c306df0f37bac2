"""Runs of pytest in a tree: core's tests and the docs site's are two sessions, for both have a package called tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence, Set
from pathlib import Path
from typing import Final

SITE: Final = "site/"
"""The folder of the docs site's distribution, before the names of its tests."""


def run_pytest(tree: Path, tests: Iterable[str], options: Sequence[str], *, seconds: float, quiet: Set[int]) -> int:
    """The highest exit code of both sessions. What they print goes to stderr unless their code is in ``quiet``."""
    named = list(tests)
    sessions = [[test for test in named if test.startswith(SITE) is site] for site in (False, True)]
    return max(_run(tree, session, options, seconds, quiet) for session in sessions if session)


def _run(tree: Path, tests: Sequence[str], options: Sequence[str], seconds: float, quiet: Set[int]) -> int:
    sources = os.pathsep.join(str(tree / folder) for folder in ("src", "site/src"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests],
        cwd=tree, env={**os.environ, "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    if done.returncode not in quiet:
        print(done.stdout[-4_000:], done.stderr[-1_000:], file=sys.stderr)
    return done.returncode
