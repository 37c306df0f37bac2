"""Renders fenced code blocks: title, copy button, marked and numbered lines, and syntax highlighting.

Highlighting writes a one-letter class for each kind of token; ``static/code.css`` has the colours. Pygments provides
the lexers and is imported for the first block that needs one. The HTML is cached by language and code.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from tenantry_site.markdown.page_context import escape
from tenantry_site.page import CodeBlock
from tenantry_site.templating import render_template

if TYPE_CHECKING:
    from pygments.lexer import Lexer


LONGEST_TITLE = 200
DIAGRAMS = frozenset({"mermaid", "plantuml", "math", "latex", "tex", "katex", "dot", "graphviz", "d2"})
"""Languages that other tools render as pictures. Here they are shown as code, with a diagnostic."""


def code_block(info: str, text: str, line: int, highlighter: Highlighter) -> CodeBlock:
    """Render a fenced block. ``info``: the text after the opening fence; ``line``: the block's line in the page. A
    script shows the copy button."""
    parts = parse_info(info)
    body = text.removesuffix("\n")
    code = Markup(highlighter.html(parts.language, text).removesuffix("\n"))  # noqa: S704  # its text is escaped
    title = parts.title[:LONGEST_TITLE]
    html = render_template(
        "markdown/code_block",
        title=title,
        language=parts.language[:40],
        code=code,
        marked=parts.marked,
        numbered=parts.numbered,
        wrapped=parts.wrapped,
    )
    return CodeBlock(parts.language, title, body, str(html), line)


MOST_LINES = 100_000

_FIRST = re.compile(r"[^\s{]+")
_PART = re.compile(
    r"""([A-Za-z][\w-]*)=(?:"([^"]*)"|'([^']*)'|\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|([^\s{}"']+))|\{([\d\s,-]*)\}|"([^"]*)"|(\S+)"""
)
_RANGE = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
_TITLE_NAMES = frozenset({"title", "filename", "file", "name"})
_MARK_NAMES = frozenset({"highlight", "hl_lines", "mark"})
_NUMBER_NAMES = frozenset({"lines", "linenumbers", "showlinenumbers", "linenos"})
_WRAP_NAMES = frozenset({"wrap", "wordwrap"})
_IGNORED = frozenset({"expandable", "copy", "nocopy", "twoslash", "live", "editable", "default", "ts"})


class InfoString(NamedTuple):
    """The parts of a code block's info string. ``marked``: numbers of the marked lines, from 1. ``numbered``: show line
    numbers. ``wrapped``: wrap long lines."""

    language: str = ""
    title: str = ""
    marked: frozenset[int] = frozenset()
    numbered: bool = False
    wrapped: bool = False


NO_INFO = InfoString()


def parse_info(text: str) -> InfoString:
    """Parse an info string, the text after the opening fence: ``python title.py {1,3-5} wrap``."""
    text = text.strip()[:2000]
    if not text:
        return NO_INFO
    first = _FIRST.match(text)
    if first is None or "=" in first[0]:
        language, rest = "", text
    else:
        language, rest = first[0].lower(), text[first.end() :].strip()
    if not rest:
        return InfoString(language)
    reader = _InfoReader()
    for part in _PART.finditer(rest):
        reader.take(part)
    return InfoString(language, reader.title or " ".join(reader.words), frozenset(reader.marked), *reader.switches)


class _InfoReader:
    """Collects the parts of an info string that follow the language."""

    def __init__(self) -> None:
        self.title = ""
        self.words: list[str] = []
        self.marked: set[int] = set()
        self.switches = [False, False]

    def take(self, part: re.Match[str]) -> None:
        name = (part[1] or part[8] or "").lower()
        value = part[2] or part[3] or part[4] or part[5] or ""
        if part[6] is not None or name in _MARK_NAMES:
            self.marked |= _line_numbers(part[6] if part[6] is not None else value)
        elif part[1] and name in _TITLE_NAMES:
            self.title = value.strip("\"'`")
        elif name in _NUMBER_NAMES:
            self.switches[0] = value != "false"
        elif name in _WRAP_NAMES:
            self.switches[1] = value != "false"
        elif (part[7] or part[8]) and name not in _IGNORED:
            self.words.append(part[7] or part[8])


def _line_numbers(text: str) -> set[int]:
    lines: set[int] = set()
    for found in _RANGE.finditer(text):
        first = int(found[1])
        last = min(int(found[2] or first), first + 10_000)
        if len(lines) < MOST_LINES:
            lines.update(range(first, last + 1))
    return lines


MAX_CHARS = 50_000
"""Maximum number of characters of a block that is highlighted."""

MAX_LINE = 2_000
"""Maximum number of characters of a line; a block with a longer line is not highlighted. Some lexers scan the rest of
the line or block at each character, so that without these limits one block could take hours."""

CACHE_SIZE = 200_000
"""Maximum number of characters of code and HTML in the cache."""

ALIASES = {
    "curl": "bash", "shell": "bash", "sh": "bash", "zsh": "bash", "terminal": "bash", "cmd": "bat",
    "shell-session": "console", "jsonc": "json", "json5": "json", "ndjson": "json", "jsonl": "json",
    "env": "ini", "dotenv": "ini", ".env": "ini", "conf": "ini", "node": "javascript", "mjs": "javascript",
    "cjs": "javascript", "mdx": "markdown", "vue": "html", "svelte": "html", "astro": "html", "golang": "go",
    "c#": "csharp", "yml": "yaml", "hcl": "terraform", "proto": "protobuf", "docker": "dockerfile",
}  # fmt: skip
PLAIN = frozenset(
    {"", "text", "txt", "plaintext", "plain", "none", "output", "log", "mermaid", "math", "latex", "tree"}
    | {"tnt", "mcschema"}  # their lexers need as much time for 300 characters as other lexers need for millions
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
    __slots__ = ("_cache", "_size")

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._size = 0

    def html(self, language: str, text: str) -> str:
        """The code as HTML, with no span across a line end. Code in an unknown language is only escaped."""
        if language in PLAIN or len(text) > MAX_CHARS or _has_long_line(text):
            return escape(text)
        key = (language, text)
        html = self._cache.get(key)
        if html is not None:
            self._cache.move_to_end(key)
            return html
        lexer = _lexer(ALIASES.get(language, language))
        html = escape(text) if lexer is None else _highlight(lexer, text)
        self._store(key, html)
        return html

    def _store(self, key: tuple[str, str], html: str) -> None:
        self._cache[key] = html
        self._size += len(key[1]) + len(html)
        while self._size > CACHE_SIZE and self._cache:
            (_, text), old = self._cache.popitem(last=False)
            self._size -= len(text) + len(old)


def _has_long_line(text: str) -> bool:
    return len(text) > MAX_LINE and max(map(len, text.split("\n"))) > MAX_LINE


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
def _css_classes() -> dict[object, str]:
    """Pygments token type -> our CSS class; empty for tokens that look like plain text."""
    from pygments.token import STANDARD_TYPES, Token, string_to_tokentype

    classes: dict[object, str] = dict.fromkeys(STANDARD_TYPES, "")
    for name, short in _CLASSES:
        above = string_to_tokentype(name if name not in ("Number", "String") else f"Literal.{name}")
        for each in STANDARD_TYPES:
            if each is above or str(each).startswith(f"{above}."):
                classes[each] = short
    classes[Token] = ""
    return classes


def _css_class(kind: object) -> str:
    classes = _css_classes()
    if kind not in classes:
        parent = getattr(kind, "parent", None)
        classes[kind] = _css_class(parent) if parent is not None else ""
    return classes[kind]


def _highlight(lexer: Lexer, text: str) -> str:
    """The HTML of lexed code. Adjacent tokens of one class share a span; no span crosses a line end."""
    classes = _css_classes()
    spans: list[str] = []
    current, run = "", list[str]()
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        name = classes.get(kind)
        if name is None:
            name = _css_class(kind)
        if name != current and not value.isspace():
            _span(spans, current, "".join(run))
            current, run = name, []
        run.append(value)
    _span(spans, current, "".join(run))
    return "".join(spans)


def _span(spans: list[str], name: str, text: str) -> None:
    if not text:
        return
    html = escape(text)
    if not name:
        spans.append(html)
        return
    words = html.rstrip()
    spaces = html[len(words) :]
    inner = words.replace("\n", f'</span>\n<span class="{name}">') if "\n" in words else words
    spans.append(f'<span class="{name}">{inner}</span>{spaces}')
