"""S30: attacks on guarded tables, on each real engine: none of them reads the rows of another tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.acceptance.check import Check, Effort, Measured

if TYPE_CHECKING:
    from tests.sql.guarding.attacks.search import Found

_CONTROL: Final = "5: a CTE may not capture a condition"


def measure(effort: Effort) -> Measured:
    """Leaks by all texts, 2,000 generated queries for each engine and 100,000 mutations; in a quick run by a tenth."""
    from tests.sql.guarding.attacks.databases import NAMES, started
    from tests.sql.guarding.attacks.proof import prove

    found: list[Found] = []
    controls = 0
    for name in NAMES:
        with started(name) as engine:
            mutated = effort.pick(2_000, 100_000 // len(NAMES))
            texts, generated = effort.pick(300, 100_000), effort.pick(200, 2_000)
            proof = prove(engine, effort.dice(), texts=texts, generated=generated, mutated=mutated, progress=effort.say)
            controls += _leaks_without_a_defence(engine)
        found += proof.values()
        for shown in (shown for each in proof.values() for shown in each.shown):
            effort.say(shown)
    tried, leaking = sum(each.tried for each in found), sum(each.leaking for each in found)
    leaks, readings = sum(each.leaks for each in found), sum(each.readings for each in found)
    differences, crashes = sum(each.differences for each in found), sum(each.crashes for each in found)
    figure = (
        f"{leaks} leaks and {crashes} crashes by {tried:,} texts, of which {leaking:,} leak unguarded, on "
        f"{len(NAMES)} engines; {differences} of {readings:,} read otherwise by a second reader (control: "
        f"{controls} of {len(NAMES)} leak)"
    )
    ok = leaks == crashes == differences == 0 and controls == len(NAMES)
    counts = ("tried", "ran", "leaking", "leaks", "crashes", "readings", "differences", "seconds")
    numbers = [{"engine": each.engine, **{name: getattr(each, name) for name in counts}} for each in found]
    return Measured(figure, ok, {"searches": numbers, "controls": controls})


def _leaks_without_a_defence(engine: object) -> bool:
    """A CTE may hide a table that the condition of a guard reads."""
    from tests.sql.guarding.attacks.databases import Engine
    from tests.sql.guarding.attacks.search import Search
    from tests.sql.guarding.attacks.trial import Outcome
    from tests.sql.guarding.mutants import MUTANTS, mutated

    assert isinstance(engine, Engine)
    leaking = (each for each in MUTANTS if each.engine == engine.name and each.outcome is Outcome.LEAKED)
    mutant = next(each for each in leaking if each.rule == _CONTROL)
    with mutated(mutant):
        return Search(engine).run([mutant.attack]).leaks == 1


CHECKS = (
    Check(
        "S30",
        "Attacks on guarded tables, on real engines: leaks, crashes, other readings",
        "0 of 100,000 mutations, 2,000 queries an engine and all texts; control leaks",
        measure,
        (600, 5_400),
    ),
)
