"""Choice sets: named sets of choices for ``one_of``. They come from a query's header or from
``SQLTemplate(text, choices=…)``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from tenantry.errors import TemplateError
from tenantry.sql.source import Source

NAME: Final = re.compile(r"[^\W\d_]\w*")
"""Name of a choice set, such as ``order`` in ``one_of(order)``."""
_KEY: Final = re.compile(r"(?!\s)(?:(?!\{\{)[^\0-\x1f])+(?<!\s)")
_EXAMPLE: Final = "{newest: created_at desc}"


@dataclass(frozen=True, slots=True)
class ChoiceText:
    sql: str
    offset: int = 0
    exact: bool = True
    """Whether ``source`` contains the SQL unchanged. If so, an error can show the position of a problem in
    ``source``."""
    source: Source | None = None
    """The text that declares the choice; None if the choice is declared in the header of the query file."""


ChoiceSets: TypeAlias = Mapping[str, Mapping[str, ChoiceText]]
"""Name of a choice set → name of a choice → SQL."""
NO_CHOICES: Final[ChoiceSets] = MappingProxyType({})


class InvalidChoices(TemplateError):
    def __init__(self, message: str, *, keys: tuple[str, ...], problem: str, fix: str, in_key: bool) -> None:
        super().__init__(message, problem=problem, fix=fix)
        self.keys = keys
        """The path from ``choices`` to the problem."""
        self.in_key = in_key
        """Whether the last key, not its value, is wrong."""


def _invalid(keys: tuple[str, ...], problem: str, fix: str, *, in_key: bool = False) -> InvalidChoices:
    return InvalidChoices(f"{problem}\n  fix: {fix}", keys=keys, problem=problem, fix=fix, in_key=in_key)


def check_choices(given: Any) -> None:
    """Raise InvalidChoices for the first malformed choice set or choice."""
    for name, texts in _items(
        given, (), "write `choices:`, and below it an indented line for each set of choices", NAME
    ):
        if not _items(texts, (name,), f"{name}: {_EXAMPLE}", _KEY):
            raise _invalid((name,), f"choices.{name} has no choices", f"{name}: {_EXAMPLE}")
        for key, text in texts.items():
            if not isinstance(text, str) or not text.strip():
                problem = f"choices.{name}.{key} must be SQL, as a string"
                raise _invalid((name, key), problem, "write SQL, as in `newest: created_at desc`")


def declare_choices(given: Mapping[str, Mapping[str, str]]) -> ChoiceSets:
    """Raises InvalidChoices for malformed choices, and TemplateError for SQL that no template can contain."""
    check_choices(given)
    return MappingProxyType(
        {
            name: MappingProxyType(
                {key: ChoiceText(sql, source=Source(sql, f"choices.{name}.{key}")) for key, sql in texts.items()}
            )
            for name, texts in given.items()
        }
    )


def _items(value: Any, keys: tuple[str, ...], fix: str, pattern: re.Pattern[str]) -> list[tuple[str, Any]]:
    what = ".".join(("choices", *keys))
    if not isinstance(value, Mapping):
        raise _invalid(keys, f"{what} must be a mapping of keys and values", fix)
    for key in value:
        if not isinstance(key, str) or not pattern.fullmatch(key):
            problem = f"{what} has a key that is not a name: {key}"
            raise _invalid((*keys, key), problem, _FIXES[pattern], in_key=True)
    return [*value.items()]


_FIXES: Final = {
    NAME: "begin with a letter, then letters, digits and _",
    _KEY: "use one line without {{ and without spaces at its ends: a viewer sends it",
}
