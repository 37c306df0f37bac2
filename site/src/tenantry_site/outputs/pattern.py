"""Pattern: the source of a redirect, ``/old/:slug*``, and what it fills into the destination."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HOLE = re.compile(r"/:([A-Za-z_][A-Za-z0-9_]*)(\*?)|/(\*)(?=/|$)")


@dataclass(frozen=True, slots=True)
class Pattern:
    """``names`` are the holes: one segment each, or with a star any number, the last one only."""

    text: str
    names: tuple[str, ...]
    expression: re.Pattern[str]

    def match(self, path: str) -> dict[str, str] | None:
        """What stands in the holes when ``path`` (without a leading slash) fits; None if it does not."""
        found = self.expression.fullmatch(f"/{path}")
        return None if found is None else dict(zip(self.names, (part or "" for part in found.groups()), strict=True))

    def fill(self, holes: dict[str, str]) -> str:
        """The path with its holes filled, without a leading slash."""

        def value(found: re.Match[str]) -> str:
            given = holes.get(found[1] or "*", "")
            return f"/{given}" if given else ""

        return _HOLE.sub(value, self.text).lstrip("/")


def pattern(path: str) -> Pattern:
    """Reads a path; ``names`` is empty for one that means itself alone."""
    names: list[str] = []
    pieces: list[str] = []
    end = 0
    for hole in _HOLE.finditer(path):
        pieces.append(re.escape(path[end : hole.start()]))
        name, starred = hole[1] or "*", bool(hole[2] or hole[3])
        if name in names:  # the second time it is the same again
            pieces.append(f"/(?P={_group(names.index(name))})")
        else:
            # Greedy runs of any characters one after another would try every way to cut a path.
            last = starred and hole.end() == len(path)
            pieces.append(f"(?:/(?P<{_group(len(names))}>.*))?" if last else f"/(?P<{_group(len(names))}>[^/]+)")
            names.append(name)
        end = hole.end()
    pieces.append(re.escape(path[end:]))
    return Pattern(path, tuple(names), re.compile("".join(pieces)))


def _group(number: int) -> str:
    return f"h{number}"
