"""Spells names as a declaration of guarded tables does: in double quotes where SQL needs quotes."""

from __future__ import annotations

import re
from typing import Final

from tenantry.sql import DIALECTS

_PLAIN: Final = re.compile(r"[^\W\d]\w*")
_QUOTABLE: Final = re.compile(r"[^\"`\[\]'\\\x00-\x1f]+")
_WORDS: Final = (
    "all and analyse analyze any array as asc between both by case cast check collate column constraint create cross"
    " current database default delete desc describe distinct drop else end except exists explain false for foreign from"
    " full grant group groups having in index inner insert interval into is join key keys lateral leading left like"
    " limit natural not null offset on only option or order outer over partition primary range rank references right"
    " row rows schema select set show some system table tables then to true union unique update user using values view"
    " when where window with"
)
_RESERVED: Final = frozenset(_WORDS.split())


def spelled(name: str, dialect: str) -> str | None:
    """Return the name as a declaration spells it, or None if no declaration can contain it."""
    identifiers = DIALECTS[dialect].identifiers
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _RESERVED
    if is_plain and identifiers.key(name, quoted=False) == identifiers.key(name, quoted=True):
        return name
    return f'"{name}"' if _QUOTABLE.fullmatch(name) else None
