"""Kept: what was made from something, for as long as that stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Kept:
    """Values by a name, each with what it was made from. A value that is kept stays the same object, so that what is
    made from it in turn is kept too."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[object, object]] = {}

    def get(self, name: str, origin: object, make: Callable[[], T]) -> T:
        """What was made under this name if its origin was equal, else what ``make`` makes now."""
        known = self._values.get(name)
        if known is not None and known[0] == origin:
            return known[1]  # type: ignore[return-value]  # one name, one type
        made = make()
        self._values[name] = (origin, made)
        return made
