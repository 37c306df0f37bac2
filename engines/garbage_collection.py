"""Collects garbage in what tests make, and not in the modules and the thousands of tests that stay until the end.

Python looks at every object again and again while tests are collected, and at all of them at each ``gc.collect()`` of a
test. The objects that are there when all tests are known are set apart (``gc.freeze``), and at the end of each file
those that its tests made and that are still in use: what a test leaves behind is found as before, at a tenth of the
cost. Nor are they freed one by one when the process ends.
"""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Iterator

import pytest

YOUNGEST = 10_000
"""New objects until the youngest generation is collected. Python's own number is 700 (2,000 from 3.12 on)."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Nothing that is made from here on is garbage."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """From here on everything is watched as ever but what is there already."""
    gc.freeze()
    gc.set_threshold(YOUNGEST)
    gc.enable()
    atexit.register(_end_at_once)


def _end_at_once() -> None:
    """Frees nothing. DuckDB reports frozen objects as leaks, so stderr is closed."""
    gc.freeze()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Caches and modules that were loaded grow with each file, and are looked at again and again."""
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
