"""Promises 1 and 3: when a write has returned, every worker of the host refuses the old token and takes the new one.

Each write is followed at once by the questions, the old token first: the new one would tell a worker by itself that
the version has moved. Before some writes the old token is sent on a second connection, so that a load is under way
while the write is committed: its late answer must not come back to life. Several groups are written to at the same
time.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.acceptance.fleet.host import Host, Worker
from benchmarks.acceptance.fleet.line import show
from benchmarks.acceptance.fleet.operator import Operator
from benchmarks.acceptance.notes import Noting
from tenantry.groups import GroupChanges, GroupDraft

_UPDATE_EVERY = 8
_DELETE_EVERY = 50
_RACE_EVERY = 4
_AT_THE_SAME_TIME = 8


@dataclass
class Tally(Noting):
    """``stale``: old tokens accepted or old properties shown; ``refused``: new tokens that were not accepted; both are
    described in ``notes``, as far as the first few."""

    rotations: int = 0
    updates: int = 0
    deletions: int = 0
    asked: int = 0
    stale: int = 0
    refused: int = 0


def at_once(operator: Operator, host: Host, *, rotations: int, seed: int) -> Tally:
    """Rotates so many times in all, and asks all workers of the host after each write: each by its own socket, and one
    group's besides on a few connections through uvicorn."""
    tally = Tally()
    operator.do(_all(operator, host, rotations, seed, tally))
    return tally


async def _all(operator: Operator, host: Host, rotations: int, seed: int, tally: Tally) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(_AT_THE_SAME_TIME):
            name, dice = f"at-once-{seed}-{number}", random.Random(seed + number)
            one = _One(operator, host.workers, dice, name, tally, port=None if number else host.port)
            group.create_task(one.run(rotations))


class _Way:
    """A connection to one worker; ``process`` is 0 if uvicorn has chosen it."""

    def __init__(self, process: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process = process
        self._reader = reader
        self._writer = writer

    def send(self, *tokens: str) -> None:
        self._writer.write(b"".join(show(token) for token in tokens))

    async def receive(self) -> tuple[int, bytes]:
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]
        return int(head[9:12]), await self._reader.readexactly(int(length))

    def close(self) -> None:
        self._writer.close()


async def _ways(workers: Sequence[Worker], port: int | None = None) -> list[_Way]:
    ways = []
    if port is not None:
        ways = [_Way(0, *await asyncio.open_connection("127.0.0.1", port)) for _ in workers]
    for worker in workers:
        if not isinstance(worker.line.address, Path):
            raise TypeError("a worker is asked through its own socket")
        ways.append(_Way(worker.process, *await asyncio.open_unix_connection(worker.line.address)))
    return ways


class _One:
    """Writes to one group."""

    def __init__(
        self,
        operator: Operator,
        workers: Sequence[Worker],
        dice: random.Random,
        name: str,
        tally: Tally,
        *,
        port: int | None,
    ) -> None:
        self._verbs = operator.provisioner
        self._environment = operator.environment
        self._operator = operator
        self._workers = workers
        self._dice = dice
        self._name = name
        self._tally = tally
        self._port = port
        self._token = ""
        self._count = 0
        self._ways: list[_Way] = []
        self._racing: list[_Way] = []

    async def run(self, rotations: int) -> None:
        """Until all together have done so many rotations."""
        self._ways, self._racing = await _ways(self._workers, self._port), await _ways(self._workers)
        await self._create()
        while self._tally.rotations < rotations:
            race = self._dice.randrange(_RACE_EVERY) == 0
            if race:
                for way in self._racing:
                    way.send(self._token)
            await self._write()
            if race:
                for way in self._racing:
                    await way.receive()  # sent before the write returned: either answer was right
        for way in (*self._ways, *self._racing):
            way.close()

    async def _write(self) -> None:
        if self._dice.randrange(_DELETE_EVERY) == 0:
            old = self._token
            await self._verbs.delete(self._environment, self._name)
            self._tally.deletions += 1
            await self._ask(old, None)
            await self._create()
        elif self._dice.randrange(_UPDATE_EVERY) == 0:
            self._count += 1
            changes = GroupChanges(properties={"n": self._count})
            await self._verbs.update(self._environment, self._name, changes)
            self._tally.updates += 1
            await self._ask(None, self._token)
        else:
            old = self._token
            self._token = (await self._verbs.rotate(self._environment, old)).token
            self._tally.rotations += 1
            await self._ask(old, self._token)

    async def _create(self) -> None:
        draft = GroupDraft(self._name, "Group", {"n": 0})
        self._token, self._count = (await self._verbs.get_or_create(self._environment, draft)).token, 0

    async def _ask(self, old: str | None, new: str | None) -> None:
        """Sends both questions to all workers, then reads all answers."""
        tokens = [token for token in (old, new) if token is not None]
        for way in self._ways:
            way.send(*tokens)
        for way in self._ways:
            if old is not None:
                self._expect_refusal(way.process, old, *await way.receive())
            if new is not None:
                self._expect_group(way.process, *await way.receive())

    def _expect_refusal(self, process: int, old: str, status: int, body: bytes) -> None:
        self._tally.asked += 1
        if status == 200:
            self._tally.stale += 1
            version = self._operator.version(old)
            self._tally.note(f"process {process} accepted token {version} of {self._name} when it was old: {body!r}")
        elif status != 401:
            self._tally.refused += 1
            self._tally.note(f"process {process} answered {status} to an old token of {self._name}")

    def _expect_group(self, process: int, status: int, body: bytes) -> None:
        self._tally.asked += 1
        if status != 200:
            self._tally.refused += 1
            self._tally.note(f"process {process} answered {status} to the new token of {self._name}")
            return
        seen: dict[str, Any] = json.loads(body)
        expected = (self._name, self._operator.version(self._token), self._count)
        if (seen["id"], seen["version"], seen["properties"]["n"]) != expected:
            self._tally.stale += 1
            self._tally.note(f"process {process} shows {seen}, and the truth is {expected}")
