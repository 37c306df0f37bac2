from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import click

PATIENCE = 0.5
"""Progress is shown only if the work lasts longer than this number of seconds."""
_STEPS: Final = 200
"""Maximum redraws of a bar."""
_BETWEEN: Final = 0.1
"""Minimum seconds between two redraws of a counter."""


@contextmanager
def progress(length: int | None, label: str) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances a progress bar on stderr. If ``length`` is None, a counter is shown instead.
    Nothing is shown if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with ExitStack() as stack:
        yield _Count(label, stack) if length is None else _Bar(length, label, stack)


class _Bar:
    def __init__(self, length: int, label: str, stack: ExitStack) -> None:
        self._length = length
        self._label = label
        self._stack = stack
        self._began = time.monotonic()
        self._done = 0
        self._update: Callable[[int], None] | None = None

    def __call__(self, number: int) -> None:
        if self._update is not None:
            self._update(number)
            return
        self._done += number
        spent = time.monotonic() - self._began
        if spent < PATIENCE:
            return
        steps = max(1, self._length // _STEPS)
        made = click.progressbar(
            length=self._length, label=self._label, file=sys.stderr, update_min_steps=steps, show_eta=True
        )
        bar = self._stack.enter_context(made)
        bar.start -= spent  # estimate the remaining time from all work done
        bar.update(self._done)
        self._update = bar.update


class _Count:
    def __init__(self, label: str, stack: ExitStack) -> None:
        self._label = label
        self._stack = stack
        self._shown_at = time.monotonic() + PATIENCE - _BETWEEN
        self._done = 0
        self._shown = False

    def __call__(self, number: int) -> None:
        self._done += number
        now = time.monotonic()
        if now - self._shown_at < _BETWEEN:
            return
        self._shown_at = now
        if not self._shown:
            self._shown = True
            self._stack.callback(self._end)
        self._show("")

    def _end(self) -> None:
        self._show("\n")

    def _show(self, end: str) -> None:
        click.echo(f"\r{self._label}  {self._done:,}{end}", file=sys.stderr, nl=False)
