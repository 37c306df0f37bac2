"""The SQL tokens around a tag: what the rules of positions look at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.tags import is_choice
from tenantry.sql.source import Source

_TOKEN = re.compile(r"[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*|[0-9][\w.]*|::|\S")
_STRETCH = 32  # characters of code that are cut into tokens at first: most rules look at a word or two
_NEAR = 4  # characters: an operator and the space after it
_PLAIN_END = re.compile(r"\s*+(?:[\w),;\]]|\Z)")
_SPACE = re.compile(r"\s")
AFTER_CHOICE = "{{ one_of"
_OPENING = frozenset({"(", "case"})
_CLOSING = frozenset({")", "end"})
_LOOKBACK = 300  # tokens: a rule that would have to look farther back does not apply
_CLAUSE_KEYWORDS = frozenset(
    (
        *("select", "from", "where", "having", "by", "limit", "offset", "on", "using", "values", "set", "returning"),
        *("window", "when", "then", "else", "case", "end", "and", "or", "prewhere", "qualify", "sample", "settings"),
    )
)
_TOKEN_TEXTS = {
    LexemeKind.STRING: "'",
    LexemeKind.INTERPOLATED_STRING: "'",
    LexemeKind.QUOTED: '"',
    LexemeKind.TAG: "{{",
    LexemeKind.CLAUSE_START: "[[",
    LexemeKind.CLAUSE_END: "]]",
    LexemeKind.LEFT_BRACKET: "[",
    LexemeKind.RIGHT_BRACKET: "]",
    LexemeKind.ESCAPE: "\\",
}


class SQLToken(NamedTuple):
    """A word (lower case), a number or a sign, and its span. Of what is quoted the quote alone is the text."""

    text: str
    start: int
    end: int


_NO_TOKEN = SQLToken("", 0, 0)


class TokenContext:
    """The SQL tokens before and after the lexeme at ``index``, read on demand and only as far as a rule needs."""

    def __init__(self, source: Source, lexemes: Sequence[Lexeme]) -> None:
        self.lexemes = lexemes
        self._source = source
        self._text = source.text

    def preceding(self, index: int, count: int) -> list[SQLToken]:
        """Up to ``count`` tokens before the lexeme, the nearest first; missing ones are empty."""
        tokens = self._tokens_before(index)
        return [next(tokens, _NO_TOKEN) for _ in range(count)]

    def follows_comparison(self, index: int) -> bool:
        """Whether ``=``, ``<`` or ``>`` comes before the lexeme, and after it nothing that could make it a name.

        So it is for most tags, and then no other rule has to be checked.
        """
        before = self.lexemes[index - 1]  # for the first lexeme this is the last one, which ends elsewhere
        lexeme = self.lexemes[index]
        if before.kind is not LexemeKind.CODE or before.end != lexeme.start:
            return False
        near = self._text[max(before.start, lexeme.start - _NEAR) : lexeme.start].rstrip()
        return near.endswith(("=", "<", ">")) and _PLAIN_END.match(self._text, lexeme.end) is not None

    def following(self, index: int) -> SQLToken:
        """The token after the lexeme, or an empty one."""
        for lexeme in self.lexemes[index + 1 : index + _LOOKBACK]:
            if lexeme.kind is LexemeKind.CODE:
                match = _TOKEN.search(self._text, lexeme.start, lexeme.end)
                if match is not None:
                    return SQLToken(match.group().lower(), match.start(), match.end())
            elif lexeme.kind is not LexemeKind.COMMENT:
                return SQLToken(_TOKEN_TEXTS[lexeme.kind], lexeme.start, lexeme.end)
        return _NO_TOKEN

    def enclosing_function(self, index: int) -> str:
        """The name before the innermost open parenthesis around the lexeme: ``extract`` in ``extract(year from``."""
        depth = 0
        tokens = self._tokens_before(index)
        for _, token in zip(range(_LOOKBACK), tokens, strict=False):
            depth += (token.text == ")") - (token.text == "(")
            if depth < 0:
                return next(tokens, _NO_TOKEN).text
        return ""

    def enclosing_clause(self, index: int) -> str:
        """The keyword that begins the clause of which the lexeme is an item: ``order by``, ``limit``, ``select``, …"""
        depth = 0
        tokens = self._tokens_before(index)
        for _, token in zip(range(_LOOKBACK), tokens, strict=False):
            depth += (token.text == ")") - (token.text == "(")
            if depth < 0:
                return "("
            if depth == 0 and token.text in _CLAUSE_KEYWORDS:
                return token.text
        return ""

    def keyword_before(self, index: int, keywords: AbstractSet[str]) -> str:
        """The nearest of some keywords before the token that is before the lexeme, in the same brackets."""
        depth = 0
        tokens = self._tokens_before(index)
        next(tokens, _NO_TOKEN)
        for _, token in zip(range(_LOOKBACK), tokens, strict=False):
            depth += (token.text in _CLOSING) - (token.text in _OPENING)
            if depth < 0:
                return ""
            if depth == 0 and token.text in keywords:
                return token.text
        return ""

    def is_searched_case(self, index: int) -> bool:
        """Whether ``when`` directly before the lexeme is of ``case when …``, and not of ``case value when …``."""
        depth, after = 0, ""
        for _, token in zip(range(_LOOKBACK), self._tokens_before(index), strict=False):
            if token.text == "case" and depth == 0:
                return after == "when"
            depth += (token.text in _CLOSING) - (token.text in _OPENING)
            after = token.text
        return False

    def _tokens_before(self, index: int) -> Iterator[SQLToken]:
        for at in range(index - 1, -1, -1):
            lexeme = self.lexemes[at]
            if lexeme.kind is LexemeKind.CODE:
                end, stretch = lexeme.end, _STRETCH
                while end > lexeme.start:
                    start = max(lexeme.start, end - stretch)
                    stretch *= 4
                    if start > lexeme.start:  # never cut a word
                        space = _SPACE.search(self._text, start, end)
                        start = space.start() if space is not None else lexeme.start
                    for match in reversed(list(_TOKEN.finditer(self._text, start, end))):
                        yield SQLToken(match.group().lower(), match.start(), match.end())
                    end = start
            elif lexeme.kind is not LexemeKind.COMMENT:
                text = AFTER_CHOICE if lexeme.parts and is_choice(self._source, lexeme) else _TOKEN_TEXTS[lexeme.kind]
                yield SQLToken(text, lexeme.start, lexeme.end)
