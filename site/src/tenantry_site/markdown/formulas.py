"""Formulas: what stands between ``$$`` and ``$$`` is kept as it was written.

Pages set no formulas. Read as Markdown one would lose its backslashes, and a line of ``=`` would make a heading of it.
"""

from __future__ import annotations

from typing import Final

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_MARK: Final = "$$"


def inline_formula(state: StateInline, silent: bool) -> bool:
    """``$$x$$`` within a line of text. ``$$$`` is a price, and what a closing tag stands in is no formula."""
    at = state.pos
    if not state.src.startswith(_MARK, at) or "$" in (state.src[at - 1 : at], state.src[at + 2 : at + 3]):
        return False
    end = state.src.find(_MARK, at + 2, state.posMax)
    if end < 0 or "</" in state.src[at:end]:
        return False
    if not silent:
        state.pending += state.src[at : end + 2]
    state.pos = end + 2
    return True


def formula_end(state: StateBlock, start_line: int, end_line: int) -> int:
    """The line behind a formula of several lines, which begins with ``$$`` and ends at the next; 0 if there is none.

    It holds no empty line: a ``$$`` that closes nothing takes no more than its own paragraph.
    """
    if not _begins(state, start_line):
        return 0
    for line in range(start_line + 1, end_line):
        if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return 0
        if _MARK in _text(state, line):
            return line + 1
    return 0


def _begins(state: StateBlock, line: int) -> bool:
    text = _text(state, line)
    return text.startswith(_MARK) and _MARK not in text[2:]


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
