"""The simulated fleets of docs/scale.md: what polls and bus cost, and how stale a worker gets when things break."""

from __future__ import annotations

from math import inf

from benchmarks.harness.table import Aim, Table
from benchmarks.scale.fleet import Fleet, Window
from benchmarks.scale.simulation import Found, Simulation

SEED = 1
FLEETS = {
    "all is well": Fleet(),
    "there is no bus": Fleet(bus_down=Window(0, inf)),
    "the bus is down for 20 s": Fleet(bus_down=Window(20, 40)),
    "a fifth is cut off for 20 s": Fleet(cut_off=Window(20, 40)),
    "polls take 1.5 s, no bus": Fleet(bus_down=Window(0, inf), poll=1.5),
}


def tables() -> list[Table]:
    """Runs all fleets from one seed."""
    found = {name: Simulation(fleet, SEED).run() for name, fleet in FLEETS.items()}
    return [_traffic(found), _staleness(found)]


def _traffic(found: dict[str, Found]) -> Table:
    fleet = next(iter(FLEETS.values()))
    result = Table(
        f"{fleet.workers:,} workers, {fleet.writes:,.0f} writes per second: events per second (simulated, seed {SEED})",
        [
            "fleet",
            "polls",
            "in the busiest second",
            "changes reported by polls",
            "bus messages",
            "re-reads",
            "reads after a flush, worst second",
        ],
    )
    result.add(
        "calculated",
        f"{fleet.polls_a_second:,.0f}",
        "",
        f"{fleet.rows_a_second:,.0f}",
        f"{fleet.messages_a_second:,.0f}",
        f"{fleet.reads_a_second:,.0f}",
        f"{fleet.workers * fleet.refill(0, 1):,.0f}",
    )
    for name, run in found.items():
        seconds = FLEETS[name].seconds
        result.add(
            name,
            f"{run.polls / seconds:,.0f}",
            f"{max(run.polls_by_second.values()):,}",
            f"{run.rows / seconds:,.0f}",
            f"{run.messages / seconds:,.0f}",
            f"{run.reads / seconds:,.0f}",
            f"{max(run.refill_by_second.values(), default=0):,.0f}",
        )
    return result


def _staleness(found: dict[str, Found]) -> Table:
    result = Table(
        f"How long a worker uses a group after it was written, ms (simulated, seed {SEED})",
        ["fleet", "p50", "p99", "longest", "ended by message", "by poll", "by lease", "without lease"],
    )
    for name, run in found.items():
        stale = run.all_stale()
        fleet = FLEETS[name]
        shares = [f"{len(run.stale[how]) / len(stale):.1%}" for how in ("message", "poll", "lease")]
        without = run.without_lease / fleet.workers / fleet.seconds
        times = (stale[len(stale) // 2], stale[len(stale) * 99 // 100], stale[-1])
        result.add(name, *(f"{time * 1e3:,.0f}" for time in times), *shares, f"{without:.1%}")
        result.aims.append(Aim(f"longest, {name}, s", stale[-1], fleet.staleness))
    return result
