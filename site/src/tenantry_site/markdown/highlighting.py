"""Highlighting: code as HTML with a class of one letter for each sort of word (``static/code.css`` has their colours).

The lexers are Pygments', loaded when the first block asks for one; the HTML is made here. What was highlighted is kept
by language and text, up to a number of characters in all.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING

from tenantry_site.markdown.escaping import escape

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST = 50_000
"""Characters of a block; a longer one is shown plain."""

LONGEST_LINE = 2_000
"""Characters of a line; a block with a longer one is shown plain. Some lexers look through the rest of the line, or of
the block, at each character: without these bounds one block could take hours."""

KEPT = 200_000
"""Characters of all the HTML that is kept."""

ALIASES = {
    "curl": "bash", "shell": "bash", "sh": "bash", "zsh": "bash", "terminal": "bash", "cmd": "bat",
    "shell-session": "console", "jsonc": "json", "json5": "json", "ndjson": "json", "jsonl": "json",
    "env": "ini", "dotenv": "ini", ".env": "ini", "conf": "ini", "node": "javascript", "mjs": "javascript",
    "cjs": "javascript", "mdx": "markdown", "vue": "html", "svelte": "html", "astro": "html", "golang": "go",
    "c#": "csharp", "yml": "yaml", "hcl": "terraform", "proto": "protobuf", "docker": "dockerfile",
}  # fmt: skip
PLAIN = frozenset(
    {"", "text", "txt", "plaintext", "plain", "none", "output", "log", "mermaid", "math", "latex", "tree"}
    | {"tnt", "mcschema"}  # their lexers need for 300 characters what others need for millions
)

_CLASSES = (
    ("Comment", "c"), ("Generic.Prompt", "c"), ("Keyword", "k"), ("Operator.Word", "k"), ("Keyword.Type", "t"),
    ("Name.Builtin", "b"), ("Name.Exception", "b"), ("Name.Class", "f"), ("Name.Function", "f"),
    ("Name.Decorator", "f"), ("Generic.Heading", "f"), ("Generic.Subheading", "f"), ("Name.Tag", "g"),
    ("Name.Attribute", "a"), ("Name.Variable", "a"), ("Name.Constant", "a"), ("Literal", "s"), ("Number", "m"),
    ("String.Escape", "e"), ("String.Interpol", "e"), ("Generic.Deleted", "x"), ("Generic.Inserted", "i"),
)  # fmt: skip
_LANGUAGE = re.compile(r"[a-z0-9.+#_-]{1,40}\Z")


class Highlighter:
    """Highlights code; the same block is highlighted once."""

    __slots__ = ("_kept", "_size")

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._size = 0

    def html(self, language: str, text: str) -> str:
        """The code as HTML, each of its lines complete in itself. An unknown language is shown plain."""
        if language in PLAIN or len(text) > LONGEST or _is_wide(text):
            return escape(text)
        key = (language, text)
        html = self._kept.get(key)
        if html is not None:
            self._kept.move_to_end(key)
            return html
        lexer = _lexer(ALIASES.get(language, language))
        html = escape(text) if lexer is None else _lexed(lexer, text)
        self._keep(key, html)
        return html

    def _keep(self, key: tuple[str, str], html: str) -> None:
        self._kept[key] = html
        self._size += len(key[1]) + len(html)
        while self._size > KEPT and self._kept:
            (_, text), old = self._kept.popitem(last=False)
            self._size -= len(text) + len(old)


def _is_wide(text: str) -> bool:
    return len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE


@cache
def _lexer(language: str) -> Lexer | None:
    if not _LANGUAGE.match(language):
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None


@cache
def _classes() -> dict[object, str]:
    """The class of every type of token that Pygments names; none for what looks like the text around it."""
    from pygments.token import STANDARD_TYPES, Token, string_to_tokentype

    classes: dict[object, str] = dict.fromkeys(STANDARD_TYPES, "")
    for name, short in _CLASSES:
        above = string_to_tokentype(name if name not in ("Number", "String") else f"Literal.{name}")
        for each in STANDARD_TYPES:
            if each is above or str(each).startswith(f"{above}."):
                classes[each] = short
    classes[Token] = ""
    return classes


def _class(kind: object) -> str:
    classes = _classes()
    if kind not in classes:
        parent = getattr(kind, "parent", None)
        classes[kind] = _class(parent) if parent is not None else ""
    return classes[kind]


def _lexed(lexer: Lexer, text: str) -> str:
    """The HTML of lexed code. Neighbours of one class share a span, and no span reaches over a line's end."""
    classes = _classes()
    pieces: list[str] = []
    current, run = "", list[str]()
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        name = classes.get(kind)
        if name is None:
            name = _class(kind)
        if name != current and not value.isspace():
            _span(pieces, current, "".join(run))
            current, run = name, []
        run.append(value)
    _span(pieces, current, "".join(run))
    return "".join(pieces)


def _span(pieces: list[str], name: str, text: str) -> None:
    if not text:
        return
    html = escape(text)
    if not name:
        pieces.append(html)
        return
    words = html.rstrip()
    spaces = html[len(words) :]
    inner = words.replace("\n", f'</span>\n<span class="{name}">') if "\n" in words else words
    pieces.append(f'<span class="{name}">{inner}</span>{spaces}')
