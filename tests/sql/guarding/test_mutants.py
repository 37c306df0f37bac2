"""Each defence is needed: without it an attack leaks, or another defence is seen to stop it."""

from __future__ import annotations

import pytest

from tenantry.sql.guarding import read_tables
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.search import Search
from tests.sql.guarding.attacks.trial import Outcome, Trial, attempt
from tests.sql.guarding.attacks.world import declaration
from tests.sql.guarding.mutants import MUTANTS, Mutant, mutated
from tests.sql.guarding.test_attacks import assert_no_defect

pytestmark = pytest.mark.slow


def _tried(engine: Engine, mutant: Mutant) -> Trial:
    tables = read_tables(declaration(engine.schema))
    return attempt(engine, mutant.attack, lambda template: template.guarded(tables))


def test_mutants(attacked: Engine) -> None:
    """Red when a mutant's attack has another outcome than its list says, or leaks with the defence, or a second reader
    finds another table then."""
    wrong = []
    for mutant in (each for each in MUTANTS if each.engine == attacked.name):
        usual = _tried(attacked, mutant)
        with mutated(mutant):
            broken = _tried(attacked, mutant)
        if usual.outcome not in {Outcome.HELD, Outcome.REFUSED, Outcome.ENGINE_REFUSED}:
            wrong.append(f"{mutant.rule}: with the defence {usual.outcome}: {usual.detail}")
        if broken.outcome is not mutant.outcome:
            wrong.append(f"{mutant.rule}: without the defence {broken.outcome}: {broken.detail}: {broken.sent}")
    assert wrong == []
    assert_no_defect(Search(attacked).run(mutant.attack for mutant in MUTANTS if mutant.engine == attacked.name))


def test_each_engine_has_mutants_that_leak() -> None:
    """Control of the list."""
    leaking = [mutant for mutant in MUTANTS if mutant.outcome is Outcome.LEAKED]
    assert {mutant.engine for mutant in leaking} == {"sqlite", "duckdb", "postgresql", "mariadb", "clickhouse"}
    assert {mutant.rule[0] for mutant in leaking} >= set("123456")
