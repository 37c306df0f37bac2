"""The stack of open elements while a page is rendered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import Enum, auto
from itertools import islice

from tenantry_site.markdown.allowed_html import ALLOWED
from tenantry_site.markdown.jsx import Tag
from tenantry_site.page import Node

DEEPEST = 48
"""Maximum nesting of components and HTML elements. Tags nested deeper are left out."""

REACH = 200
"""A closing tag can close only one of this many innermost open elements."""


class ElementKind(Enum):
    """The syntax that opened an element."""

    MARKDOWN = auto()
    HTML = auto()
    COMPONENT = auto()
    IGNORED = auto()  # a tag that is left out


class OpenElement:
    """An open element.

    ``start``: index of its contents in the buffer. ``opening`` and ``close``: the HTML to write around its contents.
    ``within``: it is a component in a line of text. ``indexed``: length of ``PageSections.words`` when it opened.
    ``finished``: for a component in JSX: returns its nodes, given those of its contents.
    """

    __slots__ = (
        "block",
        "close",
        "finished",
        "indexed",
        "kind",
        "line",
        "name",
        "open",
        "opening",
        "phrasing",
        "start",
        "tag",
        "within",
    )

    def __init__(self, kind: ElementKind, name: str, start: int, line: int, tag: Tag | None = None) -> None:
        self.kind: ElementKind = kind
        self.name: str = name
        self.start: int = start
        self.line: int = line
        self.tag: Tag | None = tag
        self.opening: str = ""
        self.close: str = ""
        self.open: bool = True
        self.indexed: int = 0
        self.within: bool = False
        self.finished: Callable[[tuple[Node, ...]], tuple[Node, ...]] | None = None
        allowed = ALLOWED.get(name) if kind is ElementKind.HTML else None
        self.phrasing: bool = allowed is not None and allowed.phrasing
        self.block: bool = kind is ElementKind.COMPONENT or (allowed is not None and allowed.block)


class OpenElements:
    """A stack of open elements that counts the open tags of each name."""

    __slots__ = ("_names", "_tags", "stack")

    def __init__(self) -> None:
        self.stack: list[OpenElement] = []
        self._names: Counter[str] = Counter()
        self._tags = 0

    def __len__(self) -> int:
        return len(self.stack)

    @property
    def top(self) -> OpenElement | None:
        return self.stack[-1] if self.stack else None

    @property
    def full(self) -> bool:
        return self._tags >= DEEPEST

    def push(self, element: OpenElement) -> None:
        self.stack.append(element)
        if element.kind is not ElementKind.MARKDOWN:
            self._names[element.name] += 1
            self._tags += element.kind is not ElementKind.IGNORED

    def pop(self) -> OpenElement:
        element = self.stack.pop()
        element.open = False
        if element.kind is not ElementKind.MARKDOWN:
            self._names[element.name] -= 1
            self._tags -= element.kind is not ElementKind.IGNORED
        return element

    def find(self, name: str) -> OpenElement | None:
        """The innermost open tag with this name that a closing tag can close. It must be among the last ``REACH``
        elements, and no Markdown table may have opened after it."""
        if not self._names[name]:
            return None
        for element in islice(reversed(self.stack), REACH):
            if element.kind is ElementKind.MARKDOWN:
                if element.name == "table":
                    return None
            elif element.name == name:
                return element
        return None
