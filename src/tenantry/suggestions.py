"""Suggestions: the known name that an author probably meant ("did you mean …?").

The docs site has its own, which also knows paths: neither distribution imports the other (decision 35).
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST_NAME = 100
"""Characters. Names that are longer are not compared: they are no typing errors."""
_CLOSE = 0.7


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant; None if none is near. Capitals, ``-``, ``_`` and blanks do not count."""
    if len(name) > _LONGEST_NAME:
        return None
    plain: dict[str, str] = {}
    for candidate in candidates:
        plain.setdefault(_plain(candidate), candidate)
    wanted = _plain(name)
    if wanted in plain:
        return plain[wanted]
    # A name of three letters has lost a third of them with one: the ratio alone would call that another name.
    close = get_close_matches(wanted, plain, n=1, cutoff=_CLOSE if len(wanted) > 4 else 0.6)
    return plain[close[0]] if close else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """``did you mean region? `` for the nearest candidate, or nothing: the start of a fix."""
    near = nearest(name, candidates)
    return f"did you mean {near}? " if near is not None else ""


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").replace(" ", "").lower()
