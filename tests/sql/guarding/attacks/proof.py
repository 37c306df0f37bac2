"""One engine's proof: the texts, generated queries, and mutations of both."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice
from random import Random

from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.generator import Generator
from tests.sql.guarding.attacks.mutations import mutations
from tests.sql.guarding.attacks.placements import PLACEMENTS, placed
from tests.sql.guarding.attacks.search import Found, Search
from tests.sql.guarding.attacks.texts import attacks, queries, statements
from tests.sql.guarding.attacks.trial import Attack, Guarding


def prove(
    engine: Engine,
    dice: Random,
    *,
    texts: int | None = None,
    generated: int,
    mutated: int = 0,
    guarding: Guarding | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Found]:
    """What came out of each kind. ``texts`` as for ``sample``."""
    search, generator = Search(engine, guarding), Generator(engine, dice)
    written = sample(engine, dice, texts)
    made = [generator.make() for _ in range(generated)]
    found = {"texts": search.run(written, progress), "generated": search.run(made, progress)}
    if mutated:
        sources = [*queries(engine), *statements(engine), *islice(made, 500)]
        found["mutations"] = search.run(mutations(sources, dice, mutated), progress)
    return found


def sample(engine: Engine, dice: Random, count: int | None) -> list[Attack]:
    """All texts at all places and all statements; or ``count`` texts by chance, as many of them at each place."""
    if count is None:
        return list(attacks(engine))
    texts = queries(engine)
    return [placed(dice.choice(texts), place) for place in islice(cycle(PLACEMENTS), count)]
