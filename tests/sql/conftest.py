"""Fixtures for the tests of SQL templates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenantry.sql import template


@pytest.fixture(scope="module", autouse=True)
def generated_at_once() -> Iterator[None]:
    """The generated function binds the first time, too: a test that binds once is of the function, which hands to the
    interpreter what it does not take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "_INTERPRETS_FIRST", False)
        yield
