"""How far a command is, where somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress(length: int | None, label: str) -> Iterator[Callable[[int], None]]:
    """A bar on stderr if that is a terminal and the ``length`` is known. What it gives moves the bar on by a number."""
    if length is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update
