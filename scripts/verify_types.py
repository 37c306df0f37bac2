"""Measures the share of public symbols whose type a type checker knows. ``make types`` fails if it is below LEAST.

pyright counts the symbols that an importing program can reach, without those of other packages. For a package with
py.typed it infers hardly any type, so an attribute must declare its type.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from scripts.distributions import DISTRIBUTIONS, package

LEAST: Final = 0.99
PACKAGES: Final = tuple(map(package, DISTRIBUTIONS))
SOURCES: Final = tuple(str(folder / "src") for folder in DISTRIBUTIONS.values())


def main() -> None:
    """Print the share of each distribution; if it is below LEAST, also the symbols without a known type."""
    runs = [_start(package) for package in PACKAGES]
    missed = [package for package, run in zip(PACKAGES, runs, strict=True) if not _report(package, run)]
    if missed:
        sys.exit(f"pyright: below {LEAST:.0%} in {' and '.join(missed)}")


def _start(package: str) -> subprocess.Popen[str]:
    arguments = ["--verifytypes", package, "--ignoreexternal", "--outputjson"]
    environment = {
        **os.environ,
        # pyright looks for packages in the first Python on the PATH, whatever --pythonpath says.
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",  # no warning that a newer pyright is out
        "PYTHONPATH": os.pathsep.join(SOURCES),  # pyright does not follow editable installs here
    }
    return subprocess.Popen(
        [sys.executable, "-m", "pyright", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _report(package: str, run: subprocess.Popen[str]) -> bool:
    printed, errors = run.communicate()
    try:
        found: dict[str, Any] = json.loads(printed)["typeCompleteness"]
    except (ValueError, KeyError):
        sys.exit(f"pyright of {package} failed ({run.returncode}): {errors or printed}")
    share = found["completenessScore"]
    print(f"pyright: the types of {share:.1%} of {package} are known")
    if share >= LEAST:
        return True
    for symbol in found["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            reasons = "; ".join(" ".join(each["message"].split()) for each in symbol["diagnostics"])
            print(f"  {symbol['name']}: {reasons}")
    return False


if __name__ == "__main__":
    main()
