"""A container without an image: a process in a mount namespace, with mounts, a user and an environment. Its root file
system is read-only, and it has no capability."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TENANTRY = "/opt/tenantry/bin/tenantry"


def container(mounts: Sequence[str], user: int, words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """The command of it. ``mounts``: commands of a shell."""
    script = "; ".join([*mounts, "mount -o remount,bind,ro /", "cd /", 'exec "$@"'])
    return ["unshare", "--mount", "sh", "-ec", script, "sh", *inside(user, words, variables)]


def inside(user: int, words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """A command as the user of the container, with its environment."""
    who = [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
    return ["setpriv", *who, "env", "-i", *(f"{key}={value}" for key, value in variables.items()), *words]


def start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as file:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)


def wait_for_end(process: int) -> None:
    file = Path(f"/proc/{process}/cmdline")
    while file.exists() and file.read_bytes():  # empty: it has ended, and nobody has asked for its status
        time.sleep(0.05)
