"""Inlines: what stands within a line of text, as pieces of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown import html
from tenantry_site.markdown.constructs import Construct, Kind
from tenantry_site.markdown.elements import ALLOWED
from tenantry_site.markdown.escaping import addresses, escape
from tenantry_site.markdown.pieces import Pieces
from tenantry_site.markdown.tags import Tag

SPECIAL = re.compile(r"[\\`*~\[<&{]|(?<![^\W_])_|_(?![^\W_])|  \n")
"""What makes text more than text; most lines have none of it. An underscore within a word, as in ``user_group``, never
does."""

_OPENING = {"em_open": ("<em>", "</em>"), "strong_open": ("<strong>", "</strong>"), "s_open": ("<s>", "</s>")}
_CLOSING = {"em_close": "</em>", "strong_close": "</strong>", "s_close": "</s>", "link_close": "</a>"}

Resolve = Callable[[Tag, int, bool], bool]
"""Draws a tag that means a snippet; False if it means something else."""


def footnotes(env: dict[str, Any], pieces: Pieces) -> str:
    """What the ids of a text's footnotes begin with: a page and the snippets on it have some each."""
    if "footnotes_name" not in env:
        env["footnotes_name"] = pieces.context.identifier("fn")
    return str(env["footnotes_name"])


class Inlines:
    """Draws lines of text onto the pieces of a page."""

    __slots__ = ("_env", "_line", "_linked", "_parser", "_pieces", "_resolve", "_tagged")

    def __init__(self, parser: MarkdownIt, env: dict[str, Any], pieces: Pieces, resolve: Resolve) -> None:
        self._parser = parser
        self._env = env
        self._pieces = pieces
        self._resolve = resolve
        self._line = 0
        self._linked = self._tagged = False

    def draw(self, text: str, line: int) -> None:
        """``line`` is the first of the text, from 1."""
        pieces = self._pieces
        self._line = self._env["line"] = line
        if SPECIAL.search(text) is None:
            self._text(text)
            return
        self._tagged = "<" in text
        for token in self._parser.inline.parse(text, self._parser, self._env, []):
            kind = token.type
            if kind in ("text", "text_special"):
                self._text(token.content)
            elif kind == "softbreak":
                self._line += 1
                pieces.out.append("\n")
                pieces.sections.words.append(" ")
            elif kind in _OPENING:
                self._open(kind, *_OPENING[kind])
            elif kind in _CLOSING:
                self._close_pair(kind)
            else:
                _OTHERS[kind](self, token)

    def _open(self, name: str, opening: str, closing: str) -> None:
        """Where the text has tags, they may stand across what Markdown opens; else it closes as it opened."""
        if self._tagged:
            self._pieces.open_markdown(name, opening, closing)
        else:
            self._pieces.out.append(opening)

    def _close_pair(self, kind: str) -> None:
        if self._tagged:
            self._pieces.close_markdown()
        elif kind != "link_close" or self._linked:
            self._pieces.out.append(_CLOSING[kind])
        self._linked = self._linked and kind != "link_close"

    def _text(self, text: str) -> None:
        pieces = self._pieces
        pieces.sections.words.append(text)
        if not pieces.filled and text and not text.isspace():
            pieces.filled = True
        if "$$" in text:
            self._formula(text)
        pieces.out.append(self._with_links(text) if "://" in text and not self._linked else escape(text))

    def _formula(self, text: str) -> None:
        if not self._env.get("formula"):
            self._env["formula"] = True  # once for a text: a page has many or none
            line = self._line + text.count("\n", 0, text.index("$$")) if self._pieces.placed else 0
            message = "formulas are not set: $$ is shown as it was written"
            self._pieces.note(Severity.WARNING, "PAGE021", message, "write it as code, or put a picture of it in", line)

    def _with_links(self, text: str) -> str:
        done, parts = 0, []
        for start, end in addresses(text):
            href = self._pieces.context.href(text[start:end], self._line)
            parts.append(escape(text[done:start]))
            parts.append(f'<a href="{href}" rel="noopener">{escape(text[start:end])}</a>')
            done = end
        parts.append(escape(text[done:]))
        return "".join(parts)

    def _code(self, token: Token) -> None:
        pieces = self._pieces
        pieces.filled = True
        pieces.sections.words.append(token.content)
        pieces.out.append(f"<code>{escape(token.content)}</code>")

    def _break(self, _token: Token) -> None:
        self._line += 1
        self._pieces.out.append("<br>\n")
        self._pieces.sections.words.append(" ")

    def _link(self, token: Token) -> None:
        context = self._pieces.context
        target = str(token.attrs.get("href", ""))
        href = context.href(target, self._place())
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
        pieces = self._pieces
        pieces.filled = True
        pieces.sections.words.append(alternative)
        drawn = html.draw_image(source, alternative, pieces.context, self._place(), given, linked=self._linked)
        pieces.out.append(drawn)

    def _footnote(self, token: Token) -> None:
        number, again = token.meta["id"] + 1, token.meta["subId"]
        name = footnotes(self._env, self._pieces)
        place = f"Site-{name}.{number}.back" + (f".{again + 1}" if again else "")
        self._pieces.filled = True
        self._pieces.out.append(
            f'<sup class="footnote"><a href="#Site-{name}.{number}" id="{place}">{number}</a></sup>'
        )

    def _construct(self, token: Token) -> None:
        found: Construct = token.meta["construct"]
        self.construct(found, self._line, within=True)

    def construct(self, found: Construct, line: int, *, within: bool) -> None:
        """Draws a tag or an expression. ``within``: it stands in a line of text."""
        pieces, tag = self._pieces, found.tag
        if found.kind in (Kind.TEXT, Kind.EXPRESSION):
            self._text(found.text)
        elif found.kind is Kind.SWALLOWED:
            if tag.name == "pre":
                self._code(Token("code_inline", "", 0, content=html.text_of(found.text)))
            else:
                pieces.note(Severity.WARNING, "PAGE012", f"<{tag.name}> was removed", "leave it out", line)
        elif found.kind is Kind.COMMENT:
            return
        elif tag.closing:
            self._close(found, line, within=within)
        elif found.kind is Kind.HTML:
            pieces.open_html(tag, line, within=within)
        elif found.kind is Kind.UNKNOWN:
            self._unknown(found, line, within=within)
        elif not self._resolve(tag, line, within):
            self._expressions(tag, line)
            pieces.open_component(tag, line, within=within, inline=found.inline)

    def _close(self, found: Construct, line: int, *, within: bool) -> None:
        tag, pieces = found.tag, self._pieces
        if pieces.close(tag, line, within=within):
            return
        if found.kind is Kind.UNKNOWN:
            self._text(f"</{tag.name}>")
            return
        if found.kind is Kind.HTML and ALLOWED[tag.name].void:
            return  # <br></br>
        message = f"</{tag.name}> closes nothing: it was left out"
        pieces.note(Severity.WARNING, "PAGE005", message, f"open it with <{tag.name}>, or leave it out", line)

    def _unknown(self, found: Construct, line: int, *, within: bool) -> None:
        tag, pieces = found.tag, self._pieces
        name, address = tag.name, tag.attributes.get("href")
        own = name[:1].isupper() or "-" in name  # <link href> and <base href> are HTML, and lead nobody anywhere
        linked = own and isinstance(address, str) and bool(address.strip())
        shown = "it is shown as a link" if linked else "its contents are shown without it"
        if name[:1].isupper():
            message, fix = f"<{name}> is not a component: {shown}", "write another one"
            pieces.note(Severity.WARNING, "PAGE006", message, f"{fix}, or `<{name}>` for the word", line)
        else:
            message = f"<{name}> is not allowed on a page: {shown}"
            pieces.note(Severity.WARNING, "PAGE012", message, f"leave it out, or write `<{name}>`", line)
        if linked:
            pieces.open_component(tag, line, within=within, inline=within)
        else:
            pieces.open_nothing(tag, line)

    def _expressions(self, tag: Tag, line: int) -> None:
        for name in tag.expressions:
            message = f"{name} of <{tag.name}> is an expression, which is not evaluated: it was left out"
            self._pieces.note(Severity.INFO, "PAGE007", message, "write a text or a number", line)

    def _place(self) -> int:
        return self._line if self._pieces.placed else 0


def _plain(tokens: list[Token]) -> str:
    """The words of an image's alternative text."""
    return "".join(
        _plain(token.children) if token.children else (" " if token.type.endswith("break") else token.content)
        for token in tokens
    )


_OTHERS: Mapping[str, Callable[[Inlines, Token], None]] = {
    "code_inline": Inlines._code,
    "hardbreak": Inlines._break,
    "link_open": Inlines._link,
    "image": Inlines._image,
    "footnote_ref": Inlines._footnote,
    "construct": Inlines._construct,
}
