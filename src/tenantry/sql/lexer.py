"""The lexer: template text to pieces, by the rules of one dialect.

It runs in linear time: every alternative begins with another character and has one way to match, and whatever has no
end is an error at once. No group is possessive: see ``dialects``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tenantry.sql.dialects import Dialect
from tenantry.sql.pieces import Kind, Piece
from tenantry.sql.source import Source

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
_NEVER_TAGGED = {"e": "E", "u": "U&", "b": "B", "n": "N", "x": "X"}
_PLAIN = {
    "code": Kind.CODE,
    "word": Kind.CODE,
    "plain": Kind.STRING,
    "escape": Kind.ESCAPE,
    "open": Kind.OPEN,
    "left": Kind.LEFT,
    "right": Kind.RIGHT,
}


def lex(source: Source, dialect: Dialect) -> list[Piece]:
    """Cuts the text into pieces. Raises TemplateError for what never ends, and for a tag where none can stand."""
    text, opening = source.text, dialect.opening.match
    pieces: list[Piece] = []
    position, length = 0, len(text)
    after_e = False  # nothing but space and strings since an E'…'
    while position < length:
        match = opening(text, position)
        if match is None:  # pragma: no cover  # the last alternative takes any character
            raise source.error(position, "this cannot be read as SQL", "remove it")
        group, end = match.lastgroup or "", match.end()
        kind = _PLAIN.get(group)
        if kind is None:
            piece = _READERS[group](source, dialect, position, end)
            end = piece.end
        else:
            piece = Piece(kind, position, end)
        if after_e:
            after_e = _goes_on(source, piece, group)
        elif group == "string" and text[position] in "eE":
            after_e = True
        pieces.append(piece)
        position = end
    return pieces


def _goes_on(source: Source, piece: Piece, group: str) -> bool:
    """In PostgreSQL ``E'a'`` goes on after a new line with ``'b'``, where a backslash escapes though no E is seen."""
    if group == "string":
        raise source.error(piece.start, "this string goes on from an E'…' above", "write one E'…', or ||")
    return group == "plain" or piece.kind is Kind.COMMENT or source.text[piece.start : piece.end].isspace()


def _tag(source: Source, _dialect: Dialect, start: int, _end: int) -> Piece:
    end = source.text.find("}}", start)
    again = source.text.find("{{", start + 2, end if end >= 0 else len(source.text))
    if end < 0 or again >= 0:
        raise source.error(start, "this {{ has no }}", "close the tag: {{ name }}; or write \\{{ for the characters")
    return Piece(Kind.TAG, start, end + 2)


def _statement(source: Source, _dialect: Dialect, start: int, _end: int) -> Piece:
    raise source.error(
        start,
        "{% … %} is not in the language yet",
        "use [[ … ]] for an optional clause; or write \\{% for the characters",
    )


def _line(source: Source, _dialect: Dialect, start: int, end: int) -> Piece:
    _refuse_tag(source, start, end, _TAG_OR_STATEMENT, "a comment", "move the variable out of the comment, or write")
    return Piece(Kind.COMMENT, start, end)


def _block(source: Source, dialect: Dialect, start: int, end: int, kind: Kind = Kind.COMMENT) -> Piece:
    end = _block_end(source, dialect, start, end)
    what = "a comment" if kind is Kind.COMMENT else "a hint"
    _refuse_tag(source, start, end, _TAG_OR_STATEMENT, what, f"move the variable out of {what}, or write")
    return Piece(kind, start, end)


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


def _hint(source: Source, dialect: Dialect, start: int, end: int) -> Piece:
    return _block(source, dialect, start, end, Kind.QUOTED)


def _executable(source: Source, _dialect: Dialect, start: int, _end: int) -> Piece:
    raise source.error(
        start,
        "an executable comment is code on some servers and a comment on others",
        "write its content without /*! and */",
    )


def _dashes(source: Source, _dialect: Dialect, start: int, _end: int) -> Piece:
    raise source.error(
        start,
        "-- without a space after it is two minus signs in MySQL and a comment elsewhere",
        "write '-- ' for a comment, '- -' for two minus signs",
    )


def _string(source: Source, dialect: Dialect, start: int, end: int) -> Piece:
    text = source.text
    quote, prefix = text[end - 1], text[start : end - 1]
    backslash = dialect.backslash or prefix in {"e", "E"}
    body = _BODIES[quote, backslash]
    parts: list[Piece] = []
    position, tagged = end, False
    while True:
        match = body.match(text, position)
        stop = match.end() if match else position
        if stop > position:
            parts.append(Piece(Kind.STRING, position, stop))
        if stop >= len(text):
            raise source.error(start, "this string has no end", f"close it with {quote}")
        if text[stop] == quote:
            break
        if text[stop] == "\\":
            parts.append(Piece(Kind.ESCAPE, stop, stop + 3))
        else:
            parts.append(_tag(source, dialect, stop, stop))
            tagged = True
        position = parts[-1].end
    if tagged and prefix:
        name = _NEVER_TAGGED[prefix[0].lower()]
        tag = next(part for part in parts if part.kind is Kind.TAG)
        fix = "use a plain literal '…' or a bare {{ name }}, with cast(… as …) where a type is needed"
        raise source.error(tag.start, f"a variable cannot stand inside a literal of the form {name}'…'", fix)
    # Without a tag only our own escapes are of interest: the text goes out as it came in.
    return Piece(Kind.HOLED if tagged else Kind.STRING, start, stop + 1, tuple(parts), backslash)


def _name(source: Source, _dialect: Dialect, start: int, end: int) -> Piece:
    match = _NAMES[source.text[end - 1]].match(source.text, end)
    stop = match.end() if match else len(source.text)
    fix = "name the table or column in the template itself; a value is never an identifier. For the characters write"
    _refuse_tag(source, start, stop, _TAG, "a quoted identifier", fix)
    if match is None:
        raise source.error(start, "this quoted identifier has no end", f"close the {source.text[end - 1]}")
    return Piece(Kind.QUOTED, start, stop)


def _bracket(source: Source, _dialect: Dialect, start: int, _end: int) -> Piece:
    raise source.error(start, "here [[ would begin a quoted name, up to the next ]", 'write such a name as "…"')


def _dollar(source: Source, _dialect: Dialect, start: int, end: int) -> Piece:
    delimiter = source.text[start:end]
    close = source.text.find(delimiter, end)
    stop = close + len(delimiter) if close >= 0 else len(source.text)
    fix = "use a plain literal '…' or a bare {{ name }}. For the characters write"
    _refuse_tag(source, start, stop, _TAG, f"a dollar-quoted string ({delimiter})", fix)
    if close < 0:
        raise source.error(start, f"this {delimiter} has no end", f"close it with {delimiter}")
    return Piece(Kind.QUOTED, start, stop)


def _refuse_tag(source: Source, start: int, end: int, tag: re.Pattern[str], what: str, fix: str) -> None:
    match = tag.search(source.text, start, end)
    if match is not None:
        problem = f"a variable cannot stand inside {what}"
        raise source.error(match.start(), problem, f"{fix} \\{match.group()}")


_READERS: dict[str, Callable[[Source, Dialect, int, int], Piece]] = {
    "tag": _tag,
    "statement": _statement,
    "line": _line,
    "block": _block,
    "hint": _hint,
    "executable": _executable,
    "dashes": _dashes,
    "string": _string,
    "string2": _string,
    "bracket": _bracket,
    "name": _name,
    "name2": _name,
    "tick": _name,
    "dollar": _dollar,
}
