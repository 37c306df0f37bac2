from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Final

import click

_STEPS: Final = 200
"""A long bar is redrawn at least this many times, and at most twice as many."""


@contextmanager
def progress(length: int | None, label: str) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances a progress bar on stderr. If ``length`` is None, the bar shows a counter. Nothing
    is shown if ``length`` is 0 or stderr is not a terminal."""
    if length == 0 or not sys.stderr.isatty():
        yield lambda _: None
        return
    steps = max(1, (length or 0) // _STEPS)
    # click asks for an iterable if the length is unknown; ``update`` does not read it
    with click.progressbar(
        repeat(None), length, label, show_pos=length is None, file=sys.stderr, update_min_steps=steps
    ) as bar:
        yield bar.update
