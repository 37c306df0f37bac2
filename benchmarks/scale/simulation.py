"""Polls, bus messages and leases of a whole fleet, event by event, out of one seed.

What is modelled is the time for which a worker may go on with an answer that was written to. It ends when a message
comes, when a poll is answered whose snapshot holds the write, or when the lease ends: X after the last *answered* poll
was *asked*. Nothing here is measured; the laws of the worker are those of the resolver.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from benchmarks.scale.fleet import Fleet

Act = Callable[[], None]


ENDS = ("message", "poll", "lease", "end of the run")


@dataclass
class Found:
    """What a run gave. ``stale`` holds the staleness of each write at each worker that had its group, in seconds, by
    what ended it."""

    polls: int = 0
    answered: int = 0
    rows: int = 0
    writes: int = 0
    messages: int = 0
    reads: int = 0
    flushes: int = 0
    without_lease: float = 0.0
    """Seconds of all workers together without a lease: they asked the store for each request, or could not."""
    polls_by_second: Counter[int] = field(default_factory=Counter)
    refill_by_second: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    stale: dict[str, list[float]] = field(default_factory=lambda: {how: [] for how in ENDS})

    def all_stale(self) -> list[float]:
        """Staleness of every write, in order."""
        return sorted(value for values in self.stale.values() for value in values)


@dataclass
class SimulatedWorker:
    """One worker. ``unheard`` are the times of writes to groups that it has and does not know of yet."""

    number: int
    lease: float
    known: int = 0
    unheard: dict[int, float] = field(default_factory=dict)


class Simulation:
    """One run of a fleet. The same seed gives the same run."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self._fleet = fleet
        self._random = random.Random(seed)
        self._now = 0.0
        self._events: list[tuple[float, int, Act]] = []
        self._order = 0
        self._written: list[float] = []
        self._found = Found()
        self._workers = [SimulatedWorker(number, fleet.staleness) for number in range(fleet.workers)]
        self._cut = int(fleet.workers * fleet.cut_share)

    def run(self) -> Found:
        """Plays all events; what was found."""
        fleet = self._fleet
        for worker in self._workers:
            self._at(self._random.uniform(0, fleet.interval), partial(self._ask, worker))
            if fleet.bus_down.end > fleet.bus_down.start > 0:
                gone = fleet.bus_down.start + self._random.uniform(0, fleet.notice)
                back = fleet.bus_down.end + self._random.uniform(0, fleet.reconnect)
                self._at(gone, partial(self._flush, worker, min(back, fleet.seconds)))
                self._at(back, partial(self._flush, worker, fleet.seconds))
        self._at(self._wait(fleet.writes), self._write)
        while self._events and self._events[0][0] < fleet.seconds:
            self._now, _, act = heapq.heappop(self._events)
            act()
        self._now = fleet.seconds
        for worker in self._workers:
            self._forget(worker, list(worker.unheard), "end of the run")
            self._found.without_lease += max(0.0, self._now - worker.lease)
        return self._found

    def _at(self, moment: float, act: Act) -> None:
        self._order += 1
        heapq.heappush(self._events, (moment, self._order, act))

    def _wait(self, rate: float) -> float:
        return self._now + self._random.expovariate(rate)

    def _is_cut(self, worker: SimulatedWorker) -> bool:
        return worker.number < self._cut and self._fleet.cut_off.holds(self._now)

    # --- polls --------------------------------------------------------------------------------------------------------

    def _ask(self, worker: SimulatedWorker) -> None:
        fleet, asked = self._fleet, self._now
        self._found.polls += 1
        self._found.polls_by_second[int(asked)] += 1
        takes = self._random.expovariate(1 / fleet.poll)
        answered = takes < fleet.patience and not self._is_cut(worker)
        if answered:
            self._at(asked + takes / 2, partial(self._snapshot, worker, asked, asked + takes))
        pause = fleet.interval * self._random.uniform(0.8, 1.0)
        self._at(asked + (takes if answered else fleet.patience) + pause, partial(self._ask, worker))

    def _snapshot(self, worker: SimulatedWorker, asked: float, answered: float) -> None:
        generation = len(self._written)
        self._at(answered, partial(self._answer, worker, asked, generation))

    def _answer(self, worker: SimulatedWorker, asked: float, generation: int) -> None:
        if self._is_cut(worker):
            return
        self._found.answered += 1
        self._found.rows += max(0, generation - worker.known)
        worker.known = max(worker.known, generation)
        self._forget(worker, [number for number in worker.unheard if number < generation], "poll")
        self._found.without_lease += max(0.0, self._now - worker.lease)
        worker.lease = max(worker.lease, asked + self._fleet.staleness)

    # --- writes and messages ------------------------------------------------------------------------------------------

    def _write(self) -> None:
        fleet, number = self._fleet, len(self._written)
        self._written.append(self._now)
        self._found.writes += 1
        holders = self._random.sample(self._workers, round(fleet.workers * fleet.held))
        for worker in holders:
            worker.unheard[number] = self._now
            if self._random.random() >= fleet.lost:
                takes = self._random.expovariate(1 / fleet.message)
                self._at(self._now + takes, partial(self._receive, worker, number))
        if not fleet.bus_down.holds(self._now):
            self._found.messages += fleet.workers
        self._at(self._wait(fleet.writes), self._write)

    def _receive(self, worker: SimulatedWorker, number: int) -> None:
        if number in worker.unheard and not self._is_cut(worker) and not self._fleet.bus_down.holds(self._now):
            self._forget(worker, [number], "message")

    def _forget(self, worker: SimulatedWorker, numbers: list[int], why: str) -> None:
        for number in numbers:
            written = worker.unheard.pop(number)
            end = min(self._now, worker.lease)
            self._found.stale[why if end == self._now else "lease"].append(max(0.0, end - written))
            self._found.reads += 1

    def _flush(self, worker: SimulatedWorker, until: float) -> None:
        """Everything is read again as it is asked for, until the run ends or the next flush comes."""
        self._found.flushes += 1
        self._forget(worker, list(worker.unheard), "message")
        start = self._now
        while start < until:
            end = min(math.floor(start) + 1, until)
            self._found.refill_by_second[math.floor(start)] += self._fleet.refill(start - self._now, end - self._now)
            start = end
