"""Renders the Markdown parser's block tokens into an HtmlBuffer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.code_blocks import DIAGRAMS, Highlighter, code_block
from tenantry_site.markdown.html_buffer import HtmlBuffer
from tenantry_site.markdown.inline_renderer import InlineRenderer, Resolve, footnotes
from tenantry_site.markdown.jsx import COMMENT, Construct, ConstructKind, Tag
from tenantry_site.markdown.page_context import escape
from tenantry_site.markdown.raw_html import text_of
from tenantry_site.templating import render_template

_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|\Z)", re.IGNORECASE)
_ALERTS = {"note": "Note", "tip": "Tip", "important": "Info", "warning": "Warning", "caution": "Danger"}
_TASK = re.compile(r"\[([ xX])\][ \t]+(?=\S)")
_ALIGNED = {"text-align:right": ' class="right"', "text-align:center": ' class="center"'}
_LANGUAGE = re.compile(r"""<code[^<>]*class(?:Name)?=["']language-([\w+#-]+)""")

OWN_ID = re.compile(r"[ \t]*\{#([\w.:-]+)\}[ \t]*\Z")
"""The id that an author writes at the end of a heading: ``{#limits}``."""

_MARKUP = re.compile(r"[*`~]+|(?<![^\W_])_+|_+(?![^\W_])|!?\[([^\]]*)\]\([^)]*\)|<[^>]*>")
_LONGEST_TITLE = 1_000
"""Maximum number of characters of a heading that are read as a title, because the patterns take quadratic time."""

Tokens = list[Token]


def title_text(heading: str) -> str:
    """The text of a heading without markup, comments and its ``{#id}``."""
    return _MARKUP.sub(r"\1", COMMENT.sub("", OWN_ID.sub("", heading[:_LONGEST_TITLE]))).strip()


class BlockRenderer:
    """Renders the blocks of one Markdown text: a page, a snippet, or a description in an OpenAPI document."""

    __slots__ = (
        "_alerts",
        "_anchored",
        "_env",
        "_footnotes_by_label",
        "_highlighter",
        "_inline_renderer",
        "_parser",
        "_shift",
        "_title",
        "buffer",
    )

    def __init__(
        self, parser: MarkdownIt, env: dict[str, Any], buffer: HtmlBuffer, highlighter: Highlighter, resolve: Resolve
    ) -> None:
        self._env = env
        self._parser = parser
        self._highlighter = highlighter
        self._inline_renderer = InlineRenderer(parser, env, buffer, resolve)
        self._alerts: list[bool] = []
        self._footnotes_by_label: dict[str, Tokens] = {}
        self._anchored = True
        self._shift = 0
        self._title = ""
        self.buffer: HtmlBuffer = buffer

    def render(self, tokens: Tokens, title: str = "", *, shift: int = 0, anchored: bool = True) -> None:
        """Render block tokens. ``title``: omit the first level-1 heading with this text, because the layout shows the
        title. ``shift``: number of levels by which headings are demoted. ``anchored``: give headings ids and links."""
        self._title, self._shift, self._anchored = title, shift, anchored
        self._render_blocks(tokens)
        self._render_footnotes()

    def tokens(self, text: str) -> Tokens:
        tokens: Tokens = []
        self._parser.block.parse(text, self._parser, self._env, tokens)
        if "{#" in text:
            for heading, content in pairwise(tokens):
                if heading.type == "heading_open" and (found := OWN_ID.search(content.content)) is not None:
                    heading.attrSet("id", found[1])
                    content.content = content.content[: found.start()]
        return tokens

    def render_inline(self, text: str, line: int) -> None:
        """Render one line of Markdown. ``line``: number of the line in the page."""
        self._inline_renderer.render(text, line)

    def _render_blocks(self, tokens: Tokens) -> None:
        at, end = 0, len(tokens)
        while at < end:
            at = _BLOCKS[tokens[at].type](self, tokens, at)

    def _paragraph(self, tokens: Tokens, at: int) -> int:
        token = tokens[at]
        buffer = self.buffer
        buffer.begin_paragraph(hidden=token.hidden)
        self._inline_renderer.render(tokens[at + 1].content, _line(token))
        buffer.end_paragraph()
        buffer.sections.words.append("\n")
        return at + 3

    def _inline(self, tokens: Tokens, at: int) -> int:
        self._inline_renderer.render(tokens[at].content, _line(tokens[at]))
        self.buffer.sections.words.append(" ")
        return at + 1

    def _heading(self, tokens: Tokens, at: int) -> int:
        buffer, sections = self.buffer, self.buffer.sections
        content, line = tokens[at + 1].content, _line(tokens[at])
        depth = int(tokens[at].tag[1])
        mark, start = len(sections.words), len(buffer.out)
        if "<" in content:
            buffer.open_markdown("heading", "", "")
        self._inline_renderer.render(content, line)
        if "<" in content:
            buffer.close_markdown()
        level = min(max(depth + self._shift, 2), 6)
        if not self._anchored:
            buffer.out.insert(start, f"<h{level}>")
            buffer.out.append(f"</h{level}>\n")
            return at + 3
        text = sections.take_words(mark)
        own_id = str(tokens[at].attrs.get("id", ""))
        identifier = buffer.context.identifier(text, own_id)
        anchor = escape(identifier)
        if depth == 1 and self._title and text.casefold() == self._title.casefold():
            self._title = ""
            del buffer.out[start:]
            buffer.out.append(f'<span id="{anchor}"></span>')
            return at + 3
        buffer.out.insert(start, f'<h{level} id="{anchor}">')
        buffer.out.append(f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></h{level}>\n')
        sections.heading(level, identifier, text)
        return at + 3

    def _fence(self, tokens: Tokens, at: int) -> int:
        token = tokens[at]
        self._code_block(token.info, token.content, _line(token))
        return at + 1

    def _code_block(self, info: str, text: str, line: int) -> None:
        buffer = self.buffer
        code = code_block(info, text, line, self._highlighter)
        buffer.out.append(code)
        buffer.sections.words += ["\n", code.title, " ", code.text, "\n"]
        if code.language in DIAGRAMS and not self._env.get("diagram"):
            self._env["diagram"] = True
            message = f"{code.language} is shown as code: pages do not render diagrams or formulas"
            buffer.report(Severity.INFO, "PAGE017", message, "add it to the page as an image", line)

    def _rule(self, _tokens: Tokens, at: int) -> int:
        self.buffer.out.append("<hr>\n")
        return at + 1

    def _blockquote(self, tokens: Tokens, at: int) -> int:
        following = tokens[at + 2] if at + 2 < len(tokens) else None
        alert = _ALERT.match(following.content) if following is not None and following.type == "inline" else None
        self._alerts.append(alert is not None)
        if alert is None or following is None:
            self.buffer.open_markdown("blockquote", "<blockquote>\n", "</blockquote>\n")
            return at + 1
        name = _ALERTS[alert[1].lower()]
        self.buffer.open_markdown("blockquote", "", "")
        tag = Tag(name, {}, False, False, 0)
        self.buffer.open_component(tag, _line(tokens[at]), within=False, inline=False)
        following.content = following.content[alert.end() :]
        return at + 1 if following.content else at + 4

    def _blockquote_close(self, tokens: Tokens, at: int) -> int:
        if self._alerts.pop():
            component = self.buffer.elements.top
            if component is not None and component.tag is not None:
                self.buffer.close(component.tag, 0, within=False)
        return self._close_markdown(tokens, at)

    def _list(self, tokens: Tokens, at: int) -> int:
        token = tokens[at]
        start = token.attrs.get("start")
        given = f' start="{int(start)}"' if start is not None else ""
        self.buffer.open_markdown(token.tag, f"<{token.tag}{given}>\n", f"</{token.tag}>\n")
        return at + 1

    def _item(self, tokens: Tokens, at: int) -> int:
        opening = "<li>"
        if at + 2 < len(tokens) and tokens[at + 2].type == "inline" and tokens[at + 1].type == "paragraph_open":
            task = _TASK.match(tokens[at + 2].content)
            if task is not None:
                tokens[at + 2].content = tokens[at + 2].content[task.end() :]
                state = ("to do", "") if task[1] == " " else ("done", " checked")
                box = f'<input type="checkbox" disabled aria-label="{state[0]}"{state[1]}> '
                opening = f'<li class="task">{box}'
        self.buffer.open_markdown("li", opening, "</li>\n")
        return at + 1

    def _table(self, _tokens: Tokens, at: int) -> int:
        self.buffer.open_markdown("table", "", "</table></div>\n")
        return at + 1

    def _table_head(self, tokens: Tokens, at: int) -> int:
        """Open a table inside an element that is labelled with the table's columns and can be scrolled with the
        keyboard. The element is not a landmark, because a page may have many tables with the same columns."""
        names, cell = [], at
        while tokens[cell].type != "thead_close":
            if tokens[cell].type == "inline":
                names.append(COMMENT.sub("", tokens[cell].content).strip())
            cell += 1
        label = escape(re.sub(r"[*_`<>{}\[\]\\]", "", ", ".join(filter(None, names)))[:120] or "Table")
        self.buffer.out.append(f'<div class="table" role="group" tabindex="0" aria-label="{label}"><table>\n')
        self.buffer.open_markdown("thead", "<thead>", "</thead>\n")
        return at + 1

    def _table_part(self, tokens: Tokens, at: int) -> int:
        tag = tokens[at].tag
        self.buffer.open_markdown(tag, f"<{tag}>", f"</{tag}>\n")
        return at + 1

    def _cell(self, tokens: Tokens, at: int) -> int:
        """A table cell. For speed, a cell without tags is rendered in one step."""
        tag = tokens[at].tag
        aligned = _ALIGNED.get(str(tokens[at].attrs.get("style", "")), "")
        scope = ' scope="col"' if tag == "th" else ""
        opening, content = f"<{tag}{scope}{aligned}>", tokens[at + 1]
        if "<" in content.content:
            self.buffer.open_markdown(tag, opening, f"</{tag}>")
            return at + 1
        self.buffer.out.append(opening)
        self._inline_renderer.render(content.content, _line(content))
        self.buffer.out.append(f"</{tag}>")
        self.buffer.sections.words.append(" ")
        return at + 3

    def _close_markdown(self, _tokens: Tokens, at: int) -> int:
        self.buffer.close_markdown()
        return at + 1

    def _construct(self, tokens: Tokens, at: int) -> int:
        found: Construct = tokens[at].meta["construct"]
        line = _line(tokens[at])
        if found.kind is ConstructKind.EXPRESSION:
            self.buffer.out.append(str(render_template("markdown/expression", text=found.text)))
            self.buffer.sections.words += ["\n", found.text, "\n"]
        elif found.kind is ConstructKind.RAW and found.tag.name == "pre":
            language = _LANGUAGE.search(found.text[:500])
            self._code_block(language[1] if language else "", text_of(found.text) + "\n", line)
        else:
            self._inline_renderer.construct(found, line, within=False)
        return at + 1

    def _footnote_definition(self, tokens: Tokens, at: int) -> int:
        """Keep a footnote. ``_render_footnotes`` writes footnotes at the end, in the order of their references."""
        depth, end = 1, at + 1
        while depth:
            depth += (tokens[end].type == "footnote_reference_open") - (tokens[end].type == "footnote_reference_close")
            end += 1
        self._footnotes_by_label.setdefault(tokens[at].meta["label"], tokens[at + 1 : end - 1])
        return end

    def _render_footnotes(self) -> None:
        called: dict[int, dict[str, Any]] = self._env.get("footnotes", {}).get("list", {})
        if not called:
            return
        buffer = self.buffer
        buffer.open_markdown(
            "footnotes", '<section class="footnotes" aria-label="Footnotes"><ol>\n', "</ol></section>\n"
        )
        name, number = footnotes(self._env, buffer), 0
        while number < len(called):  # rendering a footnote may add references to others
            tokens = self._footnotes_by_label.get(called[number]["label"], [])
            own = f"Site-{name}.{number + 1}"
            back = f'<a class="footnote-back" href="#{own}.back" aria-label="Back to the text">&#8617;</a>'
            buffer.open_markdown("li", f'<li id="{own}">', f" {back}</li>\n")
            self._render_blocks(tokens)
            buffer.close_markdown()
            number += 1
        buffer.close_markdown()


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0


_BLOCKS: Mapping[str, Callable[[BlockRenderer, Tokens, int], int]] = {
    "paragraph_open": BlockRenderer._paragraph,
    "inline": BlockRenderer._inline,
    "heading_open": BlockRenderer._heading,
    "fence": BlockRenderer._fence,
    "code_block": BlockRenderer._fence,
    "hr": BlockRenderer._rule,
    "blockquote_open": BlockRenderer._blockquote,
    "blockquote_close": BlockRenderer._blockquote_close,
    "bullet_list_open": BlockRenderer._list,
    "ordered_list_open": BlockRenderer._list,
    "list_item_open": BlockRenderer._item,
    "table_open": BlockRenderer._table,
    "thead_open": BlockRenderer._table_head,
    "tbody_open": BlockRenderer._table_part,
    "tr_open": BlockRenderer._table_part,
    "th_open": BlockRenderer._cell,
    "td_open": BlockRenderer._cell,
    "construct": BlockRenderer._construct,
    "footnote_reference_open": BlockRenderer._footnote_definition,
    **dict.fromkeys(
        ("bullet_list_close", "ordered_list_close", "list_item_close", "table_close", "thead_close", "tbody_close",
         "tr_close", "th_close", "td_close"),
        BlockRenderer._close_markdown,
    ),
}  # fmt: skip
