"""The state machine over the model of a fleet, and what runs it for many steps from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tenantry.cache import GroupCache
from tests.cache.fleet import Fleet

STEPS = (
    "write", "write", "write", "announce", "commit", "commit", "finish", "finish",
    "request", "request", "request", "request", "ask", "ask", "read", "read", "answer", "answer",
    "poll", "poll", "poll", "poll_asks", "poll_reads", "poll_learns", "notify", "notify", "flush",
    "overtake", "write_near", "write_near", "wait", "wait", "wait", "fail", "restore", "vanish", "lose", "restart",
)  # fmt: skip
NUMBERS = st.integers(0, 23)
LENGTH = 60


class FleetMachine(RuleBasedStateMachine):
    """Any order of any steps. What a step checks is in the model."""

    cache: ClassVar[type[GroupCache]] = GroupCache
    model: ClassVar[type[Fleet]] = Fleet
    steps: ClassVar[int] = 0
    served: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.fleet = self.model(self.cache)

    @rule(step=st.sampled_from(STEPS), a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def step(self, step: str, a: int, b: int, c: int) -> None:
        FleetMachine.steps += 1
        getattr(self.fleet, step)(a, b, c)

    def teardown(self) -> None:
        FleetMachine.served += self.fleet.served


@dataclass(frozen=True)
class Result:
    """What a run did; it has broken no promise, or it would have raised a Violation."""

    seed: int
    steps: int
    served: int


def run_model(
    steps: int, seed_number: int, machine: type[FleetMachine] = FleetMachine, *, shrink: bool = True
) -> Result:
    """Runs at least so many steps of the machine. Raises Violation, after printing the steps that lead to it; without
    ``shrink`` they may be many."""
    FleetMachine.steps = FleetMachine.served = 0
    chosen = settings(
        max_examples=-(-steps // LENGTH),
        stateful_step_count=LENGTH,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    turn = 0
    while FleetMachine.steps < steps:
        run_state_machine_as_test(seed(seed_number + turn)(type("Run", (machine,), {})), settings=chosen)
        turn += 1_000_003
    return Result(seed_number, FleetMachine.steps, FleetMachine.served)
