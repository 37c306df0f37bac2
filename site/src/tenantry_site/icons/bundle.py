"""The bundle of outlines, read in part: an index of 90 KB once, then the few hundred bytes of each icon.

``hatch_build.py`` writes the file and describes it. Where it is missing (a clone that was never built) no name has an
icon; a tree without it is refused by the packer.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

BUNDLE = files("tenantry") / "static" / "bundles" / "icons.txt"


class Outline(NamedTuple):
    """The ``d`` of one path, on a ground ``width`` wide and 512 high."""

    width: int
    path: str


class Index(NamedTuple):
    """The lines of the index as they are in the file, and where in the file the outlines begin."""

    lines: bytes
    start: int


@lru_cache(maxsize=1)
def index() -> Index:
    """The index, read once; empty without a bundle."""
    try:
        with BUNDLE.open("rb") as file:
            head = file.readline()
            lines = file.read(int(head.split()[2]))
            return Index(b"\n" + lines, len(head) + len(lines))
    except FileNotFoundError:
        return Index(b"\n", 0)


def names() -> list[str]:
    """Every name that the bundle knows, old ones included, in alphabetical order."""
    return sorted(line.split(b" ", 1)[0].decode("ascii") for line in index().lines.split(b"\n") if line)


def known(name: str) -> str | None:
    """The icon that a name, spelt as in the bundle, stands for: itself, or what an old name has become."""
    entry = _entry(name)
    return entry[1:] if entry.startswith("=") else (name if entry else None)


def outlines(name: str) -> dict[str, Outline]:
    """The outlines of an icon by style (solid, regular, brands); empty if there is none of this name."""
    entry = _entry(name)
    if not entry or entry.startswith("="):
        return {}
    found = {}
    with BUNDLE.open("rb") as file:
        for glyph in entry.split(" "):
            style, offset, size, width = glyph.split(":")
            file.seek(index().start + int(offset))
            found[style] = Outline(int(width), file.read(int(size)).decode("ascii"))
    return found


def _entry(name: str) -> str:
    """The rest of a name's line. A name has letters, digits and hyphens only: it is found whole or not at all."""
    key = b"\n%s " % name.encode("ascii", "replace")
    lines = index().lines
    at = lines.find(key)
    if at < 0:
        return ""
    return lines[at + len(key) : lines.index(b"\n", at + 1)].decode("ascii")
