"""A leak that no rewriting closes: a function of the host that reads a table and that no call names.

A data source refuses such functions when it first connects: tests/datasources/guarded/test_proof.py.
"""

from __future__ import annotations

import pytest

from tenantry.sql.guarding import read_tables
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.trial import Attack, Outcome, attempt
from tests.sql.guarding.attacks.world import declaration


@pytest.mark.parametrize("attacked", ["postgresql"], indirect=True)
def test_attributes_that_are_functions(attacked: Engine) -> None:
    """PostgreSQL reads ``t.label`` as ``label(t)`` where the table has no such column. Red when this leak is closed:
    then the text belongs to the attacks."""
    tables = read_tables(declaration(attacked.schema))
    trial = attempt(attacked, Attack("select t.label as x from t"), lambda template: template.guarded(tables))
    assert trial.outcome is Outcome.LEAKED
