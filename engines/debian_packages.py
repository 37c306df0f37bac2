"""Programs of the Debian distribution, unpacked without root into a cache folder: for engines that no wheel carries.

``apt-get`` keeps its lists in the cache folder, so that it works for every user and changes nothing of the system. What
the system lacks of a package's dependencies is unpacked beside it; ``environment`` lets a program find the libraries.

The folder stands under /var/tmp, because an engine that refuses to run as root runs as another user, who must reach it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("TENANTRY_TEST_ENGINES") or f"/var/tmp/tenantry-test-engines-{os.getuid()}")
NEEDED = ("apt-get", "dpkg")
SECONDS = 300


class PackagesMissing(Exception):
    """The packages cannot be had on this machine; the message says what failed."""


def require(*packages: str) -> Path:
    """As `unpack`, for a fixture: skips the test where the packages cannot be had, and fails it with CI=true."""
    try:
        return unpack(*packages)
    except PackagesMissing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


def unpack(*packages: str) -> Path:
    """The folder that holds the packages' files, as ``/`` would: ``unpack("pgbouncer") / "usr/sbin/pgbouncer"``.

    Unpacked once for each user of the machine; test processes that ask at the same time wait for the first.

    Raises:
        PackagesMissing: there is no apt-get, no such package, or no way to a package registry.
    """
    names = sorted(packages)
    for program in NEEDED:
        if shutil.which(program) is None:
            raise PackagesMissing(
                f"{' '.join(names)}: this machine has no {program}; these engines come as Debian packages"
            )
    release = Path("/etc/os-release").read_bytes()
    root = CACHE / f"{names[0]}-{hashlib.sha256(release + ' '.join(names).encode()).hexdigest()[:12]}"
    if not root.is_dir():
        _own_folder(CACHE)
        with _lock(CACHE / "lock"):
            if not root.is_dir():
                _fill(root, names)
    return root


def environment(root: Path) -> dict[str, str]:
    """The variables of this process, with the libraries of an unpacked ``root`` before the system's."""
    folders = [each for pattern in ("usr/lib/*-linux-gnu", "lib/*-linux-gnu", "usr/lib") for each in root.glob(pattern)]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}


def _own_folder(folder: Path) -> None:
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PackagesMissing(f"{folder} belongs to another user; set TENANTRY_TEST_ENGINES to a folder of yours")


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _fill(root: Path, names: list[str]) -> None:
    """Downloads and unpacks beside ``root``, and puts the whole in place by one rename."""
    work = Path(tempfile.mkdtemp(dir=CACHE, prefix=".unpacking-"))
    try:
        try:
            _download(names, work)
        except PackagesMissing:  # no lists yet, or lists that name a version which the registry no longer has
            _run([*_apt(CACHE), "update", "-qq"], CACHE)
            _download(names, work)
        content = work / "root"
        for package in work.glob("*.deb"):
            _run(["dpkg", "-x", str(package), str(content)], work)
        content.chmod(0o755)
        content.rename(root)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _download(names: list[str], folder: Path) -> None:
    """The packages, and what the system lacks of their dependencies."""
    apt = _apt(CACHE)
    planned = _run([*apt, "--simulate", "--reinstall", "--no-install-recommends", "install", *names], CACHE)
    wanted = set(re.findall(r"^Inst (\S+)", planned, re.MULTILINE)) | set(names)
    _run([*apt, "download", "-qq", *sorted(wanted)], folder)


def _apt(cache: Path) -> list[str]:
    for folder in ("lists/partial", "cache/archives/partial"):
        (cache / folder).mkdir(parents=True, exist_ok=True)
    own = {
        "Dir::State::Lists": cache / "lists",
        "Dir::Cache": cache / "cache",
        "Dir::Cache::pkgcache": "pkgcache.bin",  # images for containers switch it off; each call then reads all lists
        "Dir::Cache::srcpkgcache": "srcpkgcache.bin",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
    }
    return ["apt-get", *(f"-o{option}={value}" for option, value in own.items())]


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise PackagesMissing(f"{' '.join(command)}: no answer within {SECONDS} s") from None
    if done.returncode:
        raise PackagesMissing(f"{' '.join(command)}: {done.stderr.strip()[-2000:]}")
    return done.stdout
