"""Leaks that no rewriting closes: each is a function of the host that reads a table and that no call names.

The data source must not have such functions; a declaration of tables cannot see them.
"""

from __future__ import annotations

import pytest

from tenantry.sql.guarding import read_tables
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.trial import Attack, Outcome, attempt
from tests.sql.guarding.attacks.world import declaration

POSTGRESQL = (
    "select t.label as x from t",
    "select (t).label as x from t",
    "select (null::t).label as x",
)


@pytest.mark.parametrize("attacked", ["postgresql"], indirect=True)
@pytest.mark.parametrize("text", POSTGRESQL)
def test_attributes_that_are_functions(attacked: Engine, text: str) -> None:
    """PostgreSQL reads ``row.name`` as ``name(row)`` where the row has no such column. Red when this leak is closed:
    then the texts belong to the attacks."""
    tables = read_tables(declaration(attacked.schema))
    trial = attempt(attacked, Attack(text), lambda template: template.guarded(tables))
    assert trial.outcome is Outcome.LEAKED
