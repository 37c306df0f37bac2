"""Virtual environments that hold what a page tells its reader to install, and nothing else.

Nothing is installed anew for each: the folders of a distribution are links into the environment of the tests, with
what Python compiled there: nothing is compiled twice. Ours are built from the checkout, once. What a requirement brings
is read in the metadata, as pip reads it; that pip finds nothing missing is a test (test_documents.py).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from collections.abc import Iterable
from functools import cache
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from engines.locks import locked
from scripts.distributions import DISTRIBUTIONS

_SCRIPT = """#!{python}
import sys

from {module} import {name}

if __name__ == "__main__":
    sys.exit({call}())
"""


class Environments:
    """One for each set of requirements, made when it is first asked for, in a folder that several processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def python(self, requirements: Iterable[str]) -> Path:
        """The interpreter of an environment that holds what ``pip install`` with these words would bring."""
        wanted = sorted(set(requirements))
        name = hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:12]
        python = self._folder / name / "bin" / "python"
        ready = self._folder / f"{name}.ready"
        self._folder.mkdir(parents=True, exist_ok=True)
        with locked(self._folder):  # while no other process makes one
            if not ready.exists():
                venv.create(self._folder / name, symlinks=True)
                (packages,) = (self._folder / name / "lib").glob("*/site-packages")
                for held in self._needed(wanted):
                    _link(held, packages)
                    _write_scripts(held, python)
                ready.touch()
        return python

    def _needed(self, wanted: list[str]) -> list[Distribution]:
        """What is required, and what that requires."""
        found: dict[str, Distribution] = {}
        seen = set()
        open_ = [Requirement(text) for text in wanted]
        while open_:
            requirement = open_.pop()
            name = canonicalize_name(requirement.name)
            if name not in found:
                found[name] = self._built(name) if name in DISTRIBUTIONS else _distribution(name)
            for extra in {"", *requirement.extras} - {extra for of, extra in seen if of == name}:
                seen.add((name, extra))
                further = _requirements(found[name])
                open_ += [each for each in further if each.marker is None or each.marker.evaluate({"extra": extra})]
        return list(found.values())

    def _built(self, name: str) -> Distribution:
        """One of ours, installed into a folder of its own: it is compiled there."""
        folder = self._folder / "built" / name
        if not folder.exists():
            draft = folder.with_suffix(".draft")
            options = ["--no-deps", "--no-build-isolation", "--no-index", "--no-cache"]  # a cache does not look at src/
            _run("-m", "uv", "pip", "install", *options, "--target", draft, DISTRIBUTIONS[name])
            draft.rename(folder)
        return _distribution(name, folder)


@cache
def _distribution(name: str, folder: Path | None = None) -> Distribution:
    return distribution(name) if folder is None else next(iter(distributions(name=name, path=[str(folder)])))


@cache
def _requirements(held: Distribution) -> list[Requirement]:
    return [Requirement(text) for text in held.requires or []]


@cache
def _links(held: Distribution) -> dict[Path, Path]:
    """Its files beside the packages' folder are left out, as scripts are. A folder is linked as a whole if it has no
    file of another distribution."""
    files = {}
    for file in held.files or []:
        source = Path(str(file.locate()))
        is_package = file.parts[0] not in {"..", "bin"} and not file.is_absolute()
        if is_package and "__pycache__" not in file.parts and source.is_file():
            files[Path(file)] = source
    root = Path(str(held.locate_file("")))
    for name in {file.parts[0] for file in files if len(file.parts) > 1}:
        inside = {path.relative_to(root) for path in (root / name).rglob("*") if path.is_file()}
        own = {file for file in files if file.parts[0] == name}
        if {path for path in inside if "__pycache__" not in path.parts} == own:
            files = {file: source for file, source in files.items() if file not in own} | {Path(name): root / name}
    return files


def _link(held: Distribution, packages: Path) -> None:
    """Its files into another environment, also on another file system."""
    for file, source in _links(held).items():
        target = packages / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source)
        compiled = target.with_name("__pycache__")
        if file.suffix == ".py" and not compiled.is_symlink():
            compiled.symlink_to(source.with_name("__pycache__"))
            compiled.resolve().mkdir(exist_ok=True)


def _write_scripts(held: Distribution, python: Path) -> None:
    """As pip makes them from the entry points."""
    for point in held.entry_points.select(group="console_scripts"):
        script = python.with_name(point.name)
        name = point.attr.partition(".")[0]
        script.write_text(_SCRIPT.format(python=python, module=point.module, name=name, call=point.attr))
        script.chmod(0o755)


def _run(*words: str | Path) -> None:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Environments:
    """The environments of this run of the tests, in all of its processes."""
    base = tmp_path_factory.getbasetemp()
    return Environments((base if worker_id == "master" else base.parent) / "environments")
