"""Identifiers: ids of headings, as code hosts make them, each once on a page."""

from __future__ import annotations

import re
import unicodedata

_DROPPED = re.compile(r"[^\w\- ]")
_LONGEST = 200
_WRITTEN = re.compile(r"(?!Site-)[\w.:-]{1,200}")


def slug(text: str) -> str:
    """Lower case, spaces as hyphens, punctuation left out; letters of all scripts stay."""
    lower = text.strip().lower()[:_LONGEST]
    if lower.isascii():
        kept = _DROPPED.sub("", lower)
    else:
        kept = "".join(each for each in lower if each in "-_ " or unicodedata.category(each)[0] in "LNM")
    return "-".join(kept.split(" ")) or "section"


class Identifiers:
    """The ids of one page. Those of the frame around it (``theme``) begin with ``Site-``, and no other does."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take(self, wanted: str, written: str = "") -> str:
        """``wanted`` as a slug; with a number behind it if the page has that id already.

        What an author has ``written`` stays as it is, as the links to it are, if the page does not have it yet.
        """
        if _WRITTEN.fullmatch(written) and written not in self._counts:
            self._counts[written] = 0
            return written
        wanted = written.strip() or wanted
        base = slug(wanted)
        count = self._counts.get(base)
        if count is None:
            self._counts[base] = 0
            return base
        while True:
            count += 1
            numbered = f"{base}-{count}"
            if numbered not in self._counts:
                self._counts[base] = count
                self._counts[numbered] = 0
                return numbered
