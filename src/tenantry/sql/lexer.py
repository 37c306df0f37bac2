"""The lexer: template text to lexemes, by the rules of one dialect.

It runs in linear time: every alternative begins with another character and has one way to match, and whatever has no
end is an error at once. No group is possessive: see ``Dialect.opening``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum, auto
from typing import NamedTuple

from tenantry.sql.dialects import Dialect
from tenantry.sql.syntax_tree import Source


class LexemeKind(IntEnum):
    """What a lexeme is.

    CODE is everything that is not inside something else; INTERPOLATED_STRING a string with tags in it; QUOTED a quoted
    identifier, a dollar-quoted string or a hint; TAG ``{{ … }}``; ESCAPE a backslash and the characters it protects.
    """

    CODE = auto()
    STRING = auto()
    INTERPOLATED_STRING = auto()
    QUOTED = auto()
    COMMENT = auto()
    TAG = auto()
    CLAUSE_START = auto()
    CLAUSE_END = auto()
    LEFT_BRACKET = auto()
    RIGHT_BRACKET = auto()
    ESCAPE = auto()


class Lexeme(NamedTuple):
    """A stretch of a template's text of one lexical kind. The lexemes of a text follow each other without gaps."""

    kind: LexemeKind
    start: int
    end: int
    parts: tuple[Lexeme, ...] = ()
    """Of an INTERPOLATED_STRING: the lexemes between its quotes, which are raw text (STRING), ESCAPE and TAG."""
    backslash: bool = False
    """Of a string: whether a backslash escapes in it."""


_TAG = re.compile(r"(?<!\\)\{\{")
_TAG_OR_STATEMENT = re.compile(r"(?<!\\)\{[{%]")
_NESTING = re.compile(r"/\*|\*/")
_BODIES = {
    (quote, backslash): re.compile(
        rf"(?:[^{quote}{{\\]++|{quote}{quote}|\{{(?!\{{)|\\(?!\{{\{{){'(?s:.)' if backslash else ''})*"
    )
    for quote in "'\""
    for backslash in (False, True)
}
_NAMES = {
    '"': re.compile(r'(?:[^"]++|"")*"(?!")'),
    "`": re.compile(r"(?:[^`]++|``)*`(?!`)"),
    "[": re.compile(r"[^\]]*+\]"),
}
_UNTAGGED_PREFIXES = {"e": "E", "u": "U&", "b": "B", "n": "N", "x": "X"}
_SIMPLE_KINDS = {
    "code": LexemeKind.CODE,
    "word": LexemeKind.CODE,
    "plain": LexemeKind.STRING,
    "escape": LexemeKind.ESCAPE,
    "open": LexemeKind.CLAUSE_START,
    "left": LexemeKind.LEFT_BRACKET,
    "right": LexemeKind.RIGHT_BRACKET,
}
_REFUSED = {
    "statement": (
        "{% … %} is not in the language yet",
        "use [[ … ]] for an optional clause; or write \\{% for the characters",
    ),
    "executable": (
        "an executable comment is code on some servers and a comment on others",
        "write its content without /*! and */",
    ),
    "dashes": (
        "-- without a space after it is two minus signs in MySQL and a comment elsewhere",
        "write '-- ' for a comment, '- -' for two minus signs",
    ),
    "bracket": ("here [[ would begin a quoted name, up to the next ]", 'write such a name as "…"'),
}
"""Group of ``Dialect.opening`` -> why a template holds none, and the fix."""
_BACKSLASH_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPED = {quote: re.compile(rf"\\(.)|{quote}{quote}", re.DOTALL) for quote in "'\""}


def lex(source: Source, dialect: Dialect) -> list[Lexeme]:
    """Cuts the text into lexemes. Raises TemplateError for what never ends, and for a tag where none is allowed."""
    text, opening = source.text, dialect.opening.match
    lexemes: list[Lexeme] = []
    position, length = 0, len(text)
    after_e = False  # nothing but space and strings since an E'…'
    while position < length:
        match = opening(text, position)
        if match is None:  # pragma: no cover  # the last alternative takes any character
            raise source.error(position, "this cannot be read as SQL", "remove it")
        group, end = match.lastgroup or "", match.end()
        kind = _SIMPLE_KINDS.get(group)
        if kind is None:
            if group in _REFUSED:
                raise source.error(position, *_REFUSED[group])
            lexeme = _READERS[group](source, dialect, position, end)
            end = lexeme.end
        else:
            lexeme = Lexeme(kind, position, end)
        if after_e:
            after_e = _continues_e_string(source, lexeme, group)
        elif group == "string" and text[position] in "eE":
            after_e = True
        lexemes.append(lexeme)
        position = end
    return lexemes


def unescape(raw: str, quote: str, backslash: bool) -> str:
    """The value of a stretch of a string literal: ``''`` is one quote; in MySQL a backslash escapes (``\\%`` stays)."""
    if not backslash:
        return raw.replace(quote * 2, quote)

    def replacement(match: re.Match[str]) -> str:
        escaped = match.group(1)
        return quote if escaped is None else _BACKSLASH_ESCAPES.get(escaped, escaped)

    return _ESCAPED[quote].sub(replacement, raw)


def _continues_e_string(source: Source, lexeme: Lexeme, group: str) -> bool:
    """In PostgreSQL ``E'a'`` goes on after a new line with ``'b'``, where a backslash escapes though no E is seen."""
    if group == "string":
        raise source.error(lexeme.start, "this string goes on from an E'…' above", "write one E'…', or ||")
    return group == "plain" or lexeme.kind is LexemeKind.COMMENT or source.text[lexeme.start : lexeme.end].isspace()


def _tag(source: Source, _dialect: Dialect, start: int, _end: int) -> Lexeme:
    end = source.text.find("}}", start)
    again = source.text.find("{{", start + 2, end if end >= 0 else len(source.text))
    if end < 0 or again >= 0:
        raise source.error(start, "this {{ has no }}", "close the tag: {{ name }}; or write \\{{ for the characters")
    return Lexeme(LexemeKind.TAG, start, end + 2)


def _comment(source: Source, dialect: Dialect, start: int, end: int) -> Lexeme:
    """``--``, ``#``, ``/* */``; a hint ``/*+ */`` is no comment: it goes to the engine."""
    kind, what = LexemeKind.COMMENT, "a comment"
    if source.text.startswith("/*", start):
        if source.text.startswith("/*+", start):
            kind, what = LexemeKind.QUOTED, "a hint"
        end = _block_end(source, dialect, start, end)
    _reject_tag(source, start, end, _TAG_OR_STATEMENT, what, f"move the variable out of {what}, or write")
    return Lexeme(kind, start, end)


def _block_end(source: Source, dialect: Dialect, start: int, end: int) -> int:
    if not dialect.nested_comments:
        close = source.text.find("*/", end)
        if close >= 0:
            return close + 2
    else:
        depth = 1
        for match in _NESTING.finditer(source.text, end):
            depth += 1 if match.group() == "/*" else -1
            if depth == 0:
                return match.end()
    raise source.error(start, "this comment has no end", "close it with */")


def _string(source: Source, dialect: Dialect, start: int, end: int) -> Lexeme:
    text = source.text
    quote, prefix = text[end - 1], text[start : end - 1]
    backslash = dialect.backslash or prefix in {"e", "E"}
    body = _BODIES[quote, backslash]
    parts: list[Lexeme] = []
    position, tagged = end, False
    while True:
        match = body.match(text, position)
        stop = match.end() if match else position
        if stop > position:
            parts.append(Lexeme(LexemeKind.STRING, position, stop))
        if stop >= len(text):
            raise source.error(start, "this string has no end", f"close it with {quote}")
        if text[stop] == quote:
            break
        if text[stop] == "\\":
            parts.append(Lexeme(LexemeKind.ESCAPE, stop, stop + 3))
        else:
            parts.append(_tag(source, dialect, stop, stop))
            tagged = True
        position = parts[-1].end
    if tagged and prefix:
        name = _UNTAGGED_PREFIXES[prefix[0].lower()]
        tag = next(part for part in parts if part.kind is LexemeKind.TAG)
        fix = "use a plain literal '…' or a bare {{ name }}, with cast(… as …) where a type is needed"
        raise source.error(tag.start, f"a variable is not allowed inside a literal of the form {name}'…'", fix)
    # Without a tag only our own escapes are of interest: the text goes out as it came in.
    return Lexeme(
        LexemeKind.INTERPOLATED_STRING if tagged else LexemeKind.STRING, start, stop + 1, tuple(parts), backslash
    )


def _name(source: Source, _dialect: Dialect, start: int, end: int) -> Lexeme:
    match = _NAMES[source.text[end - 1]].match(source.text, end)
    stop = match.end() if match else len(source.text)
    fix = "name the table or column in the template itself; a value is never an identifier. For the characters write"
    _reject_tag(source, start, stop, _TAG, "a quoted identifier", fix)
    if match is None:
        raise source.error(start, "this quoted identifier has no end", f"close the {source.text[end - 1]}")
    return Lexeme(LexemeKind.QUOTED, start, stop)


def _dollar(source: Source, _dialect: Dialect, start: int, end: int) -> Lexeme:
    delimiter = source.text[start:end]
    close = source.text.find(delimiter, end)
    stop = close + len(delimiter) if close >= 0 else len(source.text)
    fix = "use a plain literal '…' or a bare {{ name }}. For the characters write"
    _reject_tag(source, start, stop, _TAG, f"a dollar-quoted string ({delimiter})", fix)
    if close < 0:
        raise source.error(start, f"this {delimiter} has no end", f"close it with {delimiter}")
    return Lexeme(LexemeKind.QUOTED, start, stop)


def _reject_tag(source: Source, start: int, end: int, tag: re.Pattern[str], what: str, fix: str) -> None:
    match = tag.search(source.text, start, end)
    if match is not None:
        problem = f"a variable is not allowed inside {what}"
        raise source.error(match.start(), problem, f"{fix} \\{match.group()}")


_READERS: dict[str, Callable[[Source, Dialect, int, int], Lexeme]] = {
    "tag": _tag,
    "line": _comment,
    "block": _comment,
    "hint": _comment,
    "string": _string,
    "string2": _string,
    "name": _name,
    "name2": _name,
    "tick": _name,
    "dollar": _dollar,
}
