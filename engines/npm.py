"""Packages of npm for tests, by the lock file of a folder."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

SECONDS = 600.0


class PackagesMissing(Exception):
    """They cannot be had on this machine; the message says why."""


def install_packages(folder: Path) -> Path:
    """``node_modules`` of a folder with a package.json, installed once for each lock file; test processes that ask at
    the same time wait for the first. Raises PackagesMissing."""
    if shutil.which("npm") is None:
        raise PackagesMissing(f"this machine has no npm, which installs what {folder / 'package.json'} names")
    modules = folder / "node_modules"
    installed = modules / ".installed"
    locked = (folder / "package-lock.json").read_text("utf-8")
    with (folder / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed.is_file() and installed.read_text("utf-8") == locked:
            return modules
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode != 0:
            raise PackagesMissing(f"npm ci failed in {folder}: {done.stderr[-500:]}")
        installed.write_text(locked, "utf-8")
    return modules
