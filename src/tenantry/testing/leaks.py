"""The leak kit as a pytest plugin. In your root conftest.py: ``pytest_plugins = ["tenantry.testing.leaks"]``.

The fixture ``leaks`` uses your fixture ``leak_groups``, which must return ``canary_groups(like=…)`` (docs/testing.md).
"""

from __future__ import annotations

import pytest

from tenantry.testing.canaries import CanaryGroups
from tenantry.testing.leak_check import Leaks


@pytest.fixture
def leak_groups() -> CanaryGroups:
    """Override this fixture to use groups with your properties."""
    raise LookupError(
        "write a fixture leak_groups that returns tenantry.testing.canary_groups(like={…}), with the properties of one "
        "of your groups"
    )


@pytest.fixture
def leaks(leak_groups: CanaryGroups) -> Leaks:
    """The leak checks, such as ``check_app``."""
    return Leaks(leak_groups)
