"""S7: the faults of the catalogue, one after another on two fleets."""

from __future__ import annotations

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.faults.catalogue import on_postgres, on_sqlite
from benchmarks.acceptance.faults.trial import Outcome, Trial

STALENESS = 1.0
"""Short, so that the death of the store is seen through in seconds; S2 measures the real one."""

ANSWER_SECONDS = 2.0
RECOVERY_SECONDS = 2.0


def measure(effort: Effort) -> Measured:
    """Each fault for as many seconds as the run has time."""
    outcomes: list[Outcome] = []
    for scene_of in (on_sqlite, on_postgres):
        with scene_of(STALENESS) as (scene, faults):
            for fault in faults:
                outcomes.append(Trial(scene, fault).run(3 if effort.full else 0.5))
                effort.say(str(outcomes[-1]))
    survived = [outcome for outcome in outcomes if _survived(outcome)]
    slowest, recovery = max(each.slowest for each in outcomes), max(each.recovery for each in outcomes)
    failed = [outcome.name for outcome in outcomes if not _survived(outcome)]
    figure = (
        f"{len(survived)} of {len(outcomes)}; {sum(each.stale for each in outcomes)} stale, "
        f"{sum(each.lost for each in outcomes)} lost; slowest answer {slowest:.2f} s, recovery {recovery:.2f} s"
    )
    if failed:
        figure += f"; not: {', '.join(failed)}"
    numbers = {
        each.name: {"slowest": each.slowest, "recovery": each.recovery, "asked": each.asked} for each in outcomes
    }
    return Measured(figure, len(survived) == len(outcomes) >= 24, numbers)


def _survived(outcome: Outcome) -> bool:
    return outcome.safe and outcome.slowest <= ANSWER_SECONDS and outcome.recovery <= RECOVERY_SECONDS


_TARGET = "all (≥ 24): nothing stale or lost, 503 ≤ 2 s, well again ≤ 2 s"
CHECKS = (Check("S7", "Faults survived, by name", _TARGET, measure, (150, 500)),)
