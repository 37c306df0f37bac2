"""Runs the tests on every Python that this machine has: ``make test-matrix``.

It looks for interpreters on the PATH (``python3.12``) and in pyenv. Each version gets a virtual environment in
.venv-matrix/, with the versions of requirements/constraints.txt. Arguments after ``--`` go to pytest; only the tests of
the core are then run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from scripts.distributions import DISTRIBUTIONS, ROOT

ENVIRONMENTS: Final = ROOT / ".venv-matrix"
VERSIONS: Final = ("3.11", "3.12", "3.13", "3.14")
_CONSTRAINED: Final = ("--constraint", "requirements/constraints.txt")
_EXTRAS: Final = {"tenantry": "[test]", "tenantry-site": "[serve]"}
_FOLDERS: Final = [f"{folder}{_EXTRAS.get(name, '')}" for name, folder in DISTRIBUTIONS.items()]
_PACKAGES: Final = (*_CONSTRAINED, *(word for folder in _FOLDERS for word in ("--editable", folder)))
_SERVERS: Final = (*_CONSTRAINED, "httptools", "uvloop")  # in a separate folder, as in the Makefile
_PYTEST: Final = ("--dist=loadfile", "--no-loadscope-reorder")
_PASSED: Final = "passed"
_NOT_FOUND: Final = "not found, not run"


def main() -> None:
    """Print a line for each version. Exit with 1 if the tests failed on one, or if no version was found."""
    parser = argparse.ArgumentParser(prog="python -m scripts.matrix", description="The tests on every Python here.")
    parser.add_argument("--workers", default="3", help="processes that test")
    parser.add_argument("--versions", nargs="+", default=VERSIONS, metavar="3.X", help=f"default: {' '.join(VERSIONS)}")
    parser.add_argument("words", nargs="*", metavar="WORD", help="for pytest: which tests of the core")
    given = parser.parse_args()
    outcomes = {version: _outcome(version, given.workers, given.words) for version in given.versions}
    print(f"\n{' '.join(given.words) or 'all tests of all distributions'}:")
    for version, outcome in outcomes.items():
        print(f"  {version:<6}{outcome}")
    run = {outcome for outcome in outcomes.values() if outcome != _NOT_FOUND}
    sys.exit(0 if run and all(outcome.endswith(_PASSED) for outcome in run) else 1)


def find(version: str) -> Path | None:
    """Return an interpreter of this version: the one on the PATH, else the newest of pyenv."""
    return next((path for path in _candidates(version) if (_number(path) or "").startswith(f"{version}.")), None)


def _candidates(version: str) -> Iterator[Path]:
    if named := shutil.which(f"python{version}"):
        yield Path(named)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    folders = [folder for folder in pyenv.glob(f"{version}.*") if folder.name.removeprefix(f"{version}.").isdigit()]
    for folder in sorted(folders, key=lambda folder: int(folder.name.rsplit(".", 1)[1]), reverse=True):
        yield folder / "bin" / "python"


def _number(interpreter: Path) -> str | None:
    """Return the interpreter's version, such as ``3.12.1``. None if it does not start: it may be a shim of pyenv for a
    version that is not selected."""
    asked = [str(interpreter), "-c", "import platform; print(platform.python_version())"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _outcome(version: str, workers: str, words: Sequence[str]) -> str:
    interpreter = find(version)
    if interpreter is None:
        return _NOT_FOUND
    print(f"\n== {version}: {interpreter}", flush=True)
    python = _environment(version, interpreter)
    if python is None:
        return f"{_number(interpreter)}: NOT INSTALLED"
    return f"{_number(interpreter)}: {_PASSED if _test(python, workers, words) else 'FAILED'}"


def _environment(version: str, interpreter: Path) -> Path | None:
    """Return the Python of this version's virtual environment, after installing what the tests need; None if the
    installation failed."""
    folder = ENVIRONMENTS / version
    python, done = folder / "bin" / "python", folder / "installed"
    projects = [folder / "pyproject.toml" for folder in DISTRIBUTIONS.values()]
    sources = (*projects, ROOT / "requirements" / "constraints.txt")
    if done.exists() and done.stat().st_mtime >= max(source.stat().st_mtime for source in sources):
        return python
    install = [str(python), "requirements/install.py"]
    commands = (
        [str(interpreter), "-m", "venv", "--clear", str(folder)],
        [*install, *_PACKAGES],
        [*install, *_SERVERS, "--target", str(folder / "servers")],
    )
    if any(subprocess.run(command, cwd=ROOT, check=False).returncode for command in commands):
        return None
    done.touch()
    return python


def _test(python: Path, workers: str, words: Sequence[str]) -> bool:
    command = [str(python), "-m", "pytest", f"--numprocesses={workers}", *_PYTEST]
    environment = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    folders = [ROOT] if words else DISTRIBUTIONS.values()
    ended = [subprocess.run([*command, *words], cwd=folder, env=environment, check=False) for folder in folders]
    return not any(each.returncode for each in ended)


if __name__ == "__main__":
    main()
