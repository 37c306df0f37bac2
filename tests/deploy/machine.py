"""A machine for the life of a deployment page: a copy of this system, in which commands run as the page's users.

The copy is an overlay in a mount namespace: all writes stay in memory, and are lost at the end. Only root can make
one. No systemd runs there: ``sudo`` and ``systemctl`` are the programs in ``tests/deploy/programs``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
NEEDED = ("unshare", "nsenter", "setpriv", "useradd", "sqlite3")
SECONDS = 240

_BOOT = """
set -e
mount -t tmpfs machine "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay machine -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mount -t tmpfs run "$1/root/run"
mount -t tmpfs -o mode=1777 tmp "$1/root/tmp"
echo booted
exec sleep infinity
"""


class Machine:
    """``run`` runs a script of bash in it, as root."""

    def __init__(self, process: int, root: Path) -> None:
        self._process = process
        self._root = root

    def run(self, script: str, *, given: str = "", fails: int = 0, **more: str) -> str:
        """What the script prints, on stdout and stderr; it ends with the first command that fails. ``more``: of its
        environment."""
        enter = ["nsenter", "--target", str(self._process), "--mount", "--pid", "--", "chroot", str(self._root)]
        variables = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/",
            "LANG": "C.UTF-8",
            **more,
        }
        done = subprocess.run(
            [*enter, "bash", "-ec", f"umask 022; cd {ROOT}/examples/deploy\n{script}"],
            input=given, capture_output=True, text=True, check=False, env=variables, timeout=SECONDS,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        assert done.returncode == fails, f"{script}\nended with {done.returncode}:\n{printed}"
        return printed

    def read(self, path: str) -> str:
        return self.run(f"cat {path}")


@contextmanager
def booted() -> Iterator[Machine]:
    """Skips where there cannot be one, and fails there with CI=true."""
    missing = [each for each in NEEDED if shutil.which(each) is None]
    reason = "only root can make a machine" if os.geteuid() else f"{missing[0]} is missing" if missing else ""
    folder = Path(tempfile.mkdtemp(prefix="tenantry-machine-", dir="/var/tmp"))
    log = ""
    process = None
    if not reason:
        dies = ["setpriv", "--pdeathsig", "KILL"]  # with this process, even if that is killed
        own = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        command = [*dies, *own, "bash", "-c", _BOOT, "boot", str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout is not None
        log = process.stdout.readline()
        reason = "" if log == "booted\n" else f"this system makes no overlay: {log}"
    try:
        if reason:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
        assert process is not None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        machine = Machine(int(children[0]), folder / "root")
        machine.run(_install())
        yield machine
    finally:
        if process is not None:
            process.kill()  # and with it each process of the machine
            process.communicate()
        shutil.rmtree(folder)


def _install() -> str:
    """The programs, and ``/opt/tenantry`` with a copy of the package, which each user may read, and pip, which knows
    the wheels in ``/opt/wheels``."""
    python = Path(sys.executable)
    above = {str(parent) for path in (python, python.resolve(), ROOT) for parent in path.parents}
    program = f'#!/bin/sh\nexec env PYTHONPATH=/opt/tenantry/lib {python} -m tenantry "$@"\n'
    options = "--no-index --find-links /opt/wheels --no-deps --target /opt/tenantry/lib"
    pip = f'#!/bin/sh\nexec {python} -m pip --quiet --disable-pip-version-check "$@" {options}\n'
    return f"""
chmod a+x {" ".join(sorted(above))}
install --mode=0755 {PROGRAMS}/sudo {PROGRAMS}/systemctl /usr/local/bin/
for name in docker kubectl; do
  printf '#!/bin/sh\nexec {python} {PROGRAMS}/%s "$@"\n' $name > /usr/local/bin/$name
  chmod 0755 /usr/local/bin/$name
done
install --directory /opt/tenantry/bin /opt/tenantry/lib /opt/wheels
cp --archive {ROOT}/src/tenantry /opt/tenantry/lib
printf %s '{program}' > /opt/tenantry/bin/tenantry
printf %s '{pip}' > /opt/tenantry/bin/pip
chmod 0755 /opt/tenantry/bin/*
"""
