"""Settings of property tests: no time limit for an example, and fewer examples in the first tier (``make test``)."""

from __future__ import annotations

import pytest
from hypothesis import settings

EXAMPLES = settings().max_examples
settings.register_profile("tenantry", deadline=None)
settings.register_profile("first-tier", deadline=None, max_examples=EXAMPLES // 10)
settings.load_profile("tenantry")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """``-m 'not slow'`` chooses the first tier."""
    if config.option.markexpr == "not slow":
        settings.load_profile("first-tier")


def examples(number: int) -> int:
    """The number of examples of a property test: ``number``, or a tenth of it in the first tier."""
    return number * settings().max_examples // EXAMPLES
