"""Choice sets: named sets of choices for ``one_of``, from the header of a query file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

SET_NAME: Final = re.compile(r"[^\W\d_]\w*")
"""Name of a choice set, such as ``order`` in ``one_of(order)``."""
CHOICE_NAME: Final = re.compile(r"(?!\s)(?:(?!\{\{)[^\0-\x1f])+(?<!\s)")


@dataclass(frozen=True, slots=True)
class ChoiceText:
    sql: str
    offset: int
    exact: bool
    """Whether the query file contains the SQL unchanged. If so, an error can show the position of a problem in it."""


ChoiceSets: TypeAlias = Mapping[str, Mapping[str, ChoiceText]]
"""Name of a choice set → name of a choice → SQL."""
NO_CHOICES: Final[ChoiceSets] = MappingProxyType({})
