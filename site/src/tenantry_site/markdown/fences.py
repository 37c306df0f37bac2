"""Fences: a block of code as it stands on a page - title, copy button, marked and numbered lines."""

from __future__ import annotations

from tenantry_site.markdown.escaping import escape
from tenantry_site.markdown.highlighting import Highlighter
from tenantry_site.markdown.info import Info, read_info
from tenantry_site.nodes import CodeBlock

LONGEST_TITLE = 200
DIAGRAMS = frozenset({"mermaid", "plantuml", "math", "latex", "tex", "katex", "dot", "graphviz", "d2"})
"""Languages that other tools draw pictures of."""

_COPY = '<button type="button" class="copy" data-copy hidden>Copy</button>'


def fence(info: str, text: str, line: int, highlighter: Highlighter) -> CodeBlock:
    """The block with this info string. The button copies the text of ``code``; a script shows it."""
    parts = read_info(info)
    body = text.removesuffix("\n")
    html = highlighter.html(parts.language, text).removesuffix("\n")
    if parts.marked or parts.numbered:
        html = _by_line(html, parts)
    title = parts.title[:LONGEST_TITLE]
    language = f' data-language="{escape(parts.language[:40])}"' if parts.language else ""
    wrap = ' class="wrap"' if parts.wrapped else ""
    block = f'<pre tabindex="0"{wrap}><code>{html}</code></pre>'
    if title:
        caption = f'<figcaption class="code-title">{escape(title)}</figcaption>'
        drawn = f'<figure class="code"{language}>{caption}{_COPY}{block}</figure>\n'
    else:
        drawn = f'<div class="code"{language}>{_COPY}{block}</div>\n'
    return CodeBlock(parts.language, title, body, drawn, line)


def _by_line(html: str, parts: Info) -> str:
    """Each line in a span that holds its end, too: the spans are blocks, and text between them would be a line."""
    kind = "line numbered" if parts.numbered else "line"
    return "".join(
        f'<span class="{kind}{" marked" if number in parts.marked else ""}">{line}\n</span>'
        for number, line in enumerate(html.split("\n"), 1)
    )
