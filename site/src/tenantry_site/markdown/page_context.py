"""PageContext: what is known of one page while it is rendered - its ids, its links, its sections, its diagnostics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from tenantry_site import icons
from tenantry_site.addresses import Address, Addresses, AddressKind
from tenantry_site.components import unknown_link
from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.diagnostics import PageDiagnostics
from tenantry_site.markdown.text import escape, slug
from tenantry_site.nodes import CodeBlock, Component, Fragment, Heading, Link, Node, Section


class PageContext:
    """One page; what components render with (``nodes.RenderContext``)."""

    __slots__ = (
        "_addresses",
        "_components",
        "_external_media",
        "_ids",
        "_inline",
        "diagnostics",
        "links",
        "page",
        "shared",
        "snippets",
    )  # fmt: skip

    def __init__(
        self,
        page: str,
        addresses: Addresses,
        diagnostics: PageDiagnostics,
        inline: Callable[[PageContext, str], str],
        components: Mapping[str, Component],
        *,
        external_media: bool,
    ) -> None:
        self.page: str = page
        self.diagnostics: PageDiagnostics = diagnostics
        self.links: list[Link] = []
        self._addresses = addresses
        self._inline = inline
        self.shared: Callable[[str, int], tuple[Node, ...]] | None = None
        self.snippets: int = 0
        self._components = components
        self._external_media = external_media
        self._ids = UniqueIds()

    def render(self, nodes: tuple[Node, ...]) -> str:
        """The HTML of nodes. An element that no component renders is a link if it has an address, else its children."""
        parts: list[str] = []
        for node in nodes:
            if isinstance(node, (Fragment, CodeBlock)):
                parts.append(node.html)
            elif (component := self._components.get(node.name)) is not None:
                parts.append(component(node, self))
            elif node.text("href").strip():
                parts.append(unknown_link(node, self))
            else:
                parts.append(self.render(node.children))
        return "".join(parts)

    def render_inline(self, markdown: str) -> str:
        """The HTML of one line of Markdown."""
        return self._inline(self, markdown)

    def icon(self, name: str, kind: str = "") -> str:
        """An icon's SVG; for an unknown name nothing, and a diagnostic."""
        if not name:
            return ""
        rendered = icons.svg(name, kind) if kind else icons.svg(name)
        if rendered is None:
            nearest = icons.nearest(name)
            fix = f"write {nearest}" if nearest else "leave the icon out"
            self.report(Severity.WARNING, "PAGE019", f"there is no icon {name[:80]}", fix, 0)
        return rendered or ""

    def href(self, target: str, line: int) -> str | None:
        """The escaped address of a link; None for a scheme that a link must not have."""
        address = self._addresses.resolve(self.page, target)
        if address.kind is AddressKind.REFUSED:
            self._refused(target, line)
            return None
        if address.kind is not AddressKind.EXTERNAL:
            self.links.append(Link(target, line + self.diagnostics.offset if line else 0))
        return escape(address.href)

    def source(self, target: str, line: int) -> str | None:
        """The escaped address of an image or a video; None for another host's, unless this site shows those."""
        address = self._addresses.resolve(self.page, target)
        if address.kind is AddressKind.EXTERNAL:
            if self._external_media and _web(address):
                return escape(address.href)
            self._foreign(address, line)
            return None
        if address.kind is AddressKind.REFUSED:
            self._refused(target, line)
            return None
        self.links.append(Link(target, line + self.diagnostics.offset if line else 0))
        return escape(address.href)

    def elsewhere(self, target: str) -> str | None:
        """The escaped address of a file on another host; None if it is on this site or not an address of the web."""
        address = self._addresses.resolve(self.page, target)
        return escape(address.href) if address.kind is AddressKind.EXTERNAL and _web(address) else None

    def identifier(self, wanted: str, written: str = "") -> str:
        """An id that the page does not have yet; it has no character that an attribute must escape."""
        return self._ids.take(wanted, written)

    def snippet(self, path: str, line: int) -> tuple[Node, ...]:
        """The nodes of a snippet; none, and a diagnostic, if it does not exist."""
        return self.shared(path, line) if self.shared else ()

    def report(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        """Adds a diagnostic about the page. ``line`` counts from 1 in the text below the front matter."""
        self.diagnostics.add(severity, code, message, fix, line)

    def _refused(self, target: str, line: int) -> None:
        message = f"{target.strip()[:80]} is not an address that a page can lead to"
        self.report(
            Severity.WARNING, "PAGE014", message, "write a path, or an address of http, https, mailto or tel", line
        )

    def _foreign(self, address: Address, line: int) -> None:
        host = urlsplit(address.href).netloc[:80]
        message = f"a file of {host} is shown as a link: pages load nothing from other hosts"
        self.report(Severity.INFO, "PAGE015", message, "put the file into the site, or allow external media", line)


def _web(address: Address) -> bool:
    return address.href.lower().startswith(("http://", "https://", "//"))


_AUTHOR_ID = re.compile(r"(?!Site-)[\w.:-]{1,200}")


class UniqueIds:
    """The ids of one page. Those of the layout around it (``theme``) begin with ``Site-``, and no other does."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take(self, wanted: str, written: str = "") -> str:
        """``wanted`` as a slug; with a number behind it if the page has that id already.

        What an author has ``written`` stays as it is, as the links to it are, if the page does not have it yet.
        """
        if _AUTHOR_ID.fullmatch(written) and written not in self._counts:
            self._counts[written] = 0
            return written
        wanted = written.strip() or wanted
        base = slug(wanted)
        count = self._counts.get(base)
        if count is None:
            self._counts[base] = 0
            return base
        while True:
            count += 1
            numbered = f"{base}-{count}"
            if numbered not in self._counts:
                self._counts[base] = count
                self._counts[numbered] = 0
                return numbered


class PageSections:
    """The headings of a page and the plain text under each, for the table of contents and the search, collected while
    the page is rendered. ``words`` takes text as it comes."""

    __slots__ = ("_done", "_id", "_title", "headings", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.headings: list[Heading] = []
        self._done: list[Section] = []
        self._id = self._title = ""

    def heading(self, level: int, identifier: str, text: str) -> None:
        """The words from here on belong to this heading."""
        self._finish()
        self._id, self._title = identifier, text
        self.headings.append(Heading(level, identifier, text))

    def since(self, mark: int) -> str:
        """The words since ``len(words)`` was ``mark``, taken out."""
        text = " ".join("".join(self.words[mark:]).split())
        del self.words[mark:]
        return text

    def all(self) -> tuple[Section, ...]:
        """The sections, once the page has ended."""
        self._finish()
        return tuple(self._done)

    def _finish(self) -> None:
        text = " ".join("".join(self.words).split())
        self.words.clear()
        if text or self._id:
            self._done.append(Section(self._id, self._title, text))
