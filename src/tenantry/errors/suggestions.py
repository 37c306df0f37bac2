from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import Final, NamedTuple

_LONGEST_NAME: Final = 100
"""Longer names get no suggestion."""
_CLOSE: Final = 0.7
_CLOSE_OF_SHORT: Final = 0.6
"""Minimum similarity of names of at most 4 letters, in which one wrong letter matters more."""


class Edit(NamedTuple):
    """A correction: replaces the first ``old`` at or after the position of an error by ``new``."""

    old: str
    new: str


def misspelt(name: str, candidates: Iterable[str], *, prefix: str = "") -> Edit | None:
    """Return the correction of ``name`` to the nearest candidate, or None. ``prefix`` is put before both names in the
    correction."""
    near = nearest(name, candidates)
    return Edit(prefix + name, prefix + near) if near is not None else None


def nearest(name: str, candidates: Iterable[str], *, close: float | None = None) -> str | None:
    """Return the candidate that is most similar to ``name``, or None. Case, ``-``, ``_`` and blanks are ignored.
    ``close``: the minimum similarity (``difflib`` ratio, 0 to 1) instead of the usual one."""
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
