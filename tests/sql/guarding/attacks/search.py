"""A search for leaks: many attacks on one engine, and a second reading of every text that it is sent."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tenantry.sql.guarding import read_tables
from tenantry.sql.guarding.masked_sql import Refused
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.trial import Attack, Guarding, Outcome, Trial, attempt
from tests.sql.guarding.attacks.world import declaration
from tests.sql.guarding.second_readers import StandIns, Unreadable, second_reader

_SHOWN = 5
_LEAVES_OUT = frozenset({"sqlite", "clickhouse"})
"""Engines whose own account leaves out what is never read, and what they have computed already."""


@dataclass
class Found:
    """``ran`` counts the attacks that run unguarded, ``leaking`` those that leak then. ``differences`` are those of the
    readers that have no explanation."""

    engine: str
    tried: int = 0
    ran: int = 0
    leaking: int = 0
    readings: int = 0
    leaks: int = 0
    crashes: int = 0
    differences: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    @property
    def defects(self) -> int:
        return self.leaks + self.crashes + self.differences

    def show(self, problem: str, trial: Trial, detail: object = "") -> None:
        """Describes one of the first defects."""
        if len(self.shown) < _SHOWN:
            sent = trial.sent.sql if trial.sent is not None else ""
            self.shown.append(
                f"{self.engine}: {problem}: {trial.attack!r}\n  sent: {sent!r}\n  {detail or trial.detail}"
            )


class Search:
    """Uses ``guarding`` in place of the declaration of the world, for controls."""

    def __init__(self, engine: Engine, guarding: Guarding | None = None) -> None:
        self.engine = engine
        tables = read_tables(declaration(engine.schema))
        self._guarding = guarding or (lambda template: template.guarded(tables))
        self._reader = second_reader(engine)
        self._stand_ins = StandIns(engine.dialect, engine.style, tables)

    def run(self, attacks: Iterable[Attack], progress: Callable[[str], None] = lambda _: None) -> Found:
        """Try each of them."""
        found = Found(self.engine.name)
        began = time.perf_counter()
        for attack in attacks:
            self._try(attack, found)
            if found.tried % 5_000 == 0:
                seconds = time.perf_counter() - began
                progress(f"{found.engine}: {found.tried:,} tried, {found.ran:,} ran, {seconds:.0f} s")
        found.seconds = time.perf_counter() - began
        return found

    def _try(self, attack: Attack, found: Found) -> None:
        trial = attempt(self.engine, attack, self._guarding)
        found.tried += 1
        found.ran += trial.outcome is not Outcome.NOT_COUNTED
        found.leaking += trial.leaks
        found.outcomes[trial.outcome.name] += 1
        if trial.outcome is Outcome.LEAKED:
            found.leaks += 1
            found.show("leaks", trial)
        elif trial.outcome is Outcome.CRASHED:
            found.crashes += 1
            found.show("crashes", trial)
        elif trial.sent is not None:
            self._read_again(trial, found)

    def _read_again(self, trial: Trial, found: Found) -> None:
        assert trial.sent is not None
        text = self._stand_ins.replaced(trial.sent)
        found.readings += 1
        try:
            ours, theirs = self._stand_ins.our_reading(text), self._reader.tables(text)
        except (Refused, Unreadable) as error:
            if trial.outcome is Outcome.ENGINE_REFUSED:
                found.explained["the engine refuses the text"] += 1
            else:
                found.differences += 1
                found.show("cannot be read again", trial, error)
            return
        only_ours = ours.tables - theirs
        if theirs - ours.tables or (only_ours and not (self.engine.name in _LEAVES_OUT or only_ours <= ours.ctes)):
            found.differences += 1
            readings = f"we read {sorted(ours.tables)}, {self.engine.name} reads {sorted(theirs)}"
            found.show("readers differ", trial, readings)
        elif only_ours <= ours.ctes:
            found.explained["in doubt a name is a table, not a CTE"] += bool(only_ours)
        else:
            found.explained["the engine leaves out what is not read"] += 1
