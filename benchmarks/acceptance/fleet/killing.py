"""Kill cycles: callers rotate without pause, the server is killed, and their histories are held against the store.

Each caller has a group of its own and knows what it was told. After a kill its last request may be of unknown outcome:
the same Idempotency-Key, or one GET, must tell it the live token.
"""

from __future__ import annotations

import random
import secrets
import threading
import time
from dataclasses import dataclass

from benchmarks.acceptance.fleet.host import Caller, Server
from benchmarks.acceptance.fleet.operator import Operator
from benchmarks.acceptance.notes import Noting

CALLERS = 4


@dataclass
class Ledger(Noting):
    """What all cycles came to. ``lost``: acknowledged and not kept; ``stranded``: a lost reply that could not be had
    again; ``blind``: a version that moved by more than one; ``refused``: an answer other than 200."""

    cycles: int = 0
    acknowledged: int = 0
    replies_lost: int = 0
    recovered: int = 0
    lost: int = 0
    stranded: int = 0
    blind: int = 0
    refused: int = 0

    @property
    def clean(self) -> bool:
        """Nothing lost, nobody stranded, no answer but 200."""
        wrong = self.lost + self.stranded + self.blind + self.refused
        return not wrong and self.recovered == self.replies_lost


class _Rotating:
    """One caller, in a thread of its own, until its connection breaks."""

    def __init__(self, operator: Operator, server: Server, name: str) -> None:
        self.name = name
        self.token = operator.create(name)
        self.pending: str | None = None
        self.acknowledged = 0
        self.unexpected_answers: list[str] = []
        self._operator = operator
        self._server = server
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(60)

    def _run(self) -> None:
        with Caller(self._server.port, self._operator.secret) as caller:
            while True:
                self.pending = secrets.token_hex(8)
                try:
                    answer = caller.rotate(self.token, self.pending)
                except OSError:
                    return
                if answer.status != 200:
                    self.unexpected_answers.append(f"{answer.status} {answer.body[:200]!r}")
                    return
                self.token, self.pending = answer.json()["user_group"]["token"], None
                self.acknowledged += 1


def kill_cycles(operator: Operator, server: Server, cycles: int, *, seed: int) -> Ledger:
    """So many cycles on a server that runs; it runs at the end."""
    dice = random.Random(seed)
    ledger = Ledger()
    callers = [_Rotating(operator, server, f"kill-{seed}-{number}") for number in range(CALLERS)]
    for _ in range(cycles):
        for each in callers:
            each.start()
        time.sleep(dice.uniform(0.05, 0.4))
        server.kill()
        for each in callers:
            each.join()
        server.start()
        ledger.cycles += 1
        with Caller(server.port, operator.secret) as caller:
            for each in callers:
                _settle(ledger, operator, caller, each, replay=dice.random() < 0.5)
    return ledger


def _settle(ledger: Ledger, operator: Operator, caller: Caller, one: _Rotating, *, replay: bool) -> None:
    """Holds what one caller knows against what is kept, and recovers its lost reply."""
    ledger.acknowledged, one.acknowledged = ledger.acknowledged + one.acknowledged, 0
    ledger.refused += len(one.unexpected_answers)
    for words in one.unexpected_answers:
        ledger.note(words)
    one.unexpected_answers.clear()
    key, one.pending = one.pending, None
    known = operator.version(one.token)
    kept = operator.live(one.name)
    version = 0 if kept is None else operator.version(kept)
    if kept is None or version < known or (version == known and kept != one.token):
        ledger.lost += 1
        ledger.note(f"{one.name}: version {known} was acknowledged, {version} is kept")
    if version > known + (key is not None):
        ledger.blind += 1
        ledger.note(f"{one.name}: version {known} was acknowledged last, {version} is kept")
    if key is None:
        return
    ledger.replies_lost += 1
    answer = caller.rotate(one.token, key) if replay else caller.get(one.name)
    token = answer.json()["user_group"]["token"] if answer.status == 200 else None
    if token is not None and token == operator.live(one.name) and operator.version(token) <= known + 1:
        ledger.recovered += 1
        one.token = token
        return
    ledger.stranded += 1
    ledger.note(f"{one.name}: {answer.status} {answer.body[:200]!r}")
    one.token = operator.live(one.name) or one.token
