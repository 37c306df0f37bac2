"""Virtual environments that hold what a page tells its reader to install, and nothing else.

pip installs into them, and asks no index: ours are wheels built from the checkout, and the others are packed again out
of the environment of the tests, which pip has filled by the same constraints. What Python has compiled there is packed
too: else each of these environments compiles all its packages again.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, distribution
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.tags import parse_tag, sys_tags
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
OURS = {"tenantry": ROOT, "tenantry-site": ROOT / "site"}
"""Our distributions, and the folder of each."""
_NOT_PACKED = re.compile(r"^\.\.|^/|\.dist-info/(?:INSTALLER|REQUESTED|RECORD|direct_url\.json)$")
"""Files of an installed distribution that its wheel does not have, or that pip makes again."""


class Environments:
    """One for each set of requirements, made when it is first asked for, in a folder that several processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._wheels = folder / "wheels"

    def python(self, requirements: Iterable[str]) -> Path:
        """The interpreter of the environment in which ``pip install`` was run with these words."""
        wanted = sorted(set(requirements))
        name = hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:12]
        python = self._folder / name / "bin" / "python"
        ready = self._folder / f"{name}.ready"
        with self._alone():
            if not ready.exists():
                for requirement in wanted:
                    self._pack(Requirement(requirement), set())
                _run("-m", "venv", "--without-pip", self._folder / name)
                source = ["--no-index", "--find-links", self._wheels]
                options = ["--no-compile", "--disable-pip-version-check", "--quiet"]
                _run("-m", "pip", "--python", python, "install", *source, *options, *wanted)
                ready.touch()
        return python

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While no other process makes one."""
        self._wheels.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _pack(self, requirement: Requirement, seen: set[tuple[str, str]]) -> None:
        """A wheel of what is required, and of what that requires."""
        installed = distribution(requirement.name)
        for extra in ("", *requirement.extras):
            if (requirement.name, extra) in seen:
                continue
            seen.add((requirement.name, extra))
            if (name := canonicalize_name(requirement.name)) in OURS:
                self._build(name)
            else:
                _repack(installed, self._wheels)
            for text in installed.requires or []:
                further = Requirement(text)
                if further.marker is None or further.marker.evaluate({"extra": extra}):
                    self._pack(further, seen)

    def _build(self, name: str) -> None:
        if not list(self._wheels.glob(f"{name.replace('-', '_')}-*.whl")):
            options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
            _run("-m", "pip", "wheel", *options, "--wheel-dir", self._wheels, OURS[name])


def _repack(installed: Distribution, folder: Path) -> None:
    """The wheel of an installed distribution. Scripts are left out: pip makes them from the entry points."""
    files = [file for file in installed.files or [] if not _NOT_PACKED.search(file.as_posix())]
    info = next(file.parts[0] for file in files if file.name == "METADATA" and file.parts[0].endswith(".dist-info"))
    wheel = folder / f"{info.removesuffix('.dist-info')}-{_tag(installed)}.whl"
    if wheel.exists():
        return
    draft = wheel.with_suffix(".draft")
    with zipfile.ZipFile(draft, "w") as packed:  # not compressed: it is read again at once
        for file in files:
            if file.suffix != ".pyc":
                packed.write(str(file.locate()), file.as_posix())
            elif (compiled := _valid_for_good(Path(str(file.locate())))) is not None:
                packed.writestr(file.as_posix(), compiled)
        packed.writestr(f"{info}/RECORD", "".join(f"{file.as_posix()},,\n" for file in files))
    draft.rename(wheel)


def _valid_for_good(compiled: Path) -> bytes | None:
    """What this Python has compiled, marked as not to be compared with its source, whose time will be another (PEP 552:
    flags 1, and a hash that nobody looks at). None for what another one has compiled, or what is not there."""
    if not compiled.is_file():
        return None
    content = compiled.read_bytes()
    if content[:4] != MAGIC_NUMBER:
        return None
    return MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + content[16:]


def _tag(installed: Distribution) -> str:
    """The tag of its own that fits this interpreter best."""
    lines = (installed.read_text("WHEEL") or "").splitlines()
    own = {tag for line in lines if line.startswith("Tag: ") for tag in parse_tag(line.removeprefix("Tag: "))}
    return str(next(tag for tag in sys_tags() if tag in own))


def _run(*words: str | Path) -> None:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Environments:
    """The environments of this run of the tests, in all of its processes."""
    base = tmp_path_factory.getbasetemp()
    return Environments((base if worker_id == "master" else base.parent) / "environments")
