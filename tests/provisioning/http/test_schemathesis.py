"""schemathesis attacks the app, as schema_attack.py says.

The attack is loaded by the tests: that takes a second, and each process of the tests loads this file.
"""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_schemathesis(subtests: pytest.Subtests) -> None:
    """0 failures of all checks of schemathesis and of ours, of each operation, in its phases examples, coverage and
    fuzzing."""
    from tests.provisioning.http.schema_attack import attacks

    for label, attack in attacks():
        with subtests.test(label):
            attack()


def test_a_workflow() -> None:
    """0 failures when what one step answers is sent by the next."""
    from tests.provisioning.http.schema_attack import WORKFLOW_SETTINGS, workflow

    workflow().run(settings=WORKFLOW_SETTINGS)


def test_the_attack_is_whole() -> None:
    """The 3.2 document is read as such: QUERY is among the operations, and all checks are on."""
    from schemathesis.checks import CHECKS

    from tests.provisioning.http.schema_attack import load_schema

    labels = {operation.ok().label for operation in load_schema()[0].get_all_operations()}
    assert {"GET /api/user", "PUT /api/user", "POST /api/user", "QUERY /api/user", "GET /readyz"} <= labels
    assert "POST /api/user/rotate" in labels
    assert "POST /oauth/introspect" in labels
    names = set(CHECKS.get_all_names())
    assert {"always_success_and_never_a_server_error", "positive_data_acceptance", "negative_data_rejection"} <= names
