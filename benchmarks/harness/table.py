"""A table of figures and aims, as text for a terminal and as JSON for comparing runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Aim:
    """A ratio that must not be exceeded (or, with ``at_least``, must be reached), and what this run gave."""

    what: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def held(self) -> bool:
        """Whether it was reached."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{'ok    ' if self.held else 'MISSED'} {self.what}: {self.value:.3g} (aim {sign} {self.bound:.3g})"


@dataclass
class Table:
    """Rows of cells under column headings, and the aims."""

    title: str
    heads: list[str]
    rows: list[list[str]] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """One row."""
        self.rows.append(list(cells))

    def __str__(self) -> str:
        lines = [self.heads, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.heads))]
        body = [
            "  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(pairs))
            for pairs in (list(zip(line, widths, strict=True)) for line in lines)
        ]
        rule = "-" * len(body[0])
        return "\n".join(["", self.title, rule, body[0], rule, *body[1:], *(str(aim) for aim in self.aims)])

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.heads, row, strict=True)) for row in self.rows],
            "aims": [{**asdict(aim), "held": aim.held} for aim in self.aims],
        }
