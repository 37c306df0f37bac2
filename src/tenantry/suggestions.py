"""Suggestions: the known name that an author probably meant ("did you mean …?").

The docs site has its own, which also knows paths: neither distribution imports the other (decision 35).
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import Final

_LONGEST_NAME: Final = 100
"""Characters. Names that are longer are not compared: they are no typing errors."""
_CLOSE: Final = 0.7
_CLOSE_OF_SHORT: Final = 0.6
"""A name of three letters has lost a third of them with one: the ratio alone would call that another name."""


def nearest(name: str, candidates: Iterable[str], *, close: float | None = None) -> str | None:
    """The candidate that was probably meant; None if none is near. Capitals, ``-``, ``_`` and blanks do not count.

    Of paths (``address.city``) each part is near by itself: what they begin with in common makes no two alike.
    ``close`` is the least ratio of two that are near, from 0 to 1.
    """
    if len(name) > _LONGEST_NAME:
        return None
    plain: dict[str, str] = {}
    for candidate in candidates:
        plain.setdefault(_plain(candidate), candidate)
    wanted = _plain(name)
    if wanted in plain:
        return plain[wanted]
    if not plain:
        return None
    found = get_close_matches(wanted, plain, n=len(plain), cutoff=_ratio(wanted) if close is None else close)
    return next((plain[each] for each in found if _parts_are_near(wanted, each)), None)


def did_you_mean(name: str, candidates: Iterable[str], *, prefix: str = "") -> str:
    """``did you mean region? `` for the nearest candidate, or nothing: the start of a fix. ``prefix`` is written before
    it."""
    near = nearest(name, candidates)
    return f"did you mean {prefix}{near}? " if near is not None else ""


def _ratio(name: str) -> float:
    return _CLOSE if len(name) > 4 else _CLOSE_OF_SHORT


def _parts_are_near(wanted: str, candidate: str) -> bool:
    own, other = wanted.split("."), candidate.split(".")
    if len(own) != len(other):
        return True
    return all(SequenceMatcher(None, a, b).ratio() >= _ratio(a) for a, b in zip(own, other, strict=True))


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").replace(" ", "").lower()
