"""Page: one page of the site as it was read, and the nodes of its tree between its Markdown and its HTML.

What a page's author wrote is taken apart into fragments of finished HTML, blocks of code, and elements: the components
of the page, each rendered by the function of its name. No code of a page is ever run. The layout of the site is put
around it later.
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


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata at the head of a page. Absent text is empty; ``meta`` has what goes into meta tags (``og:image``).

    ``api`` is ``METHOD path-or-address``, ``openapi`` is ``[FILE] METHOD /path``; ``auth_method`` one of bearer, basic,
    key, none, or empty; ``playground`` one of show, simple, hide, or empty; ``content_type`` that of the body of an
    ``api`` page; ``mode`` ``wide`` or empty; ``url`` an address that the sidebar leads to instead of the page;
    ``hide_api_marker`` keeps the method of an API page out of the sidebar.
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
    """One page. ``path`` is its path within the site without a suffix (``guides/start``), ``source`` its file.

    ``title`` is the front matter's, else the first heading of level 1, else the file name in words. ``html`` has no
    heading of level 1. ``markdown`` is the text to show to a reader who asks for Markdown: front matter and imports
    removed. ``parts`` names what the page needs beside the layout (``playground``); ``request_headers`` the headers
    that its playground may set.
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
