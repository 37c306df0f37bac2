"""Fixtures of the store tests: migrated databases on both engines."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """A migrated database, once on each engine."""
    value: str = request.getfixturevalue(f"{request.param}_url")
    return value
