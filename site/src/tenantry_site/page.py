"""The result of reading a page, and its nodes: safe HTML, code blocks and components.

Code in a page is never run. ``rendering`` adds the layout around a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tenantry_site.diagnostic import Diagnostic, Severity

AttributeValue = str | bool | int | float | None | list["AttributeValue"] | dict[str, "AttributeValue"]
"""A component attribute's value: a string, True for a name without a value (``<Card wide>``), or the JSON literal
between braces (``cols={2}``). None: the braces contain an expression, or ``null``."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Finished, safe HTML."""

    html: str


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block. ``html``: the rendered block. ``text``: the code, which the copy button copies."""

    language: str
    title: str
    text: str
    html: str
    line: int


@dataclass(frozen=True, slots=True)
class Element:
    """A component with its attributes and children. ``inline``: it is part of a line of text."""

    name: str
    attributes: Mapping[str, AttributeValue]
    children: tuple[Node, ...]
    line: int
    inline: bool = False

    def text(self, name: str, default: str = "") -> str:
        """The attribute as an unescaped string. Numbers are converted; other types, or no attribute, give
        ``default``."""
        value = self.attributes.get(name)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return default
        return str(value)

    def flag(self, name: str) -> bool:
        """Whether the attribute is set: as a bare name, ``{true}``, ``"true"`` or ``""``."""
        return self.attributes.get(name) in (True, "true", "")


Node = Fragment | CodeBlock | Element


class RenderContext(Protocol):
    """The functions that a page provides to its components, so that they can render themselves."""

    def render(self, nodes: tuple[Node, ...]) -> str:
        """The HTML of a component's children."""

    def render_inline(self, markdown: str) -> str:
        """The HTML of one line of Markdown, for titles and descriptions."""

    def icon(self, name: str, kind: str = "") -> str:
        """An icon as SVG. An unknown name is reported and gives an empty string."""

    def href(self, target: str, line: int) -> str | None:
        """The escaped address of a link; None if the address is unsafe. Problems are reported."""

    def source(self, target: str, line: int) -> str | None:
        """The escaped address of an image or frame; None if it is unsafe, or on another host without
        ``SiteOptions.external_media``. Problems are reported."""

    def identifier(self, wanted: str, written: str = "") -> str:
        """An unused HTML id: the author's ``written`` if given, else one made from the text ``wanted``."""

    def snippet(self, path: str, line: int) -> tuple[Node, ...]:
        """The nodes of the snippet at a path."""

    def report(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        """Add a diagnostic about the page. ``line`` counts from 1 at the first line after the front matter."""


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
    """The plain text under one heading, for search. ``id`` and ``title`` of the heading are empty for the text before
    the first heading."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a page or file of the site, as the author wrote it, with its line."""

    target: str
    line: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata at the head of a page. Absent fields are empty."""

    title: str = ""
    sidebar_title: str = ""
    description: str = ""
    icon: str = ""
    icon_type: str = ""
    api: str = ""
    """``METHOD path-or-address``."""
    openapi: str = ""
    """``[FILE] METHOD /path``."""
    auth_method: str = ""
    """bearer, basic, key, none, or empty."""
    playground: str = ""
    """show, simple, hide, or empty."""
    content_type: str = ""
    """Media type of the request body of an ``api`` page."""
    mode: str = ""
    """``wide`` or empty."""
    url: str = ""
    """The address to which the page's sidebar entry links instead of the page."""
    version: str = ""
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    noindex: bool = False
    hide_api_marker: bool = False
    """Hide the HTTP method in the sidebar."""
    meta: Mapping[str, str] = field(default_factory=dict)
    """Meta tags, such as ``og:image``."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that has been read and rendered."""

    path: str
    """The path within the site, without a suffix: ``guides/start``."""
    source: str
    """The page's file."""
    title: str
    """From the front matter, else the first level-1 heading, else the file name."""
    front: FrontMatter
    html: str
    """The body without its title."""
    headings: tuple[Heading, ...] = ()
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()
    markdown: str = ""
    """The text as Markdown without front matter, components and code: the source if it has none of them."""
    parts: frozenset[str] = frozenset()
    """``api`` for an API page, and ``playground`` if it needs the playground's script."""
    request_headers: frozenset[str] = frozenset()
    """The names of the request headers that the page's playground may set."""
    diagnostics: tuple[Diagnostic, ...] = ()


_SEPARATORS = re.compile(r"[-_\s]+")


def title_of_path(path: str) -> str:
    """The title of a page that has neither a title nor a heading, made from its path: ``guides/quick-start`` gives
    ``Quick start``, ``guides/index`` gives ``Guides``."""
    name = path.removesuffix("/index").rpartition("/")[2]
    words = " ".join(_SEPARATORS.split(name)).strip()
    return words[:1].upper() + words[1:] if words else "Untitled"
