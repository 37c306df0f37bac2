"""The output of commands: results go to stdout, messages to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from tenantry_site.diagnostic import Diagnostic
import gc
from contextlib import contextmanager


def say(text: str) -> None:
    """Write a message to stderr, because stdout has only results."""
    click.echo(text, err=True)


def printable(text: str) -> str:
    """Escape line breaks and control characters, so that text from a page cannot control the terminal."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def program() -> str:
    """The command that the user typed: ``tenantry site`` or ``tenantry-site``."""
    context = click.get_current_context()
    return (context.parent or context).command_path


_SHOWN = 3
"""Number of positions that a summary shows for each code."""
_ORDER = {"error": 0, "warning": 1, "info": 2}


class Progress:
    """Shows progress on stderr: ``with Progress() as progress: progress(done, total)``. A bar on a terminal, else a
    line for every 20 %."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._bar: Any = None
        self._done = 0
        self._reported = 0

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            fifth = done * 5 // max(total, 1)
            if fifth > self._reported or done == 0:
                self._reported = fifth
                say(f"{done:,} of {total:,} pages")
            return
        if self._bar is None:
            bar = click.progressbar(length=total, label="Pages", file=sys.stderr, show_pos=True)
            self._bar = self._stack.enter_context(bar)
        self._bar.update(done - self._done)
        self._done = done

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()


def summary(found: Sequence[Diagnostic]) -> Iterator[str]:
    """The lines of a summary. For each code: its count, the first diagnostic with the fix, and the positions of further
    diagnostics. Errors come first; notes are only counted."""
    codes: dict[str, list[Diagnostic]] = {}
    for diagnostic in found:
        codes.setdefault(diagnostic.code, []).append(diagnostic)
    for code, group in sorted(codes.items(), key=lambda item: (_ORDER[item[1][0].severity], item[0])):
        first = group[0]
        if first.severity == "info":
            continue
        yield f"{code} {first.severity}, {len(group):,} ×: {position(first)}: {first.message}"
        if first.fix:
            yield f"    {first.fix}"
        if len(group) > 1:
            rest = len(group) - _SHOWN
            more = f" and {rest:,} more" if rest > 0 else ""
            yield f"    also {', '.join(position(diagnostic) for diagnostic in group[1:_SHOWN])}{more}"
    quiet = sum(diagnostic.severity == "info" for diagnostic in found)
    if quiet:
        yield f"{quiet:,} notes: `{program()} check` shows them."


def position(diagnostic: Diagnostic) -> str:
    numbers = [str(number) for number in (diagnostic.line, diagnostic.column) if number]
    return ":".join([diagnostic.path or "the site", *numbers])


def meanings() -> dict[str, str]:
    from tenantry_site import building, components, config, markdown, outputs, reference, rendering, theme

    parts = (config, markdown, components, reference, theme, outputs, rendering, building)
    return {code: meaning for part in parts for code, meaning in part.CODES.items()}


OBJECTS = 2_000
"""During a build, the garbage collector runs after this many new objects. Rendering a page makes several hundred
objects, which are freed without a collection. A larger number would cost more memory and save little time."""


@contextmanager
def spared() -> Iterator[None]:
    """A context in which garbage collection runs less often, and skips objects that existed before, such as modules."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
