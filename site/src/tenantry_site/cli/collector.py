"""The garbage collector of a command that makes much and then ends."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 2_000
"""New objects between two collections. A page has some hundreds while it is made, which its end frees without a
collection; with more, what is left behind would cost more memory than is saved in time."""


@contextmanager
def spared() -> Iterator[None]:
    """The collector looks less often, and never through what is there already: modules, above all."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
