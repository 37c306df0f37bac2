"""One attack: what its text gives unguarded, and what it gives guarded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from tenantry.errors import MissingVariable, TemplateError, UnbindableValue
from tenantry.sql import BoundSQL, SQLTemplate
from tests.sql.guarding.attacks.databases import Database, Engine, EngineRefused, Rows
from tests.sql.guarding.attacks.world import MARKERS, VARIABLES, is_foreign


@dataclass(frozen=True)
class Attack:
    """The text of a template, and what a viewer sends."""

    text: str
    params: Mapping[str, Any] = field(default_factory=dict)
    fragments: Mapping[str, str] = field(default_factory=dict)
    viewer: Mapping[str, Any] = field(default_factory=dict)

    def template(self, dialect: str) -> SQLTemplate:
        """Raises TemplateError."""
        return SQLTemplate(self.text, dialect, params=self.params, fragments=self.fragments)


class Outcome(StrEnum):
    """What became of an attack. Only ``LEAKED`` and ``CRASHED`` are defects."""

    NOT_COUNTED = "neither leaks unguarded nor runs"
    REFUSED = "refused at load"
    HELD = "runs with the group's rows"
    ENGINE_REFUSED = "refused by the engine when guarded"
    LEAKED = "leaks guarded"
    CRASHED = "another error than TemplateError"


@dataclass(frozen=True)
class Trial:
    """``leaks`` is whether the text leaks unguarded; ``sent`` is the guarded text as the engine was sent it."""

    attack: Attack
    outcome: Outcome
    leaks: bool = False
    sent: BoundSQL | None = None
    guarded: SQLTemplate | None = None
    detail: str = ""


Guarding: TypeAlias = Callable[[SQLTemplate], SQLTemplate]
"""Gives a template's guarded copy, as ``SQLTemplate.guarded`` does. Raises TemplateError."""


def attempt(engine: Engine, attack: Attack, guarding: Guarding) -> Trial:
    """Run the text unguarded on everyone's rows and on acme's; then guarded, if it ran.

    A guarded text leaks if a cell has a marker, or if the answer depends on other tenants' rows.
    """
    leaks = leaks_unguarded(engine, attack)
    if leaks is None:
        return Trial(attack, Outcome.NOT_COUNTED)
    try:
        guarded = guarding(attack.template(engine.dialect))
        sent = _bound(guarded, engine, attack)
    except TemplateError as error:
        return Trial(attack, Outcome.REFUSED, leaks, detail=str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a defect
        return Trial(attack, Outcome.CRASHED, leaks, detail=repr(error))
    try:
        after = _counted(engine.everyone, sent)
    except EngineRefused as error:
        return Trial(attack, Outcome.ENGINE_REFUSED, leaks, sent, guarded, str(error))
    outcome = Outcome.LEAKED if _leaks(engine, sent, after) else Outcome.HELD
    return Trial(attack, outcome, leaks, sent, guarded, str(after))


def leaks_unguarded(engine: Engine, attack: Attack) -> bool | None:
    """Whether the text leaks as it is; None if it does not run."""
    try:
        bound = _bound(attack.template(engine.dialect), engine, attack)
        return _leaks(engine, bound, _counted(engine.everyone, bound))
    except (TemplateError, MissingVariable, UnbindableValue, EngineRefused):
        return None


def _bound(template: SQLTemplate, engine: Engine, attack: Attack) -> BoundSQL:
    return template.bind({**VARIABLES, "params": attack.viewer}, engine.style)


def _leaks(engine: Engine, bound: BoundSQL, found: Rows) -> bool:
    # A text may write a marker itself: then only the comparison tells.
    if is_foreign(found) and not any(f"'{marker}'" in bound.sql for marker in MARKERS):
        return True
    for _ in range(2):  # on a busy machine, the time of the first may end
        with suppress(EngineRefused):
            return found != _counted(engine.alone, bound)
    return True  # such as a division by a count that is zero for acme alone


def _counted(database: Database, bound: BoundSQL) -> Rows:
    return Counter(repr(tuple(row)) for row in database.rows(bound))
