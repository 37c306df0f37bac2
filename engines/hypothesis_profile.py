"""Property tests without Hypothesis's 200 ms an example: on a busy machine any example can take longer."""

from __future__ import annotations

from hypothesis import settings

EXAMPLES = settings().max_examples
settings.register_profile("tenantry", deadline=None)
settings.register_profile("first-tier", deadline=None, max_examples=EXAMPLES // 4)
settings.load_profile("tenantry")


def examples(number: int) -> int:
    """The number of examples of a property test: ``number``, or a quarter of it in the first tier (``make test``)."""
    return number * settings().max_examples // EXAMPLES
