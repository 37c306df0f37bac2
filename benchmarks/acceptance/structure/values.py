"""Hostile values: texts that would be SQL if they were pasted, and numbers that would be comments."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Final

HARMLESS: Final = "harmless"
"""What hostile texts are compared with."""

OWN_TEXTS: Final = (
    "' or '1'='1",
    "'; drop table orders; --",
    '" or ""="',
    "') or 1 in (select 1) /*",
    "*/ or true --",
    "\\' or true -- ",
    "\\",
    "a\\\\'",
    "$$ || (select 1) || $$",
    "$a$ ' $a$",
    "{{ t0 }} [[ or true ]] \\{{",
    "%' or 1=1 -- ",
    "?, :p1, $1, %s, %(p1)s",
    "0x27 or 1=1",
    "\uff07 or true",
    "\u2019 or true",
    "\n or true --",
    "\r\n' or true #",
    "''",
    "'",
    '"',
    "`",
    "]]",
    "' union all select 1, 2 -- ",
    "' and (select count(*) from orders) > 0 and '' = '",
    "'||'",
    "';",
    "\x01'\x1a",
    "\U0001f600'",
    "E'\\''",
)
"""Those that every checkout has. Spliced into a statement they change it, and do no harm."""
_NUMBERS: Final = (-1, 0, 2_000_000_000, -2_000_000_000, 12_345_678)  # of 32 bits, also where one adds ten


def hostile_texts(dice: Random, corpus: Path | None) -> list[str]:
    """Ours and, if the corpus is next to the checkout, those of the corpus, in any order."""
    found = list(OWN_TEXTS)
    if corpus is not None and corpus.is_file():
        lines = corpus.read_bytes().decode().split("\n")
        found += [line for line in lines if line and not line.startswith("#!") and "\0" not in line]
    dice.shuffle(found)
    return found


def pairs(texts: list[str], dice: Random, count: int) -> list[tuple[str, int]]:
    """``count`` texts, each with a number."""
    start = dice.randrange(len(texts))
    return list(zip(islice(cycle(texts), start, start + count), cycle(_NUMBERS), strict=False))


def harmless_number(number: int) -> int:
    """One that is written as this one is: of the same sign."""
    return -7 if number < 0 else 7
