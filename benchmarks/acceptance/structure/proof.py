"""One engine's proof: so many templates, each with a harmless and some hostile values, and one structure for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from benchmarks.acceptance.structure.engines import ERROR, Engine, splice
from benchmarks.acceptance.structure.generator import Generated, Generator
from benchmarks.acceptance.structure.values import HARMLESS, OWN_TEXTS, harmless_number, pairs
from tenantry.sql import BoundSQL

_Pair = tuple[str, int]

_SHOWN = 5  # changes that are described
_AT_ONCE = 20  # templates whose statements an engine reads in one call: a plan, a round trip


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
    for first in range(0, templates, _AT_ONCE):
        cases = [_case(generator.make(), texts, dice, values) for _ in range(min(_AT_ONCE, templates - first))]
        statements = [engine.paste(each) for case in cases for each in case.bound.values()]
        structures = iter(engine.structures(statements))
        for case, counted in zip(cases, _placeholders(engine, cases), strict=True):
            _check(case, dict(zip(case.bound, structures, strict=False)), counted, proof)  # as many as it has
        _control(engine, cases[0].generated, proof)
        if first % 2_000 == 0 and first > 0:
            progress(f"{proof.engine}: {first:,} templates in {time.perf_counter() - began:.0f} s")
    proof.refused = generator.refused
    proof.seconds = time.perf_counter() - began
    return proof


@dataclass(frozen=True)
class _Case:
    """One template, bound with harmless values and with hostile ones."""

    generated: Generated
    bound: dict[_Pair, BoundSQL]
    hostile: list[_Pair]
    harmless: list[_Pair]


def _case(generated: Generated, texts: list[str], dice: Random, values: int) -> _Case:
    hostile = pairs(texts, dice, values)
    harmless = [(HARMLESS, harmless_number(number)) for number in dict.fromkeys(number for _, number in hostile)]
    bound = {pair: each for pair in (*harmless, *hostile) if (each := generated.bind(*pair, "format")) is not None}
    return _Case(generated, bound, [pair for pair in hostile if pair in bound], harmless)


def _placeholders(engine: Engine, cases: list[_Case]) -> list[bool]:
    """Whether the engine counts as many in the text of each as there are parameters."""
    bound = [case.generated.bind(*case.harmless[0], engine.style) for case in cases]
    texts = [each for each in bound if each is not None]
    counts = iter(engine.placeholders(texts))
    return [each is not None and next(counts) == len(each.params or ()) for each in bound]


def _check(case: _Case, structures: dict[_Pair, str], counted: bool, proof: Proof) -> None:
    """Each hostile text and number against a harmless text and a number of the same sign."""
    proof.templates += 1
    proof.values += len(case.hostile)
    if not counted:
        proof.note("the engine counts other placeholders", case.generated)
    text = case.bound[case.harmless[0]].sql
    for pair in case.harmless:
        if structures[pair].startswith(ERROR):
            proof.note(f"the engine refuses it with {pair!r}", case.generated)
    for pair in case.hostile:
        if case.bound[pair].sql is not text:
            proof.note(f"{pair!r} changed the text", case.generated)
        if structures[pair] != structures[HARMLESS, harmless_number(pair[1])]:
            proof.note(f"{pair!r} changed the structure", case.generated)


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
