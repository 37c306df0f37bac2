"""Attacks on guarded tables, on the real engines: whatever leaks unguarded is refused, or shows the group's rows alone.

Each text that is sent is also read by a second reader. ``make guard-proof`` runs all texts at all places, 2,000
generated queries for each engine and 100,000 mutations.

Red with any of the mutants in test_mutants.py.
"""

from __future__ import annotations

from random import Random

import pytest

from engines.hypothesis_profile import examples
from engines.samples import sampled
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.guarding import read_tables
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.generator import Generator
from tests.sql.guarding.attacks.mutations import mutations
from tests.sql.guarding.attacks.placements import PLACEMENTS
from tests.sql.guarding.attacks.proof import prove, sample
from tests.sql.guarding.attacks.search import Found, Search
from tests.sql.guarding.attacks.texts import attacks, queries, statements
from tests.sql.guarding.attacks.world import declaration

SEED = 20_261_128


def assert_no_defect(found: Found) -> None:
    assert found.shown == []
    assert found.defects == 0


@sampled(2)
def test_texts_and_generated_queries(attacked: Engine) -> None:
    """Of the generated queries more than three in five leak unguarded, of the texts two in five. Red when the tables of
    other tenants are empty."""
    count = 60
    proof = prove(attacked, Random(SEED), texts=max(3, examples(4)) * len(PLACEMENTS), generated=count)
    for found in proof.values():
        assert_no_defect(found)
        assert found.readings > found.tried // 4
    assert proof["generated"].leaking > 0.6 * count
    assert proof["texts"].leaking > 0.4 * proof["texts"].tried  # many of the others are refused by the engine


@pytest.mark.slow
def test_every_text_by_itself(attacked: Engine) -> None:
    """And most of those that run leak unguarded."""
    found = Search(attacked).run([*queries(attacked), *statements(attacked)])
    assert_no_defect(found)
    assert found.leaking > 0.7 * found.ran


@pytest.mark.slow
def test_mutations(attacked: Engine) -> None:
    """Few of them run."""
    sources = [*queries(attacked), *statements(attacked)]
    found = Search(attacked).run(mutations(sources, Random(SEED), 250))
    assert_no_defect(found)
    assert found.ran > 25


def test_the_lists_are_long(attacked: Engine) -> None:
    assert len({attack.text for attack in attacks(attacked)}) > 5_000


def test_a_guard_that_does_nothing_leaks(attacked: Engine) -> None:
    """The control of the search: it finds each text that leaks unguarded."""
    found = Search(attacked, lambda template: template).run(sample(attacked, Random(SEED), 2 * len(PLACEMENTS)))
    assert found.leaks == found.leaking > len(PLACEMENTS) * 4 // 5


def test_the_same_dice_make_the_same_queries(attacked: Engine) -> None:
    """A run can be repeated by its seed."""
    first, second = (Generator(attacked, Random(SEED)) for _ in range(2))
    made = [first.make() for _ in range(20)]
    assert made == [second.make() for _ in range(20)]
    assert list(mutations(made, Random(SEED), 20)) == list(mutations(made, Random(SEED), 20))


def test_a_template_without_sql_is_refused_with_its_place() -> None:
    """Red when the place of an error is looked up in the parts of a text that has none: mutations found it."""
    template = SQLTemplate("-- nothing", "sqlite").guarded(read_tables(declaration("main")))
    with pytest.raises(TemplateError, match=r"1:1: there is no query"):
        template.check()
