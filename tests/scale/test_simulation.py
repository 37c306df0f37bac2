"""The simulated fleet keeps the bound that it is there to show, and its totals are those of the arithmetic."""

from __future__ import annotations

import random

import pytest

from benchmarks.scale.fleet import Fleet, Window
from benchmarks.scale.simulation import Found, Simulation

SMALL = Fleet(workers=60, writes=20.0, seconds=40.0)
FAULTS = {
    "nothing": SMALL,
    "no message ever comes": Fleet(workers=60, writes=20.0, seconds=40.0, lost=1.0),
    "the bus is down": Fleet(workers=60, writes=20.0, seconds=40.0, bus_down=Window(10, 30)),
    "some are cut off": Fleet(workers=60, writes=20.0, seconds=40.0, cut_off=Window(10, 30), cut_share=0.5),
    "polls are slow": Fleet(workers=60, writes=20.0, seconds=40.0, lost=1.0, poll=1.5),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", range(3))
def test_no_worker_is_behind_for_longer_than_the_bound(fault: str, seed: int) -> None:
    """Red when the lease is counted from a poll's answer (slow polls), or when it is not looked at (cut off)."""
    found = Simulation(FAULTS[fault], seed).run()
    assert found.writes > 0
    assert max(found.all_stale()) <= SMALL.staleness


def test_a_cut_is_felt_and_ended_by_the_lease() -> None:
    """Those who are cut off go on until their lease ends, no longer, and then have no lease until they are back."""
    fleet = FAULTS["some are cut off"]
    found = Simulation(fleet, 1).run()
    assert len(found.stale["lease"]) > 100
    assert max(found.stale["lease"]) > fleet.staleness - 2 * fleet.interval
    cut = fleet.workers * fleet.cut_share
    long = fleet.cut_off.end - fleet.cut_off.start
    assert (
        cut * (long - fleet.staleness)
        < found.without_lease
        < cut * (long - fleet.staleness + fleet.patience + 2 * fleet.interval)
    )


def test_a_dead_bus_leaves_the_polls() -> None:
    """Without messages a worker is behind for about one poll at most."""
    fleet = FAULTS["no message ever comes"]
    found = Simulation(fleet, 1).run()
    assert not found.stale["message"]
    middle = found.all_stale()[len(found.all_stale()) // 2]
    assert 0.3 * fleet.interval < middle < 0.7 * fleet.interval


@pytest.mark.parametrize("seed", range(3))
def test_the_totals_are_those_of_the_arithmetic(seed: int) -> None:
    """Polls, rows, messages and reads come to what the fleet's own figures say, within what chance allows."""
    found = Simulation(SMALL, seed).run()
    assert found.polls == pytest.approx(SMALL.polls_a_second * SMALL.seconds, rel=0.01)
    assert found.writes == pytest.approx(SMALL.writes * SMALL.seconds, rel=0.2)
    assert found.messages == found.writes * SMALL.workers
    assert found.reads == found.writes * round(SMALL.workers * SMALL.held)
    unread = SMALL.workers * SMALL.writes * 2 * SMALL.interval  # of the last moments, which no poll has told yet
    assert found.writes * SMALL.workers - unread <= found.rows <= found.writes * SMALL.workers
    assert sum(map(len, found.stale.values())) == found.reads


def test_a_flush_costs_each_token_once() -> None:
    """Each worker flushes when the bus goes and when it is back, and reads each of its tokens once after each, at the
    pace of its requests."""
    fleet = Fleet(workers=20, tokens=50, requests=100.0, seconds=40.0, bus_down=Window(5, 15))
    found = Simulation(fleet, 1).run()
    assert found.flushes == 2 * fleet.workers
    assert sum(found.refill_by_second.values()) == pytest.approx(2 * fleet.workers * fleet.tokens, rel=0.01)
    assert max(found.refill_by_second.values()) <= fleet.workers * fleet.requests


def test_a_seed_gives_one_run() -> None:
    """The same seed gives the same figures, another seed others."""

    def figures(seed: int) -> Found:
        return Simulation(SMALL, seed).run()

    assert figures(7) == figures(7)
    assert figures(7) != figures(8)


class Mean(random.Random):
    """Chance that always gives the middle of what it may: so that a run can be worked out by hand."""

    def uniform(self, a: float, b: float) -> float:
        return a + (b - a) / 4

    def expovariate(self, lambd: float = 1.0) -> float:
        return 1 / lambd

    def random(self) -> float:
        return 0.5


def test_a_run_comes_to_what_it_is_by_hand() -> None:
    """One worker polls at 0.25, 1.104 and 1.958 (4 ms for a poll, 0.85 s between); a write every 2.1 s; from 2 to 20 it
    is cut off, and each poll is given up after 1.8 s. Its lease is that of the poll at 1.958, so it ends at 6.958: the
    writes at 2.1, 4.2 and 6.3 are shown for 4.858, 2.758 and 0.658 s, the seven later ones not at all. The poll at
    21.362 is answered and tells of all ten. Red when a lease is counted from the answer, or a poll is never
    given up."""
    fleet = Fleet(workers=1, held=1.0, writes=1 / 2.1, cut_off=Window(2, 20), cut_share=1.0, seconds=22.0)
    simulation = Simulation(fleet, 0)
    simulation._random = Mean()
    found = simulation.run()
    assert (found.polls, found.answered, found.writes, found.rows) == (11, 4, 10, 10)
    assert sorted(found.stale["lease"], reverse=True) == pytest.approx([4.858, 2.758, 0.658, *[0] * 7])
    assert sum(map(len, found.stale.values())) == 10
    assert found.without_lease == pytest.approx(21.366 - 6.958)
