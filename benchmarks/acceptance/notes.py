"""Noting: a count of what went wrong can say what the first ones were."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_MOST: Final = 8


@dataclass
class Noting:
    """The base of such a count."""

    notes: list[str] = field(default_factory=list, kw_only=True)

    def note(self, words: str) -> None:
        """Keeps the first ones."""
        if len(self.notes) < _MOST:
            self.notes.append(words)
