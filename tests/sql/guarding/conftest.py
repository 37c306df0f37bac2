"""Fixtures for guarded tables: a stage for each engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.sql.guarding.attacks.databases import NAMES, Engine, attacked_engine
from tests.sql.guarding.stages import ENGINES, Stage, stage_of


@pytest.fixture(scope="module", params=ENGINES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Each engine in turn."""
    with stage_of(request.param, request) as made:
        yield made


@pytest.fixture(scope="module", params=NAMES)
def attacked(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn, with the tables that the attacks read."""
    with ExitStack() as stack:
        yield stack.enter_context(attacked_engine(request.param, request.getfixturevalue, stack))
