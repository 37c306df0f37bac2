"""Reads pages of Markdown into safe HTML, with the snippets and components of their site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from posixpath import dirname, normpath
from typing import Any

from tenantry_site.addresses import Addresses, page_path
from tenantry_site.components import COMPONENTS
from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.allowed_html import ALLOWED, PHRASING, Allowed
from tenantry_site.markdown.block_renderer import BlockRenderer
from tenantry_site.markdown.code_blocks import Highlighter
from tenantry_site.markdown.front_matter import front_matter
from tenantry_site.markdown.html_buffer import HtmlBuffer
from tenantry_site.markdown.inline_renderer import SPECIAL
from tenantry_site.markdown.jsx import ConstructScanner, Tag
from tenantry_site.markdown.markdown_writer import written_as_markdown
from tenantry_site.markdown.modules import Module, exported
from tenantry_site.markdown.page_context import PageContext, PageDiagnostics, PageSections, escape
from tenantry_site.markdown.syntax import parser
from tenantry_site.page import AttributeValue, Component, Node, Page, title_of_path

_NEWLINE = re.compile(r"\r\n?")
_MARKUP = re.compile(r"[*_`~]+|!?\[([^\]]*)\]\([^)]*\)|<[^>]*>")
_LONGEST_TITLE = 1_000
"""Maximum number of characters of a heading that are compared with the title: removing markup takes quadratic time."""


class PageReader:
    """Reads the pages of one site.

    ``snippets``: path from the site's root -> text of a snippet. ``external_media``: let pages show images, videos and
    frames of other hosts. ``components``: component name -> the function that renders it.
    """

    __slots__ = ("_addresses", "_external_media", "_resources")

    def __init__(
        self,
        addresses: Addresses,
        snippets: Mapping[str, str],
        *,
        external_media: bool = False,
        components: Mapping[str, Component] = COMPONENTS,
    ) -> None:
        self._addresses = addresses
        self._external_media = external_media
        self._resources = SiteResources(components, snippets)

    def read(self, source: str, text: str) -> Page:
        """Render the text of a page. ``source``: its file, a path from the site's root. Never raises for a bad page:
        problems are in the page's diagnostics."""
        text = _normalized(text)
        front, body, found = front_matter(source, text)
        diagnostics = PageDiagnostics(source, text.count("\n", 0, len(text) - len(body)))
        diagnostics.extend(found)
        path = page_path(source) or source
        sections = PageSections()
        context = self._context(path, diagnostics)
        document = DocumentParser(source, body, self._resources, context, sections, diagnostics)
        context.shared = document.snippet
        renderer = document.renderer
        tokens = renderer.tokens(body)
        heads = [tokens[at + 1].content for at, token in enumerate(tokens) if token.tag == "h1" and token.nesting == 1]
        # The first heading without markup, to compare it with the title
        first = " ".join(unescape(_MARKUP.sub(r"\1", heads[0][:_LONGEST_TITLE])).split()) if heads else ""
        title = front.title or first or title_of_path(path)
        title_repeated = bool(heads) and first.casefold() == " ".join(title.split()).casefold()
        renderer.render(tokens, first if title_repeated else "", shift=1 if len(heads) > title_repeated else 0)
        # Report a code block that is not closed, because it swallows the rest of the page
        last = tokens[-1] if tokens else None
        if last is not None and last.type == "fence" and last.map:
            ending = body.rstrip().rpartition("\n")[2].strip(" \t>")
            if not (
                ending.startswith(last.markup) and set(ending) == {last.markup[0]} and last.map[1] - last.map[0] > 1
            ):
                message = "the code block is not closed: it extends to the end of the page"
                diagnostics.add(Severity.WARNING, "PAGE018", message, f"close it with {last.markup}", last.map[0] + 1)
        nodes = renderer.buffer.nodes()
        html = context.render(nodes)
        plain = _COMPONENTS.search(body) is None
        return Page(
            path=path,
            source=source,
            title=title,
            front=front,
            html=html,
            headings=tuple(sections.headings),
            sections=sections.all(),
            links=tuple(context.links),
            markdown=body.lstrip("\n") if plain else written_as_markdown(nodes, context.address),
            diagnostics=diagnostics.all(),
        )

    def inline(self, markdown: str, page: str = "") -> str:
        """Render one line of untrusted Markdown, without components. ``page``: the page that shows it, from which
        relative links start."""
        return self._render_inline(self._context(page, PageDiagnostics("")), _normalized(markdown))

    def block(self, markdown: str, page: str = "") -> str:
        """Render untrusted Markdown, such as a description in an OpenAPI document. Components and snippets are not
        rendered. Headings begin at level 3 and have no ids. ``page``: the page that shows the text, from which relative
        links start."""
        text = _normalized(markdown)
        context = self._context(page, PageDiagnostics(""))
        renderer = self._untrusted(text, context, ALLOWED)
        renderer.render(renderer.tokens(text), shift=2, anchored=False)
        return context.render(renderer.buffer.nodes())

    def _render_inline(self, context: PageContext, markdown: str) -> str:
        if SPECIAL.search(markdown) is None and "://" not in markdown:
            return escape(markdown)
        renderer = self._untrusted(markdown, context, PHRASING)
        renderer.render_inline(markdown, 0)
        return context.render(renderer.buffer.nodes()).strip()

    def _untrusted(self, text: str, context: PageContext, elements: Mapping[str, Allowed]) -> BlockRenderer:
        constructs = ConstructScanner(text, frozenset(), {}, context.diagnostics, mdx=False, elements=elements)
        env: dict[str, Any] = {"constructs": constructs}
        buffer = HtmlBuffer(context, PageSections(), context.diagnostics, is_page=False)
        return BlockRenderer(parser(indented_code=True), env, buffer, self._resources.highlighter, _not_a_snippet)

    def _context(self, page: str, diagnostics: PageDiagnostics) -> PageContext:
        media = self._external_media
        return PageContext(
            page, self._addresses, diagnostics, self._render_inline, self._resources.components, external_media=media
        )


def _not_a_snippet(_tag: Tag, _line: int, _within: bool) -> bool:
    return False


def _normalized(text: str) -> str:
    """The text with ``\\n`` line ends, and without NUL characters and lone surrogates."""
    if "\r" in text:
        text = _NEWLINE.sub("\n", text)
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


MAX_SNIPPET_DEPTH = 8
"""Maximum nesting of snippets."""

MAX_SNIPPETS = 500
"""Maximum number of snippets on one page, including those in other snippets."""

_NONE: Mapping[str, AttributeValue] = {}
_COMPONENTS = re.compile(r"</?[A-Z]|^(?:import|export)\s", re.MULTILINE)


class DocumentParser:
    """Parses one text, a page or a snippet. ``names``: the attributes of the snippet's tag. ``within``: for a snippet,
    the snippets that contain it, outermost first, and last the snippet itself."""

    __slots__ = ("_context", "_diagnostics", "_module", "_resources", "_sections", "_source", "_within", "renderer")

    def __init__(
        self,
        source: str,
        text: str,
        resources: SiteResources,
        context: PageContext,
        sections: PageSections,
        diagnostics: PageDiagnostics,
        *,
        names: Mapping[str, AttributeValue] | None = None,
        within: tuple[str, ...] = (),
    ) -> None:
        self._source = source
        self._resources = resources
        self._context = context
        self._sections = sections
        self._diagnostics = diagnostics
        self._within = within
        self._module = resources.module(source)
        if names:
            self._module.names.update(names)
        mdx = not source.endswith(".md")
        module = self._module
        constructs = ConstructScanner(text, module.known, module.names, diagnostics, mdx=mdx)
        env: dict[str, Any] = {"constructs": constructs, "module": module}
        markdown = parser(indented_code=not mdx and _COMPONENTS.search(text) is None)
        buffer = HtmlBuffer(context, sections, diagnostics, is_page=not within)
        self.renderer: BlockRenderer = BlockRenderer(markdown, env, buffer, resources.highlighter, self.resolve)

    def resolve(self, tag: Tag, line: int, within: bool) -> bool:
        """Render the snippet that a tag names. Return False if the tag names no snippet."""
        if tag.name in self._module.imports:
            path = self._module.imports[tag.name]
        elif tag.name == "Snippet" and isinstance(tag.attributes.get("file"), str):
            path = str(tag.attributes["file"])
        else:
            return False
        buffer = self.renderer.buffer
        buffer.splice(self.snippet(path, line, tag.attributes), within=within)
        buffer.open_ignored(tag, line)
        return True

    def snippet(self, path: str, line: int, attributes: Mapping[str, AttributeValue] = _NONE) -> tuple[Node, ...]:
        """The nodes of a snippet. ``attributes``: the attributes of its tag, which the snippet's text may use by name
        or as ``props.name``."""
        key = self._resources.find(path, self._source)
        if key is None:
            if path.endswith((".mdx", ".md")) or path not in self._module.imports.values():
                message, code = f"there is no snippet {path[:120]}", "PAGE010"
                self._diagnostics.add(Severity.WARNING, code, message, "write its path from the site's root", line)
            else:
                message, code = f"{path[:120]} is code, which is not run: it was left out", "PAGE009"
                self._diagnostics.add(Severity.INFO, code, message, "import a Markdown file instead", line)
            return ()
        self._context.snippets += 1
        if key in self._within or len(self._within) >= MAX_SNIPPET_DEPTH or self._context.snippets > MAX_SNIPPETS:
            self._diagnostics.add(Severity.WARNING, "PAGE011", f"{key} contains itself", "leave one of them out", line)
            return ()
        text, offset = self._resources.text(key)
        diagnostics = PageDiagnostics(key, offset)
        names = {**attributes, **{f"props.{name}": value for name, value in attributes.items()}}
        document = DocumentParser(
            key,
            text,
            self._resources,
            self._context,
            self._sections,
            diagnostics,
            names=names,
            within=(*self._within, key),
        )
        renderer = document.renderer
        renderer.render(renderer.tokens(text))
        nodes = renderer.buffer.nodes()
        self._diagnostics.extend(diagnostics.all())
        return nodes


FOLDERS = ("", "snippets/", "_snippets/")
SUFFIXES = ("", ".mdx", ".md")


class SiteResources:
    """What the pages of a site share: components, snippets, and the cache of highlighted code.

    ``snippets``: path from the site's root -> text.
    """

    __slots__ = ("_constants", "components", "highlighter", "known", "snippets")

    def __init__(self, components: Mapping[str, Component], snippets: Mapping[str, str]) -> None:
        self.components: Mapping[str, Component] = components
        self.known: frozenset[str] = frozenset(components)
        self.snippets: Mapping[str, str] = snippets
        self.highlighter: Highlighter = Highlighter()
        self._constants: dict[str, Mapping[str, AttributeValue]] = {}

    def find(self, path: str, page: str) -> str | None:
        """The key in ``snippets`` for the snippet that a page names ``path``; None if there is no such snippet."""
        return next((each for each in _candidates(path, page) if each in self.snippets), None)

    def text(self, key: str) -> tuple[str, int]:
        """The text of a snippet without its front matter, and the number of lines of the front matter."""
        whole = self.snippets[key]
        body = front_matter(key, whole)[1]
        return body, whole.count("\n", 0, len(whole) - len(body))

    def module(self, page: str) -> Module:
        return Module(set(self.known), lambda path: self._exports(path, page))

    def _exports(self, path: str, page: str) -> Mapping[str, AttributeValue]:
        key = self.find(path, page)
        if key is None:
            return {}
        if key not in self._constants:
            self._constants[key] = exported(self.snippets[key])
        return self._constants[key]


def _candidates(path: str, page: str) -> Iterator[str]:
    bare = path.replace("\\", "/").strip()
    folders = (f"{dirname(page)}/",) if bare.startswith(".") else FOLDERS
    for folder in folders:
        whole = normpath(f"{folder}{bare.lstrip('/')}").lstrip("/")
        for suffix in SUFFIXES:
            yield whole + suffix
