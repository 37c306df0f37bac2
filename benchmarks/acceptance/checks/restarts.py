"""S21: two servers are asked to stop, one after the other, again and again, under load.

A caller takes the next server when one is not ready or refuses the connection. What counts as failed is what a caller
cannot explain by that: an answer other than 200, or a request that was carried out and whose answer did not come.
"""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.host import Caller, Host, Server
from benchmarks.acceptance.fleet.line import Line
from benchmarks.acceptance.fleet.operator import Operator
from benchmarks.acceptance.fleet.site import Site
from benchmarks.acceptance.notes import Noting

_CALLERS = 3


@dataclass
class Restarts(Noting):
    """``moved``: requests that a server in its end had not taken, and that the other one answered."""

    answered: int = 0
    moved: int = 0
    failed: int = 0
    codes: set[int] = field(default_factory=set)

    def fail(self, words: str) -> None:
        """One failed request."""
        self.failed += 1
        self.note(words)


class _Rotator:
    """A caller with a group of its own, who rotates without pause."""

    def __init__(
        self, operator: Operator, ports: list[int], number: int, found: Restarts, lock: threading.Lock
    ) -> None:
        self._operator = operator
        self._ports = ports
        self._turn = number
        self._restarts = found
        self._lock = lock
        self.name = f"restart-{number}"
        self.token = operator.create(self.name)
        self.stop = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        key, tried = secrets.token_hex(8), False
        while not self._stopped():
            port = self._ports[self._turn % len(self._ports)]
            if not _ready(port):
                self._turn += 1
                time.sleep(0.002)
                continue
            with Caller(port, self._operator.secret) as caller:
                while not self._stopped() and _ready(port):
                    try:
                        answer = caller.rotate(self.token, key)
                    except OSError:
                        tried = True
                        break
                    with self._lock:
                        self._check(answer.status, answer.headers, answer.body, tried=tried)
                    if answer.status != 200:
                        return
                    self.token = answer.json()["user_group"]["token"]
                    key, tried = secrets.token_hex(8), False
            self._turn += 1

    def _stopped(self) -> bool:
        return self.stop  # set from another thread

    def _check(self, status: int, headers: dict[str, str], body: bytes, *, tried: bool) -> None:
        self._restarts.answered += 1
        if status != 200:
            self._restarts.fail(f"{status} {body[:200]!r}")
        elif tried and headers.get("idempotency-replayed") == "true":
            self._restarts.fail("a rotation was carried out and its answer did not come")
        elif tried:
            self._restarts.moved += 1


def _ready(port: int) -> bool:
    with suppress(OSError), Line(port, patience=5) as line:
        return line.ask("GET", "/readyz").status == 200
    return False


def restart(restarts: int) -> Restarts:
    """So many SIGTERMs in all, under load."""
    with Site() as site:
        first = site.host("a")
        hosts: list[Host] = [first, site.host("b", run=first.run)]  # two servers of one host
        operator = site.operator(hosts[0])
        servers: list[Server] = [host.serve(site.database) for host in hosts]
        found, lock = Restarts(), threading.Lock()
        ports = [server.port for server in servers]
        rotators = [_Rotator(operator, ports, number, found, lock) for number in range(_CALLERS)]
        for each in rotators:
            each.thread.start()
        for number in range(restarts):
            time.sleep(0.3)
            server = servers[number % 2]
            found.codes.add(server.stop())
            server.start()
        for each in rotators:
            each.stop = True
        for each in rotators:
            each.thread.join(60)
            if operator.live(each.name) != each.token:
                found.fail("an acknowledged rotation is not kept")
    return found


def measure(effort: Effort) -> Measured:
    """S21."""
    restarts = effort.pick(20, 60)
    found = restart(restarts)
    for words in found.notes:
        effort.say(words)
    figure = (
        f"{found.failed} of {found.answered:,} in {restarts} restarts ({found.moved} never taken and sent elsewhere); "
        f"exit codes {sorted(found.codes)}"
    )
    ok = not found.failed and found.answered > restarts and found.codes == {0}
    return Measured(figure, ok, {"failed": found.failed, "answered": found.answered, "moved": found.moved})


CHECKS = (Check("S21", "Rolling restarts by SIGTERM under load: failed requests", "0", measure, (180, 400)),)
