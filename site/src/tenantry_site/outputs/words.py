"""Words: what a reader may search for, out of any text. ``static/search.js`` cuts a query by the same rules.

A word is a run of letters and digits, folded: without case, without accents, of one width. Scripts that are written
without spaces are cut into pairs. A name of code is found by its parts and as a whole, however it is written:
``USER_GROUP_TOKEN`` and ``userGroupToken`` give ``user``, ``group``, ``token`` and ``usergrouptoken``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

LONGEST = 24
"""Characters of a word that count: what follows tells no two words apart that a reader would type."""
MOST_PARTS = 4
"""Of a name that is kept whole too."""

# Scripts without spaces between words (Thai, Lao, Burmese, Khmer, kana, Han) and Hangul, whose words have endings.
_PAIRED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PAIRED += "\U00020000-\U0003ffff"
# The vowel signs of India's scripts are marks, not letters, and within words.
_SIGNS = "\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:[^\W_{_PAIRED}]|[{_SIGNS}])"

_JOINED = re.compile(rf"[{_PAIRED}]+|{_LETTER}+(?:_{_LETTER}+)*")
_JOINED_ASCII = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")
_PARTS = re.compile(rf"{_LETTER}+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")


def fold(text: str) -> str:
    """The text without accents and of one width: what two spellings of one word have in common, but for case."""
    return text if text.isascii() else normalize("NFC", _ACCENTS.sub("", normalize("NFKD", text)))


def words(text: str) -> list[str]:
    """The words of a text in their order, with repetitions; a name of code gives its parts and itself."""
    found: list[str] = []
    take = found.extend
    ascii_only = text.isascii()
    for joined in (_JOINED_ASCII if ascii_only else _JOINED).findall(text if ascii_only else fold(text)):
        take(_words_of(joined))
    return found


@lru_cache(maxsize=512)
def _words_of(joined: str) -> tuple[str, ...]:
    if joined.islower() and joined.isascii() and joined.isalpha():  # most of any text
        return (joined[:LONGEST],)
    if re.match(f"[{_PAIRED}]", joined):
        return _pairs(joined)
    parts = [part.lower()[:LONGEST] for part in _PARTS.findall(_HUMP.sub("_", joined))]
    whole = "".join(parts)
    if 1 < len(parts) <= MOST_PARTS and len(whole) <= LONGEST:
        parts.append(whole)
    return tuple(parts)


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else (run,)
