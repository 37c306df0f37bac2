"""What the command ``build`` says while it works, and of what it found."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from tenantry_site.cli.output import program, say

if TYPE_CHECKING:
    from tenantry_site.diagnostic import Diagnostic

_SHOWN = 3
"""How many places of one code are shown."""
_ORDER = {"error": 0, "warning": 1, "info": 2}


class Progress:
    """``with Progress() as progress: progress(done, total)``: a bar on a terminal, elsewhere a line at each fifth."""

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
    """Lines: for each code how often it was found, its first message and where else; errors before warnings."""
    codes: dict[str, list[Diagnostic]] = {}
    for diagnostic in found:
        codes.setdefault(diagnostic.code, []).append(diagnostic)
    for code, group in sorted(codes.items(), key=lambda item: (_ORDER[item[1][0].severity], item[0])):
        first = group[0]
        if first.severity == "info":
            continue
        yield f"{code} {first.severity}, {len(group):,} ×: {place(first)}: {first.message}"
        if first.fix:
            yield f"    {first.fix}"
        if len(group) > 1:
            rest = len(group) - _SHOWN
            more = f" and {rest:,} more" if rest > 0 else ""
            yield f"    also {', '.join(place(diagnostic) for diagnostic in group[1:_SHOWN])}{more}"
    quiet = sum(diagnostic.severity == "info" for diagnostic in found)
    if quiet:
        yield f"{quiet:,} remarks: `{program()} check` shows them."


def place(diagnostic: Diagnostic) -> str:
    """``guides/start.md:12:3``, as far as it is known."""
    numbers = [str(number) for number in (diagnostic.line, diagnostic.column) if number]
    return ":".join([diagnostic.path or "the site", *numbers])


def meanings() -> dict[str, str]:
    """What each code means that can be found in a site."""
    from tenantry_site import building, components, config, markdown, outputs, reference, rendering, theme

    parts = (config, markdown, components, reference, theme, outputs, rendering, building)
    return {code: meaning for part in parts for code, meaning in part.CODES.items()}
