"""Fixtures for guarded tables: a stage for each engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sql.guarding.stages import ENGINES, Stage, stage_of


@pytest.fixture(scope="module", params=ENGINES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Each engine in turn."""
    with stage_of(request.param, request) as made:
        yield made
