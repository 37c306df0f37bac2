"""The first tier (``make test``) runs some cases of a costly test, and the second tier (``make test-all``) all of them.

Each case in a browser takes half a second of a processor: the first tier runs two of each test. Of a test with
``@sampled(number)`` it runs that number. The cases are chosen by chance, and always the same ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from random import Random
from typing import TypeVar

import pytest

IN_A_BROWSER = 2

_NUMBER = "cases_in_first_tier"

T = TypeVar("T", bound=Callable[..., object])


def sampled(number: int) -> Callable[[T], T]:
    """The first tier runs ``number`` cases of this test."""

    def note(test: T) -> T:
        setattr(test, _NUMBER, number)
        return test

    return note


@pytest.hookimpl(tryfirst=True)  # before `-m 'not slow'` leaves anything out
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Marks the other cases as slow."""
    tests = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    for name, cases in tests.items():
        default = IN_A_BROWSER if "browser" in cases[0].fixturenames else len(cases)
        number = min(len(cases), getattr(cases[0].function, _NUMBER, default))
        chosen = Random(name).sample(range(len(cases)), number)
        for position, case in enumerate(cases):
            if position not in chosen:
                case.add_marker("slow")
