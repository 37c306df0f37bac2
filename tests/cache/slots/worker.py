"""A process of the tests: ``python -m tests.cache.slots.worker VERB FOLDER [WORDS]``.

The truth is a number in the file ``value``; what a writer has acknowledged is one in ``acknowledged``, written after.
Both are for what a store commits and what its caller gets.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenantry.cache import slot_index
from tenantry.cache.slots import SharedSlots
from tenantry.errors import StoreUnavailable

HANDLE = b"\x12\x34 handle"
SLOT = slot_index(HANDLE)
_SIZE = 8


class Number:
    """A number in a file, read and written in one call each."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def read(self) -> int:
        return int.from_bytes(os.pread(self._descriptor, _SIZE, 0), "little")

    def write(self, number: int) -> None:
        os.pwrite(self._descriptor, number.to_bytes(_SIZE, "little"), 0)


def read_for_ever(folder: Path) -> None:
    """Caches the value under the version, and counts answers older than what was acknowledged before the question.
    Ends when the value is -1, and prints looks, hits and stale answers."""
    versions = SharedSlots.open("s", folder / "run").versions
    value, done = Number(folder / "value"), Number(folder / "acknowledged")
    looks = hits = stale = kept = 0
    under = 1
    print("ready", flush=True)
    while True:
        acknowledged = done.read()
        if acknowledged == END:
            break
        for _ in range(20):
            version = versions[SLOT]
            if version == under:
                hits += 1
            else:
                kept = value.read()
                under = 1 if version & 1 else version  # no version that is kept is odd
            looks += 1
            stale += kept < acknowledged
    print(looks, hits, stale, flush=True)


@contextmanager
def _too_early(slots: SharedSlots) -> Iterator[None]:
    """A writer that stores its last version before the commit."""
    with slots.writing(HANDLE):
        pass
    yield


def _write(folder: Path, *, early: bool) -> None:
    slots = SharedSlots.open("s", folder / "run")
    value, done = Number(folder / "value"), Number(folder / "acknowledged")
    print("ready", flush=True)
    for number in range(1, ROUNDS + 1):
        with _too_early(slots) if early else slots.writing(HANDLE):
            time.sleep(0.0002)  # a commit takes its time, before and after the moment in which others can see it
            value.write(number)
            time.sleep(0.0002)
        done.write(number)
    done.write(END)


def crash_while_writing(folder: Path) -> None:
    """Is killed between the commit and the last version."""
    slots = SharedSlots.open("s", folder / "run")
    with slots.writing(HANDLE):
        print("ready", flush=True)
        time.sleep(600)


def make(folder: Path, count: int) -> None:
    """Opens ``count`` stores' files and touches a slot of its own in each."""
    print("ready", flush=True)
    sys.stdin.readline()
    handle = int(sys.stdin.readline()).to_bytes(2, "big")
    for number in range(count):
        SharedSlots.open(f"s{number}", folder / "run").touch(handle)


def fork(folder: Path) -> None:
    """A table opened before a fork, as under a server that loads the app once, is one table after it."""
    slots = SharedSlots.open("s", folder / "run")
    child = os.fork()
    if not child:
        slots.touch(HANDLE)
        os._exit(0)
    os.waitpid(child, 0)
    print(slots.versions[SLOT] == SharedSlots.open("s", folder / "run").versions[SLOT] != 0, slots.is_current())


def as_user(folder: Path, user: int, group: int) -> None:
    """Opens the table as another user, in one group."""
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
    try:
        SharedSlots.open("s", folder / "run").touch(user.to_bytes(2, "big"))
    except StoreUnavailable as error:
        print("refused:", error.message)
    else:
        print("shared")


END = (1 << 63) - 1
ROUNDS = 1_000

if __name__ == "__main__":
    verb, where, *rest = sys.argv[1:]
    slot = Path(where)
    {
        "read": lambda: read_for_ever(slot),
        "write": lambda: _write(slot, early=False),
        "write-too-early": lambda: _write(slot, early=True),
        "crash": lambda: crash_while_writing(slot),
        "make": lambda: make(slot, int(rest[0])),
        "fork": lambda: fork(slot),
        "as-user": lambda: as_user(slot, int(rest[0]), int(rest[1])),
    }[verb]()
