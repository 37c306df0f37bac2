"""The leak kit for pytest. In the conftest.py at the root of your tests:

    pytest_plugins = ["tenantry.testing.leaks"]

It adds one fixture, ``leaks``, which asks for ``leak_groups``: a fixture of your own that returns
``canary_groups(like=…)``. A project that does not name the plugin loads none of it (docs/testing.md).
"""

from __future__ import annotations

import pytest

from tenantry.testing.canaries import CanaryGroups
from tenantry.testing.leak_check import Leaks


@pytest.fixture
def leak_groups() -> CanaryGroups:
    """The groups to check with. Override it: only you know what properties your groups have."""
    raise LookupError(
        "write a fixture leak_groups: it returns tenantry.testing.canary_groups(like={…}), with the properties of one "
        "of your groups"
    )


@pytest.fixture
def leaks(leak_groups: CanaryGroups) -> Leaks:
    """Checks that no value of one user group reaches another: ``check_template``, ``check_rows``, ``check_app``."""
    return Leaks(leak_groups)
