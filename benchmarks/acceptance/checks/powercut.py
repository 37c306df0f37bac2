"""S4: the power fails at every moment of many commits; what was acknowledged is on the disk."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.faults.powercut import Disk, PowerCut, watched
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import GroupDraft, Tag
from tenantry.testing import make_token


class Writing:
    """A store that rotates one group, and a power cut around every sync: ``lost`` counts disks without what was
    acknowledged, ``torn`` those that cannot be read."""

    def __init__(self, folder: Path, effort: Effort) -> None:
        self._folder = folder / "live"
        self._cut = folder / "cut"
        self._dice = effort.dice()
        self._acknowledged = 0
        self._file = self._folder / "t.db"
        for each in (self._folder, self._cut):
            each.mkdir()
        self.cuts = self.lost = self.torn = 0

    def run(self, rotations: int) -> None:
        """Rotates so many times."""
        with watched(self._folder) as power:
            asyncio.run(self._rotate(rotations, power))

    async def _rotate(self, rotations: int, power: PowerCut) -> None:
        url = f"sqlite:///{self._file}"
        migrate(url)
        store = SQLStore(url, deadline=60, run_dir=self._folder)
        environment = await store.environments.create("production", Tag.CUSTOMER)
        issued = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
        self._acknowledged = issued.token.version
        power.on_sync = lambda: self._look(power)  # in the writer's thread, in the middle of a commit
        try:
            for _ in range(rotations):
                issued = await store.groups.rotate(
                    environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16)
                )
                self._acknowledged = issued.token.version
                self._look(power)
        finally:
            power.on_sync = lambda: None
            await store.aclose()

    def _look(self, power: PowerCut) -> None:
        for disk in power.disks(self._dice):
            self.cuts += 1
            version = self._start_again(disk)
            self.torn += version is None
            self.lost += version is not None and version < self._acknowledged

    def _start_again(self, disk: Disk) -> int | None:
        for name, content in disk.items():
            if not name.endswith("-shm"):
                (self._cut / name).write_bytes(content)
        try:
            with closing(sqlite3.connect(self._cut / "t.db")) as connection:
                sound = connection.execute("pragma integrity_check").fetchone() == ("ok",)
                found = connection.execute("select token_version from user_groups").fetchone()
                return int(found[0]) if sound and found else (0 if sound else None)
        except sqlite3.Error:
            return None
        finally:
            for path in self._cut.iterdir():
                path.unlink()


class _Careless(sqlite3.Connection):
    """A connection whose commits do not wait for the disk, whatever it is told."""

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("synchronous = full", "synchronous = normal"), *arguments)


def power_cuts(effort: Effort, rotations: int, *, careless: bool = False) -> Writing:
    """The power cuts of so many rotations; ``careless``: of a store that does not wait for the disk."""
    careful: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(*given: Any, **named: Any) -> sqlite3.Connection:
        return careful(*given, **{**named, "factory": _Careless} if careless else named)

    with tempfile.TemporaryDirectory(prefix="tenantry-powercut-") as name:
        writing = Writing(Path(name), effort)
        with patch.object(sqlite3, "connect", connect):
            writing.run(rotations)
    return writing


def measure(effort: Effort) -> Measured:
    """The store, and the control that must lose something."""
    writing = power_cuts(effort, effort.pick(100, 1_000))
    effort.say(f"{writing.cuts} power cuts; now the control, which does not wait for the disk")
    control = power_cuts(effort, 10, careless=True)
    ok = not writing.lost and not writing.torn and writing.cuts > 0 and control.lost + control.torn > 0
    missing = control.lost + control.torn
    figure = (
        f"{writing.lost} lost, {writing.torn} unreadable of {writing.cuts:,} cuts "
        f"(control: {missing} of {control.cuts})"
    )
    numbers = {"cuts": writing.cuts, "lost": writing.lost, "torn": writing.torn, "control": missing}
    return Measured(figure, ok, numbers)


CHECKS = (Check("S4", "Power cut at each unsynced write: acknowledged writes lost", "0", measure, (90, 300)),)
