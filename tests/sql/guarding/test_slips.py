"""The corpus of slips and of correct queries on the real engines: no slip leaks, and every correct query that an engine
runs has the rows that it has without a guard.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import BoundSQL, SQLTemplate
from tests.sql.guarding.second_readers import assert_only_guards
from tests.sql.guarding.stages import TABLES, VALUES, Stage, same

pytestmark = pytest.mark.slow

LEAKS = {"sqlite": 45, "duckdb": 65, "postgresql": 50, "mariadb": 45, "clickhouse": 50}
"""At least so many slips leak without a guard: a stage that ran nothing would prove nothing."""
CORRECT = {"sqlite": 18, "duckdb": 20, "postgresql": 18, "mariadb": 17, "clickhouse": 18}
INFORMATION_SCHEMA = 39


def template(entry: dict[str, Any], dialect: str) -> SQLTemplate:
    options = {
        key: literal_eval(value) if isinstance(value, str) else value for key, value in entry.get("options", {}).items()
    }
    return SQLTemplate(entry["sql"], dialect, params=entry["params"], **options)


def bound(made: SQLTemplate, viewer: dict[str, Any], stage: Stage) -> BoundSQL:
    return made.bind({**VALUES, "params": viewer}, stage.paramstyle)


def slips(corpus: Path, stage: Stage) -> Iterator[tuple[str, SQLTemplate, dict[str, Any]]]:
    for entry in json.loads((corpus / "tenant_slips" / "slips.json").read_text("utf-8")):
        try:
            made = template(entry, stage.dialect)
        except TemplateError:  # not SQL of this dialect
            continue
        yield from ((f"{entry['id']}: {entry['sql']}", made, viewer) for viewer in entry["viewer"])


def test_no_slip_leaks(corpus: Path, stage: Stage) -> None:
    """Guarded, each slip is refused, or shows the rows that it shows where only acme has rows. Red with the guard of
    one table left out."""
    leaks = 0
    for name, made, viewer in slips(corpus, stage):
        raw = bound(made, viewer, stage)
        plain = stage.answer(raw)
        own = None if plain is None else stage.own(raw)
        leaks += plain is not None and own is not None and not same(plain, own)
        try:
            guarded = bound(made.guarded(TABLES), viewer, stage)
        except TemplateError:
            continue
        found = stage.answer(guarded)
        assert_only_guards(guarded, TABLES)
        if found is None:
            continue
        assert same(found, stage.own(guarded)), name
        assert own is None or same(found, own), name
    assert leaks >= LEAKS[stage.dialect]


def test_correct_queries_have_the_same_rows(corpus: Path, stage: Stage) -> None:
    """With the author's own predicate and the guard, as with the predicate alone. The one of information_schema is
    refused. Red with an alias left out."""
    equal = 0
    for entry in json.loads((corpus / "tenant_slips" / "correct.json").read_text("utf-8")):
        try:
            made = template(entry, stage.dialect)
            raw = bound(made, dict.fromkeys(entry["params"], "x"), stage)
        except TemplateError:
            continue
        plain = stage.answer(raw)
        if plain is None:
            continue
        if entry["id"] == INFORMATION_SCHEMA:
            with pytest.raises(TemplateError, match="has data of every group"):
                made.guarded(TABLES).check()
            continue
        guarded = bound(made.guarded(TABLES), dict.fromkeys(entry["params"], "x"), stage)
        assert_only_guards(guarded, TABLES)
        found = stage.answer(guarded)
        assert found is not None, entry
        assert same(found, plain), entry
        equal += 1
    assert equal >= CORRECT[stage.dialect]
