"""Names of tables and columns as SQL writes them: ``orders``, ``main.orders``, ``"Order Items"``."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tenantry.sql.dialects import Dialect

_PART: Final = r"[^\W\d]\w*|\"[^\"`\[\]'\\\x00-\x1f]+\""
NAME: Final = re.compile(_PART)
"""A name without dots. It must be in double quotes unless it is a plain word."""
PATH: Final = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")
"""Names joined by dots."""
COLUMN_PATH: Final = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))+")
"""A table's path, a dot and a column."""
_PARTS: Final = re.compile(_PART)


class Name(NamedTuple):
    text: str
    quoted: bool


Path = tuple[Name, ...]


def path_of(text: str) -> Path:
    found = (match[0] for match in _PARTS.finditer(text))
    return tuple(Name(each[1:-1], quoted=True) if each[0] == '"' else Name(each, quoted=False) for each in found)


def key_of(path: Path, dialect: Dialect) -> tuple[str, ...]:
    """Return a key that is the same for all spellings of a table in the dialect."""
    return tuple(dialect.identifiers.key(name.text, quoted=name.quoted) for name in path)


def folded(name: str) -> str:
    """Return the same string for all names that at least one engine treats as equal, such as ``İtems`` and
    ``items``."""
    return "".join(character.lower()[0] for character in name)


def written(path: Path, dialect: Dialect) -> str:
    quote = dialect.name_quote
    return ".".join(f"{quote}{name.text}{quote}" if name.quoted else name.text for name in path)
