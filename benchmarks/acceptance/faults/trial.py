"""Trial: a fleet before, during and after one fault, and what must be true of it whatever the fault is.

- No token that was rotated away is ever accepted, not even while nothing works; no live token is answered 401.
- Every question has an answer in time: the group, or 503 with Retry-After; never another 5xx, never silence.
- An answer 200 to a rotation is kept for good. A rotation of unknown outcome was done once or not at all.
- When the fault is over, everything works again without a restart of what was not killed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.acceptance.fleet.host import Caller, Host, Worker
from benchmarks.acceptance.fleet.line import Answer
from benchmarks.acceptance.fleet.operator import Operator
from benchmarks.acceptance.notes import Noting

RECOVERY_SECONDS = 30.0
"""After this an engine that is well again and a fleet that is not make a failure of the trial, not a figure."""


@dataclass
class Scene:
    """What a trial is made on. ``operator`` reaches the store by a way of its own, as another host of the fleet.

    ``staleness`` is X."""

    operator: Operator
    host: Host
    staleness: float

    @property
    def workers(self) -> list[Worker]:
        """The dashboards' processes."""
        return self.host.workers

    def caller(self) -> Caller:
        """Who provisions, through ``tenantry serve`` on the fleet's host."""
        if self.host.server is None:
            raise RuntimeError("this host serves no /api/user")
        return Caller(self.host.server.port, self.operator.secret)


@dataclass(frozen=True)
class Fault:
    """``begin`` and ``end`` do it to the scene. ``dead``: the store cannot be reached meanwhile, so that after X nobody
    may be answered from memory. ``away``: the server of ``/api/user`` itself is down meanwhile, or may be. ``filling``:
    large groups are created meanwhile. ``over``: when ``begin`` returns all is well again, so it must be well from then
    on."""

    name: str
    begin: Callable[[], None]
    end: Callable[[], None]
    dead: bool = False
    away: bool = False
    filling: bool = False
    over: bool = False


@dataclass
class Outcome(Noting):
    """What a trial found. ``slowest`` and ``recovery`` are seconds."""

    name: str
    asked: int = 0
    stale: int = 0
    wrong: int = 0
    unavailable: int = 0
    lost: int = 0
    unknown: int = 0
    rotated: int = 0
    slowest: float = 0.0
    recovery: float = 0.0

    @property
    def safe(self) -> bool:
        """Nothing stale, nothing lost, no wrong answer, and well again in the end."""
        return not self.stale and not self.wrong and not self.lost and self.recovery < RECOVERY_SECONDS


class Trial:
    """One fault on one scene."""

    def __init__(self, scene: Scene, fault: Fault) -> None:
        self._scene = scene
        self._fault = fault
        self._outcome = Outcome(fault.name)
        operator = scene.operator
        self._live = operator.create()
        first = operator.create()
        self._gone = [first]
        operator.rotate(first)
        self._name = f"trial-{fault.name.replace(' ', '-')[:40]}-{time.monotonic_ns()}"
        self._token = operator.create(self._name)
        self._version = operator.version(self._token)
        self._unknown = False
        self._filled: list[str] = []

    def run(self, seconds: float) -> Outcome:
        """The whole trial; the fault lasts about ``seconds``, and longer than X if the store is dead."""
        self._all_answer_until(time.monotonic() + 60)
        self._fault.begin()
        began = time.monotonic()
        lasting = max(seconds, self._scene.staleness * 1.3) if self._fault.dead else seconds
        try:
            with self._scene.caller() as caller:
                if self._fault.over:
                    self._recover()
                while time.monotonic() < began + lasting:
                    self._ask_dashboards(began)
                    self._rotate(caller)
                    self._fill(caller)
        finally:
            self._fault.end()
        self._recover()
        self._account()
        return self._outcome

    # --- while it lasts ---

    def _ask_dashboards(self, began: float) -> None:
        for worker in self._scene.workers:
            try:
                answer = worker.show(self._live)
                self._check(answer, "a live token")
                if self._fault.dead and answer.status == 200 and answer.sent > began + self._scene.staleness:
                    self._outcome.stale += 1
                    self._outcome.note(f"answered from memory {answer.sent - began:.2f} s after the store had gone")
                for token in self._gone[-3:]:
                    self._expect_refusal(worker.show(token))
            except OSError as error:
                if not self._fault.away:
                    self._wrong(f"a dashboard said nothing: {type(error).__name__}")

    def _expect_refusal(self, answer: Answer) -> None:
        self._outcome.asked += 1
        self._outcome.slowest = max(self._outcome.slowest, answer.seconds)
        if answer.status == 200:
            self._outcome.stale += 1
            self._outcome.note("an old token was accepted")
        elif answer.status == 503:
            self._check_unavailable(answer)
        elif answer.status != 401:
            self._wrong(f"an old token was answered {answer.status}")

    def _check(self, answer: Answer, what: str) -> None:
        self._outcome.asked += 1
        self._outcome.slowest = max(self._outcome.slowest, answer.seconds)
        if answer.status == 503:
            self._check_unavailable(answer)
        elif answer.status != 200:
            self._wrong(f"{what} was answered {answer.status}: {answer.body[:200]!r}")

    def _check_unavailable(self, answer: Answer) -> None:
        self._outcome.unavailable += 1
        if "retry-after" not in answer.headers:
            self._wrong("503 without Retry-After")

    def _rotate(self, caller: Caller) -> None:
        try:
            answer = caller.rotate(self._token)
        except OSError as error:
            self._unknown = True
            self._outcome.unknown += 1
            if not self._fault.away:
                self._wrong(f"/api/user said nothing: {type(error).__name__}")
            time.sleep(0.05)
            return
        if answer.status == 409 and self._unknown:
            self._look(caller)
            return
        self._check(answer, "a rotation")
        if answer.status == 200:
            self._acknowledged(answer)
        elif answer.status == 503 and json.loads(answer.body)["error"]["code"] == "outcome_unknown":
            self._unknown = True
            self._outcome.unknown += 1

    def _fill(self, caller: Caller) -> None:
        if self._fault.filling:
            name = f"{self._name}-{time.monotonic_ns()}"
            answer = caller.get(name, {"a": "x" * 20_000})
            self._check(answer, "a new group")
            if answer.status == 200:
                self._filled.append(name)

    def _look(self, caller: Caller) -> None:
        """After an unknown outcome the token has moved: by one version, whatever was tried meanwhile."""
        answer = caller.get(self._name)
        if answer.status == 200:
            self._acknowledged(answer)

    def _acknowledged(self, answer: Answer) -> None:
        token = answer.json()["user_group"]["token"]
        version = self._scene.operator.version(token)
        if version != self._version + 1:
            self._outcome.lost += 1
            self._outcome.note(f"version {self._version} was followed by {version}")
        self._gone.append(self._token)
        self._token, self._version, self._unknown = token, version, False
        self._outcome.rotated += 1
        for worker in self._scene.workers:
            try:
                self._expect_refusal(worker.show(self._gone[-1]))
            except OSError:
                if not self._fault.away:
                    self._wrong("a dashboard said nothing after a rotation")

    # --- afterwards ---

    def _recover(self) -> None:
        began = time.monotonic()
        self._all_answer_until(began + RECOVERY_SECONDS)
        with self._scene.caller() as caller:
            while time.monotonic() < began + RECOVERY_SECONDS:
                try:
                    answer = caller.rotate(self._token)
                except OSError:
                    continue
                if answer.status == 409:
                    self._look(caller)
                elif answer.status == 200:
                    self._acknowledged(answer)
                    break
                time.sleep(0.02)
        self._outcome.recovery = max(self._outcome.recovery, time.monotonic() - began)

    def _all_answer_until(self, deadline: float) -> None:
        waiting = list(self._scene.workers)
        while waiting and time.monotonic() < deadline:
            worker = waiting[0]
            try:
                if worker.show(self._live).status == 200 and worker.show(self._token).status in {200, 401}:
                    waiting.pop(0)
                    continue
            except OSError:
                pass
            time.sleep(0.01)

    def _account(self) -> None:
        """The store holds what was acknowledged last; every worker takes it and nothing older."""
        kept = self._scene.operator.live(self._name)
        if kept != self._token:
            self._outcome.lost += 1
            self._outcome.note("the store does not hold the token that was acknowledged last")
        for name in self._filled:
            if self._scene.operator.live(name) is None:
                self._outcome.lost += 1
                self._outcome.note("a group that was created is not there")
        for worker in self._scene.workers:
            if worker.show(self._token).status != 200:
                self._wrong("the live token is refused after the fault")
            for token in self._gone:
                self._expect_refusal(worker.show(token))

    def _wrong(self, words: str) -> None:
        self._outcome.wrong += 1
        self._outcome.note(words)
