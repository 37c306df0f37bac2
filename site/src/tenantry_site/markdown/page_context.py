"""The state of one page while it is rendered: its ids, links, sections and diagnostics.

Also has functions that escape text, make ids from it, and find web addresses in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

from tenantry_site import icons
from tenantry_site.addresses import Address, Addresses, AddressKind
from tenantry_site.components import unknown_link
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.page import CodeBlock, Component, Fragment, Heading, Link, Node, Section

_BARE = re.compile(r"https?://[^\s<>\"'`|\\^{}]{4,2000}")
_APOSTROPHE = re.compile(r"(?<=\w)'")
_PARENTHESES = str.maketrans("", "", "()")
_SEPARATORS = re.compile(r"[^a-z0-9_&/]+")
_MAX_SLUG = 200
_TRAILING = ".,:;!?*_~'"


def escape(text: str) -> str:
    """Escape text for HTML content or a quoted attribute value."""
    if "&" in text:
        text = text.replace("&", "&amp;")
    return text.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#39;")


def addresses(text: str) -> list[tuple[int, int]]:
    """The spans of bare web addresses in plain text, without the punctuation of the sentence around them."""
    found = []
    for each in _BARE.finditer(text):
        start = each.start()
        if start and (text[start - 1].isalnum() or text[start - 1] in "/=@"):
            continue
        address = each[0].rstrip(_TRAILING)
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(_TRAILING)
        if len(address) > len("https://"):
            found.append((start, start + len(address)))
    return found


def slug(text: str) -> str:
    """The id that the format gives to a heading: ``What's next?`` gives ``what’s-next``, and ``link.created`` gives
    ``link-created``.

    Lower case; letters of all scripts, digits, ``_``, ``&``, ``/``, apostrophes and full-width punctuation are kept,
    parentheses are dropped, and anything else becomes a hyphen. ``section`` if nothing remains.
    """
    lower = _APOSTROPHE.sub("\N{RIGHT SINGLE QUOTATION MARK}", text.lower()[:_MAX_SLUG].translate(_PARENTHESES))
    if not lower.isascii():
        lower = "".join(each if _is_kept(each) else "-" for each in lower)
        return "-".join(filter(None, lower.split("-"))) or "section"
    return _SEPARATORS.sub("-", lower).strip("-") or "section"


def _is_kept(letter: str) -> bool:
    full_width = "\u3001" <= letter <= "\u303f" or "\uff01" <= letter <= "\uff65"
    return letter in "_&/\N{RIGHT SINGLE QUOTATION MARK}" or full_width or unicodedata.category(letter)[0] in "LNM"


MOST = 200
"""Maximum number of diagnostics of one page; further ones are dropped."""


class PageDiagnostics:
    """Collects the diagnostics of a file, without repetitions. ``offset``: number of lines of front matter above the
    text."""

    __slots__ = ("_found", "offset", "path")

    def __init__(self, path: str, offset: int = 0) -> None:
        self.path: str = path
        self.offset: int = offset
        self._found: dict[Diagnostic, None] = {}

    def add(self, severity: Severity, code: str, message: str, fix: str = "", line: int = 0) -> None:
        """Add a diagnostic. ``line`` counts from 1 at the first line after the front matter; 0: the whole page."""
        if len(self._found) < MOST:
            line += self.offset if line else 0
            self._found[Diagnostic(severity, code, message, fix, line=line, path=self.path)] = None

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        for each in diagnostics:
            if len(self._found) < MOST:
                self._found[each] = None

    def all(self) -> tuple[Diagnostic, ...]:
        return tuple(self._found)


CODES: dict[str, str] = {
    "PAGE001": "The front matter is not valid YAML; it was read line by line.",
    "PAGE002": "A key of the front matter is spelled differently from a known key; it was read as that key.",
    "PAGE003": "A value of the front matter has the wrong type; it was left out.",
    "PAGE004": "A tag is not closed; its contents are shown without it.",
    "PAGE005": "A closing tag has no opening tag; it was left out.",
    "PAGE006": "A component is unknown; its contents are shown without it, or as a link if it has an `href`.",
    "PAGE007": "An attribute is an expression; expressions are not evaluated, and it was left out.",
    "PAGE008": "An expression in the text is shown as it was written.",
    "PAGE009": "An import or export is code or cannot be found; it was left out.",
    "PAGE010": "A snippet does not exist.",
    "PAGE011": "A snippet contains itself; the inner one was left out.",
    "PAGE012": "An element of HTML is not allowed on pages; it was removed.",
    "PAGE013": "An attribute of HTML is not allowed on pages; it was removed.",
    "PAGE014": "An address has a scheme that is not allowed; its text is shown without a link.",
    "PAGE015": "An image, video or frame of another host is shown as a link.",
    "PAGE016": "Tags are nested too deeply; the innermost are shown without their tags.",
    "PAGE017": "A diagram or formula is shown as its code.",
    "PAGE018": "A code block is not closed; it extends to the end of the page.",
    "PAGE019": "An icon does not exist.",
    "PAGE020": "A comment is not closed; it is shown.",
    "PAGE021": "A formula between `$$` is shown as it was written.",
}
"""Diagnostic code -> its meaning. Codes of components are in ``tenantry_site.components``."""


class PageContext:
    """The state of one page while it is rendered: the ``page.RenderContext`` of components.

    ``links``: the internal links found so far. ``shared``: returns the nodes of a snippet, given its path and the line
    that uses it. ``snippets``: number of snippets used so far.
    """

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
        """The HTML of nodes. An element without a component becomes a link if it has ``href``; otherwise only its
        children are rendered."""
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
        return self._inline(self, markdown)

    def icon(self, name: str, kind: str = "") -> str:
        if not name:
            return ""
        rendered = icons.svg(name, kind) if kind else icons.svg(name)
        if rendered is None:
            nearest = icons.nearest(name)
            fix = f"write {nearest}" if nearest else "leave the icon out"
            self.report(Severity.WARNING, "PAGE019", f"there is no icon {name[:80]}", fix, 0)
        return rendered or ""

    def href(self, target: str, line: int) -> str | None:
        """The escaped address of a link. If the scheme is not allowed: None, with a diagnostic."""
        address = self._addresses.resolve(self.page, target)
        if address.kind is AddressKind.REFUSED:
            self._refused(target, line)
            return None
        if address.kind is not AddressKind.EXTERNAL:
            self.links.append(Link(target, line + self.diagnostics.offset if line else 0))
        return escape(address.href)

    def address(self, target: str) -> str:
        """The address of a link, not escaped; empty if its scheme is not allowed. Nothing is recorded or reported."""
        return self._addresses.resolve(self.page, target).href

    def source(self, target: str, line: int) -> str | None:
        """The escaped address of an image, video or frame. If the scheme is not allowed, or the address is on another
        host and the site shows no external media: None, with a diagnostic."""
        address = self._addresses.resolve(self.page, target)
        if address.kind is AddressKind.EXTERNAL:
            if self._external_media and _web(address):
                return escape(address.href)
            host = urlsplit(address.href).netloc[:80]
            message = f"a file of {host} is shown as a link: pages load nothing from other hosts"
            self.report(Severity.INFO, "PAGE015", message, "add the file to the site, or allow external media", line)
            return None
        if address.kind is AddressKind.REFUSED:
            self._refused(target, line)
            return None
        self.links.append(Link(target, line + self.diagnostics.offset if line else 0))
        return escape(address.href)

    def elsewhere(self, target: str) -> str | None:
        """The escaped address if ``target`` is a web address on another host, else None."""
        address = self._addresses.resolve(self.page, target)
        return escape(address.href) if address.kind is AddressKind.EXTERNAL and _web(address) else None

    def identifier(self, wanted: str, written: str = "") -> str:
        """An unused id, not escaped: ``written`` if possible, else made from ``wanted``."""
        return self._ids.take(wanted, written)

    def snippet(self, path: str, line: int) -> tuple[Node, ...]:
        """The nodes of a snippet. If it does not exist: none, with a diagnostic."""
        return self.shared(path, line) if self.shared else ()

    def report(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        """Add a diagnostic about the page. ``line``: as for ``PageDiagnostics.add``."""
        self.diagnostics.add(severity, code, message, fix, line)

    def _refused(self, target: str, line: int) -> None:
        message = f"{target.strip()[:80]} is not an address that a page may link to"
        self.report(
            Severity.WARNING, "PAGE014", message, "write a path, or an address of http, https, mailto or tel", line
        )


def _web(address: Address) -> bool:
    return address.href.lower().startswith(("http://", "https://", "//"))


_AUTHOR_ID = re.compile(r"(?!Site-)[\w.:-]{1,200}")


class UniqueIds:
    """Hands out unique ids on one page. None begins with ``Site-``: that prefix is for the ids of the layout
    (``theme``)."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take(self, wanted: str, written: str = "") -> str:
        """An unused id. The author's ``written`` stays unchanged if it is valid and unused, because links may name it.
        Otherwise a slug of ``written`` or ``wanted`` is used, with a number added if the slug is in use."""
        if _AUTHOR_ID.fullmatch(written) and written not in self._counts:
            self._counts[written] = 1
            return written
        wanted = written.strip() or wanted
        base = slug(wanted)
        count = self._counts.get(base)
        if count is None:
            self._counts[base] = 1
            return base
        while True:
            count += 1
            numbered = f"{base}-{count}"
            if numbered not in self._counts:
                self._counts[base] = count
                self._counts[numbered] = 1
                return numbered


class PageSections:
    """Collects the headings of a page that is being rendered, and the plain text under each heading. The table of
    contents and the search use them. ``words``: the text since the last heading; callers append to it."""

    __slots__ = ("_done", "_id", "_title", "headings", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.headings: list[Heading] = []
        self._done: list[Section] = []
        self._id = self._title = ""

    def heading(self, level: int, identifier: str, text: str) -> None:
        """Begin the section of a heading. The words that follow belong to it."""
        self._finish()
        self._id, self._title = identifier, text
        self.headings.append(Heading(level, identifier, text))

    def take_words(self, mark: int) -> str:
        """Remove the words from index ``mark`` on, and return them as one line."""
        text = " ".join("".join(self.words[mark:]).split())
        del self.words[mark:]
        return text

    def all(self) -> tuple[Section, ...]:
        """All sections. Call this at the end of the page: it finishes the last section."""
        self._finish()
        return tuple(self._done)

    def _finish(self) -> None:
        text = " ".join("".join(self.words).split())
        self.words.clear()
        if text or self._id:
            self._done.append(Section(self._id, self._title, text))
