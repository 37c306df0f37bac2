"""Nodes: the tree of a page between its Markdown and its HTML.

What a page's author wrote is taken apart into fragments of finished HTML, blocks of code, and elements: the components
of the page, each rendered by the function of its name. No code of a page is ever run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tenantry_site.diagnostic import Severity

AttributeValue = str | bool | int | float | None | list["AttributeValue"] | dict[str, "AttributeValue"]
"""An attribute's value: text, ``true`` for a bare name, or a literal of JSON between braces. None: an expression."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Safe HTML, finished."""

    html: str


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code. ``html`` is the whole rendered block; ``text`` what its copy button copies."""

    language: str
    title: str
    text: str
    html: str
    line: int


@dataclass(frozen=True, slots=True)
class Element:
    """A component with its attributes and children. ``inline``: it stands within a paragraph."""

    name: str
    attributes: Mapping[str, AttributeValue]
    children: tuple[Node, ...]
    line: int
    inline: bool = False

    def text(self, name: str, default: str = "") -> str:
        """The attribute as text, not escaped; numbers are written as they are, anything else is ``default``."""
        value = self.attributes.get(name)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return default
        return str(value)

    def flag(self, name: str) -> bool:
        """Whether the attribute is set: bare, ``{true}`` or ``"true"``."""
        return self.attributes.get(name) in (True, "true", "")


Node = Fragment | CodeBlock | Element


class RenderContext(Protocol):
    """What a component may use of the page that it is rendered on."""

    def render(self, nodes: tuple[Node, ...]) -> str:
        """The HTML of children."""

    def render_inline(self, markdown: str) -> str:
        """The HTML of one line of Markdown, for titles and descriptions."""

    def icon(self, name: str, kind: str = "") -> str:
        """An SVG, or nothing for a name that no icon has (a diagnostic says so)."""

    def href(self, target: str, line: int) -> str | None:
        """The escaped address to write for a link that an author wrote, checked; None if it must not be written."""

    def source(self, target: str, line: int) -> str | None:
        """The same for an image or a frame; None also for another host that this site shows nothing of."""

    def identifier(self, wanted: str, written: str = "") -> str:
        """An id that is unique on the page: what its author has ``written``, else as near to ``wanted`` as can be."""

    def snippet(self, path: str, line: int) -> tuple[Node, ...]:
        """The nodes of a shared part of a page, by its path."""

    def report(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        """Adds a diagnostic about the page. ``line`` counts from 1 below the front matter."""


Component = Callable[[Element, RenderContext], str]
"""Renders one element as safe HTML."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: ``level`` 2 to 6, the ``id`` that a fragment names, its plain text."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """Plain text under one heading, for search. ``id`` and ``title`` are empty for what stands before the first."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link within the site, as its author wrote it, and where."""

    target: str
    line: int
