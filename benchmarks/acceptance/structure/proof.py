"""One engine's proof: so many templates, each with a harmless and some hostile values, and one structure for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from benchmarks.acceptance.structure.engines import ERROR, Engine, splice
from benchmarks.acceptance.structure.generator import Generated, Generator
from benchmarks.acceptance.structure.values import HARMLESS, OWN_TEXTS, harmless_number, pairs

_SHOWN = 5  # changes that are described


@dataclass
class Proof:
    """What came out. ``changed`` counts templates and values; ``caught`` templates of ``controls`` whose spliced values
    changed the structure; ``seconds`` by the wall clock."""

    engine: str
    templates: int = 0
    values: int = 0
    changed: int = 0
    refused: int = 0
    controls: int = 0
    caught: int = 0
    seconds: float = 0.0
    shown: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No structure changed, and the search can see one that does."""
        return self.changed == 0 and self.templates > 0 and self.caught * 10 >= self.controls * 9 > 0

    def note(self, problem: str, generated: Generated) -> None:
        """One more change, described with its template."""
        self.changed += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(f"{problem}: {generated.template.text!r}")


def prove(
    engine: Engine,
    texts: list[str],
    dice: Random,
    *,
    templates: int,
    values: int = 10,
    progress: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Runs it. ``texts`` are the hostile ones, ``values`` how many of them each template is given."""
    proof = Proof(type(engine).__name__)
    generator = Generator(engine.dialect, dice)
    began = time.perf_counter()
    for number in range(templates):
        generated = generator.make()
        hostile = pairs(texts, dice, values)
        _check(engine, generated, hostile, proof)
        if number % 20 == 0:
            _control(engine, generated, proof)
        if number % 2_000 == 1_999:
            progress(f"{proof.engine}: {number + 1:,} templates in {time.perf_counter() - began:.0f} s")
    proof.refused = generator.refused
    proof.seconds = time.perf_counter() - began
    return proof


def _check(engine: Engine, generated: Generated, hostile: list[tuple[str, int]], proof: Proof) -> None:
    """Each hostile text and number against a harmless text and a number of the same sign."""
    harmless = [(HARMLESS, harmless_number(number)) for number in dict.fromkeys(number for _, number in hostile)]
    bound = {pair: each for pair in (*harmless, *hostile) if (each := generated.bind(*pair, "format")) is not None}
    counted = generated.bind(*harmless[0], engine.style)
    proof.templates += 1
    hostile = [pair for pair in hostile if pair in bound]
    proof.values += len(hostile)
    if counted is None or engine.placeholders(counted) != len(counted.params or ()):
        proof.note("the engine counts other placeholders", generated)
    text = bound[harmless[0]].sql
    statements = {pair: engine.paste(each) for pair, each in bound.items()}
    structures = dict(zip(statements, engine.structures(list(statements.values())), strict=True))
    for pair in harmless:
        if structures[pair].startswith(ERROR):
            proof.note(f"the engine refuses it with {pair!r}", generated)
    for pair in hostile:
        if bound[pair].sql is not text:
            proof.note(f"{pair!r} changed the text", generated)
        if structures[pair] != structures[HARMLESS, harmless_number(pair[1])]:
            proof.note(f"{pair!r} changed the structure", generated)


def _control(engine: Engine, generated: Generated, proof: Proof) -> None:
    """The same statement with its values spliced in: the engine must read another one, for one of ours at least."""
    usual = generated.bind(HARMLESS, 7, "format")
    if usual is None or HARMLESS not in str(usual.params):
        return
    hostile = [generated.bind(text, 7, "format") for text in OWN_TEXTS]
    spliced = [splice(each) for each in hostile if each is not None]
    first, *others = engine.structures([engine.paste(usual), *spliced])
    proof.controls += 1
    proof.caught += any(other != first for other in others)
