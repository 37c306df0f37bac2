"""The lexer: splits a template, including arguments of filters, into the lexemes of a dialect."""

# Lexing takes linear time: the alternatives in a pattern begin with different characters, so no pattern backtracks.

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.foreign_syntax import statement_left_out
from tenantry.sql.lexing.lexemes import NAME, Lexeme, LexemeKind
from tenantry.sql.lexing.tags import ArgumentReader
from tenantry.sql.source import Source

MAX_TAG_DEPTH = 8
"""Maximum nesting of tags in arguments of tags."""


_PLAIN_TAG = re.compile(r"\{\{[\w\s.|]*+\}\}")
_TAG_PATH = re.compile(rf"\{{\{{\s*+{NAME}(?:\.{NAME})*\s*+(?=\|)")
_FILTER = re.compile(rf"\s*+\|\s*+({NAME})\s*+")
_SPACE = re.compile(r"\s*+")
_TAG = re.compile(r"(?<!\\)\{\{")
_TAG_OR_STATEMENT = re.compile(r"(?<!\\)\{[{%]")
_NESTING = re.compile(r"/\*|\*/")
_CLOSING = {"[": "]", "\u2018": "\u2019", "\u201c": "\u201d"}
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
"""Name of a group in the pattern ``Dialect.opening`` → the problem with the matched SQL, and the fix."""
_ESCAPED = {quote: re.compile(rf"\\(.)|{quote}{quote}", re.DOTALL) for quote in "'\""}


def lex(source: Source, dialect: Dialect) -> list[Lexeme]:
    """Return the lexemes of a template. Raises TemplateError if a string, name, comment or tag is not closed, and for
    syntax that is not allowed, such as a tag in a quoted name."""
    return list(_Lexer(source, dialect).lexemes(0))


def unescape(source: Source, dialect: Dialect, part: Lexeme, quote: str, backslash: bool) -> str:
    """Return a part of a string literal, with each escape replaced by its character. Raises TemplateError for an
    unknown escape."""
    raw = source.text[part.start : part.end]
    if not backslash:
        return raw.replace(quote * 2, quote)

    def replacement(match: re.Match[str]) -> str:
        escaped = match.group(1)
        if escaped is None:
            return quote
        if escaped not in dialect.backslash_escapes and not dialect.other_escapes:
            problem = f"\\{escaped} is not known here, in a string with variables"
            raise source.error(part.start + match.start(), problem, "write the character itself, or two backslashes")
        return dialect.backslash_escapes.get(escaped, escaped)

    return _ESCAPED[quote].sub(replacement, raw)


@cache
def _string_body(quote: str, backslash: bool, doubled: bool) -> re.Pattern[str]:
    # Matches the inside of a string up to the closing quote or a tag. `quote` has one character or three.
    character = quote[0]
    inside = [rf"[^{character}{{\\]++", r"\{(?!\{)"]
    # Without `backslash`, a backslash is an ordinary character.
    inside += [r"\\(?!\{\{)(?s:.)" if backslash else r"\\++(?!\{\{)"]
    inside += [rf"{character}(?!{character * 2})"] if len(quote) > 1 else [character * 2] if doubled else []
    return re.compile(f"(?:{'|'.join(inside)})*")


@cache
def _name_body(quote: str, backslash: bool, doubled: bool) -> re.Pattern[str]:
    closing = re.escape(_CLOSING.get(quote, quote))
    inside = [rf"[^{closing}\\]++", r"\\(?s:.)"] if backslash else [f"[^{closing}]++"]
    inside += [closing * 2] if doubled else []
    return re.compile(f"(?:{'|'.join(inside)})*{closing}{f'(?!{closing})' if doubled else ''}")


class _Lexer:
    def __init__(self, source: Source, dialect: Dialect) -> None:
        self._source = source
        self._dialect = dialect
        self._depth = 0  # nesting of tags in arguments

    def lexemes(self, position: int) -> Iterator[Lexeme]:
        source, opening = self._source, self._dialect.opening.match
        text = source.text
        length = len(text)
        after_e = False  # whether only space, comments and plain strings have followed an E'…'
        while position < length:
            match = opening(text, position)
            if match is None:  # pragma: no cover  # the last alternative matches any character
                raise source.error(position, "this cannot be read as SQL", "remove it")
            group, end = match.lastgroup or "", match.end()
            kind = _SIMPLE_KINDS.get(group)
            if kind is None:
                if group in _REFUSED:
                    raise source.error(position, *_REFUSED[group])
                if group == "statement":
                    raise source.error(position, *statement_left_out(text, position))
                lexeme = _READERS[group](self, position, end)
            else:
                lexeme = Lexeme(kind, position, end)
            if after_e:
                after_e = self._continues_e_string(lexeme, group)
            elif group == "string" and text[position] in "eE":
                after_e = True
            position = lexeme.end
            yield lexeme

    def _continues_e_string(self, lexeme: Lexeme, group: str) -> bool:
        # PostgreSQL reads `E'a'`, a newline and `'b'` as one string, so backslashes would be escapes in `'b'` too.
        if group == "string":
            fix = "write one E'…', or join the two with ||"
            raise self._source.error(lexeme.start, "this string continues an E'…' above", fix)
        return (
            group == "plain"
            or lexeme.kind is LexemeKind.COMMENT
            or self._source.text[lexeme.start : lexeme.end].isspace()
        )

    def _tag(self, start: int, _end: int = 0) -> Lexeme:
        text = self._source.text
        match = _PLAIN_TAG.match(text, start)
        if match is not None:
            return Lexeme(LexemeKind.TAG, start, match.end())
        filters, end = self._filters(start)
        if filters and text.startswith("}}", end):
            return Lexeme(LexemeKind.TAG, start, end + 2, filters)
        end = text.find("}}", max(start, end))
        again = text.find("{{", start + 2, end if end >= 0 else len(text))
        if end < 0 or (again >= 0 and not filters):
            fix = "close the tag: {{ name }}; or write \\{{ for the characters"
            raise self._source.error(start, "this {{ has no }}", fix)
        return Lexeme(LexemeKind.TAG, start, end + 2)  # the parser reports the problem

    def _filters(self, start: int) -> tuple[tuple[Lexeme, ...], int]:
        text, filters = self._source.text, list[Lexeme]()
        match = _TAG_PATH.match(text, start)
        position = match.end() if match is not None else start
        while match is not None and (match := _FILTER.match(text, position)):
            position, arguments = match.end(), tuple[Lexeme, ...]()
            if text.startswith("(", position):
                arguments, position = self._arguments(position)
            filters.append(Lexeme(LexemeKind.FILTER, match.start(1), position, arguments))
            position = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # _SPACE matches ""
        return tuple(filters), position

    def _arguments(self, start: int) -> tuple[tuple[Lexeme, ...], int]:
        if self._depth == MAX_TAG_DEPTH:
            fix = "put the choices next to each other"
            raise self._source.error(start, f"tags are at most {MAX_TAG_DEPTH} deep", fix)
        self._depth += 1
        reader = ArgumentReader(self._source, start + 1)
        for lexeme in self.lexemes(start + 1):
            end = reader.read(lexeme)
            if end:
                self._depth -= 1
                return tuple(reader.arguments), end
        raise self._source.error(start, "this ( of a filter has no )", "close it: {{ name | filter(…) }}")

    def _comment(self, start: int, end: int) -> Lexeme:
        # Tags in comments have no effect. A hint `/*+ … */` is sent to the engine, so tags in it are refused.
        kind = LexemeKind.COMMENT
        if self._source.text.startswith("/*", start):
            if self._source.text.startswith("/*+", start):
                kind = LexemeKind.QUOTED
            end = self._block_end(start, end)
        if kind is LexemeKind.QUOTED:
            self._reject_tag(start, end, _TAG_OR_STATEMENT, "a hint", "move the variable out of a hint, or write")
        return Lexeme(kind, start, end)

    def _block_end(self, start: int, end: int) -> int:
        if not self._dialect.nested_comments:
            close = self._source.text.find("*/", end)
            if close >= 0:
                return close + 2
        else:
            depth = 1
            for match in _NESTING.finditer(self._source.text, end):
                depth += 1 if match.group() == "/*" else -1
                if depth == 0:
                    return match.end()
        raise self._source.error(start, "this comment has no end", "close it with */")

    def _string(self, start: int, end: int) -> Lexeme:
        return self._read_string(start, end, self._source.text[end - 1])

    def _triple(self, start: int, end: int) -> Lexeme:
        return self._read_string(start, end, self._source.text[end - 3 : end])

    def _read_string(self, start: int, end: int, quote: str) -> Lexeme:
        text, dialect = self._source.text, self._dialect
        prefix = text[start : end - len(quote)]
        plain = prefix != "" and prefix[0] in dialect.plain_prefixes
        backslash = (dialect.backslash and not plain) or (prefix != "" and prefix[0] in dialect.escape_prefixes)
        body = _string_body(quote, backslash, dialect.doubled_quotes and not plain)
        parts: list[Lexeme] = []
        position, tagged = end, False
        while True:
            match = body.match(text, position)
            stop = match.end() if match else position
            if stop > position:
                parts.append(Lexeme(LexemeKind.STRING, position, stop))
            if stop >= len(text):
                raise self._source.error(start, "this string has no end", f"close it with {quote}")
            if text[stop] == quote[0]:
                break
            if text[stop] == "\\":
                parts += _escapes(text, stop)
            else:
                parts.append(self._tag(stop))
                tagged = True
            position = parts[-1].end
        if tagged and prefix:
            tag = next(part for part in parts if part.kind is LexemeKind.TAG)
            fix = "use a plain literal '…' or a bare {{ name }}, with cast(… as …) where a type is needed"
            raise self._source.error(
                tag.start, f"a variable is not allowed inside a literal of the form {prefix.upper()}'…'", fix
            )
        # A string without tags is sent as written, but without the backslashes that escape our tags.
        kind = LexemeKind.INTERPOLATED_STRING if tagged else LexemeKind.STRING
        return Lexeme(kind, start, stop + len(quote), tuple(parts), backslash)

    def _name(self, start: int, end: int) -> Lexeme:
        quote = self._source.text[end - 1]
        typographic = quote in "\u2018\u201c"
        doubled = self._dialect.bracket_doubled if quote == "[" else not typographic
        body = _name_body(quote, self._dialect.name_backslash and not typographic, doubled)
        match = body.match(self._source.text, end)
        stop = match.end() if match else len(self._source.text)
        fix = (
            "name the table or column in the template itself; a value is never an identifier. For the characters write"
        )
        self._reject_tag(start, stop, _TAG, "a quoted identifier", fix)
        if match is None:
            raise self._source.error(start, "this quoted identifier has no end", f"close the {quote}")
        return Lexeme(LexemeKind.QUOTED, start, stop)

    def _dollar(self, start: int, end: int) -> Lexeme:
        delimiter = self._source.text[start:end]
        close = self._source.text.find(delimiter, end)
        stop = close + len(delimiter) if close >= 0 else len(self._source.text)
        fix = "use a plain literal '…' or a bare {{ name }}. For the characters write"
        self._reject_tag(start, stop, _TAG, f"a dollar-quoted string ({delimiter})", fix)
        if close < 0:
            raise self._source.error(start, f"this {delimiter} has no end", f"close it with {delimiter}")
        return Lexeme(LexemeKind.QUOTED, start, stop)

    def _reject_tag(self, start: int, end: int, tag: re.Pattern[str], what: str, fix: str) -> None:
        match = tag.search(self._source.text, start, end)
        if match is not None:
            problem = f"a variable is not allowed inside {what}"
            raise self._source.error(match.start(), problem, f"{fix} \\{match.group()}")


def _escapes(text: str, start: int) -> list[Lexeme]:
    # Before `{{`, two backslashes mean one backslash, and a single backslash makes the `{{` literal.
    end = start
    while text.startswith("\\", end):
        end += 1
    pairs = [Lexeme(LexemeKind.ESCAPE, at, at + 2) for at in range(start, end - 1, 2)]
    return pairs if (end - start) % 2 == 0 else [*pairs, Lexeme(LexemeKind.ESCAPE, end - 1, end + 2)]


_READERS: dict[str, Callable[[_Lexer, int, int], Lexeme]] = {
    "tag": _Lexer._tag,
    "line": _Lexer._comment,
    "block": _Lexer._comment,
    "hint": _Lexer._comment,
    "string": _Lexer._string,
    "string2": _Lexer._string,
    "string3": _Lexer._triple,
    "name": _Lexer._name,
    "name2": _Lexer._name,
    "tick": _Lexer._name,
    "typographic": _Lexer._name,
    "dollar": _Lexer._dollar,
}
