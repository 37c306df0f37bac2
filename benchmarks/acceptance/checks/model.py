"""S6: the state machine of the whole fleet, and the same with each defence removed."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Final

from benchmarks.acceptance.check import Check, Effort, Measured

_CONTROLS: Final = ("NoLease", "NoFillGuard", "NoSlotCompare", "NoChangeLog", "NoPollSnapshot", "NoLeaseForSharing")


def measure(effort: Effort) -> Measured:
    """Hypothesis raises what it finds, with the steps that lead there."""
    from tests.cache import defenceless
    from tests.cache.machine import FleetMachine, run_model
    from tests.cache.promises import Violation

    result = run_model(effort.pick(100_000, 400_000), effort.seed)
    effort.say(f"{result.steps:,} steps held; now the controls")
    caught = 0
    for name in _CONTROLS:
        machine = type("Defenceless", (FleetMachine,), {"cache": getattr(defenceless, name)})
        try:
            with redirect_stdout(sys.stderr):
                run_model(60_000, 1, machine, shrink=False)
        except Violation:
            caught += 1
        else:
            effort.say(f"nothing was found with {name}")
    figure = f"0 violations in {result.steps:,} steps; {caught} of {len(_CONTROLS)} controls caught"
    return Measured(figure, caught == len(_CONTROLS), {"steps": result.steps, "controls": caught})


CHECKS = (Check("S6", "Steps of the fleet's state machine", "≥ 100,000, 0 violations", measure, (150, 400)),)
