"""Page: one page of the site as it was read, before the layout of the site is put around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tenantry_site.diagnostic import Diagnostic
from tenantry_site.nodes import Heading, Link, Section


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
