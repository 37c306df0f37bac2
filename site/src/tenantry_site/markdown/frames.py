"""Frames: what is open while a page is built, and which closing tag closes what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum, auto

from tenantry_site.markdown.elements import ALLOWED
from tenantry_site.markdown.tags import Tag

DEEPEST = 48
"""Components and elements within each other; the tags of deeper ones are left out."""

REACH = 200
"""How many open frames a closing tag looks through."""


class Sort(Enum):
    """What is open."""

    MARKDOWN = auto()
    HTML = auto()
    COMPONENT = auto()
    NOTHING = auto()


class Frame:
    """Something open. ``start`` is its place among the pieces; ``opening`` and ``close`` the HTML around it."""

    __slots__ = (
        "block",
        "close",
        "line",
        "name",
        "open",
        "opening",
        "phrasing",
        "sort",
        "start",
        "tag",
        "within",
        "words",
    )

    def __init__(self, sort: Sort, name: str, start: int, line: int, tag: Tag | None = None) -> None:
        self.sort = sort
        self.name = name
        self.start = start
        self.line = line
        self.tag = tag
        self.opening = self.close = ""
        self.open = True
        self.words = 0
        self.within = False
        allowed = ALLOWED.get(name) if sort is Sort.HTML else None
        self.phrasing = allowed is not None and allowed.phrasing
        self.block = sort is Sort.COMPONENT or (allowed is not None and allowed.block)


class Frames:
    """A stack of frames, which knows how many of each name are open."""

    __slots__ = ("_names", "_tags", "stack")

    def __init__(self) -> None:
        self.stack: list[Frame] = []
        self._names: Counter[str] = Counter()
        self._tags = 0

    def __len__(self) -> int:
        return len(self.stack)

    @property
    def top(self) -> Frame | None:
        return self.stack[-1] if self.stack else None

    @property
    def full(self) -> bool:
        return self._tags >= DEEPEST

    def push(self, frame: Frame) -> None:
        self.stack.append(frame)
        if frame.sort is not Sort.MARKDOWN:
            self._names[frame.name] += 1
            self._tags += frame.sort is not Sort.NOTHING

    def pop(self) -> Frame:
        frame = self.stack.pop()
        frame.open = False
        if frame.sort is not Sort.MARKDOWN:
            self._names[frame.name] -= 1
            self._tags -= frame.sort is not Sort.NOTHING
        return frame

    def find(self, name: str) -> Frame | None:
        """The innermost open tag of this name, as far as a closing tag reaches: not out of a table."""
        if not self._names[name]:
            return None
        for frame in self._upwards():
            if frame.sort is Sort.MARKDOWN:
                if frame.name == "table":
                    return None
            elif frame.name == name:
                return frame
        return None

    def _upwards(self) -> Iterator[Frame]:
        for at in range(len(self.stack) - 1, max(len(self.stack) - 1 - REACH, -1), -1):
            yield self.stack[at]
