"""Every regular expression of the package, held to what each supported Python reads alike."""

from __future__ import annotations

import re
from pathlib import Path

import tenantry

SOURCES = Path(tenantry.__file__).parent

POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+|\(\?>")


def test_no_group_is_possessive() -> None:
    """CPython before 3.11.5 (Debian 12 has 3.11.2) reads ``(?:ab?c)*+`` on "aca" as three characters, and so cut SQL in
    the wrong places. A possessive character class is right everywhere. Red with the lexer's ``)++`` of before.
    """
    found = [
        f"{path.relative_to(SOURCES)}:{number}"
        for path in sorted(SOURCES.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert found == []
