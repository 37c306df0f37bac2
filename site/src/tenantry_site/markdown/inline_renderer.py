"""Renders inline Markdown (text, emphasis, links, images, tags) into an HtmlBuffer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown import raw_html
from tenantry_site.markdown.allowed_html import ALLOWED
from tenantry_site.markdown.html_buffer import HtmlBuffer
from tenantry_site.markdown.jsx import Construct, ConstructKind, Tag
from tenantry_site.markdown.page_context import addresses, escape
from tenantry_site.templating import render_template

SPECIAL = re.compile(r"[\\`*~\[<&{]|(?<![^\W_])_|_(?![^\W_])|  \n")
"""Characters that may begin Markdown. Text without a match, like most lines, is not parsed. An underscore inside a
word, as in ``user_group``, has no meaning in Markdown and does not match."""

_OPENING = {"em_open": ("<em>", "</em>"), "strong_open": ("<strong>", "</strong>"), "s_open": ("<s>", "</s>")}
_CLOSING = {"em_close": "</em>", "strong_close": "</strong>", "s_close": "</s>", "link_close": "</a>"}

Resolve = Callable[[Tag, int, bool], bool | None]
"""Renders the snippet that a tag names; returns False if the tag names no snippet, and None if it names a component
that would have to be run. Arguments: the tag, its line, and whether it is in a line of text."""


def footnotes(env: dict[str, Any], buffer: HtmlBuffer) -> str:
    """The prefix of footnote ids. The page and each snippet on it number their footnotes separately."""
    if "footnotes_name" not in env:
        env["footnotes_name"] = buffer.context.identifier("fn")
    return str(env["footnotes_name"])


class InlineRenderer:
    __slots__ = ("_buffer", "_env", "_has_tags", "_line", "_linked", "_parser", "_resolve")

    def __init__(self, parser: MarkdownIt, env: dict[str, Any], buffer: HtmlBuffer, resolve: Resolve) -> None:
        self._parser = parser
        self._env = env
        self._buffer = buffer
        self._resolve = resolve
        self._line = 0
        self._linked = self._has_tags = False

    def render(self, text: str, line: int) -> None:
        """Render inline Markdown, which may have several lines. ``line``: number of its first line, from 1."""
        buffer = self._buffer
        self._line = self._env["line"] = line
        if SPECIAL.search(text) is None:
            self._text(text)
            return
        self._has_tags = "<" in text
        for token in self._parser.inline.parse(text, self._parser, self._env, []):
            kind = token.type
            if kind in ("text", "text_special"):
                self._text(token.content)
            elif kind == "softbreak":
                self._line += 1
                buffer.out.append("\n")
                buffer.sections.words.append(" ")
            elif kind in _OPENING:
                self._open(kind, *_OPENING[kind])
            elif kind in _CLOSING:
                self._close_pair(kind)
            else:
                _RENDERERS[kind](self, token)

    def _open(self, name: str, opening: str, closing: str) -> None:
        """Write an opening tag. If the text has HTML tags, the buffer tracks the element, because a tag may open inside
        it and close outside."""
        if self._has_tags:
            self._buffer.open_markdown(name, opening, closing)
        else:
            self._buffer.out.append(opening)

    def _close_pair(self, kind: str) -> None:
        if self._has_tags:
            self._buffer.close_markdown()
        elif kind != "link_close" or self._linked:
            self._buffer.out.append(_CLOSING[kind])
        self._linked = self._linked and kind != "link_close"

    def _text(self, text: str) -> None:
        buffer = self._buffer
        buffer.sections.words.append(text)
        if not buffer.has_content and text and not text.isspace():
            buffer.has_content = True
        if "$$" in text:
            self._formula(text)
        buffer.out.append(self._with_links(text) if "://" in text and not self._linked else escape(text))

    def _formula(self, text: str) -> None:
        if not self._env.get("formula"):
            self._env["formula"] = True  # only the first formula is reported
            line = self._line + text.count("\n", 0, text.index("$$")) if self._buffer.is_page else 0
            message = "formulas are not rendered: $$ is shown as it was written"
            self._buffer.report(Severity.WARNING, "PAGE021", message, "write it as code, or add it as an image", line)

    def _with_links(self, text: str) -> str:
        done, parts = 0, []
        for start, end in addresses(text):
            href = self._buffer.context.href(text[start:end], self._line)
            parts.append(escape(text[done:start]))
            parts.append(f'<a href="{href}" rel="noopener">{escape(text[start:end])}</a>')
            done = end
        parts.append(escape(text[done:]))
        return "".join(parts)

    def _code(self, token: Token) -> None:
        buffer = self._buffer
        buffer.has_content = True
        buffer.sections.words.append(token.content)
        buffer.out.append(f"<code>{escape(token.content)}</code>")

    def _break(self, _token: Token) -> None:
        self._line += 1
        self._buffer.out.append("<br>\n")
        self._buffer.sections.words.append(" ")

    def _link(self, token: Token) -> None:
        context = self._buffer.context
        target = str(token.attrs.get("href", ""))
        href = context.href(target, self._page_line())
        if href is None:
            self._open("link", "", "")
            return
        title = token.attrs.get("title")
        given = f' title="{escape(str(title))}"' if title else ""
        relation = ' rel="noopener"' if "//" in target and context.elsewhere(target) else ""
        self._linked = True
        self._open("link", f'<a href="{href}"{given}{relation}>', "</a>")

    def _image(self, token: Token) -> None:
        alternative = _plain(token.children or [])
        title = token.attrs.get("title")
        given = {"title": escape(str(title))} if title else {}
        source = str(token.attrs.get("src", ""))
        buffer = self._buffer
        buffer.has_content = True
        buffer.sections.words.append(alternative)
        rendered = raw_html.render_image(
            source, alternative, buffer.context, self._page_line(), given, linked=self._linked
        )
        buffer.out.append(rendered)

    def _footnote(self, token: Token) -> None:
        number, again = token.meta["id"] + 1, token.meta["subId"]
        name = footnotes(self._env, self._buffer)
        target = f"Site-{name}.{number}"
        own = f"{target}.back" + (f".{again + 1}" if again else "")
        self._buffer.has_content = True
        self._buffer.out.append(str(render_template("markdown/footnote_call", target=target, id=own, number=number)))

    def _construct(self, token: Token) -> None:
        found: Construct = token.meta["construct"]
        self.construct(found, self._line, within=True)

    def construct(self, found: Construct, line: int, *, within: bool) -> None:
        """Render a tag, comment or expression. ``within``: it is in a line of text."""
        buffer, tag = self._buffer, found.tag
        if found.kind in (ConstructKind.TEXT, ConstructKind.EXPRESSION):
            self._text(found.text)
        elif found.kind is ConstructKind.RAW:
            if tag.name == "pre":
                self._code(Token("code_inline", "", 0, content=raw_html.text_of(found.text)))
            else:
                buffer.report(Severity.WARNING, "PAGE012", f"<{tag.name}> was removed", "leave it out", line)
        elif found.kind is ConstructKind.COMMENT:
            return
        elif tag.closing:
            self._close(found, line, within=within)
        elif found.kind is ConstructKind.HTML:
            buffer.open_html(tag, line, within=within)
        elif found.kind is ConstructKind.UNKNOWN or (rendered := self._resolve(tag, line, within)) is None:
            self._unknown(found, line, within=within)
        elif not rendered:
            for name in tag.expressions:
                message = f"{name} of <{tag.name}> is an expression, which is not evaluated: it was left out"
                self._buffer.report(Severity.INFO, "PAGE007", message, "write a string or a number", line)
            buffer.open_component(tag, line, within=within, inline=found.inline)

    def _close(self, found: Construct, line: int, *, within: bool) -> None:
        tag, buffer = found.tag, self._buffer
        if buffer.close(tag, line, within=within):
            return
        if found.kind is ConstructKind.UNKNOWN:
            self._text(f"</{tag.name}>")
            return
        if found.kind is ConstructKind.HTML and ALLOWED[tag.name].void:
            return  # <br></br>
        message = f"</{tag.name}> closes nothing: it was left out"
        buffer.report(Severity.WARNING, "PAGE005", message, f"open it with <{tag.name}>, or leave it out", line)

    def _unknown(self, found: Construct, line: int, *, within: bool) -> None:
        tag, buffer = found.tag, self._buffer
        name, address = tag.name, tag.attributes.get("href")
        own = name[:1].isupper() or "-" in name  # not the HTML elements <link href> and <base href>
        linked = own and isinstance(address, str) and bool(address.strip())
        shown = "it is shown as a link" if linked else "its contents are shown without it"
        if name[:1].isupper():
            message = f"<{name}> is not a component: {shown}"
            fix = f"use another component, or write `<{name}>` to show the name"
            buffer.report(Severity.WARNING, "PAGE006", message, fix, line)
        else:
            message = f"<{name}> is not allowed on a page: {shown}"
            buffer.report(Severity.WARNING, "PAGE012", message, f"leave it out, or write `<{name}>`", line)
        if linked:
            buffer.open_component(tag, line, within=within, inline=within)
        else:
            buffer.open_ignored(tag, line)

    def _page_line(self) -> int:
        return self._line if self._buffer.is_page else 0


def _plain(tokens: list[Token]) -> str:
    return "".join(
        _plain(token.children) if token.children else (" " if token.type.endswith("break") else token.content)
        for token in tokens
    )


_RENDERERS: Mapping[str, Callable[[InlineRenderer, Token], None]] = {
    "code_inline": InlineRenderer._code,
    "hardbreak": InlineRenderer._break,
    "link_open": InlineRenderer._link,
    "image": InlineRenderer._image,
    "footnote_ref": InlineRenderer._footnote,
    "construct": InlineRenderer._construct,
}
