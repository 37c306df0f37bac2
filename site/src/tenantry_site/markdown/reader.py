"""Reads pages of Markdown into safe HTML, with the snippets and components of their site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from tenantry_site.addresses import Addresses, page_path
from tenantry_site.components import COMPONENTS
from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.allowed_html import ALLOWED, PHRASING, Allowed
from tenantry_site.markdown.block_renderer import BlockRenderer, Tokens, title_text
from tenantry_site.markdown.front_matter import front_matter
from tenantry_site.markdown.html_buffer import HtmlBuffer
from tenantry_site.markdown.inline_renderer import SPECIAL
from tenantry_site.markdown.jsx import COMMENT, ConstructScanner, Tag
from tenantry_site.markdown.jsx_components import CHILDREN, JsxComponent
from tenantry_site.markdown.literals import NotLiteral
from tenantry_site.markdown.markdown_writer import written_as_markdown
from tenantry_site.markdown.page_context import PageContext, PageDiagnostics, PageSections, escape
from tenantry_site.markdown.site_resources import SiteResources
from tenantry_site.markdown.syntax import parser
from tenantry_site.page import AttributeValue, Component, Node, Page, title_of_path

_NEWLINE = re.compile(r"\r\n?")


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
        first = " ".join(unescape(title_text(heads[0])).split()) if heads else ""
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
        plain = _COMPONENTS.search(body) is None and not document.hides_source(tokens)
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

    def markdown(self, markdown: str) -> str:
        """Untrusted Markdown without the comments that ``block`` hides. Text without comments is unchanged."""
        text = _normalized(markdown)
        if COMMENT.search(text) is None:
            return text
        context = self._context("", PageDiagnostics(""))
        renderer = self._untrusted(text, context, ALLOWED)
        renderer.render(renderer.tokens(text))
        return written_as_markdown(renderer.buffer.nodes(), context.address)

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
    the snippets that contain it, outermost first, and last the snippet itself. ``jsx``: the components that a component
    in JSX can use. ``children``: the contents of its tag."""

    __slots__ = (
        "_children",
        "_context",
        "_diagnostics",
        "_env",
        "_module",
        "_resources",
        "_sections",
        "_source",
        "_within",
        "renderer",
    )

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
        jsx: Mapping[str, JsxComponent] | None = None,
        children: tuple[Node, ...] = (),
    ) -> None:
        self._children = children
        self._source = source
        self._resources = resources
        self._context = context
        self._sections = sections
        self._diagnostics = diagnostics
        self._within = within
        self._module = resources.module(source)
        if names:
            self._module.names.update(names)
        if jsx is not None:
            self._module.jsx.update(jsx)
            self._module.known.update((*jsx, CHILDREN))
        mdx = not source.endswith(".md")
        module = self._module
        constructs = ConstructScanner(text, module.known, module.names, diagnostics, mdx=mdx)
        env: dict[str, Any] = {"constructs": constructs, "module": module}
        markdown = parser(indented_code=not mdx and _COMPONENTS.search(text) is None)
        buffer = HtmlBuffer(context, sections, diagnostics, is_page=not within)
        self.renderer: BlockRenderer = BlockRenderer(markdown, env, buffer, resources.highlighter, self.resolve)
        self._env = env

    def hides_source(self, tokens: Tokens) -> bool:
        """Whether the rendered text lacks a part of the source: comments, ids of headings, link definitions (which
        authors use as comments too)."""
        constructs: ConstructScanner = self._env["constructs"]
        return (
            constructs.hides_source
            or bool(self._env.get("references"))
            or any(token.type == "heading_open" and "id" in token.attrs for token in tokens)
        )

    def resolve(self, tag: Tag, line: int, within: bool) -> bool | None:
        """Render the snippet or the component in JSX that a tag names. Return False if the tag names neither, and None
        if the component would have to be run."""
        if tag.name == CHILDREN:
            self.renderer.buffer.splice(self._children, within=within)
            return True
        if tag.name in self._module.jsx:
            return self._resolve_jsx(self._module.jsx[tag.name], tag, line, within=within)
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

    def _resolve_jsx(self, component: JsxComponent, tag: Tag, line: int, *, within: bool) -> bool | None:
        try:
            text, names = component.filled(tag.attributes, tag.expressions)
        except NotLiteral:
            return None

        def finished(children: tuple[Node, ...]) -> tuple[Node, ...]:
            return self._nodes(component.key, text, names, line, jsx=self._module.jsx, children=children)

        if tag.self_closing:
            self.renderer.buffer.splice(finished(()), within=within)
        else:
            self.renderer.buffer.open_deferred(tag, line, finished)
        return True

    def snippet(self, path: str, line: int, attributes: Mapping[str, AttributeValue] = _NONE) -> tuple[Node, ...]:
        """The nodes of a snippet. ``attributes``: the attributes of its tag, which the snippet's text may use by name
        or as ``props.name``."""
        key = self._resources.find(path, self._source)
        if key is None:
            message = f"there is no snippet {path[:120]}"
            self._diagnostics.add(Severity.WARNING, "PAGE010", message, "write its path from the site's root", line)
            return ()
        text, offset = self._resources.text(key)
        names = {**attributes, **{f"props.{name}": value for name, value in attributes.items()}}
        return self._nodes(key, text, names, line, offset=offset)

    def _nodes(
        self,
        key: str,
        text: str,
        names: Mapping[str, AttributeValue],
        line: int,
        *,
        offset: int = 0,
        jsx: Mapping[str, JsxComponent] | None = None,
        children: tuple[Node, ...] = (),
    ) -> tuple[Node, ...]:
        """The nodes of a snippet or component. ``key``: its path. ``offset``: number of lines above its text."""
        self._context.snippets += 1
        if key in self._within or len(self._within) >= MAX_SNIPPET_DEPTH or self._context.snippets > MAX_SNIPPETS:
            self._diagnostics.add(Severity.WARNING, "PAGE011", f"{key} contains itself", "leave one of them out", line)
            return ()
        diagnostics = PageDiagnostics(key.partition("#")[0], offset)
        document = DocumentParser(
            key,
            text,
            self._resources,
            self._context,
            self._sections,
            diagnostics,
            names=names,
            within=(*self._within, key),
            jsx=jsx,
            children=children,
        )
        renderer = document.renderer
        renderer.render(renderer.tokens(text))
        nodes = renderer.buffer.nodes()
        self._diagnostics.extend(diagnostics.all())
        return nodes
