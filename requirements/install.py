"""``pip install`` for the Makefile: hashes are checked, and each thing that takes its time has a line.

pip itself prints either nothing or hundreds of lines. What it says as warnings and errors is passed on whole.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

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
        self._entries: dict[str, tuple[str, str, list[str]]] = {}
        for line in path.read_text("utf-8").replace("\\\n", " ").splitlines():
            text = line.partition("#")[0]
            pinned = _HASH.sub("", text).strip()
            if pinned:
                name, _, rest = pinned.partition("==")
                self._entries[canonical(name)] = (pinned, rest.partition(";")[0].strip(), _HASH.findall(text))

    def constraints(self) -> str:
        """The file without hashes: with them pip takes no ranges and no folders."""
        return "".join(f"{pinned}\n" for pinned, _, _ in self._entries.values())

    def requirement(self, name: str, version: str) -> str:
        """The line by which pip checks what it fetched."""
        _, locked, hashes = self._entries.get(canonical(name), ("", "", []))
        if locked != version or not hashes:
            raise SystemExit(f"{name} {version} has no line with hashes in {self._path}: run `make lock`")
        return f"{name}=={version} {' '.join(f'--hash={each}' for each in hashes)}"


def canonical(name: str) -> str:
    """A distribution's name as registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def install(words: list[str]) -> int:
    """Runs pip with these words and returns its exit status.

    With ``--constraint FILE`` first, a file with hashes: pip finds out what is to be installed, then installs that and
    nothing else, with each file checked by its hash before it is opened, and then the folders given as ``--editable``.
    What builds those (hatchling, and node where there is none) pip fetches by itself, without hashes.
    """
    if words[:1] != ["--constraint"]:
        return _pip(words, set())
    locked, words, seen = Locked(Path(words[1])), words[2:], set[str]()
    options, folders = _without_requirements(words)
    with tempfile.TemporaryDirectory() as scratch:
        constraints, report, checked = (
            Path(scratch) / name for name in ("constraints.txt", "report.json", "checked.txt")
        )
        constraints.write_text(locked.constraints(), "utf-8")
        if status := _pip([*words, "--constraint", str(constraints), "--dry-run", "--report", str(report)], seen):
            return status
        found = json.loads(report.read_text("utf-8"))["install"]
        named = [each["metadata"] for each in found if "dir_info" not in each["download_info"]]
        checked.write_text("".join(f"{locked.requirement(each['name'], each['version'])}\n" for each in named), "utf-8")
        if named and (status := _pip([*options, "--no-deps", "--require-hashes", "--requirement", str(checked)], seen)):
            return status
    return _pip([*options, "--no-deps", *folders], seen) if folders else 0


def _without_requirements(words: list[str]) -> tuple[list[str], list[str]]:
    """Those of pip's options that the Makefile uses, and ``--editable`` with its folders."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--editable", action="append", default=[])
    parser.add_argument("--target")
    parser.add_argument("requirements", nargs="*")
    parser.add_argument("--upgrade", action="store_true")
    given = parser.parse_args(words)
    options = ["--upgrade"] if given.upgrade else []
    options += ["--target", given.target] if given.target else []
    return options, [word for folder in given.editable for word in ("--editable", folder)]


def _pip(words: list[str], seen: set[str]) -> int:
    options = ["--disable-pip-version-check", "--progress-bar", "off", "--no-compile"]  # the first import compiles
    command = [sys.executable, "-m", "pip", "install", *options, *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:  # noqa: S603
        assert process.stdout is not None  # noqa: S101  # asked for above
        for line in shown(process.stdout, seen):
            print(line, flush=True)  # noqa: T201
    return process.returncode


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
