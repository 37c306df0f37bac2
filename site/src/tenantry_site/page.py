"""A page as read, and its nodes between Markdown and HTML: fragments of safe HTML, code blocks and elements.

Code in a page is never run. The layout is added later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tenantry_site.diagnostic import Diagnostic, Severity

AttributeValue = str | bool | int | float | None | list["AttributeValue"] | dict[str, "AttributeValue"]
"""An attribute's value: text, ``true`` for a bare name, or a literal of JSON between braces. None: an expression."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Finished, safe HTML."""

    html: str


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block. ``html``: the rendered block; ``text``: for the copy button."""

    language: str
    title: str
    text: str
    html: str
    line: int


@dataclass(frozen=True, slots=True)
class Element:
    """A component with its attributes and children. ``inline``: within a paragraph."""

    name: str
    attributes: Mapping[str, AttributeValue]
    children: tuple[Node, ...]
    line: int
    inline: bool = False

    def text(self, name: str, default: str = "") -> str:
        """The attribute as unescaped text; numbers are converted, other types give ``default``."""
        value = self.attributes.get(name)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return default
        return str(value)

    def flag(self, name: str) -> bool:
        """Whether the attribute is set: bare, ``{true}`` or ``"true"``."""
        return self.attributes.get(name) in (True, "true", "")


Node = Fragment | CodeBlock | Element


class RenderContext(Protocol):
    """The services that a page offers to its components."""

    def render(self, nodes: tuple[Node, ...]) -> str:
        """The HTML of children."""

    def render_inline(self, markdown: str) -> str:
        """Render one line of Markdown, for titles and descriptions."""

    def icon(self, name: str, kind: str = "") -> str:
        """An SVG; empty for an unknown name, which is reported."""

    def href(self, target: str, line: int) -> str | None:
        """The escaped address of a link, checked; None if refused."""

    def source(self, target: str, line: int) -> str | None:
        """The escaped address of an image or frame, checked; None if refused or of a host that is not allowed."""

    def identifier(self, wanted: str, written: str = "") -> str:
        """A unique id on the page: the author's ``written``, else based on ``wanted``."""

    def snippet(self, path: str, line: int) -> tuple[Node, ...]:
        """The nodes of a snippet, by path."""

    def report(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        """Add a diagnostic about the page. ``line`` counts from 1 below the front matter."""


Component = Callable[[Element, RenderContext], str]
"""Renders one element as safe HTML."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: ``level`` 2 to 6, its ``id``, and its plain text."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """Plain text under one heading, for search. ``id`` and ``title`` are empty before the first heading."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """An internal link as written, with its position."""

    target: str
    line: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata at the head of a page.

    Missing text is empty; ``meta``: meta tags (``og:image``). ``api``: ``METHOD path-or-address``; ``openapi``:
    ``[FILE] METHOD /path``; ``auth_method``: bearer, basic, key, none, or empty; ``playground``: show, simple, hide,
    or empty; ``content_type``: of an ``api`` page's body; ``mode``: ``wide`` or empty; ``url``: the sidebar links
    here instead; ``hide_api_marker``: hide the method in the sidebar.
    """

    title: str = ""
    sidebar_title: str = ""
    description: str = ""
    icon: str = ""
    icon_type: str = ""
    api: str = ""
    openapi: str = ""
    auth_method: str = ""
    playground: str = ""
    content_type: str = ""
    mode: str = ""
    url: str = ""
    version: str = ""
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    noindex: bool = False
    hide_api_marker: bool = False
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    ``path``: within the site, without a suffix (``guides/start``); ``source``: its file. ``title``: the front
    matter's, else the first level-1 heading, else from the file name. ``html`` has no level-1 heading. ``markdown``:
    without front matter and imports. ``parts``: extra scripts (``playground``); ``request_headers``: those its
    playground may set.
    """

    path: str
    source: str
    title: str
    front: FrontMatter
    html: str
    headings: tuple[Heading, ...] = ()
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()
    markdown: str = ""
    parts: frozenset[str] = frozenset()
    request_headers: frozenset[str] = frozenset()
    diagnostics: tuple[Diagnostic, ...] = ()
