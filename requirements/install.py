"""``pip install`` for the Makefile: hashes are checked, and each thing that takes its time has a line.

pip itself prints either nothing or hundreds of lines. What it says as warnings and errors is passed on whole.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from pip._vendor.packaging.requirements import Requirement  # every virtual environment has pip

STEPS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\s*Installing build dependencies: started"), lambda _: "getting the build tools"),
    (re.compile(r"\s*Preparing \w*\s*metadata .*: started"), lambda _: "reading what it needs"),
    (re.compile(r"Collecting ([\w.-]+)"), lambda found: f"collecting {found[1]}"),
    (re.compile(r"Processing \S*/([\w.]+)-\d\S*\.whl"), lambda found: f"collecting {found[1]}"),  # a wheel on the disk
    (
        re.compile(r"\s*Downloading (\S+)-\d\S* \((\d{2,}[.\d]* MB)\)"),
        lambda found: f"downloading {found[1]}, {found[2]}",
    ),
    (re.compile(r"\s*Building (?:editable|wheel) .*: started"), lambda _: "building the browser bundles, with npm"),
    (re.compile(r"Installing collected packages: (.*)"), lambda found: f"unpacking {found[1].count(',') + 1} packages"),
)
"""What pip prints -> what is shown. Everything else is left out."""


AT_ONCE = 4
"""Processes of pip that fetch: each waits for one answer of a registry after the other."""

_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")


def shown(lines: Iterable[str], seen: set[str]) -> Iterator[str]:
    """The lines to show, each once: ``seen`` are those of the runs before."""
    for line in lines:
        for pattern, text in STEPS:
            found = pattern.match(line)
            if found is not None and (step := text(found)) not in seen:
                seen.add(step)
                yield f"  {step}"


class Locked:
    """A constraints file with hashes: ``name==version ; marker``, and a ``--hash`` for each file of that release."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: dict[str, tuple[str, list[str]]] = {}
        for line in path.read_text("utf-8").replace("\\\n", " ").splitlines():
            text = line.partition("#")[0]
            name, equals, rest = _HASH.sub("", text).partition("==")
            if equals:
                self._entries[canonical(name)] = (rest.partition(";")[0].strip(), _HASH.findall(text))

    def check(self, required: Requirement) -> None:
        """Refuses what asks for another version than that of its line."""
        version = self.version(required.name)
        if version and not required.specifier.contains(version, prereleases=True):
            raise SystemExit(f"{required} is asked for, and {self._path} has {version}: run `make lock`")

    def version(self, name: str) -> str:
        """Empty where the distribution has no line."""
        return self._entries.get(canonical(name), ("", []))[0]

    def requirement(self, name: str) -> str:
        """The line by which pip checks what it fetched."""
        version, hashes = self._entries.get(canonical(name), ("", []))
        if not hashes:
            raise SystemExit(f"{name} has no line with hashes in {self._path}: run `make lock`")
        return f"{name}=={version} {' '.join(f'--hash={each}' for each in hashes)}"


def canonical(name: str) -> str:
    """A distribution's name as registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def missing(wanted: Iterable[Requirement], projects: Mapping[str, Any], path: list[str], locked: Locked) -> set[str]:
    """What has to be fetched for these requirements next: what those need is known when they are there.

    ``projects``: the pyproject.toml of each folder that is installed; ``path``: folders and wheels to look in, of which
    the first with a distribution counts.
    """
    there = {canonical(each.metadata["Name"]): each for each in reversed([*distributions(path=path)])}
    found, seen, left = set[str](), set[tuple[str, frozenset[str]]](), [*wanted]
    while left:
        required = left.pop()
        name, extras = each = canonical(required.name), frozenset(required.extras)
        locked.check(required)
        if each in seen:
            continue
        seen.add(each)
        if name in projects:
            optional = projects[name].get("optional-dependencies", {})
            texts = [*projects[name].get("dependencies", ()), *(text for extra in extras for text in optional[extra])]
        elif name in there and locked.version(name) in {"", there[name].version}:
            texts = there[name].requires or []
        else:
            found.add(name)
            continue
        left += [need for need in map(Requirement, texts) if _applies(need, extras)]
    return found


def _applies(need: Requirement, extras: frozenset[str]) -> bool:
    return need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras or {""})


def install(words: list[str]) -> int:
    """Runs pip with these words and returns its exit status.

    With ``--constraint FILE`` first, a file with hashes: each version is known, so nothing has to be resolved. pip
    fetches what is named, checked by its hash before it is opened, then what that needs, and so on. When all is there
    and each version is one that the others ask for, it is installed at once. Meanwhile pip builds the folders given as
    ``--editable``. What that takes (hatchling, and node where there is none) it fetches by itself, without hashes.
    """
    if words[:1] != ["--constraint"]:
        return _pip(["install", "--no-compile", *words], set())
    locked, given, seen = Locked(Path(words[1])), _parsed(words[2:]), set[str]()
    options = ["--no-compile", "--no-deps", *(["--upgrade"] if given.upgrade else [])]
    options += ["--target", given.target] if given.target else []
    folders = [word for folder in given.editable for word in ("--editable", folder)]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as pool:
        building = pool.submit(_pip, ["install", *options, *folders], seen) if folders else None
        status = _fetch(given, locked, Path(scratch), pool, seen)
        status = (building.result() if building else 0) or status
        wheels = [str(wheel) for wheel in Path(scratch).glob("*/*.whl")]
        if wheels and not status:
            status = _pip(["install", "--no-index", *options, *wheels], seen)
    return status


def _parsed(words: list[str]) -> argparse.Namespace:
    """Those of pip's options that the Makefile uses."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--editable", action="append", default=[])
    parser.add_argument("--target")
    parser.add_argument("requirements", nargs="*")
    parser.add_argument("--upgrade", action="store_true")
    return parser.parse_args(words)


def _fetch(given: argparse.Namespace, locked: Locked, scratch: Path, pool: Executor, seen: set[str]) -> int:
    """Puts a wheel of everything that is needed and not installed into ``scratch``."""
    projects, wanted = dict[str, Any](), [*map(Requirement, given.requirements)]
    for each in given.editable:
        folder, bracket, extras = each.partition("[")
        project = tomllib.loads((Path(folder) / "pyproject.toml").read_text("utf-8"))["project"]
        projects[canonical(project["name"])] = project
        wanted.append(Requirement(project["name"] + bracket + extras))
    installed = [given.target] if given.target else sys.path
    fetched = set[str]()
    while True:
        path = [*map(str, scratch.glob("*/*.whl")), *installed]
        names = sorted(missing(wanted, projects, path, locked) - fetched)
        if not names:
            return 0
        fetched |= {*names}
        parts = [[locked.requirement(name) for name in names[start::AT_ONCE]] for start in range(AT_ONCE)]
        fetching = [pool.submit(_wheels, lines, Path(tempfile.mkdtemp(dir=scratch)), seen) for lines in parts if lines]
        if any(each.result() for each in fetching):
            return 1


def _wheels(lines: list[str], folder: Path, seen: set[str]) -> int:
    checked = folder / "checked.txt"
    checked.write_text("\n".join(lines), "utf-8")
    words = ["--no-deps", "--require-hashes", "--requirement", str(checked), "--wheel-dir", str(folder)]
    return _pip(["wheel", *words], seen)


def _pip(words: list[str], seen: set[str]) -> int:
    options = ["--disable-pip-version-check", "--progress-bar", "off"]
    command = [sys.executable, "-m", "pip", *words, *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:  # noqa: S603
        assert process.stdout is not None  # noqa: S101  # asked for above
        for line in shown(process.stdout, seen):
            print(line, flush=True)  # noqa: T201
    return process.returncode


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
