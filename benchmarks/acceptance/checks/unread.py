"""S28 and S29: answers that nobody reads, and downloads that nobody fetches; another group is served all the while."""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from benchmarks.acceptance.attacks.unread_app import LARGE, Secrets, prepare
from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import Child, free_port
from benchmarks.acceptance.fleet.line import request, status

CONNECTIONS: Final = 200
GROWTH: Final = 64_000_000
"""Bytes that the process may grow."""
_SECONDS: Final = 12.0
"""How long the answers are left unread."""
_PATIENCE: Final = 120.0
_JSON: Final = "application/json"


@dataclass(frozen=True)
class Attacked:
    """The attacked server."""

    folder: Path
    child: Child
    port: int
    secrets: Secrets

    def headers(self, group: str) -> dict[str, str]:
        """Of a request by a viewer of this group."""
        return {"X-User-Group-Token": self.secrets.tokens[group], "Content-Type": _JSON}

    def ask(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> tuple[int, bytes]:
        """The status and the body of an answer that is read at once."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def panels(self, group: str, body: Any) -> tuple[int, bytes]:
        """An answer for panels."""
        return self.ask("POST", "/dashboards/wide/-/panels", self.headers(group), body)

    def unread(self, group: str, body: Any) -> bytes:
        """A request for panels."""
        return request("POST", "/dashboards/wide/-/panels", self.headers(group), body)

    def download_address(self, group: str, number: int) -> str:
        """An address for the rows of the large table."""
        path, filters = "/dashboards/wide/-/panels/1-1/download", {"above": -1 - number}
        code, body = self.ask("POST", path, self.headers(group), {"filters": filters})
        if code != 200:
            raise RuntimeError(f"a download was answered by {code}: {body[:200]!r}")
        address: str = json.loads(body)["address"]
        return address

    def create_group(self, name: str) -> float:
        """Seconds that it takes to create a group."""
        began = time.monotonic()
        headers = {"Authorization": f"Token {self.secrets.api_token}", "Content-Type": _JSON}
        code, body = self.ask("POST", "/api/user", headers, {"user_group_id": name})
        if code not in (200, 201):
            raise RuntimeError(f"a group was answered by {code}: {body[:200]!r}")
        return time.monotonic() - began

    def codes_kept(self) -> int:
        """The unredeemed codes for downloads of the group that has the most."""
        with closing(sqlite3.connect(self.folder / "tenantry.db")) as database:
            text = "select count(*) from single_use_codes where purpose = 'download' group by group_handle"
            return max(int(count) for (count,) in database.execute(text))

    @property
    def resident(self) -> int:
        """Bytes of memory that the server has."""
        return int(Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def attacked(folder: Path) -> Iterator[Attacked]:
    """A bare uvicorn with the app, which has answered each kind of request once."""
    secrets, port = prepare(folder), free_port()
    words = "uvicorn", "--factory", "benchmarks.acceptance.attacks.unread_app:create", "--port", str(port)
    child = Child([*words, "--log-level", "critical"], log=folder / "log", env={"ATTACKED_FOLDER": str(folder)})
    try:
        child.wait_until(lambda: status(port) > 0)
        server = Attacked(folder, child, port, secrets)
        server.panels("victim", {"definition": True})
        server.ask("GET", server.download_address("victim", 0), {})
        yield server
    finally:
        child.stop()


@dataclass
class Outcome:
    """What the process grew by, in bytes, and how long each large panel of another group took, in seconds."""

    growth: int = 0
    seconds: list[float] = field(default_factory=list)
    wrong: int = 0

    @property
    def ok(self) -> bool:
        """Whether the process stayed small, and the other group had its rows each time."""
        return self.growth <= GROWTH and not self.wrong and bool(self.seconds)


Make = Callable[[Attacked, int], bytes]

KINDS: Final[dict[str, Make]] = {
    "panels": lambda server, _: server.unread("attacker", {"panels": [{"id": "1-1"}]}),
    "filtered panels": lambda server, number: server.unread(
        "attacker", {"panels": [{"id": "1-1"}], "filters": {"above": -1 - number}}
    ),
    "live": lambda server, number: server.unread(
        "attacker", {"panels": [{"id": "1-1"}], "live": True, "filters": {"above": -1 - number}}
    ),
    "downloads": lambda server, number: request("GET", server.download_address("attacker", number), {}),
    "four groups": lambda server, number: server.unread(
        ("attacker", "second", "third", "fourth")[number % 4], {"panels": [{"id": "1-1"}]}
    ),
}
"""How an answer is asked for that nobody reads."""


def attack(server: Attacked, make: Make, count: int, seconds: float = _SECONDS) -> Outcome:
    """Asks ``count`` times and reads nothing, for so many seconds; meanwhile another group asks for a large panel."""
    from engines.unread import UnreadAnswers

    outcome, before = Outcome(), server.resident
    with UnreadAnswers(("127.0.0.1", server.port), count, lambda number: make(server, number)):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends or not outcome.seconds:
            began = time.monotonic()
            code, body = server.panels("victim", {"panels": [{"id": "1-1"}], "filters": {"above": -10}})
            outcome.seconds.append(time.monotonic() - began)
            outcome.wrong += code != 200 or len(body) < LARGE * 0.9
            outcome.growth = max(outcome.growth, server.resident - before)
            time.sleep(0.2)
    return outcome


def unread(effort: Effort) -> Measured:
    """The growth of the process for each kind of answer that nobody reads."""
    outcomes: dict[str, Outcome] = {}
    for kind, make in KINDS.items():
        effort.say(kind)
        with tempfile.TemporaryDirectory(prefix="tenantry-unread-") as folder, attacked(Path(folder)) as server:
            outcomes[kind] = attack(server, make, CONNECTIONS)
    growths = ", ".join(f"{kind} {each.growth / 1e6:.0f}" for kind, each in outcomes.items())
    slowest = max(max(each.seconds) for each in outcomes.values())
    wrong = sum(each.wrong for each in outcomes.values())
    figure = (
        f"MB for {CONNECTIONS} connections: {growths}; {wrong} answers to another group wrong, slowest {slowest:.1f} s"
    )
    numbers = {kind: {"growth": each.growth, "slowest": max(each.seconds)} for kind, each in outcomes.items()}
    return Measured(figure, all(each.ok for each in outcomes.values()), numbers)


_GROUPS: Final = 100
_VIEWERS: Final = 16
_FACTOR: Final = 5.0
_FLOOR: Final = 0.02


def unfetched(effort: Effort) -> Measured:
    """How much longer a group takes to be created while viewers ask for downloads without end, and the codes kept."""
    with tempfile.TemporaryDirectory(prefix="tenantry-codes-") as folder, attacked(Path(folder)) as server:
        alone = [server.create_group(f"alone-{number}") for number in range(_GROUPS)]
        asked, ended = [0] * _VIEWERS, threading.Event()

        def ask(viewer: int) -> None:
            while not ended.is_set():
                with suppress(OSError):
                    server.download_address("attacker", asked[viewer])
                    asked[viewer] += 1

        viewers = [threading.Thread(target=ask, args=(number,)) for number in range(_VIEWERS)]
        for each in viewers:
            each.start()
        try:
            flooded = [server.create_group(f"flooded-{number}") for number in range(_GROUPS)]
        finally:
            ended.set()
            for each in viewers:
                each.join()
        kept = server.codes_kept()
    before, after = statistics.median(alone), statistics.median(flooded)
    figure = (
        f"{kept} codes kept after {sum(asked)} downloads; a group created in {after * 1e3:.1f} ms (alone "
        f"{before * 1e3:.1f} ms)"
    )
    numbers = {"kept": kept, "asked": sum(asked), "alone": before, "flooded": after}
    return Measured(figure, kept <= 20 and after <= max(_FACTOR * before, _FLOOR), numbers)


CHECKS = (
    Check(
        "S28",
        "Growth for 200 connections that read nothing of 6 MB; another group's panels",
        "≤ 64 MB; all served",
        unread,
        (400, 400),
    ),
    Check(
        "S29",
        "Download codes kept of one group; creating a group while its viewers ask for downloads",
        "≤ 20; ≤ 5 times as long, or 20 ms",
        unfetched,
        (150, 150),
    ),
)
