"""Small changes of attacks at random: words deleted, doubled, exchanged, quoted, and put in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from random import Random
from typing import Final

from tests.sql.guarding.attacks.trial import Attack

_WORD: Final = re.compile(r"\{\{.*?\}\}|\[\[|\]\]|'[^']*'|\"[^\"]*\"|`[^`]*`|\w+|\s+|.", re.DOTALL)
_NAMES: Final = ("t", "o", "items", "docs", "countries", "vault", "v_t", "T", '"t"', "`t`", "[t]", "'t'", "q", "note")
_INSERTED: Final = (
    *("final", "only", "lateral", "recursive", "as", "from", "union", "all", "not", "materialized", "natural"),
    *("using", "values", "table", "prewhere", "select", "with", "in", "is", "exists", "join", "left", "cross", "on"),
    *("where", "limit", "order by", "distinct", "any", "some", "array", "unnest", "pivot", "sample", "tablesample"),
    *("*", ",", ".", "(", ")", "()", ";", ":", "::", "||", "=", "->", "1", "''", "t", "t,", ", t", "from t", "(t)"),
    *("/*", "*/", "/**/", "/*!", "--", "-- \n", "#", "//", "'", '"', "`", "$$", "$a$", "\\", "{", "}", "[", "]", "@"),
    *("\u00a0", "\u2028", "\x0b", "\x0c", "\x00", "\ufeff", "\u200b", "é", "\u017f", "\u212a", "e'", "n'", "u&'", "x'"),
    *(
        "(select * from t)",
        "(select note from o)",
        "union all select note from t",
        "for update",
        "offset 0",
        "settings",
    ),
)
_KINDS: Final = 9


def mutations(attacks: Sequence[Attack], dice: Random, count: int) -> Iterator[Attack]:
    """``count`` of them, each with one to three changes. The kinds of the first change take turns, and so do the words
    that are put in: of five hundred mutations none is left out."""
    inserted = cycle(_INSERTED)
    for number in range(count):
        attack = dice.choice(attacks)
        words = _WORD.findall(attack.text)
        _change(words, number % _KINDS, dice, inserted)
        for _ in range(dice.randint(0, 2)):
            _change(words, dice.randrange(_KINDS), dice, inserted)
        yield replace(attack, text="".join(words))


def _change(words: list[str], kind: int, dice: Random, inserted: Iterator[str]) -> None:
    at = dice.randrange(len(words)) if words else 0
    if kind == 0 and len(words) > 1:
        del words[at]
    elif kind == 1 and words:
        words.insert(at, words[at])
    elif kind == 2 and words:
        other = dice.randrange(len(words))
        words[at], words[other] = words[other], words[at]
    elif kind in {3, 4}:
        _replace_name(words, dice)
    elif kind == 5 and words:
        words[at] = words[at].upper() if dice.random() < 0.5 else words[at].title()
    elif kind == 6 and words:
        begin, end = sorted((at, dice.randrange(len(words))))
        words[begin:end] = ["(", *words[begin:end], ")"]
    elif kind == 7 and words:
        begin = dice.randrange(len(words))
        words[at:at] = words[begin : begin + dice.randint(1, 12)]
    else:
        words.insert(at, f" {next(inserted)} " if dice.random() < 0.7 else next(inserted))


def _replace_name(words: list[str], dice: Random) -> None:
    names = [at for at, word in enumerate(words) if word.lower() in {"t", "o", "items", "docs", "countries", "q", "x"}]
    if names:
        words[dice.choice(names)] = dice.choice(_NAMES)
